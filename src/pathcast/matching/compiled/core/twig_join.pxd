from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.matching.compiled.core.traversal cimport Traversal
from pathcast.matching.compiled.core.twigs cimport TwigIndex
from pathcast.vectors cimport IntVector


# The nodes that a join edge or a join node yields, valid in the document of the stamp.
cdef struct JoinResult:
    uint32_t stamp
    int32_t at  # in `results`
    int32_t count


cdef class TwigJoin:
    cdef Traversal traversal
    cdef TwigIndex twigs
    cdef NodeTable nodes
    cdef JoinResult *edge_results
    cdef JoinResult *node_results
    cdef IntVector results
    cdef IntVector marks  # row -> `serial` of the last pass that marked it
    cdef int32_t serial
    cdef readonly uint64_t work

    cdef int start_document(self) except -1 nogil
    cdef bint has_match(self, int32_t join_node) except -1 nogil
    cdef int _join(self, int32_t join_node) except -1 nogil
    cdef int _follow_edge(self, int32_t edge) except -1 nogil
    cdef int _ancestors_of_leaf(self, int32_t leaf, int32_t levels) except -1 nogil
    cdef int _add_result(self, int32_t row) except -1 nogil
    cdef int _list_leaf(self, int32_t leaf) except -1 nogil
    cdef int _climb(self, int32_t start, int32_t levels) except -1 nogil
    cdef int _filter_by_ancestor(self, int32_t start, int32_t leaf) except -1 nogil
