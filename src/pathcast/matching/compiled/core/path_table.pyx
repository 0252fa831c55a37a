"""The label paths of a lazy DFA: its states, each with the state sets that it reaches.

`add` creates a path and computes everything that depends on its states alone: which states loop
(`_find_loops`), which attribute names they test (`_find_attributes`) and which constants they
compare values with (`_find_operands`). Documents that repeat the path only read the result.

A state loops where it is first reached on a path, and not again below: the paths below share the
transitions of the ancestor. This bounds `//a//a//a` on nested `a` elements to one loop per state.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memset

from pathcast.matching.compiled.core.labels cimport (
    ATTRIBUTE,
    DEEP_ATTRIBUTE,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    VALUE,
)
from pathcast.matching.compiled.core.nfa cimport (
    ATTRIBUTES,
    COUNT_OVERFLOW,
    DEEP_ATTRIBUTES,
    DEEP_OTHERS,
    NAMED,
    VALUES,
    CompiledNfa,
    NfaState,
)
from pathcast.matching.compiled.core.predicates cimport (
    FUNCTION_TEST,
    KEYWORD_TEST,
    NOT_A_NUMBER,
    NUMBER_TEST,
)
from pathcast.matching.compiled.core.state_set_table cimport StateSetCold, StateSetTable
from pathcast.vectors cimport IntVector, append, find, free_vector, grow, pack_key, push, reserve


cdef class PathTable:
    """The label paths of one NFA; used by one thread at a time."""

    def __cinit__(self):
        self.hot = NULL
        self.cold = NULL
        self.seen = NULL

    def __init__(self, StateSetTable sets not None):
        self.sets = sets

    def __dealloc__(self):
        free(self.hot)
        free(self.cold)
        free(self.seen)
        free_vector(&self.set_lists)
        free_vector(&self.ints)

    def __len__(self):
        return self.count

    cdef int bind(self, CompiledNfa nfa) except -1:
        """Use another NFA; the caller clears the table."""
        cdef void *moved
        self.nfa = nfa
        if nfa.size > self.seen_capacity:
            moved = realloc(self.seen, <size_t>nfa.size * sizeof(uint32_t))
            if moved == NULL:
                raise MemoryError
            self.seen = <uint32_t *>moved
            self.seen_capacity = nfa.size
        memset(self.seen, 0, <size_t>nfa.size * sizeof(uint32_t))
        self.seen_serial = 0
        return 0

    cdef int clear(self, bint shrink) except -1 nogil:
        """Drop all paths but the document's and the dead one; `shrink` returns the memory, too.

        The state sets must have been cleared before.
        """
        if shrink:
            free_vector(&self.set_lists)
            free_vector(&self.ints)
        self.count = 0
        self.set_lists.size = self.ints.size = 0
        self.sets.add_state(0)
        push(&self.set_lists, self.sets.finish())
        self.add(-1, 0, 0)
        self.add(DOCUMENT_PATH, TEXT_SYMBOL, self.set_lists.size)
        self.hot[DEAD_PATH].flags = 0
        return 0

    cdef int32_t dead_child(self, int32_t path) except -1 nogil:
        """Return the path of child elements that reach no state, whatever their names.

        All paths below one loop context share it. Its parent is that context, so it loses levels:
        do not use it where twig joins count levels.
        """
        cdef int32_t context = self.cold[path].loop_context, child
        if context < 0:
            context = DEAD_PATH
        child = self.cold[context].dead_child
        if child < 0:
            child = self.add(context, ELEMENT_SYMBOL, self.set_lists.size)
            if context == DEAD_PATH:
                self.cold[child].loop_context = -1
            self.cold[context].dead_child = child
        return child

    cdef int32_t add(self, int32_t parent, int32_t symbol, Py_ssize_t start) except -1 nogil:
        """Add a path whose state sets lie in `set_lists` from `start` on; return its number."""
        cdef PathHot *hot
        cdef int32_t path = <int32_t>self.count, index, state_set
        if self.count == self.hot_capacity:
            grow(<void **>&self.hot, &self.hot_capacity, self.count + 1, sizeof(PathHot))
        if self.count >= self.cold_capacity:
            grow(<void **>&self.cold, &self.cold_capacity, self.count + 1, sizeof(PathCold))
        hot = &self.hot[path]
        memset(hot, 0, sizeof(PathHot))
        memset(&self.cold[path], 0, sizeof(PathCold))
        hot.parent = parent
        hot.symbol = symbol
        hot.sets_at = <int32_t>start
        hot.set_count = <int32_t>(self.set_lists.size - start)
        hot.first_instance = -1
        self.cold[path].loop_context = self.cold[path].dead_child = -1
        self.cold[path].is_exact = parent < 0 or (
            self.cold[parent].is_exact
            and FIRST_NAME <= symbol < ATTRIBUTE_SYMBOL
            and not self.nfa.names.is_namespace(symbol)
        )
        if parent >= 0:
            self.cold[path].loop_context = self.cold[parent].loop_context
            if self.cold[parent].loop_context >= 0:
                self.cold[path].inherited_bloom = (
                    self.cold[self.cold[parent].loop_context].inherited_bloom
                )
            hot.flags = self.hot[parent].flags & (DEEP_ATTRIBUTES | DEEP_OTHERS)
        for index in range(hot.set_count):
            state_set = self.set_lists.at[start + index]
            hot.flags |= self.sets.cold[state_set].flags
            self.cold[path].child_bloom |= self.sets.cold[state_set].child_bloom
            if self.sets.hot[state_set].number_count or self.sets.hot[state_set].leaf_size:
                self.set_lists.at[start + index] = self.set_lists.at[start + hot.output_count]
                self.set_lists.at[start + hot.output_count] = state_set
                hot.output_count += 1
        self.count += 1
        if symbol >> KIND_SHIFT == ELEMENT_SYMBOL:
            self._find_loops(path)
        if self.hot[path].flags & VALUES:
            self._find_operands(path)
        if self.hot[path].flags & (ATTRIBUTES | DEEP_ATTRIBUTES):
            self._find_attributes(path)
        return path

    cdef int _find_loops(self, int32_t path) except -1 nogil:
        """List the looping states that no ancestor of the path has reached."""
        cdef const PathHot *hot = &self.hot[path]
        cdef PathCold *cold = &self.cold[path]
        cdef const StateSetCold *state_set
        cdef const int32_t *pair
        cdef int32_t index, count, ancestor
        cdef bint any_named = False, any_wildcard = False
        for index in range(hot.set_count):
            state_set = &self.sets.cold[self.set_lists.at[hot.sets_at + index]]
            any_named |= state_set.named_loops > 0
            any_wildcard |= state_set.wildcard_loops > 0
        if not any_named and not any_wildcard:
            return 0
        self.seen_serial += 1
        if self.seen_serial == 0:
            memset(self.seen, 0, <size_t>self.nfa.size * sizeof(uint32_t))
            self.seen_serial = 1
        ancestor = self.cold[hot.parent].loop_context if hot.parent >= 0 else -1
        while ancestor >= 0:  # a state behind a name test repeats only where the name repeats
            pair = self.ints.at + self.cold[ancestor].loops_at
            if any_named and self.hot[ancestor].symbol == hot.symbol:
                for count in range(self.cold[ancestor].named_loops):
                    self.seen[pair[2 * count]] = self.seen_serial
            pair += 2 * self.cold[ancestor].named_loops
            if any_wildcard:
                for count in range(self.cold[ancestor].wildcard_loops):
                    self.seen[pair[2 * count]] = self.seen_serial
            ancestor = self.hot[ancestor].parent
            ancestor = self.cold[ancestor].loop_context if ancestor >= 0 else -1
        cold.loops_at = self.ints.size
        for index in range(hot.set_count):
            state_set = &self.sets.cold[self.set_lists.at[hot.sets_at + index]]
            pair = self.sets.ints.at + state_set.at + 2 * state_set.child_pairs
            for count in range(state_set.named_loops):
                if self.seen[pair[2 * count]] != self.seen_serial:
                    push(&self.ints, pair[2 * count])
                    push(&self.ints, pair[2 * count + 1])
        cold.named_loops = <int32_t>((self.ints.size - cold.loops_at) // 2)
        for index in range(hot.set_count):
            state_set = &self.sets.cold[self.set_lists.at[hot.sets_at + index]]
            pair = self.sets.ints.at + state_set.at + 2 * (
                state_set.child_pairs + state_set.named_loops
            )
            for count in range(state_set.wildcard_loops):
                if self.seen[pair[2 * count]] != self.seen_serial:
                    push(&self.ints, pair[2 * count])
                    push(&self.ints, pair[2 * count + 1])
        cold.wildcard_loops = (
            <int32_t>((self.ints.size - cold.loops_at) // 2) - cold.named_loops
        )
        if cold.named_loops or cold.wildcard_loops:
            cold.loop_context = path
            for count in range(cold.named_loops + cold.wildcard_loops):
                cold.loop_bloom |= (
                    <uint32_t>self.ints.at[cold.loops_at + 2 * count + 1]
                    & ~<uint32_t>COUNT_OVERFLOW
                )
            cold.inherited_bloom |= cold.loop_bloom
        return 0

    cdef int _find_attributes(self, int32_t path) except -1 nogil:
        """Set the Bloom filters of the attribute names that the path's states test.

        Most attributes of a document fail the filter and need no transition.
        """
        cdef PathCold *cold = &self.cold[path]
        cdef const StateSetCold *state_set
        cdef const int32_t *pair
        cdef const int32_t *side_state
        cdef const NfaState *nfa_state
        cdef int32_t index, side
        if self.hot[path].parent >= 0:
            cold.deep_attribute_mask = self.cold[self.hot[path].parent].deep_attribute_mask
        if cold.loop_context == path:
            for index in range(cold.named_loops + cold.wildcard_loops):
                pair = self.ints.at + cold.loops_at + 2 * index
                cold.deep_attribute_mask |= self._attribute_bits(
                    pair[0], pair[1] & COUNT_OVERFLOW, DEEP_ATTRIBUTE
                )
        cold.attribute_mask = cold.deep_attribute_mask
        for index in range(self.hot[path].set_count):
            state_set = &self.sets.cold[self.set_lists.at[self.hot[path].sets_at + index]]
            side_state = self.sets.side_states_of(state_set)
            for side in range(state_set.side_states):
                nfa_state = &self.nfa.states[side_state[side]]
                if nfa_state.flags & ATTRIBUTES:
                    cold.attribute_mask |= self._attribute_bits(
                        nfa_state.first_successor, nfa_state.successor_count, ATTRIBUTE
                    )
        cold.attribute_slots_at = self.ints.size
        return self._push_empty_slots(2 * __builtin_popcountll(cold.attribute_mask))

    cdef uint64_t _attribute_bits(self, int32_t first, int32_t count, int32_t edge) noexcept nogil:
        """Return the bits of the names that edges of a kind test; all bits for a wildcard."""
        cdef uint64_t bits = 0
        cdef int32_t state
        if count >= COUNT_OVERFLOW:
            count = self.nfa.states[self.nfa.parents.at[first]].successor_count
        for state in range(first, first + count):
            if self.nfa.states[state].label & EDGE_MASK == edge:
                if not self.nfa.states[state].flags & NAMED:
                    return ~<uint64_t>0
                bits |= attribute_bit(self.nfa.states[state].label >> EDGE_BITS)
        return bits

    cdef int _find_operands(self, int32_t path) except -1 nogil:
        """List the distinct constants that value tests at the path compare with, sorted."""
        cdef IntVector strings, ranks, keywords, chains
        cdef IntVector *operands
        cdef const StateSetCold *state_set
        cdef const int32_t *side_state
        cdef const NfaState *nfa_state
        cdef int32_t index, side, successor, operand
        strings = ranks = keywords = chains = IntVector(NULL, 0, 0)
        try:
            for index in range(self.hot[path].set_count):
                state_set = &self.sets.cold[self.set_lists.at[self.hot[path].sets_at + index]]
                side_state = self.sets.side_states_of(state_set)
                for side in range(state_set.side_states):
                    nfa_state = &self.nfa.states[side_state[side]]
                    for successor in range(
                        nfa_state.first_successor,
                        nfa_state.first_successor + nfa_state.successor_count,
                    ):
                        if self.nfa.states[successor].label & EDGE_MASK == VALUE:
                            operand = find(
                                &self.nfa.operands,
                                pack_key(self.nfa.states[successor].label >> EDGE_BITS, 0),
                            )
                            operands = &strings
                            if operand & 3 == NUMBER_TEST:
                                operands = &ranks
                            elif operand & 3 == KEYWORD_TEST:
                                operands = &keywords
                            elif operand & 3 == FUNCTION_TEST:
                                operands = &chains
                            push(operands, operand >> 2)
            self.cold[path].string_count = sort_unique(&strings)
            self.cold[path].number_count = sort_unique(&ranks)
            self.cold[path].keyword_count = sort_unique(&keywords)
            self.cold[path].function_count = sort_unique(&chains)
            self.cold[path].operands_at = self.ints.size
            append(&self.ints, strings.at, strings.size)
            append(&self.ints, ranks.at, ranks.size)
            append(&self.ints, keywords.at, keywords.size)
            append(&self.ints, chains.at, chains.size)
            self._push_empty_slots(
                3 + strings.size + 2 * ranks.size + keywords.size + chains.size
            )
        finally:
            free_vector(&strings)
            free_vector(&ranks)
            free_vector(&keywords)
            free_vector(&chains)
        return 0

    cdef int _push_empty_slots(self, Py_ssize_t count) except -1 nogil:
        reserve(&self.ints, count)
        memset(self.ints.at + self.ints.size, 255, <size_t>count * sizeof(int32_t))  # -1
        self.ints.size += count
        return 0

    cdef int32_t string_class(self, int32_t path, int32_t string) noexcept nogil:
        """Return the symbol of a value's class under the string tests of a path."""
        cdef const int32_t *operands = self.ints.at + self.cold[path].operands_at
        cdef int32_t count = self.cold[path].string_count, low
        if string >= 0:
            low = sorted_index(operands, count, string)
            if low < count and operands[low] == string:
                return VALUE_SYMBOL | (1 + low)
        return VALUE_SYMBOL

    cdef int32_t number_class(self, int32_t path, int32_t rank) noexcept nogil:
        """Return the symbol of a value's class under the numeric tests of a path.

        The classes follow those of strings: not a number, below the first operand, equal to it,
        between the first and the second, ...
        """
        cdef int32_t strings = self.cold[path].string_count
        cdef int32_t count = self.cold[path].number_count, low
        cdef const int32_t *operands = self.ints.at + self.cold[path].operands_at + strings
        if rank == NOT_A_NUMBER:
            return VALUE_SYMBOL | (1 + strings)
        low = sorted_index(operands, count, rank)
        return VALUE_SYMBOL | (2 + strings + 2 * low + (low < count and operands[low] == rank))

    cdef int32_t keyword_class(self, int32_t path, int32_t keyword) noexcept nogil:
        """Return the symbol of a keyword that was found in a value, -1 if the path lacks it.

        The classes follow those of numbers.
        """
        cdef int32_t strings = self.cold[path].string_count
        cdef int32_t numbers = self.cold[path].number_count
        cdef int32_t count = self.cold[path].keyword_count
        cdef const int32_t *keywords = (
            self.ints.at + self.cold[path].operands_at + strings + numbers
        )
        cdef int32_t place = sorted_index(keywords, count, keyword)
        if place == count or keywords[place] != keyword:
            return -1
        return VALUE_SYMBOL | (3 + strings + 2 * numbers + place)

    cdef int32_t function_chain(self, int32_t path, int32_t place) noexcept nogil:
        """Return a chain of functions that precedes tests at a path, by its place among them."""
        cdef const PathCold *cold = &self.cold[path]
        return self.ints.at[
            cold.operands_at
            + cold.string_count + cold.number_count + cold.keyword_count + place
        ]

    cdef int32_t function_class(self, int32_t path, int32_t place) noexcept nogil:
        """Return the symbol of the result of a chain of functions, by its place at the path.

        The classes follow those of keywords.
        """
        cdef const PathCold *cold = &self.cold[path]
        return VALUE_SYMBOL | (
            3 + cold.string_count + 2 * cold.number_count + cold.keyword_count + place
        )


cdef int32_t sorted_index(const int32_t *sorted, int32_t count, int32_t value) noexcept nogil:
    """Return the first index whose element is not below `value`; branchless binary search."""
    cdef int32_t low = 0, half
    if count == 0:
        return 0
    while count > 1:
        half = count >> 1
        low += half * (sorted[low + half - 1] < value)
        count -= half
    return low + (sorted[low] < value)


cdef int _compare_ints(const void *first, const void *second) noexcept nogil:
    cdef int32_t left = (<const int32_t *>first)[0], right = (<const int32_t *>second)[0]
    return (left > right) - (left < right)


cdef int32_t sort_unique(IntVector *values) noexcept nogil:
    """Sort values in place without duplicates; return how many remain."""
    cdef Py_ssize_t index, kept = 0
    if values.size:
        qsort(values.at, <size_t>values.size, sizeof(int32_t), _compare_ints)
    for index in range(values.size):
        if index == 0 or values.at[index] != values.at[index - 1]:
            values.at[kept] = values.at[index]
            kept += 1
    values.size = kept
    return <int32_t>kept
