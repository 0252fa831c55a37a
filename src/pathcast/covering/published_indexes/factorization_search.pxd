from libc.stdint cimport int32_t, int64_t, uint32_t

from pathcast.covering.core.twigs cimport FlatTwig, TwigBloom
from pathcast.covering.published_indexes.factorization_tree cimport FactorizationTree
from pathcast.vectors cimport IntMap, IntVector


cdef struct IdSpan:  # a set of twig ids, owned by the tree or by a block of the search
    const int32_t *at
    Py_ssize_t size


cdef struct IdSpans:
    IdSpan *at
    Py_ssize_t size
    Py_ssize_t room


cdef class FactorizationIndex(FactorizationTree):
    cdef readonly int32_t scan_limit
    cdef readonly int64_t looked_at  # tree nodes compared with query nodes so far
    # state of one search
    cdef FlatTwig _query
    cdef int32_t _star
    cdef TwigBloom *_required  # for each query node the bits of its subtree
    cdef unsigned char *_topmost  # for each query node whether its topmost images suffice
    cdef bint _query_is_wide
    cdef const unsigned char *_wanted  # flags by twig id, or NULL
    cdef uint32_t *_scanned_in  # for each twig id the last search that tested it directly
    cdef uint32_t _search_id
    cdef IntVector _scan_hits  # ids that passed the direct test
    cdef uint32_t *_stamps  # for each twig id the last set operation that saw it
    cdef int32_t *_counts  # for each twig id its branches that are still open
    cdef int32_t _stamp_room
    cdef uint32_t _stamp
    cdef IntMap _memo  # (tree node, query node) -> index into _results
    cdef IdSpans _results
    cdef IdSpans _pending  # a stack of sets for the current union or join
    cdef void **_blocks  # memory of the sets
    cdef int32_t _block_count
    cdef int32_t *_block
    cdef Py_ssize_t _block_left

    cdef int _prepare(self, labels, parents, descendant, flags, bint query_is_wide) except -1
    cdef int _scan_twigs(self, int32_t node) except -1
    cdef object _to_array(self, const IdSpan *ids)
    cdef int32_t *_allocate(self, Py_ssize_t count) except NULL
    cdef int _union(self, Py_ssize_t start, IdSpan *out) except -1
    cdef int _covered_below(self, int32_t node, int32_t query_node, IdSpan *out) except -1
    cdef int _push_matches(self, int32_t node, int32_t query_node) except -1
    cdef int _covered_with_children(self, int32_t node, int32_t query_node, IdSpan *out) except -1
    cdef int _walk_descendants(self, int32_t node, int32_t query_node) except -1
    cdef int _jump_to_label(self, int32_t node, int32_t query_node) except -1
    cdef int32_t _named_child(self, int32_t query_node) noexcept
    cdef int _jump_to_parents(self, int32_t node, int32_t query_node, int32_t child) except -1
    cdef int _covering_at(self, int32_t node, int32_t query_node, IdSpan *out) except -1
    cdef int _push_covering(self, int32_t child, int32_t query_node, int32_t label) except -1
    cdef int _join_branches(self, int32_t node, Py_ssize_t start, IdSpan *out) except -1
    cdef int32_t _degree_at(self, int32_t id, int32_t node) noexcept
