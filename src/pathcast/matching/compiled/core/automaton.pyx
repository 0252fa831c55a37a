"""The shared automaton in flat arrays: built once from the paths of many subscriptions, then only read.

States are numbers, given so that those which follow a state lie side by side in the order of their labels: to find one means
to look at one or two lines of memory. A state knows by a bit for every test that its edges have (of 24, so that two tests
may share one) which look-ups are not worth making; the numbers of the subscriptions that end there lie together
in one array. Nothing changes after `__init__`: any number of threads may run it.

What is not linear comes as `Entry`: its alternatives are exact paths (which then end in numbers, too), twigs to be
joined, or paths that must occur before somebody else evaluates the condition.

>>> from pathcast.matching.compiled.core.labels import Paths, Vocabulary
>>> paths = Paths(Vocabulary())
>>> paths.read("/a/b"), paths.read("/a//b")
(True, True)
>>> Automaton(paths, [0, 1], []).size
4
"""

from collections import defaultdict

from cpython cimport array
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport calloc, free

from pathcast.matching.compiled.core.labels cimport (
    A_KIND,
    A_NAME,
    A_NAME_IN_SPACE,
    A_TARGET,
    ANY,
    ATTRIBUTE,
    CHILD,
    DEEP_ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    VALUE,
    Paths,
    Vocabulary,
)
from pathcast.matching.compiled.core.names cimport Names
from pathcast.matching.compiled.core.predicates cimport Values
from pathcast.matching.compiled.core.twigs cimport Twigs
from pathcast.vectors cimport (
    IntVector,
    find,
    free_map,
    free_vector,
    insert,
    map_bytes,
    pack_key,
    push,
    reserve,
)

# In which order the tests of a state are asked: by this, then by their operand, so that those that hold come first.
_FALLING = (2, 3)


