from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.labels cimport Vocabulary
from pathcast.vectors cimport IntVector

# The kind of a condition, as in `pathcast.xpath.tree`.
cdef enum ConditionKind:
    EXISTS_CONDITION = 0
    FIRST_CONDITION = 1
    COUNT_CONDITION = 2
    VALUE_CONDITION = 3
    POSITION_CONDITION = 4
    AND_CONDITION = 5
    OR_CONDITION = 6
    NOT_CONDITION = 7

cdef enum ValueConditionKind:
    NUMBER_VALUE = 0
    STRING_VALUE = 1
    CONTAINS_VALUE = 2
    STARTS_WITH_VALUE = 3
    LENGTH_VALUE = 4

cdef enum StepAxis:
    CHILD_STEP = 0
    DESCENDANT_STEP = 1
    DESCENDANT_OR_SELF_STEP = 2
    ATTRIBUTE_STEP = 3


cdef struct ArenaCondition:
    int32_t kind
    int32_t positional
    int32_t first  # path; the start of the parts in `lists`; the negated part
    int32_t second  # FIRST: the value condition; AND, OR: the number of parts
    int32_t value_kind  # VALUE: a `ValueConditionKind`
    int32_t op  # VALUE, COUNT, POSITION: a `ComparisonOp`
    int32_t left_last  # POSITION: last() on the left, else position()
    int32_t right_last  # POSITION: last() on the right, else a number
    int32_t operand  # its start in `chars`
    int32_t operand_size


cdef struct ArenaStep:
    int32_t axis
    int32_t test  # its code in the vocabulary
    int32_t conditions  # their start in `lists`
    int32_t condition_count
    int32_t positional


cdef struct ArenaPath:
    int32_t absolute
    int32_t steps  # their start in `lists`
    int32_t step_count


cdef struct CharVector:
    char *at
    Py_ssize_t size
    Py_ssize_t capacity


cdef int write_chars(CharVector *chars, const char *text, Py_ssize_t size) except -1


cdef class PatternArena:
    cdef readonly Vocabulary vocabulary
    cdef ArenaCondition *conditions
    cdef Py_ssize_t condition_count
    cdef Py_ssize_t condition_capacity
    cdef ArenaStep *steps
    cdef Py_ssize_t step_count
    cdef Py_ssize_t step_capacity
    cdef ArenaPath *paths
    cdef Py_ssize_t path_count
    cdef Py_ssize_t path_capacity
    cdef IntVector lists
    cdef IntVector stack  # lists under construction
    cdef CharVector chars  # operands
    cdef CharVector texts  # of conditions that are being sorted
    cdef int clear(self) except -1
    cdef int32_t add_condition(self, ArenaCondition condition) except -1
    cdef int32_t add_step(
        self, int32_t axis, int32_t test, Py_ssize_t mark
    ) except -1
    cdef int32_t add_path(self, bint absolute, Py_ssize_t mark) except -1
    cdef int32_t pop_list(self, Py_ssize_t mark) except -1
    cdef int32_t existence(self, int32_t path, int32_t value) except -1
    cdef int32_t selection(self, int32_t path) except -1
    cdef int32_t connect(self, int32_t kind, Py_ssize_t mark) except -1
    cdef int32_t negate(self, int32_t part) except -1
    cdef int _push_run(self, const int32_t *conditions, int32_t count) except -1
    cdef int _sort_distinct(self, Py_ssize_t mark) except -1
    cdef int32_t _canonical_step(self, int32_t step, int32_t value) except -1
    cdef int _prepend_step(self, int32_t step, Py_ssize_t mark) except -1
    cdef bint _is_double_slash(self, int32_t step) noexcept nogil
    cdef bint _is_relative_existence(self, int32_t condition) noexcept nogil
    cdef str text_of(self, int32_t condition, dict prefixes, bint top)
    cdef int _write(self, bytes text) except -1
    cdef int _write_condition(self, int32_t condition, dict prefixes, bint top) except -1
    cdef int _write_value(
        self, const ArenaCondition *value, int32_t path, dict prefixes
    ) except -1
    cdef int _write_path(self, int32_t path, dict prefixes) except -1
    cdef int _write_predicate(self, int32_t condition, dict prefixes) except -1
    cdef int _write_test(self, int32_t test, dict prefixes) except -1
    cdef int _write_operand(self, const ArenaCondition *condition, bint quoted) except -1
