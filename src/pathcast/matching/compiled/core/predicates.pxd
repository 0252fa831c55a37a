cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.keywords cimport KeywordIndex
from pathcast.matching.compiled.core.string_functions cimport StringFunctions
from pathcast.matching.compiled.core.strings cimport StringTable
from pathcast.vectors cimport IntVector

cdef enum ComparisonOp:
    EQUAL = 0
    DIFFERENT = 1
    LESS = 2
    LESS_OR_EQUAL = 3
    GREATER = 4
    GREATER_OR_EQUAL = 5

cdef enum ValueTestKind:
    STRING_TEST = 0
    NUMBER_TEST = 1
    KEYWORD_TEST = 2
    FUNCTION_TEST = 3  # no test: string functions, tests of whose result follow

cdef enum:
    NOT_A_NUMBER = -1  # the rank of a value that is no number


# A value test that is not an equality. A numeric test compares with the rank of its constant, a
# string test with the number of its operand.
cdef struct RangeTest:
    int32_t state  # the target of its edge
    int32_t op
    int32_t numeric
    int32_t operand


@cython.final
cdef class ValueIndex:
    cdef KeywordIndex keywords
    cdef StringTable strings
    cdef StringFunctions functions
    cdef IntVector function_labels  # chain of functions -> the label of its edge
    cdef IntVector string_labels
    cdef IntVector number_labels
    cdef double *constants
    cdef int32_t constant_count
    cdef int32_t rank_of_text(self, const char *text, Py_ssize_t size) noexcept nogil
    cdef int32_t rank(self, double value) noexcept nogil
    cdef int32_t operand(self, tuple test) except -1
    cdef RangeTest range_test(self, int32_t state, tuple test) except *


cdef bint holds(const RangeTest *test, int32_t string, int32_t rank) noexcept nogil


cdef inline bint span_passes(
    int32_t op, int32_t operand, int32_t smallest, int32_t largest
) noexcept nogil:
    """Return whether a rank of a span passes a comparison; of an empty one, none does."""
    if op == LESS:
        return smallest < operand
    if op == LESS_OR_EQUAL:
        return smallest <= operand
    if op == GREATER:
        return largest > operand
    return largest >= operand