cdef class Automaton:
    """The automaton of some subscriptions."""

    def __cinit__(self):
        self.states = NULL
        self.ranges = NULL

    def __init__(self, Paths paths not None, numbers, list entries not None):
        """`numbers`: those of `paths` that are linear; `entries`: the subscriptions that are not."""
        cdef int32_t index, state
        cdef IntVector ends
        self.vocabulary = paths.vocabulary
        self.largest_number = self.largest_hop = -1
        push(&self.parents, -1)
        push(&self.labels, -1)
        ends = IntVector(NULL, 0, 0)  # pairs of a state and a number
        try:
            self._linear(paths, numbers, &ends)
            self.twigs = Twigs()
            for entry in entries:
                self._entry(paths, entry, &ends)
            self.size = <int32_t>self.parents.size
            self._arrange(&ends)
            self.twigs.seal(self._rarity())
            for index in range(self.twigs.leaves.size):
                self.states[self.twigs.leaves.at[index]].leaf = index
            self._place(paths, &ends)
        finally:
            free_vector(&ends)
        self._outline()
        self._name(paths.vocabulary)

    def __dealloc__(self):
        free(self.states)
        free(self.ranges)
        free_vector(&self.parents)
        free_vector(&self.labels)
        free_vector(&self.numbers)
        free_vector(&self.hops)
        free_map(&self.edges)
        free_map(&self.ranges_of)
        free_map(&self.range_counts)
        free_map(&self.operands)

    # building

    cdef int32_t _insert(self, int32_t state, int32_t label) except -1:
        """The state behind an edge, a new one if it is new."""
        cdef int32_t found = find(&self.edges, pack_key(state, label))
        if found < 0:
            found = <int32_t>self.parents.size
            push(&self.parents, state)
            push(&self.labels, label)
            insert(&self.edges, pack_key(state, label), found)
        return found

    cdef int _linear(self, Paths paths, numbers, IntVector *ends) except -1:
        cdef int32_t number, state, at, end
        cdef int32_t[::1] chosen = array.array("i", numbers)
        cdef Py_ssize_t index
        for index in range(chosen.shape[0]):
            number = chosen[index]
            if not 0 <= number < paths.ends.size:
                raise IndexError(number)
            state = 0
            at = paths.ends.at[number - 1] if number else 0
            end = paths.ends.at[number]
            while at < end:
                state = self._insert(state, paths.labels.at[at])
                at += 1
            push(ends, state)
            push(ends, number)
        return 0

    cdef int _entry(self, Paths paths, object entry, IntVector *ends) except -1:
        """An entry: (key, numbers, residual, alternatives)."""
        cdef int32_t place, state
        key, numbers, residual, alternatives = entry
        place = self.twigs.add_entry(key, numbers, [paths.hop(number) for number in numbers], residual)
        for kind, what in alternatives:
            if kind == "exact":
                state = self._follow(0, what)
                if residual:
                    self.twigs.add_unit(place, [self.twigs.leaf(state)], -1, False)
                else:
                    for number in numbers:
                        push(ends, state)
                        push(ends, number)
            elif kind == "twig":
                self._twig(place, what)
            else:
                leaves = [self.twigs.leaf(self._follow(0, path)) for path in what]
                self.twigs.add_unit(place, leaves, -1, True)
        return 0

    def _follow(self, int32_t state, labels):
        for label in labels:
            state = self._insert(state, label)
        return state

    def _twig(self, place, kids):
        """A twig: its branches below the document node, each (labels, kids)."""
        cdef int32_t state = 0
        leaves = {}
        while len(kids) == 1:  # up to where it forks first: that this has a node is all that is asked
            labels, kids = kids[0]
            state = self._follow(state, labels)
        joint = self._joint(state, kids, leaves)
        self.twigs.add_unit(place, list(leaves), joint, False)

    def _joint(self, int32_t state, kids, leaves):
        links = []
        for labels, further in kids:
            end = self._follow(state, labels)
            if further:
                target = self._joint(end, further, leaves) << 1 | 1
            else:
                leaf = self.twigs.leaf(end)
                leaves[leaf] = None
                target = leaf << 1
            links.append(self.twigs.link(target, end, state, self._way(end, state)))
        return self.twigs.joint(state, links, -1 if self._only_one(state) else self.twigs.leaf(state))

    cdef bint _only_one(self, int32_t state) except -1:
        """Whether no document can reach a state at two nodes: it is the document, or its element."""
        cdef int32_t label = self.labels.at[state]
        if state == 0:
            return True
        return (
            self.parents.at[state] == 0
            and label & EDGE_MASK == CHILD
            and (label >> EDGE_BITS == ANY or label >> EDGE_BITS >= FIRST_NAME)
            and (<Vocabulary>self.vocabulary).kinds.at[label >> EDGE_BITS] != A_TARGET
        )

    def _way(self, int32_t lower, int32_t upper):
        """How to get from a state up to another: levels, leaves to find above, levels ... (see `twigs`)."""
        cdef int32_t edge, levels = 0
        way = []
        while lower != upper:
            edge = self.labels.at[lower] & EDGE_MASK
            lower = self.parents.at[lower]
            if edge == CHILD or edge == ATTRIBUTE:
                levels += 1
            elif edge != VALUE:
                way += [levels, self.twigs.leaf(lower)]
                levels = 0
        return (*way, levels)

    def _rarity(self):
        """How rare each leaf is likely to be: names count, values count most, and depth a little."""
        cdef int32_t state, label, score
        cdef const int32_t *kinds = (<Vocabulary>self.vocabulary).kinds.at
        found = []
        for index in range(self.twigs.leaves.size):
            state = self.twigs.leaves.at[index]
            score = 0
            while state:
                label = self.labels.at[state]
                if label & EDGE_MASK == VALUE:
                    score += 100
                else:
                    score += 1 + 4 * (kinds[label >> EDGE_BITS] in (A_NAME, A_NAME_IN_SPACE))
                state = self.parents.at[state]
            found.append(score)
        return found

    cdef int _arrange(self, IntVector *ends) except -1:
        """Number the states anew: what follows one state lies side by side, in the order of the labels."""
        cdef int32_t state, old, count, at, next = 1
        cdef IntVector starts, kids, new, parents, labels
        cdef Py_ssize_t index
        starts = kids = new = parents = labels = IntVector(NULL, 0, 0)
        self.states = <State *>calloc(<size_t>self.size + 1, sizeof(State))
        if self.states == NULL:
            raise MemoryError
        try:
            for ints in range(self.size + 1):
                push(&starts, 0)
            reserve(&kids, self.size)
            reserve(&new, self.size)
            reserve(&parents, self.size)
            reserve(&labels, self.size)
            kids.size = new.size = parents.size = labels.size = self.size
            for state in range(1, self.size):
                starts.at[self.parents.at[state] + 1] += 1
            for state in range(self.size):
                starts.at[state + 1] += starts.at[state]
            for state in range(1, self.size):  # starts[s] runs to where the kids of s + 1 start
                kids.at[starts.at[self.parents.at[state]]] = state
                starts.at[self.parents.at[state]] += 1
            new.at[0] = 0  # as a queue first: the old numbers in their new order
            parents.at[0] = labels.at[0] = -1
            for state in range(self.size):
                old = new.at[state]
                at = starts.at[old - 1] if old else 0
                count = starts.at[old] - at
                _sort_by(kids.at + at, count, self.labels.at)
                self.states[state].label = labels.at[state]
                self.states[state].first = next
                self.states[state].count = count
                self.states[state].leaf = -1
                for index in range(at, at + count):
                    new.at[next] = kids.at[index]
                    parents.at[next] = state
                    labels.at[next] = self.labels.at[kids.at[index]]
                    next += 1
            for state in range(self.size):  # kids now gives the new number of an old one
                kids.at[new.at[state]] = state
            for index in range(ends.size // 2):
                ends.at[2 * index] = kids.at[ends.at[2 * index]]
            self.twigs.renumber(kids.at)
            self.parents, parents = parents, self.parents
            self.labels, labels = labels, self.labels
        finally:
            free_vector(&starts)
            free_vector(&kids)
            free_vector(&new)
            free_vector(&parents)
            free_vector(&labels)
        free_map(&self.edges)
        return 0

    cdef int32_t following(self, int32_t first, int32_t count, int32_t label) noexcept nogil:
        """The state behind an edge, or -1."""
        cdef int32_t low = first, high = first + count, middle
        if count >= MANY:
            high = first + self.states[self.parents.at[first]].count
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

    cdef int _place(self, Paths paths, IntVector *ends) except -1:
        """Put the numbers of each state side by side."""
        cdef Py_ssize_t index, count = ends.size // 2
        cdef int32_t state, at, number, hop
        cdef State *states = self.states
        for index in range(count):
            states[ends.at[2 * index] + 1].numbers += 1
        for state in range(self.size):
            states[state + 1].numbers += states[state].numbers
        reserve(&self.numbers, count)
        reserve(&self.hops, count)
        self.numbers.size = self.hops.size = count
        for index in range(count - 1, -1, -1):  # from the end, so that each state's start ends where it belongs
            state = ends.at[2 * index]
            number = ends.at[2 * index + 1]
            hop = paths.hops.at[number]
            states[state + 1].numbers -= 1
            at = states[state + 1].numbers
            self.numbers.at[at] = number
            self.hops.at[at] = hop
            self.largest_number = max(self.largest_number, number)
            self.largest_hop = max(self.largest_hop, hop)
        for state in range(self.size):  # each start stands one too far to the right now
            states[state].numbers = states[state + 1].numbers
        states[self.size].numbers = <int32_t>count
        for number in self.twigs.numbers():
            self.largest_number = max(self.largest_number, number)
            self.largest_hop = max(self.largest_hop, paths.hops.at[number])
        return 0

    cdef int _outline(self) except -1:
        """What each state has, as bits."""
        cdef int32_t state, label, test, edge
        cdef State *parent
        cdef const int32_t *kinds = (<Vocabulary>self.vocabulary).kinds.at
        cdef uint32_t flags = 0
        for state in range(1, self.size):
            label = self.labels.at[state]
            test = label >> EDGE_BITS
            edge = label & EDGE_MASK
            parent = &self.states[self.parents.at[state]]
            if edge != VALUE and (kinds[test] == A_NAME or kinds[test] == A_NAME_IN_SPACE):
                self.states[state].flags |= NAMED
            if edge == CHILD:
                parent.child |= trace(test)
                if test > ANY and (kinds[test] == A_KIND or kinds[test] == A_TARGET):
                    parent.flags |= OTHERS
            elif edge == DESCENDANT:
                parent.deep |= trace(test)
                if test > ANY and (kinds[test] == A_KIND or kinds[test] == A_TARGET):
                    parent.flags |= DEEP_OTHERS
            elif edge == ATTRIBUTE:
                parent.flags |= ATTRIBUTES
            elif edge == DEEP_ATTRIBUTE:
                parent.deep |= trace(test)
                parent.flags |= DEEP_ATTRIBUTES
            else:
                parent.flags |= VALUES
            flags |= parent.flags
        self.simple = self.twigs.unit_count == 0 and not flags & ~<uint32_t>NAMED
        return 0

    cdef int _name(self, Vocabulary vocabulary) except -1:
        """Which names, namespaces, targets and values it asks for."""
        cdef int32_t state, label, test
        cdef char *seen = <char *>calloc(len(vocabulary.keys) + 1, 1)
        used = []
        tests = {}
        if seen == NULL:
            raise MemoryError
        try:
            for state in range(1, self.size):
                label = self.labels.at[state]
                test = label >> EDGE_BITS
                if label & EDGE_MASK == VALUE:
                    tests.setdefault(test, []).append(state)
                elif test >= FIRST_NAME and not seen[test]:
                    seen[test] = 1
                    used.append(test)
        finally:
            free(seen)
        self.names = Names(vocabulary)
        for test in used:
            self.names.add(test)
        self._values(vocabulary, tests)
        return 0

    cdef int _values(self, Vocabulary vocabulary, dict tests) except -1:
        """The value tests, those that are no equalities side by side for each state."""
        cdef int32_t at = 0
        known = [vocabulary.value_tests[code] for code in tests]
        self.values = Values(known, [code << EDGE_BITS | VALUE for code in tests])
        for code in tests:
            insert(&self.operands, pack_key(code, 0), self.values.operand(vocabulary.value_tests[code]))
        owners = defaultdict(list)
        for code, states in tests.items():
            if vocabulary.value_tests[code][1] != "=":
                for state in states:
                    owners[self.parents.at[state]].append((state, vocabulary.value_tests[code]))
        count = sum(len(found) for found in owners.values())
        self.ranges = <Range *>calloc(<size_t>max(1, count), sizeof(Range))
        if self.ranges == NULL:
            raise MemoryError
        for state, found in owners.items():
            insert(&self.ranges_of, pack_key(state, 0), at)
            insert(&self.range_counts, pack_key(state, 0), <int32_t>len(found))
            ranged = [self.values.ranged(child, test) for child, test in found]
            for one in sorted(ranged, key=_order):
                self.ranges[at] = one
                at += 1
        return 0

    # what it is like

    def path(self, int32_t state):
        """The labels that lead to a state, as pairs of an edge and a test's key."""
        found = []
        keys = self.vocabulary.keys
        while state > 0:
            label = self.labels.at[state]
            if label & EDGE_MASK == VALUE:
                found.append((VALUE, self.vocabulary.value_tests[label >> EDGE_BITS]))
            else:
                found.append((label & EDGE_MASK, keys[label >> EDGE_BITS]))
            state = self.parents.at[state]
        return tuple(reversed(found))

    def outline(self):
        """(state, its parent, how many end there) of every state."""
        return [
            (state, self.parents.at[state], self.states[state + 1].numbers - self.states[state].numbers)
            for state in range(self.size)
        ]

    @property
    def memory(self):
        """Bytes."""
        return (
            self.size * <Py_ssize_t>sizeof(State)
            + 4 * (self.parents.capacity + self.labels.capacity + self.numbers.capacity + self.hops.capacity)
            + map_bytes(&self.edges)
            + self.names.memory
            + self.values.memory
            + self.twigs.memory
        )


cdef int _sort_by(int32_t *states, int32_t count, const int32_t *labels) except -1:
    """Sort a few states by their labels; many by Python, which is better at it."""
    cdef int32_t index, at, state
    if count > 32:
        found = sorted([(labels[states[index]], states[index]) for index in range(count)])
        for index in range(count):
            states[index] = found[index][1]
        return 0
    for index in range(1, count):
        state = states[index]
        at = index
        while at and labels[states[at - 1]] > labels[state]:
            states[at] = states[at - 1]
            at -= 1
        states[at] = state
    return 0


def _order(test):
    return test["op"], -test["operand"] if test["op"] in _FALLING else test["operand"]
