# The forms of alternatives in a packed plan.
cdef enum:
    EXACT_FORM = 0
    TWIG_FORM = 1
    GENERAL_FORM = 2
