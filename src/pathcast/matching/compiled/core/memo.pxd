from libc.stdint cimport int32_t, int64_t, uint64_t

from pathcast.matching.compiled.core.automaton cimport Automaton
from pathcast.matching.compiled.core.label_paths cimport LabelPaths
from pathcast.vectors cimport IntMap, IntVector


cdef struct Mark:
    Py_ssize_t nodes
    Py_ssize_t segments
    Py_ssize_t ints
    Py_ssize_t lists


cdef class Memo(LabelPaths):
    cdef IntMap following  # (node, code) -> node
    cdef IntMap jumps  # (node, code) -> segment, or 0
    cdef readonly Py_ssize_t limit
    cdef bint by_size
    cdef uint64_t serial  # no two that ever were have the same
    cdef readonly uint64_t hits
    cdef readonly uint64_t misses
    cdef readonly uint64_t flushes
    cdef readonly uint64_t work
    cdef IntVector jumped
    cdef IntVector picked

    cdef int serve(self, Automaton automaton) except -1
    cdef int forget(self) except -1 nogil
    cdef int prepare(self) except -1 nogil
    cdef int32_t advance(self, int32_t node, int32_t code) except -1 nogil
    cdef Mark mark(self) noexcept nogil
    cdef void release(self, Mark mark) noexcept nogil
    cdef Py_ssize_t _weight(self) noexcept nogil
    cdef int _tests(self, int32_t code, int32_t *tests) noexcept nogil
    cdef int _step(self, int32_t node, const int32_t *tests, int count) except -1 nogil
    cdef int _follow(
        self, int64_t at, int32_t pairs, const int32_t *tests, int count, int32_t edge
    ) except -1 nogil
    cdef int _attributes(self, int32_t node, const int32_t *tests, int count) except -1 nogil
    cdef int _values(self, int32_t node, bint numeric) except -1 nogil
    cdef int _ranges(self, int32_t at, int32_t end, bint numeric) except -1 nogil
    cdef int32_t _jump(
        self, int32_t node, int32_t code, const int32_t *tests, int count
    ) except -1 nogil
