cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.evaluator.sideways cimport SidewaysJoins
from pathcast.matching.compiled.core.evaluator.program cimport CompiledCondition
from pathcast.matching.compiled.core.strings cimport TextView


@cython.final
cdef class Evaluation(SidewaysJoins):
    cdef bint evaluate(self, int32_t handle) except -1 nogil
    cdef bint _holds_at_document(self, int32_t number) except -1 nogil
    cdef Py_ssize_t _filter_nodes(
        self, int32_t number, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _filter_by_value(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _filter_and(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _filter_or(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _filter_not(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _filter_by_selection(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef bint _passes_test(self, int32_t node, int32_t stream) noexcept nogil
    cdef bint _value_holds(
        self, const CompiledCondition *condition, int32_t node
    ) except -1 nogil
    cdef TextView _operand(self, int32_t number) noexcept nogil
