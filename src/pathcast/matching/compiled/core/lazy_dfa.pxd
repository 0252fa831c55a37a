cimport cython
from libc.stdint cimport int32_t, uint64_t

from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.matching.compiled.core.path_table cimport PathTable
from pathcast.matching.compiled.core.state_set_table cimport StateSetTable
from pathcast.vectors cimport IntMap, IntVector


# The sizes of both tables at a moment; `LazyDfa.release` truncates them to it.
cdef struct Watermark:
    Py_ssize_t paths
    Py_ssize_t path_ints
    Py_ssize_t set_lists
    Py_ssize_t sets
    Py_ssize_t set_ints


@cython.final
cdef class LazyDfa:
    cdef readonly CompiledNfa nfa
    cdef readonly PathTable paths
    cdef readonly StateSetTable sets
    cdef IntMap transitions  # (path, symbol) -> path
    cdef IntMap loop_sets  # (path with loops, symbol) -> state set, 0 if it is empty
    cdef readonly Py_ssize_t limit  # memo bound, in ints
    cdef bint limit_by_size  # the bound grows with the NFA
    cdef bint caching  # new paths stay; False once a document exceeds the bound
    cdef uint64_t serial  # unique among all lazy DFAs and rebindings of the process
    cdef int32_t value_string  # the value that `advance` tests: its number among the operands
    cdef int32_t value_rank  # and its rank among the numeric constants
    cdef int32_t value_label  # the label of a keyword that it contains, or of string functions
    cdef readonly uint64_t hits
    cdef readonly uint64_t misses
    cdef readonly uint64_t flushes
    cdef readonly uint64_t work
    cdef IntVector reached_sets
    cdef IntVector candidates

    cdef int rebind(self, CompiledNfa nfa) except -1
    cdef int flush(self) except -1 nogil
    cdef int start_document(self) except -1 nogil
    cdef int32_t advance(self, int32_t path, int32_t symbol) except -1 nogil
    cdef Watermark watermark(self) noexcept nogil
    cdef void release(self, Watermark mark) noexcept nogil
    cdef Py_ssize_t _size_in_ints(self) noexcept nogil
    cdef int _tests_of(self, int32_t symbol, int32_t *tests) noexcept nogil
    cdef int _follow_child_edges(
        self, int32_t path, const int32_t *tests, int count
    ) except -1 nogil
    cdef int _follow(
        self,
        const int32_t *pairs,
        int32_t pair_count,
        const int32_t *tests,
        int count,
        int32_t edge,
    ) except -1 nogil
    cdef int _follow_attribute_edges(
        self, int32_t path, const int32_t *tests, int count
    ) except -1 nogil
    cdef int _follow_value_edges(self, int32_t path, int32_t kind) except -1 nogil
    cdef int _follow_ranges(self, int32_t at, int32_t end, bint numeric) except -1 nogil
    cdef int32_t _loop_set(
        self, int32_t path, int32_t symbol, const int32_t *tests, int count
    ) except -1 nogil
