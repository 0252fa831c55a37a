"""The shared index of value tests: what a string-value is, as far as any subscription asks.

All values that no test can tell apart are of one class, by two small numbers:

- `string`: the number of the value among the strings that some test is (un)equal to, -1 if it is none of them;
- `place`: where it lies among the constants that some numeric test compares with, in order: 2i+1 is the
  constant i itself, 2i lies just below it, -1 is not a number.

So a value is looked up once, by hash and by binary search, whatever the number of tests; which tests a class
satisfies is worked out when it is met first, and remembered like any other transition. Equalities are found by
their labels; for the others the tests of a state are kept in an order in which those that hold come first.

>>> ten, twenty = (10.0).hex(), (20.0).hex()
>>> values = Values([("number", ">", ten), ("number", "<=", twenty), ("string", "=", "x")], [4, 12, 20])
>>> [values.kind(text) for text in ("x", " 10 ", "15", "99", "")]
[(0, -1), (-1, 1), (-1, 2), (-1, 4), (-1, -1)]
"""

from libc.math cimport isnan
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from pathcast.matching.compiled.core.numbers cimport number_of
from pathcast.matching.compiled.core.strings cimport string_add, string_number, strings_bytes, strings_drop
from pathcast.vectors cimport free_vector, push

_OPS = {"=": EQUAL, "!=": DIFFERENT, "<": LESS, "<=": LESS_OR_EQUAL, ">": GREATER, ">=": GREATER_OR_EQUAL}


cdef class Values:
    """The values that the tests of one automaton ask for."""

    def __cinit__(self):
        self.constants = NULL

    def __init__(self, list tests, list labels):
        """Tests as (kind, op, operand), and the label of the edge that each of them has.

        The operand of a numeric test is the number's `float.hex`, so that no bit of it is lost; it is not NaN.
        """
        cdef int32_t index
        constants = sorted({float.fromhex(operand) for kind, _, operand in tests if kind == "number"})
        self.constants = <double *>calloc(max(1, len(constants)), sizeof(double))
        if self.constants == NULL:
            raise MemoryError
        self.constant_count = <int32_t>len(constants)
        for index in range(self.constant_count):
            self.constants[index] = constants[index]
            push(&self.number_labels, -1)
        for (kind, op, operand), label in zip(tests, labels, strict=True):
            if kind == "number":
                if op == "=":
                    self.number_labels.at[self.rank(float.fromhex(operand)) >> 1] = label
                continue
            text = operand.encode()
            index = string_add(&self.strings, text, len(text), 0)
            if index == self.string_labels.size:
                push(&self.string_labels, -1)
            if op == "=":
                self.string_labels.at[index] = label

    def __dealloc__(self):
        strings_drop(&self.strings)
        free_vector(&self.string_labels)
        free_vector(&self.number_labels)
        free(self.constants)

    def kind(self, str text not None):
        """The class of a value: (string, place)."""
        cdef bytes encoded = text.encode()
        cdef int32_t string = string_number(&self.strings, encoded, len(encoded), 0)
        return string, self.place(encoded, len(encoded))

    cdef int32_t place(self, const char *text, Py_ssize_t length) noexcept nogil:
        """Where a value lies among the constants."""
        return self.rank(number_of(text, length)) if self.constant_count else NOWHERE

    cdef int32_t rank(self, double value) noexcept nogil:
        """Where a number lies among the constants; found without branches, which would be guessed wrong half of the time."""
        cdef int32_t low = 0, count = self.constant_count, half
        if isnan(value) or count == 0:
            return NOWHERE
        while count > 1:
            half = count >> 1
            low += half * (self.constants[low + half - 1] < value)
            count -= half
        low += self.constants[low] < value
        return 2 * low + (low < self.constant_count and self.constants[low] == value)

    cdef int32_t operand(self, tuple test) except -1:
        """The operand of a test: the number of a string << 1, or the rank of a constant << 1 | 1."""
        cdef bytes text
        kind, _, operand = test
        if kind == "number":
            return self.rank(float.fromhex(operand)) << 1 | 1
        text = operand.encode()
        return string_number(&self.strings, text, len(text), 0) << 1

    cdef Range ranged(self, int32_t state, tuple test) except *:
        """A test that is not an equality."""
        cdef int32_t operand = self.operand(test)
        return Range(state, _OPS[test[1]], operand & 1, operand >> 1)

    @property
    def memory(self):
        """Bytes."""
        return strings_bytes(&self.strings) + 12 * self.constant_count + 4 * self.string_labels.capacity


cdef bint holds(const Range *test, int32_t string, int32_t place) noexcept nogil:
    """Whether a value of this class passes."""
    if not test.numeric:
        return string != test.operand
    if test.op == DIFFERENT:
        return place != test.operand
    if place == NOWHERE:
        return False
    if test.op == LESS:
        return place < test.operand
    if test.op == LESS_OR_EQUAL:
        return place <= test.operand
    if test.op == GREATER:
        return place > test.operand
    return place >= test.operand
