cimport cython
from libc.stdint cimport int32_t

from pathcast.matching.compiled.core.strings cimport StringTable
from pathcast.matching.compiled.core.trie cimport Trie
from pathcast.matching.compiled.core.twigs cimport PlanTarget, TwigIndex
from pathcast.vectors cimport IntVector


# A node of a twig under construction. Drafts refer to each other by number.
cdef struct DraftNode:
    int32_t state
    int32_t guard
    int32_t edge  # to the node above, as in `SemiJoin`
    int32_t first_child  # or NO_DRAFT
    int32_t next_sibling  # or NO_DRAFT


cdef enum:
    NO_DRAFT = -1


@cython.final
cdef class TwigBuilder:
    cdef Trie trie
    cdef TwigIndex twigs
    cdef DraftNode *drafts  # of the current twig
    cdef Py_ssize_t draft_count
    cdef Py_ssize_t draft_capacity
    cdef PlanTarget *targets  # of the current plan
    cdef Py_ssize_t target_count
    cdef Py_ssize_t target_capacity
    cdef IntVector branch_points  # of the current plan
    cdef IntVector key  # scratch space
    cdef StringTable keys  # of twig nodes
    cdef IntVector key_semijoins  # by key
    cdef const int32_t *add_paths(
        self, int32_t entry, int32_t count, const int32_t *codes, bint needs_evaluation
    ) except NULL
    cdef const int32_t *add_twig(self, int32_t entry, const int32_t *codes) except NULL
    cdef int _add_plan(self, int32_t entry, int32_t twig, bint needs_evaluation) except -1
    cdef int32_t _rarity_of(self, const PlanTarget *target) noexcept
    cdef int32_t _rarity(self, int32_t state, int32_t guard) noexcept
    cdef int _add_target(self, PlanTarget target) except -1
    cdef PlanTarget _add_end(self, int32_t state, const int32_t *path) except *
    cdef int32_t _add_draft(
        self, int32_t state, int32_t guard, int32_t edge, int32_t child
    ) except -1
    cdef int32_t _draft_children(self, int32_t upper, const int32_t **codes) except -2
    cdef int32_t _draft_branch(self, int32_t upper, const int32_t **codes) except -1
    cdef int32_t _draft_edge(self, int32_t draft, int32_t upper) except -1
    cdef int32_t _required_part(self, int32_t draft) except -2
    cdef bint _has_one_child(self, int32_t draft) noexcept
    cdef bint _has_branch_point(self, int32_t draft) noexcept
    cdef bint _reached_once(self, int32_t state) noexcept
    cdef int32_t _store(self, int32_t draft, bint is_root) except -1
    cdef int32_t _sort_children(self, int32_t draft) noexcept
    cdef bint _comes_before(self, int32_t first, int32_t second) noexcept
    cdef int32_t _node_semijoin(self, int32_t node, int32_t leaf, int32_t edge) except -1
