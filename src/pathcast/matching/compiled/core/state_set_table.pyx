"""The state sets of a lazy DFA: sets of NFA states, each reached by one transition.

`add_state` collects the states of the next set, `finish` stores it and returns its number. Set 0
is the empty set. The contents of all sets lie in one array; `clear` drops them all at once.

Hop masks are computed on demand. A mask is the union of the next hops of a set's live
subscriptions, valid for one `version` of the `alive` bits.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from pathcast.matching.compiled.core.nfa cimport (
    ATTRIBUTES,
    COUNT_OVERFLOW,
    NAMED,
    VALUES,
    CompiledNfa,
    NfaState,
)
from pathcast.vectors cimport append, free_vector, grow, push


cdef class StateSetTable:
    """The state sets of one NFA; used by one thread at a time."""

    def __cinit__(self):
        self.hot = NULL
        self.cold = NULL
        self.hop_masks = NULL

    def __dealloc__(self):
        free(self.hot)
        free(self.cold)
        free(self.hop_masks)
        free_vector(&self.ints)
        free_vector(&self.child_pairs)
        free_vector(&self.named_loops)
        free_vector(&self.wildcard_loops)
        free_vector(&self.side_states)
        free_vector(&self.numbers)
        free_vector(&self.hops)
        free_vector(&self.join_leaves)
        free_vector(&self.leaves)

    cdef int bind(self, CompiledNfa nfa) except -1:
        """Use another NFA; the caller clears the table."""
        self.nfa = nfa
        self.hop_words = (nfa.largest_hop >> 6) + 1  # -1 >> 6 is -1
        return 0

    cdef int clear(self, bint shrink) except -1 nogil:
        """Drop all sets but the empty one; `shrink` returns the memory, too."""
        if shrink:
            free_vector(&self.ints)
            free(self.hop_masks)
            self.hop_masks = NULL
            self.hop_mask_capacity = 0
        self.count = self.hop_mask_size = 0
        self.ints.size = 0
        self.finish()
        return 0

    cdef int add_state(self, int32_t state) except -1 nogil:
        """Add an NFA state to the set under construction."""
        cdef const NfaState *nfa_state = &self.nfa.states[state]
        cdef int32_t numbers
        cdef int32_t successors = (
            nfa_state.successor_count
            if nfa_state.successor_count < COUNT_OVERFLOW
            else COUNT_OVERFLOW
        )
        if nfa_state.child_bloom:
            self.child_bloom |= nfa_state.child_bloom
            push(&self.child_pairs, nfa_state.first_successor)
            push(&self.child_pairs, <int32_t>nfa_state.child_bloom | successors)
        if nfa_state.loop_bloom:
            if nfa_state.flags & NAMED:
                push(&self.named_loops, nfa_state.first_successor)
                push(&self.named_loops, <int32_t>nfa_state.loop_bloom | successors)
            else:
                push(&self.wildcard_loops, nfa_state.first_successor)
                push(&self.wildcard_loops, <int32_t>nfa_state.loop_bloom | successors)
        if nfa_state.flags & (ATTRIBUTES | VALUES):
            push(&self.side_states, state)
        numbers = self.nfa.states[state + 1].numbers_at - nfa_state.numbers_at
        if numbers:
            append(&self.numbers, self.nfa.numbers.at + nfa_state.numbers_at, numbers)
            if self.hop_words:
                append(&self.hops, self.nfa.hops.at + nfa_state.numbers_at, numbers)
        if nfa_state.leaf >= 0:
            push(
                &self.join_leaves if self.nfa.twigs.is_join_leaf[nfa_state.leaf] else &self.leaves,
                nfa_state.leaf,
            )
        self.flags |= nfa_state.flags & ~<uint32_t>NAMED
        return 0

    cdef int32_t finish(self) except -1 nogil:
        """Store the set under construction and return its number; 0 if it is empty."""
        cdef StateSetHot *hot
        cdef StateSetCold *cold
        cdef Py_ssize_t total = (
            self.child_pairs.size + self.named_loops.size + self.wildcard_loops.size
            + self.side_states.size + self.numbers.size + self.join_leaves.size + self.leaves.size
        )
        if total == 0 and self.count:
            return 0
        if self.count == self.hot_capacity:
            grow(<void **>&self.hot, &self.hot_capacity, self.count + 1, sizeof(StateSetHot))
        if self.count >= self.cold_capacity:
            grow(<void **>&self.cold, &self.cold_capacity, self.count + 1, sizeof(StateSetCold))
        hot = &self.hot[self.count]
        cold = &self.cold[self.count]
        memset(hot, 0, sizeof(StateSetHot))
        cold.at = self.ints.size
        cold.child_pairs = <int32_t>(self.child_pairs.size // 2)
        cold.named_loops = <int32_t>(self.named_loops.size // 2)
        cold.wildcard_loops = <int32_t>(self.wildcard_loops.size // 2)
        cold.side_states = <int32_t>self.side_states.size
        cold.flags = self.flags
        cold.child_bloom = self.child_bloom
        append(&self.ints, self.child_pairs.at, self.child_pairs.size)
        append(&self.ints, self.named_loops.at, self.named_loops.size)
        append(&self.ints, self.wildcard_loops.at, self.wildcard_loops.size)
        append(&self.ints, self.side_states.at, self.side_states.size)
        hot.numbers_at = self.ints.size
        hot.number_count = <int32_t>self.numbers.size
        hot.hop_mask = -1
        append(&self.ints, self.numbers.at, self.numbers.size)
        append(&self.ints, self.hops.at, self.hops.size)
        if self.join_leaves.size or self.leaves.size:
            hot.leaf_size = <int32_t>(1 + self.join_leaves.size + self.leaves.size)
            push(&self.ints, <int32_t>self.join_leaves.size)
            append(&self.ints, self.join_leaves.at, self.join_leaves.size)
            append(&self.ints, self.leaves.at, self.leaves.size)
            self.join_leaves.size = self.leaves.size = 0
        self.child_pairs.size = self.named_loops.size = self.wildcard_loops.size = 0
        self.side_states.size = self.numbers.size = self.hops.size = 0
        self.flags = self.child_bloom = 0
        self.count += 1
        return <int32_t>self.count - 1

    cdef const int32_t *side_states_of(self, const StateSetCold *state_set) noexcept nogil:
        """Return the states of a set that have attribute or value edges."""
        return self.ints.at + state_set.at + 2 * (
            state_set.child_pairs + state_set.named_loops + state_set.wildcard_loops
        )

    cdef const int32_t *leaves_of(self, const StateSetHot *state_set) noexcept nogil:
        """Return the leaves of a set; the first int is the count of its join leaves."""
        return (
            self.ints.at + state_set.numbers_at
            + state_set.number_count * (2 if self.hop_words else 1)
        )

    cdef int collect_hops(
        self,
        int32_t state_set,
        const uint64_t *alive,
        uint32_t version,
        bint caching,
        uint64_t *hops,
    ) except -1 nogil:
        """Add the next hops of a set's live subscriptions to `hops`.

        Without `caching` the mask is not stored: nothing would release it.
        """
        cdef StateSetHot *hot = &self.hot[state_set]
        cdef int32_t word
        if hot.hop_mask < 0 or hot.hop_mask_version != version:
            if not caching:
                self._unite_hops(hot, alive, hops)
                return 0
            if hot.hop_mask < 0:
                if self.hop_mask_size + self.hop_words > self.hop_mask_capacity:
                    grow(
                        <void **>&self.hop_masks,
                        &self.hop_mask_capacity,
                        self.hop_mask_size + self.hop_words,
                        sizeof(uint64_t),
                    )
                hot.hop_mask = <int32_t>self.hop_mask_size
                self.hop_mask_size += self.hop_words
            hot.hop_mask_version = version
            memset(self.hop_masks + hot.hop_mask, 0, <size_t>self.hop_words * sizeof(uint64_t))
            self._unite_hops(hot, alive, self.hop_masks + hot.hop_mask)
        for word in range(self.hop_words):
            hops[word] |= self.hop_masks[hot.hop_mask + word]
        return 0

    cdef void _unite_hops(
        self, const StateSetHot *state_set, const uint64_t *alive, uint64_t *hops
    ) noexcept nogil:
        cdef const int32_t *number = self.ints.at + state_set.numbers_at
        cdef const int32_t *hop = number + state_set.number_count
        cdef int32_t index
        for index in range(state_set.number_count):
            if hop[index] >= 0 and alive[number[index] >> 6] >> (number[index] & 63) & 1:
                hops[hop[index] >> 6] |= <uint64_t>1 << (hop[index] & 63)
