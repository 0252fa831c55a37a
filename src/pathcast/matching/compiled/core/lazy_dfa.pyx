"""A lazy DFA: the NFA determinised on demand, one label path at a time, within a memory bound.

A DFA state is a label path (`PathTable`). A path does not store the set of all NFA states that it
reaches, but a list of disjoint state sets (`StateSetTable`):

- its own set: the targets of child edges from the states of its parent;
- loop sets: a looping state (one with a descendant edge) stays active below the path v that
  reached it first. Its targets on a symbol depend on v and the symbol alone, so all label paths
  below v that end with this symbol share one loop set.

An NFA state has one incoming edge, so no state is in two sets of a path. A path has at most one
set more than it has ancestors.

Cost of a miss: at most the number of NFA states, times 4 tests; `work` counts the edges that were
looked up. A hit costs one hash look-up and never enters this module.

Memo bound: the tables hold about `limit` ints. When they exceed it, the next document starts with
an empty memo (`flushes`). A document that exceeds it by itself goes on without caching: the
traversal releases the paths of each element when it closes, so that memory is bounded by the
states of the open elements.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.labels cimport (
    ANY,
    ATTRIBUTE,
    CHILD,
    COMMENT,
    DEEP_ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    FIRST_NAME,
    INSTRUCTION,
    NODE,
    TEXT,
)
from pathcast.matching.compiled.core.nfa cimport (
    ATTRIBUTES,
    COUNT_OVERFLOW,
    VALUES,
    CompiledNfa,
    NfaState,
    edge_bloom_bit,
)
from pathcast.matching.compiled.core.path_table cimport (
    ATTRIBUTE_SYMBOL,
    DEAD_PATH,
    KIND_SHIFT,
    NAME_MASK,
    VALUE_SYMBOL,
    PathCold,
    PathHot,
    PathTable,
    class_slot,
    value_test_kind,
)
from pathcast.matching.compiled.core.predicates cimport (
    FUNCTION_TEST,
    KEYWORD_TEST,
    LESS,
    NOT_A_NUMBER,
    NUMBER_TEST,
    STRING_TEST,
    RangeTest,
    holds,
)
from pathcast.matching.compiled.core.state_set_table cimport (
    StateSetCold,
    StateSetHot,
    StateSetTable,
)
from pathcast.vectors cimport (
    append,
    clear_map,
    find,
    free_map,
    free_vector,
    insert,
    map_bytes,
    pack_key,
    push,
)

cdef extern from *:
    void __builtin_prefetch(const void *) noexcept nogil

cdef enum:
    _PATH_INTS = 24  # a path and its transition, in ints of the memo bound
    _SET_INTS = 18  # a state set, or an entry of `loop_sets`
    _KEEP_MAP_SLOTS = 1 << 10  # clearing a larger map takes longer than allocating a new one
    _KEEP_INTS = 1 << 16  # a flush returns the memory of larger tables
    _MIN_LIMIT = 48_000_000  # the default memo bound, in ints, and
    _LIMIT_PER_STATE = 40  # its growth with the NFA


cdef uint64_t _last_serial = 0


cdef uint64_t _next_serial() noexcept:
    global _last_serial
    _last_serial += 1
    return _last_serial


cdef class LazyDfa:
    """The memo of one NFA: label paths, their state sets and transitions.

    Used by one thread at a time; the NFA itself is shared.
    """

    def __init__(self, CompiledNfa nfa not None, Py_ssize_t limit=-1):
        """Create an empty memo of at most `limit` ints; -1: the bound follows the NFA's size."""
        self.limit_by_size = limit < 0
        self.limit = limit
        self.sets = StateSetTable()
        self.paths = PathTable(self.sets)
        self.rebind(nfa)

    def __dealloc__(self):
        free_vector(&self.reached_sets)
        free_vector(&self.candidates)
        free_map(&self.transitions)
        free_map(&self.loop_sets)

    def __len__(self):
        return self.paths.count

    cdef int rebind(self, CompiledNfa nfa) except -1:
        """Start again with another NFA, in the memory that is already allocated."""
        self.nfa = nfa
        self.sets.bind(nfa)
        self.paths.bind(nfa)
        self.serial = _next_serial()
        if self.limit_by_size:
            self.limit = _MIN_LIMIT + _LIMIT_PER_STATE * nfa.size
        if self.transitions.mask >= _KEEP_MAP_SLOTS:
            free_map(&self.transitions)
        if self.loop_sets.mask >= _KEEP_MAP_SLOTS:
            free_map(&self.loop_sets)
        self.flush()
        return 0

    @property
    def memory(self):
        """The memory of the memo, in bytes."""
        return (
            self.paths.hot_capacity * <Py_ssize_t>(sizeof(PathHot) + sizeof(PathCold))
            + self.sets.hot_capacity * <Py_ssize_t>(sizeof(StateSetHot) + sizeof(StateSetCold))
            + 4 * (self.sets.ints.capacity + self.paths.ints.capacity)
            + 4 * self.paths.set_lists.capacity
            + 8 * self.sets.hop_mask_capacity
            + map_bytes(&self.transitions)
            + map_bytes(&self.loop_sets)
            + 4 * self.nfa.size
        )

    # the memo bound

    cdef int flush(self) except -1 nogil:
        """Drop all label paths but the document's."""
        cdef bint shrink = self.sets.ints.capacity + self.paths.ints.capacity > _KEEP_INTS
        if shrink:
            free_map(&self.transitions)
            free_map(&self.loop_sets)
        clear_map(&self.transitions)
        clear_map(&self.loop_sets)
        self.caching = True
        self.sets.clear(shrink)
        return self.paths.clear(shrink)

    cdef Py_ssize_t _size_in_ints(self) noexcept nogil:
        return (
            self.sets.ints.size + self.paths.ints.size + self.paths.set_lists.size
            + self.sets.hop_mask_size * 2
            + self.paths.count * _PATH_INTS
            + (self.sets.count + self.loop_sets.size) * _SET_INTS
        )

    cdef int start_document(self) except -1 nogil:
        """Flush if the memo exceeds its bound."""
        if self._size_in_ints() > self.limit:
            self.flushes += 1
            self.flush()
        self.caching = True
        return 0

    cdef Watermark watermark(self) noexcept nogil:
        return Watermark(
            self.paths.count,
            self.paths.ints.size,
            self.paths.set_lists.size,
            self.sets.count,
            self.sets.ints.size,
        )

    cdef void release(self, Watermark mark) noexcept nogil:
        """Drop all paths and sets that were added since the watermark without caching."""
        self.paths.count = mark.paths
        self.paths.ints.size = mark.path_ints
        self.paths.set_lists.size = mark.set_lists
        self.sets.count = mark.sets
        self.sets.ints.size = mark.set_ints

    # transitions

    cdef int32_t advance(self, int32_t path, int32_t symbol) except -1 nogil:
        """Compute the transition of a path on a symbol; the caller has looked it up and missed."""
        cdef Py_ssize_t start
        cdef int32_t tests[4]
        cdef int32_t target, loop_set, context, parent, own_set = 0
        cdef uint32_t bloom = 0
        cdef int count, test
        self.misses += 1
        if self.caching and self._size_in_ints() > self.limit:
            self.caching = False
        self.reached_sets.size = 0
        if symbol >= VALUE_SYMBOL:
            self._follow_value_edges(path, value_test_kind(&self.paths.cold[path], symbol))
            own_set = self.sets.finish()
        else:
            count = self._tests_of(symbol, tests)
            for test in range(count):
                bloom |= edge_bloom_bit(tests[test])
            if symbol >> KIND_SHIFT == ATTRIBUTE_SYMBOL >> KIND_SHIFT:
                self._follow_attribute_edges(path, tests, count)
                own_set = self.sets.finish()
            elif self.paths.cold[path].child_bloom & bloom:
                self._follow_child_edges(path, tests, count)
                own_set = self.sets.finish()
            context = self.paths.cold[path].loop_context
            while context >= 0 and self.paths.cold[context].inherited_bloom & bloom:
                if self.paths.cold[context].loop_bloom & bloom:
                    loop_set = self._loop_set(context, symbol, tests, count)
                    if loop_set:
                        push(&self.reached_sets, loop_set)
                parent = self.paths.hot[context].parent
                context = self.paths.cold[parent].loop_context if parent >= 0 else -1
        if own_set == 0 and self.reached_sets.size == 0 and symbol >= ATTRIBUTE_SYMBOL:
            target = DEAD_PATH  # no element, so it has no children
        elif own_set == 0 and self.reached_sets.size == 0 and self.caching and self.nfa.simple:
            target = self.paths.dead_child(path)
        else:
            start = self.paths.set_lists.size
            if own_set:
                push(&self.paths.set_lists, own_set)
            append(&self.paths.set_lists, self.reached_sets.at, self.reached_sets.size)
            target = self.paths.add(path, symbol, start)
        if self.caching:
            if symbol >= VALUE_SYMBOL:
                self.paths.ints.at[class_slot(&self.paths.cold[path], symbol)] = target
            else:
                insert(&self.transitions, pack_key(path, symbol), target)
        return target

    cdef int _tests_of(self, int32_t symbol, int32_t *tests) noexcept nogil:
        """Write the node tests that a symbol passes to `tests`; return how many."""
        cdef int32_t name = symbol & NAME_MASK, kind = symbol >> KIND_SHIFT, namespace
        cdef int count = 0
        if kind <= 1 or kind == 4:
            if name >= FIRST_NAME:
                tests[count] = name
                count += 1
                if kind != 4:
                    namespace = self.nfa.names.namespace_of(name)
                    if namespace > 0:
                        tests[count] = namespace
                        count += 1
            tests[count] = INSTRUCTION if kind == 4 else ANY
            count += 1
        else:
            tests[count] = TEXT if kind == 2 else COMMENT
            count += 1
        tests[count] = NODE
        return count + 1

    cdef int _follow_child_edges(
        self, int32_t path, const int32_t *tests, int count
    ) except -1 nogil:
        """Add the targets of child edges from all sets of a path."""
        cdef int32_t index
        cdef const StateSetCold *state_set
        cdef const PathHot *hot = &self.paths.hot[path]
        for index in range(hot.set_count):
            state_set = &self.sets.cold[self.paths.set_lists.at[hot.sets_at + index]]
            self._follow(
                self.sets.ints.at + state_set.at, state_set.child_pairs, tests, count, CHILD
            )
        return 0

    cdef int _follow(
        self,
        const int32_t *pairs,
        int32_t pair_count,
        const int32_t *tests,
        int count,
        int32_t edge,
    ) except -1 nogil:
        """Add the targets of edges of one kind with one of the tests, from the states of pairs."""
        cdef uint32_t bits[4]
        cdef uint32_t bloom = 0, edge_word
        cdef int test
        cdef int32_t target, index
        cdef const NfaState *states = self.nfa.states
        for test in range(count):
            bits[test] = edge_bloom_bit(tests[test])
            bloom |= bits[test]
        # Two passes: the first filters and prefetches, so that the cache misses of the second
        # overlap.
        self.candidates.size = 0
        for index in range(pair_count):
            if <uint32_t>pairs[2 * index + 1] & bloom:
                __builtin_prefetch(&states[pairs[2 * index]])
                push(&self.candidates, pairs[2 * index])
                push(&self.candidates, pairs[2 * index + 1])
        for index in range(0, <int32_t>self.candidates.size, 2):
            edge_word = <uint32_t>self.candidates.at[index + 1]
            for test in range(count):
                if edge_word & bits[test]:
                    self.work += 1
                    target = self.nfa.successor(
                        self.candidates.at[index],
                        edge_word & COUNT_OVERFLOW,
                        tests[test] << EDGE_BITS | edge,
                    )
                    if target >= 0:
                        self.sets.add_state(target)
        return 0

    cdef int _follow_attribute_edges(
        self, int32_t path, const int32_t *tests, int count
    ) except -1 nogil:
        """Add the targets of attribute edges from all sets of a path."""
        cdef int test
        cdef int32_t index, target
        cdef const PathHot *hot = &self.paths.hot[path]
        cdef const StateSetCold *state_set
        cdef const NfaState *nfa_state
        cdef const int32_t *state
        cdef const int32_t *end
        for index in range(hot.set_count):
            state_set = &self.sets.cold[self.paths.set_lists.at[hot.sets_at + index]]
            state = self.sets.side_states_of(state_set)
            end = state + state_set.side_states
            while state < end:
                nfa_state = &self.nfa.states[state[0]]
                if nfa_state.flags & ATTRIBUTES:
                    for test in range(count):
                        self.work += 1
                        target = self.nfa.successor(
                            nfa_state.first_successor,
                            nfa_state.successor_count,
                            tests[test] << EDGE_BITS | ATTRIBUTE,
                        )
                        if target >= 0:
                            self.sets.add_state(target)
                state += 1
        return 0

    cdef int _follow_value_edges(self, int32_t path, int32_t kind) except -1 nogil:
        """Add the targets of the tests of a kind that the current value passes."""
        cdef int32_t label = -1, index, target, at
        cdef const PathHot *hot = &self.paths.hot[path]
        cdef const StateSetCold *state_set
        cdef const NfaState *nfa_state
        cdef const int32_t *state
        cdef const int32_t *end
        if kind == KEYWORD_TEST or kind == FUNCTION_TEST:
            label = self.value_label
        elif kind == NUMBER_TEST:
            if self.value_rank != NOT_A_NUMBER and self.value_rank & 1:
                label = self.nfa.values.number_labels.at[self.value_rank >> 1]
        elif self.value_string >= 0:
            label = self.nfa.values.string_labels.at[self.value_string]
        for index in range(hot.set_count):
            state_set = &self.sets.cold[self.paths.set_lists.at[hot.sets_at + index]]
            state = self.sets.side_states_of(state_set)
            end = state + state_set.side_states
            while state < end:
                nfa_state = &self.nfa.states[state[0]]
                if nfa_state.flags & VALUES:
                    self.work += 1
                    if label >= 0:
                        target = self.nfa.successor(
                            nfa_state.first_successor, nfa_state.successor_count, label
                        )
                        if target >= 0:
                            self.sets.add_state(target)
                    at = -1
                    if kind == STRING_TEST or kind == NUMBER_TEST:
                        at = find(&self.nfa.range_starts, pack_key(state[0], 0))
                    if at >= 0:
                        self._follow_ranges(
                            at,
                            at + find(&self.nfa.range_counts, pack_key(state[0], 0)),
                            kind == NUMBER_TEST,
                        )
                state += 1
        return 0

    cdef int _follow_ranges(self, int32_t at, int32_t end, bint numeric) except -1 nogil:
        """Add the targets of the range tests that hold; of each operator, these are a prefix."""
        cdef const RangeTest *test
        while at < end:
            test = &self.nfa.ranges[at]
            at += 1
            if test.numeric != numeric:
                continue
            self.work += 1
            if holds(test, self.value_string, self.value_rank):
                self.sets.add_state(test.state)
            elif test.op >= LESS:  # tests are sorted by operand: no later one of this kind holds
                while at < end and self.nfa.ranges[at].op == test.op:
                    at += 1
        return 0

    cdef int32_t _loop_set(
        self, int32_t path, int32_t symbol, const int32_t *tests, int count
    ) except -1 nogil:
        """Return the state set that the loops of a path reach on a symbol; 0 if it is empty."""
        cdef int32_t edge = DESCENDANT
        cdef int32_t state_set = find(&self.loop_sets, pack_key(path, symbol))
        cdef const PathCold *cold = &self.paths.cold[path]
        if state_set >= 0:
            return state_set
        if symbol >> KIND_SHIFT == ATTRIBUTE_SYMBOL >> KIND_SHIFT:
            edge = DEEP_ATTRIBUTE
        self._follow(
            self.paths.ints.at + cold.loops_at,
            cold.named_loops + cold.wildcard_loops,
            tests,
            count,
            edge,
        )
        state_set = self.sets.finish()
        if self.caching:
            insert(&self.loop_sets, pack_key(path, symbol), state_set)
        return state_set
