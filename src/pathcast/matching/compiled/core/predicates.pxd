from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.strings cimport Strings
from pathcast.vectors cimport IntVector

cdef enum Op:
    EQUAL = 0
    DIFFERENT = 1
    LESS = 2
    LESS_OR_EQUAL = 3
    GREATER = 4
    GREATER_OR_EQUAL = 5

# The place of a number that is none.
cdef enum:
    NOWHERE = -1


# A test that is not an equality, ready to be asked: numeric ones by the place of their constant.
cdef struct Range:
    int32_t state  # where its edge leads
    int32_t op
    int32_t numeric
    int32_t operand


cdef class Values:
    cdef Strings strings
    cdef IntVector string_labels
    cdef IntVector number_labels
    cdef double *constants
    cdef int32_t constant_count
    cdef int32_t place(self, const char *text, Py_ssize_t length) noexcept nogil
    cdef int32_t rank(self, double value) noexcept nogil
    cdef int32_t operand(self, tuple test) except -1
    cdef Range ranged(self, int32_t state, tuple test) except *


cdef bint holds(const Range *test, int32_t string, int32_t place) noexcept nogil
