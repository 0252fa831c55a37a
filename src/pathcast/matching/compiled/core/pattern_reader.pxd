from libc.stdint cimport int32_t, int64_t

from pathcast.matching.compiled.core.pattern_arena cimport PatternArena

cdef enum OperandKind:
    UNSUPPORTED = 0  # the text is left to the XPath parser
    NODE_SET = 1
    NUMBER = 2
    STRING = 3
    BOOLEAN = 4
    COUNT = 5
    LENGTH = 6
    POSITION = 7
    LAST = 8


# A part of an expression: its type, and what a comparison with it needs.
cdef struct Operand:
    int32_t kind
    int32_t first  # NODE_SET, COUNT, LENGTH: the start of its paths in `lists`; BOOLEAN: condition
    int32_t second  # NODE_SET, LENGTH: the number of paths; STRING, NUMBER: the size
    int32_t chars  # STRING, NUMBER: the start in `chars`


cdef class PatternReader(PatternArena):
    cdef const unsigned char *_text
    cdef Py_ssize_t _length
    cdef Py_ssize_t _at
    cdef int32_t _depth  # of open brackets
    cdef int32_t _open_predicates
    cdef dict _namespaces
    cdef readonly int32_t root  # the condition that was read
    cdef bint _has_namespaces
    cdef bint _read_bytes(self, bytes text) except -1
    cdef void _skip_space(self) noexcept
    cdef bint _take(self, unsigned char byte) noexcept
    cdef bint _take_word(self, const char *word, Py_ssize_t size) noexcept
    cdef Operand _read_or(self) except *
    cdef Operand _read_chain(self, int32_t kind) except *
    cdef Operand _read_comparison(self) except *
    cdef int32_t _comparison_operator(self) noexcept
    cdef Operand _compare(self, Operand left, int32_t op, Operand right) except *
    cdef Operand _compare_position(self, Operand left, int32_t op, Operand right) except *
    cdef Operand _read_operand(self) except *
    cdef Operand _read_number(self, bint negative) except *
    cdef Operand _read_literal(self) except *
    cdef Operand _read_call(self, Py_ssize_t start, Py_ssize_t end) except *
    cdef Operand _read_search(self, int32_t value_kind) except *
    cdef Operand _read_union(self) except *
    cdef int32_t _read_path(self) except -2
    cdef bint _read_step(self, bint *deep) except -1
    cdef int32_t _read_test(self) except -2
    cdef int32_t _read_name(self) except -2
    cdef bint _read_predicates(self, bint attribute) except -1
    cdef int32_t _predicate(self, Operand operand) except -2
    cdef int32_t _truth(self, Operand operand) except -2
    cdef int32_t _string_test(self, int32_t path, int32_t value) except -2
    cdef int32_t _add_value(
        self, int32_t kind, int32_t op, int32_t chars, int32_t size
    ) except -1
    cdef bint _holds_for_empty(self, int32_t value) except -1
    cdef int64_t _small_integer(self, Operand operand) noexcept
