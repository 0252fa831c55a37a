from libc.stdint cimport int32_t, int64_t, uint32_t

from pathcast.covering.published_indexes.factorization_tree cimport FactorizationTree
from pathcast.covering.core.twigs cimport TwigBloom, FlatTwig
from pathcast.vectors cimport IntMap, IntVector


cdef struct IdSpan:
    const int32_t *at
    Py_ssize_t size


cdef struct IdSpans:
    IdSpan *at
    Py_ssize_t size
    Py_ssize_t room


cdef class FactorizationIndex(FactorizationTree):
    cdef readonly int32_t scan_limit
    cdef readonly int64_t looked_at  # nodes of the tree compared with nodes of twigs, so far
    # room for a search
    cdef FlatTwig _query
    cdef int32_t _star
    cdef TwigBloom *_needs  # for each node of the query what it asks for from there on
    cdef unsigned char *_topmost  # for each node of the query whether only its topmost places matter
    cdef bint _downwards
    cdef const unsigned char *_wanted
    cdef uint32_t *_asked_in
    cdef uint32_t _search
    cdef IntVector _direct
    cdef uint32_t *_stamps
    cdef int32_t *_counts
    cdef int32_t _stamp_room
    cdef uint32_t _stamp
    cdef IntMap _memo
    cdef IdSpans _results
    cdef IdSpans _pending
    cdef void **_blocks
    cdef int32_t _block_count
    cdef int32_t *_block
    cdef Py_ssize_t _block_left

    cdef int _prepare(self, labels, parents, descendant, flags, bint downwards) except -1
    cdef int _ask(self, int32_t node) except -1
    cdef object _answer(self, const IdSpan *found)
    cdef int32_t *_take(self, Py_ssize_t count) except NULL
    cdef int _merge(self, Py_ssize_t start, IdSpan *out) except -1
    cdef int _below(self, int32_t node, int32_t asked, IdSpan *out) except -1
    cdef int _at(self, int32_t node, int32_t asked) except -1
    cdef int _branches(self, int32_t node, int32_t asked, IdSpan *out) except -1
    cdef int _descend(self, int32_t node, int32_t asked) except -1
    cdef int _jump(self, int32_t node, int32_t asked) except -1
    cdef int32_t _named_child(self, int32_t asked) noexcept
    cdef int _jump_above(self, int32_t node, int32_t asked, int32_t child) except -1
    cdef int _above(self, int32_t node, int32_t place, IdSpan *out) except -1
    cdef int _child_at(self, int32_t child, int32_t place, int32_t label) except -1
    cdef int _join(self, int32_t node, Py_ssize_t start, IdSpan *out) except -1
    cdef int32_t _degree(self, int32_t number, int32_t node) noexcept
