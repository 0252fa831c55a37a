"""Conditions on one document; see evaluate.pyx."""

cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.evaluator.program cimport CompiledCondition
from pathcast.matching.compiled.core.evaluator.joins cimport StepJoins


@cython.final
cdef class Evaluation(StepJoins):
    cdef bint evaluate(self, int32_t handle) except -1 nogil
    cdef bint _at_document(self, int32_t number) except -1 nogil
    cdef Py_ssize_t _filter_uncached(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef Py_ssize_t _filter_by_value(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _and(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _or(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _not(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _filter_by_selection(
        self, const CompiledCondition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef bint _passes_test(self, int32_t node, int32_t stream) noexcept nogil
    cdef bint _value_holds(self, const CompiledCondition *condition, int32_t node) except -1 nogil
