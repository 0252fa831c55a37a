from libc.stdint cimport int32_t

from pathcast.vectors cimport IntMap, IntVector


cdef enum:
    ELEMENT = 1  # stands for an element
    STAR = 2  # any element
    RULES = 4  # subsumes others by rules that are asked for, and remembered


cdef class LabelTable:
    cdef dict _numbers
    cdef dict _names
    cdef readonly list labels
    cdef object _rule
    cdef IntVector kinds
    cdef IntVector names  # what a label cannot do without, as a number, or -1
    cdef IntMap _known
    cdef int32_t star  # the number of the wildcard, or -1

    cdef inline bint subsumes(self, int32_t wide, int32_t narrow) except -1:
        cdef int32_t kind
        if wide == narrow:
            return True
        kind = self.kinds.at[wide]
        if kind & STAR:
            return self.kinds.at[narrow] & ELEMENT
        if kind & RULES:
            return self._asked(wide, narrow)
        return False

    cdef bint _asked(self, int32_t wide, int32_t narrow) except -1
