"""The shared NFA in flat arrays: a trie of all paths of its subscriptions.

Each state has one incoming edge; paths with a common prefix share its states. States are numbered
so that the successors of a state are adjacent and sorted by label: an edge look-up touches one or
two cache lines. A Bloom filter of 24 bits per state rejects most look-ups without one. The numbers
of the subscriptions that end at a state are adjacent, too.

A non-linear pattern is an entry with alternatives: exact paths (which end in subscription numbers
as well), twigs to join, or paths that must occur before its condition is evaluated.

The NFA is immutable after `__init__`; any number of threads may traverse it.

>>> from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
>>> paths = LinearPaths(Vocabulary())
>>> paths.read("/a/b"), paths.read("/a//b")
(True, True)
>>> CompiledNfa(paths, [0, 1], []).size
4
"""

from collections import defaultdict

from cpython cimport array
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport calloc, free

from pathcast.matching.compiled.core.labels cimport (
    ANY,
    ATTRIBUTE,
    CHILD,
    DEEP_ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    KIND_KEY,
    NAME_KEY,
    QUALIFIED_NAME_KEY,
    TARGET_KEY,
    VALUE,
    LinearPaths,
    Vocabulary,
)
from pathcast.matching.compiled.core.names cimport NameTable
from pathcast.matching.compiled.core.plan_codec cimport GENERAL_FORM, TWIG_FORM
from pathcast.matching.compiled.core.predicates cimport LESS, LESS_OR_EQUAL, RangeTest, ValueIndex
from pathcast.matching.compiled.core.trie cimport Trie
from pathcast.matching.compiled.core.twig_builder cimport TwigBuilder
from pathcast.matching.compiled.core.twigs cimport TwigIndex
from pathcast.vectors cimport (
    IntVector,
    free_map,
    free_vector,
    insert,
    pack_key,
    push,
    reserve,
)

from pathcast.matching.compiled.core.plan_codec import pack_plan

# Operators whose range tests are sorted by falling operand, so that those that hold come first.
_FALLING_OPS = (LESS, LESS_OR_EQUAL)


