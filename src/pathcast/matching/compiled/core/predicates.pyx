"""The shared index of value predicates: it maps a string-value to its value class.

Two values are in one class if no test tells them apart. Two small ints identify the class:

- `string`: the number of the value among the operands of string tests, -1 if it is none of them;
- `rank`: its position among the sorted constants of numeric tests. 2i+1 is constant i itself, 2i
  lies between constant i-1 and constant i, -1 is not a number.

`contains` and `starts-with` tests do not take part in the class: a value passes any number of them
(see `keywords`). A chain of string functions is an edge of its own: the tests behind it take the
result of the functions as their value, which is computed once for all of them.

So a value costs one hash look-up and one binary search, whatever the number of tests. The lazy DFA
computes the tests that a class satisfies once, and caches them like any other transition. It finds
equalities by label; the other tests of a state are sorted so that those that hold come first.

>>> ten, twenty = (10.0).hex(), (20.0).hex()
>>> tests = [("number", ">", ten), ("number", "<=", twenty), ("string", "=", "x")]
>>> values = ValueIndex(tests, [4, 12, 20])
>>> [values.value_class(text) for text in ("x", " 10 ", "15", "99", "")]
[(0, -1), (-1, 1), (-1, 2), (-1, 4), (-1, -1)]
"""

import json

from libc.math cimport isnan
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from pathcast.matching.compiled.core.keywords cimport KeywordIndex
from pathcast.matching.compiled.core.numbers cimport number_of
from pathcast.matching.compiled.core.string_functions cimport StringFunctions
from pathcast.matching.compiled.core.strings cimport (
    add_string,
    find_string,
    free_strings,
    strings_bytes,
)
from pathcast.vectors cimport free_vector, push

_OPS = {
    "=": EQUAL,
    "!=": DIFFERENT,
    "<": LESS,
    "<=": LESS_OR_EQUAL,
    ">": GREATER,
    ">=": GREATER_OR_EQUAL,
}


cdef class ValueIndex:
    """The operands of the value tests of one NFA; immutable."""

    def __cinit__(self):
        self.constants = NULL

    def __init__(self, list tests, list labels):
        """Index tests, each (kind, op, operand), whose edges have the given labels.

        The operand of a numeric test is the number's `float.hex`, which is exact; it is not NaN.
        """
        cdef int32_t index
        constants = sorted(
            {float.fromhex(operand) for kind, _, operand in tests if kind == "number"}
        )
        self.constants = <double *>calloc(max(1, len(constants)), sizeof(double))
        if self.constants == NULL:
            raise MemoryError
        self.constant_count = <int32_t>len(constants)
        self.keywords = KeywordIndex(tests, labels)
        self.functions = StringFunctions()
        for index in range(self.constant_count):
            self.constants[index] = constants[index]
            push(&self.number_labels, -1)
        for (kind, op, operand), label in zip(tests, labels, strict=True):
            if kind == "number":
                if op == "=":
                    self.number_labels.at[self.rank(float.fromhex(operand)) >> 1] = label
                continue
            if kind == "functions":
                self.functions.add(json.loads(operand))
                push(&self.function_labels, label)
            if kind != "string":
                continue
            text = operand.encode()
            index = add_string(&self.strings, text, len(text), 0)
            if index == self.string_labels.size:
                push(&self.string_labels, -1)
            if op == "=":
                self.string_labels.at[index] = label

    def __dealloc__(self):
        free_strings(&self.strings)
        free_vector(&self.string_labels)
        free_vector(&self.number_labels)
        free_vector(&self.function_labels)
        free(self.constants)

    def value_class(self, str text not None):
        """Return the class of a value, (string, rank); for tests."""
        cdef bytes encoded = text.encode()
        cdef int32_t string = find_string(&self.strings, encoded, len(encoded), 0)
        return string, self.rank_of_text(encoded, len(encoded))

    cdef int32_t rank_of_text(self, const char *text, Py_ssize_t size) noexcept nogil:
        """Return the rank of a string-value."""
        return self.rank(number_of(text, size)) if self.constant_count else NOT_A_NUMBER

    cdef int32_t rank(self, double value) noexcept nogil:
        """Return the rank of a number, by branchless binary search."""
        cdef int32_t low = 0, count = self.constant_count, half
        if isnan(value) or count == 0:
            return NOT_A_NUMBER
        while count > 1:
            half = count >> 1
            low += half * (self.constants[low + half - 1] < value)
            count -= half
        low += self.constants[low] < value
        return 2 * low + (low < self.constant_count and self.constants[low] == value)

    cdef int32_t operand(self, tuple test) except -1:
        """Return the operand of a test: its number << 2 | its `ValueTestKind`.

        The number is that of a string, a rank, a keyword or a chain of functions.
        """
        cdef bytes text
        cdef int32_t keyword
        kind, _, operand = test
        if kind == "number":
            return self.rank(float.fromhex(operand)) << 2 | NUMBER_TEST
        if kind == "string":
            text = operand.encode()
            return find_string(&self.strings, text, len(text), 0) << 2 | STRING_TEST
        if kind == "functions":
            return self.functions.add(json.loads(operand)) << 2 | FUNCTION_TEST
        keyword = self.keywords.number(kind, operand)
        return keyword << 2 | KEYWORD_TEST

    cdef RangeTest range_test(self, int32_t state, tuple test) except *:
        """Return a test that is not an equality, with the target of its edge."""
        cdef int32_t operand = self.operand(test)
        return RangeTest(state, _OPS[test[1]], operand & 3 == NUMBER_TEST, operand >> 2)

    @property
    def memory(self):
        """The memory of the index, in bytes."""
        return (
            strings_bytes(&self.strings)
            + 12 * self.constant_count
            + 4 * (self.string_labels.capacity + self.function_labels.capacity)
            + self.functions.memory
            + self.keywords.memory
        )


cdef bint holds(const RangeTest *test, int32_t string, int32_t rank) noexcept nogil:
    """Return whether a value of this class passes a test."""
    if not test.numeric:
        return string != test.operand
    if test.op == DIFFERENT:
        return rank != test.operand
    if rank == NOT_A_NUMBER:
        return False
    if test.op == LESS:
        return rank < test.operand
    if test.op == LESS_OR_EQUAL:
        return rank <= test.operand
    if test.op == GREATER:
        return rank > test.operand
    return rank >= test.operand
