"""The automaton made deterministic as documents come: what was worked out for a label path is kept.

A `Node` stands for a label path, a `Segment` for states that it reaches. There are two kinds of segments:

- its own: what edges to children lead to from the states of the node above;
- jumps, shared: states that wait at any depth were met at some node v above, so that what they lead to on a name
  depends on v and the name alone. All label paths below v that end with this name have that segment in common.

States have one edge in, so no state is in two segments of a node, and a node has at most one segment
more than it has ancestors. A state goes on waiting at any depth where it was first met on a path; below, it is not taken
again (`_deepen`), which is what keeps `//a//a//a` on nested a from growing.

Bounds: a new label path costs at most the number of states (times 4 tests); memory stays within `limit` ints, after
which the memo is forgotten before the next document, and a document that passes it on its own goes on without
keeping (`keeping`), in room for the states of its open elements. `work` counts the edges that were asked for.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.automaton cimport ATTRIBUTES, MANY, VALUES, Automaton, State, trace
from pathcast.matching.compiled.core.label_paths cimport (
    IS_ATTRIBUTE,
    IS_VALUE,
    KIND_SHIFT,
    NAME_MASK,
    NOTHING,
    Further,
    Node,
    class_slot,
)
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
from pathcast.matching.compiled.core.predicates cimport LESS, NOWHERE, Range, holds
from pathcast.matching.compiled.core.segments cimport Content, Segment
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
    _NODE_WEIGHT = 24  # what a node and its entry in the table take, in ints
    _SEGMENT_WEIGHT = 18
    _LARGE = 1 << 10
    _LEAST = 48_000_000  # ints that may be remembered in any case
    _EACH = 40  # and so many more for every state


cdef uint64_t _serials = 0


cdef uint64_t _next_serial() noexcept:
    global _serials
    _serials += 1
    return _serials


cdef class Memo(LabelPaths):
    """What runs of one automaton have worked out; used by one thread at a time."""

    def __init__(self, Automaton automaton not None, Py_ssize_t limit=-1):
        """`limit` bounds what is remembered, in ints; below 0: by the size of the automaton."""
        self.by_size = limit < 0
        self.limit = limit
        self.serve(automaton)

    def __dealloc__(self):
        free_vector(&self.jumped)
        free_vector(&self.picked)
        free_map(&self.following)
        free_map(&self.jumps)

    cdef int serve(self, Automaton automaton) except -1:
        """Start again with another automaton, in the room that is there."""
        self.automaton = automaton
        self.make_room()
        self.serial = _next_serial()
        if self.by_size:
            self.limit = _LEAST + _EACH * automaton.size
        if self.following.mask >= _LARGE:  # to clean it would take longer than to make a new one
            free_map(&self.following)
        if self.jumps.mask >= _LARGE:
            free_map(&self.jumps)
        self.mask_words = (automaton.largest_hop >> 6) + 1  # -1 >> 6 is -1
        self.forget()
        return 0

    @property
    def memory(self):
        """Bytes."""
        return (
            self.node_room * <Py_ssize_t>(sizeof(Node) + sizeof(Further))
            + self.segment_room * <Py_ssize_t>(sizeof(Segment) + sizeof(Content))
            + 4 * (self.ints.capacity + self.lists.capacity)
            + 8 * self.mask_room
            + map_bytes(&self.following)
            + map_bytes(&self.jumps)
            + 4 * self.automaton.size
        )

    # keeping and forgetting

    cdef int forget(self) except -1 nogil:
        """Start again with the document node alone."""
        if self.ints.capacity > 1 << 16:
            free_map(&self.following)
            free_map(&self.jumps)
        clear_map(&self.following)
        clear_map(&self.jumps)
        self.keeping = True
        return self.clear_paths()

    cdef Py_ssize_t _weight(self) noexcept nogil:
        return (
            self.ints.size + self.lists.size + self.mask_count * 2
            + self.node_count * _NODE_WEIGHT + (self.segment_count + self.jumps.size) * _SEGMENT_WEIGHT
        )

    cdef int prepare(self) except -1 nogil:
        """Before a document: forget if it is time to."""
        if self._weight() > self.limit:
            self.flushes += 1
            self.forget()
        self.keeping = True
        return 0

    cdef Mark mark(self) noexcept nogil:
        return Mark(self.node_count, self.segment_count, self.ints.size, self.lists.size)

    cdef void release(self, Mark mark) noexcept nogil:
        """Drop what was made since the mark without being kept."""
        self.node_count = mark.nodes
        self.segment_count = mark.segments
        self.ints.size = mark.ints
        self.lists.size = mark.lists

    # the next label path

    cdef int32_t advance(self, int32_t node, int32_t code) except -1 nogil:
        """The node for a label below another, worked out anew (the caller has looked it up already)."""
        cdef Py_ssize_t start
        cdef int32_t tests[4]
        cdef int32_t found, context, own = 0
        cdef uint32_t wanted = 0
        cdef int count, test
        self.misses += 1
        if self.keeping and self._weight() > self.limit:
            self.keeping = False
        self.jumped.size = 0
        if code >= IS_VALUE:
            self._values(node, code & NAME_MASK > self.further[node].string_count)
            own = self.segment()
        else:
            count = self._tests(code, tests)
            for test in range(count):
                wanted |= trace(tests[test])
            if code >> KIND_SHIFT == IS_ATTRIBUTE >> KIND_SHIFT:
                self._attributes(node, tests, count)
                own = self.segment()
            elif self.further[node].child & wanted:
                self._step(node, tests, count)
                own = self.segment()
            context = self.further[node].context
            while context >= 0 and self.further[context].below & wanted:
                if self.further[context].own & wanted:
                    found = self._jump(context, code, tests, count)
                    if found:
                        push(&self.jumped, found)
                found = self.nodes[context].parent
                context = self.further[found].context if found >= 0 else -1
        if own == 0 and self.jumped.size == 0 and code >= IS_ATTRIBUTE:
            found = NOTHING  # no element, so nothing can come below it either
        elif own == 0 and self.jumped.size == 0 and self.keeping and self.automaton.simple:
            found = self.void_below(node)
        else:
            start = self.lists.size
            if own:
                push(&self.lists, own)
            append(&self.lists, self.jumped.at, self.jumped.size)
            found = self.node(node, code, start)
        if self.keeping:
            if code >= IS_VALUE:
                self.ints.at[class_slot(&self.further[node], code)] = found
            else:
                insert(&self.following, pack_key(node, code), found)
        return found

    cdef int _tests(self, int32_t code, int32_t *tests) noexcept nogil:
        """The tests that a node of the document passes, and how many they are."""
        cdef int32_t name = code & NAME_MASK, kind = code >> KIND_SHIFT, space
        cdef int count = 0
        if kind <= 1 or kind == 4:
            if name >= FIRST_NAME:
                tests[count] = name
                count += 1
                if kind != 4:
                    space = self.automaton.names.space(name)
                    if space > 0:
                        tests[count] = space
                        count += 1
            tests[count] = INSTRUCTION if kind == 4 else ANY
            count += 1
        else:
            tests[count] = TEXT if kind == 2 else COMMENT
            count += 1
        tests[count] = NODE
        return count + 1

    cdef int _step(self, int32_t node, const int32_t *tests, int count) except -1 nogil:
        """Take what edges to children lead to."""
        cdef int32_t index
        cdef const Content *segment
        for index in range(self.nodes[node].segment_count):
            segment = &self.contents[self.lists.at[self.nodes[node].segments + index]]
            self._follow(segment.at, segment.near, tests, count, CHILD)
        return 0

    cdef int _follow(
        self, int64_t at, int32_t pairs, const int32_t *tests, int count, int32_t edge
    ) except -1 nogil:
        """Take what edges of a kind with one of these tests lead to, from the states of some pairs."""
        cdef uint32_t bits[4]
        cdef uint32_t wanted = 0, has
        cdef int test
        cdef int32_t found, index
        cdef const State *states = self.automaton.states
        cdef const int32_t *pair = self.ints.at + at
        for test in range(count):
            bits[test] = trace(tests[test])
            wanted |= bits[test]
        # First find out which are worth a look and have them brought, then look: the memory works meanwhile.
        self.picked.size = 0
        for index in range(pairs):
            if <uint32_t>pair[2 * index + 1] & wanted:
                __builtin_prefetch(&states[pair[2 * index]])
                push(&self.picked, pair[2 * index])
                push(&self.picked, pair[2 * index + 1])
        for index in range(0, <int32_t>self.picked.size, 2):
            has = <uint32_t>self.picked.at[index + 1]
            for test in range(count):
                if has & bits[test]:
                    self.work += 1
                    found = self.automaton.following(
                        self.picked.at[index], has & MANY, tests[test] << EDGE_BITS | edge
                    )
                    if found >= 0:
                        self.take(found)
        return 0

    cdef int _attributes(self, int32_t node, const int32_t *tests, int count) except -1 nogil:
        """Take what edges to attributes lead to."""
        cdef int test
        cdef int32_t index, found, segment
        cdef const int32_t *state
        cdef const int32_t *last
        for index in range(self.nodes[node].segment_count):
            segment = self.lists.at[self.nodes[node].segments + index]
            state = self.ints.at + self.contents[segment].at + 2 * (
                self.contents[segment].near + self.contents[segment].named + self.contents[segment].starred
            )
            last = state + self.contents[segment].sides
            while state < last:
                if self.automaton.states[state[0]].flags & ATTRIBUTES:
                    for test in range(count):
                        self.work += 1
                        found = self.automaton.following(
                            self.automaton.states[state[0]].first,
                            self.automaton.states[state[0]].count,
                            tests[test] << EDGE_BITS | ATTRIBUTE,
                        )
                        if found >= 0:
                            self.take(found)
                state += 1
        return 0

    cdef int _values(self, int32_t node, bint numeric) except -1 nogil:
        """Take what tests of strings, or of numbers, lead to that the value at hand passes."""
        cdef int32_t label = -1, segment, index, found, at
        cdef const int32_t *state
        cdef const int32_t *last
        cdef const State *known
        if numeric:
            if self.value_place != NOWHERE and self.value_place & 1:
                label = self.automaton.values.number_labels.at[self.value_place >> 1]
        elif self.value_string >= 0:
            label = self.automaton.values.string_labels.at[self.value_string]
        for index in range(self.nodes[node].segment_count):
            segment = self.lists.at[self.nodes[node].segments + index]
            state = self.ints.at + self.contents[segment].at + 2 * (
                self.contents[segment].near + self.contents[segment].named + self.contents[segment].starred
            )
            last = state + self.contents[segment].sides
            while state < last:
                known = &self.automaton.states[state[0]]
                if known.flags & VALUES:
                    self.work += 1
                    if label >= 0:
                        found = self.automaton.following(known.first, known.count, label)
                        if found >= 0:
                            self.take(found)
                    at = find(&self.automaton.ranges_of, pack_key(state[0], 0))
                    if at >= 0:
                        found = find(&self.automaton.range_counts, pack_key(state[0], 0))
                        self._ranges(at, at + found, numeric)
                state += 1
        return 0

    cdef int _ranges(self, int32_t at, int32_t end, bint numeric) except -1 nogil:
        """Take what those tests lead to that hold: of each kind, the first ones."""
        cdef const Range *test
        while at < end:
            test = &self.automaton.ranges[at]
            at += 1
            if test.numeric != numeric:
                continue
            self.work += 1
            if holds(test, self.value_string, self.value_place):
                self.take(test.state)
            elif test.op >= LESS:  # in the order of their operands, no other of this kind holds
                while at < end and self.automaton.ranges[at].op == test.op:
                    at += 1
        return 0

    cdef int32_t _jump(
        self, int32_t node, int32_t code, const int32_t *tests, int count
    ) except -1 nogil:
        """The segment that the states waiting at a node lead to on a label, 0 if it would be empty."""
        cdef int32_t edge = DESCENDANT, segment = find(&self.jumps, pack_key(node, code))
        if segment >= 0:
            return segment
        if code >> KIND_SHIFT == IS_ATTRIBUTE >> KIND_SHIFT:
            edge = DEEP_ATTRIBUTE
        self._follow(
            self.further[node].deep,
            self.further[node].named + self.further[node].starred,
            tests,
            count,
            edge,
        )
        segment = self.segment()
        if self.keeping:
            insert(&self.jumps, pack_key(node, code), segment)
        return segment
