cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.evaluator.arena cimport Arena
from pathcast.matching.compiled.core.strings cimport TextView
from pathcast.vectors cimport IntVector


# A call of translate(): `replaced` and `replacements` are its arguments.
cdef struct Translation:
    TextView replaced
    TextView replacements
    int32_t places[128]  # ASCII character -> the place of its replacement, or UNCHANGED
    int32_t widest  # bytes of a replacement


cdef enum:
    UNCHANGED = -1
    NORMALIZE_SPACE = -1  # in place of a translation


@cython.final
cdef class StringFunctions:
    cdef Translation *translations
    cdef Py_ssize_t translation_count
    cdef Py_ssize_t translation_capacity
    cdef IntVector calls  # of all chains: a translation, or NORMALIZE_SPACE
    cdef IntVector ends  # chain -> the end of its calls
    cdef dict _numbers  # chain as a tuple -> its number
    cdef list _arguments  # keeps the bytes that translations point to
    cdef int32_t add(self, functions) except -1
    cdef int _add_translation(self, str replaced, str replacements) except -1
    cdef TextView _argument(self, str text)
    cdef int apply(self, int32_t chain, TextView *text, Arena *arena) except -1 nogil
