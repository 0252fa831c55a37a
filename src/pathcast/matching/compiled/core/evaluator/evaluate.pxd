"""Conditions on one document; see evaluate.pyx."""

cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.evaluator.compiled cimport Condition
from pathcast.matching.compiled.core.evaluator.joins cimport Joins


@cython.final
cdef class Evaluation(Joins):
    cdef bint ask(self, int32_t handle) except -1 nogil
    cdef bint _at_document(self, int32_t number) except -1 nogil
    cdef Py_ssize_t _judge(self, int32_t number, int32_t *nodes, Py_ssize_t count) except -1 nogil
    cdef Py_ssize_t _values(
        self, const Condition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _and(
        self, const Condition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _or(
        self, const Condition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _not(
        self, const Condition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef Py_ssize_t _selecting(
        self, const Condition *condition, int32_t *nodes, Py_ssize_t count
    ) except -1 nogil
    cdef bint _is(self, int32_t node, int32_t stream) noexcept nogil
    cdef bint _true_of(self, const Condition *condition, int32_t node) except -1 nogil
