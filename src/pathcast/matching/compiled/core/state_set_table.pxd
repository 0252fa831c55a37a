cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.vectors cimport IntVector


# A set of NFA states that one transition reached, split hot/cold: every document that contains a
# label path of the set reads `StateSetHot`, only a memo miss reads `StateSetCold`.
#
# The contents of a set lie in `ints`, one run after the other: child pairs, named loops, wildcard
# loops, side states, subscription numbers, next hops (if there are any), twig leaves. The leaves
# begin with the count of join leaves, which come first.
cdef struct StateSetHot:
    uint32_t stamp  # epoch of the last document that reached the set
    int32_t number_count
    int32_t leaf_size  # leaves and their leading count; 0: no leaves
    int32_t path_chain  # head of the chain of this document's paths that have the set
    int64_t numbers_at
    int32_t hop_mask  # offset in `hop_masks`, -1: not computed
    uint32_t hop_mask_version


# A pair is the first successor of a state and its edge word: the Bloom filter of the tests on its
# edges and the number of its successors (see `nfa.pxd`).
cdef struct StateSetCold:
    int64_t at
    int32_t child_pairs  # states with child edges
    int32_t named_loops  # pairs of looping states reached by a name test
    int32_t wildcard_loops  # pairs of looping states reached by any other test
    int32_t side_states  # states with attribute or value edges
    uint32_t flags
    uint32_t child_bloom  # union of the Bloom filters of all child edges


@cython.final
cdef class StateSetTable:
    cdef readonly CompiledNfa nfa
    cdef StateSetHot *hot
    cdef StateSetCold *cold
    cdef Py_ssize_t count
    cdef Py_ssize_t hot_capacity
    cdef Py_ssize_t cold_capacity
    cdef IntVector ints
    cdef uint64_t *hop_masks
    cdef Py_ssize_t hop_mask_size
    cdef Py_ssize_t hop_mask_capacity
    cdef int32_t hop_words  # words of a hop mask; 0: no subscription has a next hop
    # the set under construction
    cdef IntVector child_pairs
    cdef IntVector named_loops
    cdef IntVector wildcard_loops
    cdef IntVector side_states
    cdef IntVector numbers
    cdef IntVector hops
    cdef IntVector join_leaves
    cdef IntVector leaves
    cdef uint32_t flags
    cdef uint32_t child_bloom

    cdef int bind(self, CompiledNfa nfa) except -1
    cdef int clear(self, bint shrink) except -1 nogil
    cdef int add_state(self, int32_t state) except -1 nogil
    cdef int32_t finish(self) except -1 nogil
    cdef const int32_t *side_states_of(self, const StateSetCold *state_set) noexcept nogil
    cdef const int32_t *leaves_of(self, const StateSetHot *state_set) noexcept nogil
    cdef int collect_hops(
        self,
        int32_t state_set,
        const uint64_t *alive,
        uint32_t version,
        bint caching,
        uint64_t *hops,
    ) except -1 nogil
    cdef void _unite_hops(
        self, const StateSetHot *state_set, const uint64_t *alive, uint64_t *hops
    ) noexcept nogil
