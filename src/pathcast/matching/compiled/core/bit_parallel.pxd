cimport cython
from libc.stdint cimport int32_t, uint64_t

from pathcast.matching.compiled.core.labels cimport LinearPaths
from pathcast.matching.compiled.core.names cimport NameCache, NameTable
from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.vectors cimport IntMap, IntVector


@cython.final
cdef class BitParallelPaths:
    cdef NameTable names
    cdef IntMap rows  # name or namespace -> row of `passes`
    cdef readonly int32_t words
    cdef readonly int32_t largest_number
    cdef readonly int32_t largest_hop
    # bit masks over all steps of all paths, in rows of `words` words
    cdef uint64_t *masks  # the rows of the enum in bit_parallel.pyx
    cdef uint64_t *passes  # the steps whose test a name passes; row 0: every unknown name
    cdef IntVector row_codes
    cdef bint tests_namespaces
    cdef IntVector numbers  # bit of a last step -> subscription number
    cdef IntVector hops
    cdef int _assign_bits(
        self, LinearPaths paths, const int32_t *numbers, Py_ssize_t count, IntVector *starts
    ) except -1
    cdef int _set_masks(
        self, LinearPaths paths, const int32_t *numbers, Py_ssize_t count, const IntVector *starts
    ) except -1
    cdef int _choose_names(self, LinearPaths paths, CompiledNfa main_nfa) except -1
    cdef int32_t _row(self, int32_t code) noexcept nogil
    cdef void _inherit_passes(self) noexcept nogil
    cdef void _merge_row(self, int32_t row, int32_t other) noexcept nogil


@cython.final
cdef class BitParallelTraversal:
    cdef NameCache name_cache
    cdef BitParallelPaths paths
    cdef uint64_t *active  # by depth: the steps that the open element there matches
    cdef uint64_t *active_above  # by depth: the steps that it or an ancestor matches
    cdef Py_ssize_t capacity
    cdef uint64_t *matched  # last steps that any element matches
    cdef int bind(self, BitParallelPaths paths) except -1
    cdef int run(self, NodeTable nodes, const int32_t *symbols) except -1 nogil
    cdef int _reserve(self, Py_ssize_t words) except -1 nogil