cdef class CompiledNfa:
    """The NFA of some subscriptions."""

    def __cinit__(self):
        self.states = NULL
        self.ranges = NULL

    def __init__(self, LinearPaths paths not None, numbers, entries not None):
        """Build the NFA of the linear paths of `numbers` and of the non-linear `entries`."""
        cdef int32_t index
        cdef IntVector ends = IntVector(NULL, 0, 0)  # pairs: a state and a subscription number
        cdef Trie trie = Trie(paths.vocabulary)
        self.vocabulary = paths.vocabulary
        self.largest_number = self.largest_hop = -1
        self.twigs = TwigIndex()
        builder = TwigBuilder(trie, self.twigs)
        try:
            _add_linear(trie, paths, numbers, &ends)
            for entry in entries:
                _add_entry(builder, paths, entry, &ends)
            self.size = <int32_t>len(trie)
            self._renumber(trie, &ends)
            self._index_tests(paths.vocabulary)
            self.twigs.seal()
            for index in range(self.twigs.leaves.size):
                self.states[self.twigs.leaves.at[index]].leaf = index
            self._group_numbers(paths, &ends)
        finally:
            free_vector(&ends)
        self._set_flags()

    def __dealloc__(self):
        free(self.states)
        free(self.ranges)
        free_vector(&self.parents)
        free_vector(&self.labels)
        free_vector(&self.numbers)
        free_vector(&self.hops)
        free_map(&self.range_starts)
        free_map(&self.range_counts)
        free_map(&self.operands)

    # construction

    cdef int _renumber(self, Trie trie, IntVector *ends) except -1:
        """Renumber the states breadth-first: successors adjacent, sorted by label."""
        cdef int32_t state, old, count, at, next = 1
        cdef IntVector starts, children, order, parents, labels
        cdef Py_ssize_t index
        starts = children = order = parents = labels = IntVector(NULL, 0, 0)
        self.states = <NfaState *>calloc(<size_t>self.size + 1, sizeof(NfaState))
        if self.states == NULL:
            raise MemoryError
        try:
            for _ in range(self.size + 1):
                push(&starts, 0)
            reserve(&children, self.size)
            reserve(&order, self.size)
            reserve(&parents, self.size)
            reserve(&labels, self.size)
            children.size = order.size = parents.size = labels.size = self.size
            # Counting sort of the states by parent.
            for state in range(1, self.size):
                starts.at[trie.parents.at[state] + 1] += 1
            for state in range(self.size):
                starts.at[state + 1] += starts.at[state]
            for state in range(1, self.size):  # starts[s] advances to the first child of s + 1
                children.at[starts.at[trie.parents.at[state]]] = state
                starts.at[trie.parents.at[state]] += 1
            order.at[0] = 0  # new number -> old number; the queue of the breadth-first search
            parents.at[0] = labels.at[0] = -1
            for state in range(self.size):
                old = order.at[state]
                at = starts.at[old - 1] if old else 0
                count = starts.at[old] - at
                _sort_by_label(children.at + at, count, trie.labels.at)
                self.states[state].label = labels.at[state]
                self.states[state].first_successor = next
                self.states[state].successor_count = count
                self.states[state].leaf = -1
                for index in range(at, at + count):
                    order.at[next] = children.at[index]
                    parents.at[next] = state
                    labels.at[next] = trie.labels.at[children.at[index]]
                    next += 1
            for state in range(self.size):  # from here on `children` maps old to new numbers
                children.at[order.at[state]] = state
            for index in range(ends.size // 2):
                ends.at[2 * index] = children.at[ends.at[2 * index]]
            self.twigs.renumber(children.at)
            self.parents, parents = parents, self.parents
            self.labels, labels = labels, self.labels
        finally:
            free_vector(&starts)
            free_vector(&children)
            free_vector(&order)
            free_vector(&parents)
            free_vector(&labels)
        return 0

    cdef int32_t successor(self, int32_t first, int32_t count, int32_t label) noexcept nogil:
        """Return the target of the edge with a label, -1 if there is none."""
        cdef int32_t low = first, high = first + count, middle
        if count >= COUNT_OVERFLOW:
            high = first + self.states[self.parents.at[first]].successor_count
        while high - low > 6:
            middle = (low + high) >> 1
            if self.states[middle].label > label:
                high = middle
            else:
                low = middle
        while low < high:
            if self.states[low].label == label:
                return low
            low += 1
        return -1

    cdef int _group_numbers(self, LinearPaths paths, IntVector *ends) except -1:
        """Group the subscription numbers by state (counting sort)."""
        cdef Py_ssize_t index, count = ends.size // 2
        cdef int32_t state, at, number, hop
        cdef NfaState *states = self.states
        for index in range(count):
            states[ends.at[2 * index] + 1].numbers_at += 1
        for state in range(self.size):
            states[state + 1].numbers_at += states[state].numbers_at
        reserve(&self.numbers, count)
        reserve(&self.hops, count)
        self.numbers.size = self.hops.size = count
        for index in range(count - 1, -1, -1):  # backwards: keeps numbers in order within a state
            state = ends.at[2 * index]
            number = ends.at[2 * index + 1]
            hop = paths.hops.at[number]
            states[state + 1].numbers_at -= 1
            at = states[state + 1].numbers_at
            self.numbers.at[at] = number
            self.hops.at[at] = hop
            self.largest_number = max(self.largest_number, number)
            self.largest_hop = max(self.largest_hop, hop)
        for state in range(self.size):  # each start is one state too far to the right
            states[state].numbers_at = states[state + 1].numbers_at
        states[self.size].numbers_at = <int32_t>count
        for number in self.twigs.numbers():
            self.largest_number = max(self.largest_number, number)
            self.largest_hop = max(self.largest_hop, paths.hops.at[number])
        return 0

    cdef int _set_flags(self) except -1:
        """Set the flags and Bloom filters of all states."""
        cdef int32_t state, label, test, edge
        cdef NfaState *parent
        cdef const int32_t *kinds = (<Vocabulary>self.vocabulary).kinds.at
        cdef uint32_t flags = 0
        for state in range(1, self.size):
            label = self.labels.at[state]
            test = label >> EDGE_BITS
            edge = label & EDGE_MASK
            parent = &self.states[self.parents.at[state]]
            if edge != VALUE and (kinds[test] == NAME_KEY or kinds[test] == QUALIFIED_NAME_KEY):
                self.states[state].flags |= NAMED
            if edge == CHILD:
                parent.child_bloom |= edge_bloom_bit(test)
                if test > ANY and (kinds[test] == KIND_KEY or kinds[test] == TARGET_KEY):
                    parent.flags |= OTHERS
            elif edge == DESCENDANT:
                parent.loop_bloom |= edge_bloom_bit(test)
                if test > ANY and (kinds[test] == KIND_KEY or kinds[test] == TARGET_KEY):
                    parent.flags |= DEEP_OTHERS
            elif edge == ATTRIBUTE:
                parent.flags |= ATTRIBUTES
            elif edge == DEEP_ATTRIBUTE:
                parent.loop_bloom |= edge_bloom_bit(test)
                parent.flags |= DEEP_ATTRIBUTES
            else:
                parent.flags |= VALUES
            flags |= parent.flags
        for state in range(self.twigs.guard_count):
            self.states[self.twigs.leaves.at[self.twigs.guards[state].leaf]].flags |= RANKED
        self.simple = self.twigs.plan_count == 0 and not flags & ~<uint32_t>NAMED
        return 0

    cdef int _index_tests(self, Vocabulary vocabulary) except -1:
        """Index the names, namespaces, targets and values that the edges test."""
        cdef int32_t state, label, test
        cdef char *seen = <char *>calloc(len(vocabulary.keys) + 1, 1)
        codes = []
        value_tests = {}
        if seen == NULL:
            raise MemoryError
        try:
            for state in range(1, self.size):
                label = self.labels.at[state]
                test = label >> EDGE_BITS
                if label & EDGE_MASK == VALUE:
                    value_tests.setdefault(test, []).append(state)
                elif test >= FIRST_NAME and not seen[test]:
                    seen[test] = 1
                    codes.append(test)
        finally:
            free(seen)
        self.names = NameTable(vocabulary)
        for test in codes:
            self.names.add(test)
        for test in self.twigs.guard_tests:
            value_tests.setdefault(test, [])
        self._index_values(vocabulary, value_tests)
        self.twigs.rank_guards(self.values, vocabulary.value_tests)
        return 0

    cdef int _index_values(self, Vocabulary vocabulary, dict tests) except -1:
        """Index the value tests; group the range tests by state.

        Those are all but equalities and keyword tests, which have no operator.
        """
        cdef int32_t at = 0
        value_tests = [vocabulary.value_tests[code] for code in tests]
        self.values = ValueIndex(value_tests, [code << EDGE_BITS | VALUE for code in tests])
        for code in tests:
            insert(
                &self.operands,
                pack_key(code, 0),
                self.values.operand(vocabulary.value_tests[code]),
            )
        tests_by_parent = defaultdict(list)
        for code, states in tests.items():
            if vocabulary.value_tests[code][1] not in ("=", ""):
                for state in states:
                    tests_by_parent[self.parents.at[state]].append(
                        (state, vocabulary.value_tests[code])
                    )
        count = sum(map(len, tests_by_parent.values()))
        self.ranges = <RangeTest *>calloc(<size_t>max(1, count), sizeof(RangeTest))
        if self.ranges == NULL:
            raise MemoryError
        for parent, edges in tests_by_parent.items():
            insert(&self.range_starts, pack_key(parent, 0), at)
            insert(&self.range_counts, pack_key(parent, 0), <int32_t>len(edges))
            ranges = [self.values.range_test(state, test) for state, test in edges]
            for range_test in sorted(ranges, key=_evaluation_order):
                self.ranges[at] = range_test
                at += 1
        return 0

    # inspection

    def path(self, int32_t state):
        """Return the labels to a state, as pairs of an edge and a test's key; for tests."""
        steps = []
        keys = self.vocabulary.keys
        while state > 0:
            label = self.labels.at[state]
            if label & EDGE_MASK == VALUE:
                steps.append((VALUE, self.vocabulary.value_tests[label >> EDGE_BITS]))
            else:
                steps.append((label & EDGE_MASK, keys[label >> EDGE_BITS]))
            state = self.parents.at[state]
        return tuple(reversed(steps))

    def outline(self):
        """Return (state, parent, number of subscriptions that end there) per state, for tests."""
        return [
            (
                state,
                self.parents.at[state],
                self.states[state + 1].numbers_at - self.states[state].numbers_at,
            )
            for state in range(self.size)
        ]

    @property
    def memory(self):
        """The memory of the NFA, in bytes."""
        return (
            self.size * <Py_ssize_t>sizeof(NfaState)
            + 4 * (self.parents.capacity + self.labels.capacity)
            + 4 * (self.numbers.capacity + self.hops.capacity)
            + self.names.memory
            + self.values.memory
            + self.twigs.memory
        )


cdef int _add_linear(Trie trie, LinearPaths paths, numbers, IntVector *ends) except -1:
    cdef int32_t number, start
    cdef int32_t[::1] chosen = array.array("i", numbers)
    cdef Py_ssize_t index
    for index in range(chosen.shape[0]):
        number = chosen[index]
        if not 0 <= number < paths.ends.size:
            raise IndexError(number)
        start = paths.ends.at[number - 1] if number else 0
        push(ends, trie.add_path(0, paths.labels.at + start, paths.ends.at[number] - start))
        push(ends, number)
    return 0


cdef int _add_entry(
    TwigBuilder builder, LinearPaths paths, object entry, IntVector *ends
) except -1:
    """Add an entry: (key, subscription numbers, has a residual, alternatives).

    The alternatives may be packed (see `plan_codec`).
    """
    cdef const int32_t *codes
    cdef int32_t index, state, count, form
    cdef bytes packed
    key, numbers, residual, alternatives = entry
    packed = alternatives if isinstance(alternatives, bytes) else pack_plan(alternatives)
    for number in numbers:
        paths.hop(number)  # checks the number
    index = builder.twigs.add_entry(key, numbers, paths, residual)
    codes = <const int32_t *>PyBytes_AS_STRING(packed)
    count = codes[0]
    codes += 1
    for _ in range(count):
        form = codes[0]
        codes += 1
        if form == TWIG_FORM:
            codes = builder.add_twig(index, codes)
        elif form == GENERAL_FORM:
            codes = builder.add_paths(index, codes[0], codes + 1, True)
        elif residual:
            codes = builder.add_paths(index, 1, codes, False)
        else:
            state = builder.trie.add_path(0, codes + 1, codes[0])
            codes += 1 + codes[0]
            for number in numbers:
                push(ends, state)
                push(ends, number)
    return 0


cdef int _sort_by_label(int32_t *states, int32_t count, const int32_t *labels) except -1:
    """Sort states by label: by insertion up to 32 states, else with Python's sort."""
    cdef int32_t index, at, state
    if count > 32:
        pairs = sorted([(labels[states[index]], states[index]) for index in range(count)])
        for index in range(count):
            states[index] = pairs[index][1]
        return 0
    for index in range(1, count):
        state = states[index]
        at = index
        while at and labels[states[at - 1]] > labels[state]:
            states[at] = states[at - 1]
            at -= 1
        states[at] = state
    return 0


def _evaluation_order(test):
    return test["op"], -test["operand"] if test["op"] in _FALLING_OPS else test["operand"]
