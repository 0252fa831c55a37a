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
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memset

from pathcast.matching.core.automaton cimport (
    ATTRIBUTES,
    DEEP_ATTRIBUTES,
    DEEP_OTHERS,
    MANY,
    NAMED,
    VALUES,
    Automaton,
    State,
    trace,
)
from pathcast.matching.core.labels cimport (
    ANY,
    ATTRIBUTE,
    CHILD,
    COMMENT,
    DEEP_ATTRIBUTE,
    DESCENDANT,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    INSTRUCTION,
    NODE,
    TEXT,
    VALUE,
)
from pathcast.matching.core.predicates cimport (
    LESS,
    NOWHERE,
    Range,
    holds,
)
from pathcast.matching.core.vectors cimport (
    Ints,
    _grow,
    append,
    discard,
    drop,
    empty,
    find,
    insert,
    joined,
    push,
    reserve,
    table_bytes,
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


cdef class Memo:
    """What runs of one automaton have worked out; used by one thread at a time."""

    def __cinit__(self):
        self.nodes = NULL
        self.further = NULL
        self.segments = NULL
        self.contents = NULL
        self.masks = NULL
        self.seen = NULL

    def __init__(self, Automaton automaton not None, Py_ssize_t limit=-1):
        """`limit` bounds what is remembered, in ints; below 0: by the size of the automaton."""
        self.by_size = limit < 0
        self.limit = limit
        self.serve(automaton)

    cdef int serve(self, Automaton automaton) except -1:
        """Start again with another automaton, in the room that is there."""
        cdef void *room
        if automaton.size > self.seen_room:
            room = realloc(self.seen, <size_t>automaton.size * sizeof(uint32_t))
            if room == NULL:
                raise MemoryError
            self.seen = <uint32_t *>room
            self.seen_room = automaton.size
        memset(self.seen, 0, <size_t>automaton.size * sizeof(uint32_t))
        self.union = 0
        self.serial = _next_serial()
        self.automaton = automaton
        if self.by_size:
            self.limit = _LEAST + _EACH * automaton.size
        if self.following.mask >= _LARGE:  # to clean it would take longer than to make a new one
            discard(&self.following)
        if self.jumps.mask >= _LARGE:
            discard(&self.jumps)
        self.mask_words = (automaton.largest_hop >> 6) + 1  # -1 >> 6 is -1
        self.forget()
        return 0

    def __dealloc__(self):
        free(self.nodes)
        free(self.further)
        free(self.segments)
        free(self.contents)
        free(self.masks)
        free(self.seen)
        drop(&self.ints)
        drop(&self.lists)
        drop(&self.near)
        drop(&self.jumped)
        drop(&self.picked)
        drop(&self.named)
        drop(&self.starred)
        drop(&self.sides)
        drop(&self.numbers)
        drop(&self.hops)
        drop(&self.joined_leaves)
        drop(&self.leaves)
        discard(&self.following)
        discard(&self.jumps)

    def __len__(self):
        return self.node_count

    @property
    def memory(self):
        """Bytes."""
        return (
            self.node_room * <Py_ssize_t>(sizeof(Node) + sizeof(Further))
            + self.segment_room * <Py_ssize_t>(sizeof(Segment) + sizeof(Content))
            + 4 * (self.ints.room + self.lists.room)
            + 8 * self.mask_room
            + table_bytes(&self.following)
            + table_bytes(&self.jumps)
            + 4 * self.automaton.size
        )

    # keeping and forgetting

    cdef int forget(self) except -1 nogil:
        """Start again with the document node alone."""
        cdef Py_ssize_t start
        if self.ints.room > 1 << 16:  # give the room back, too: the next documents may be small
            drop(&self.ints)
            drop(&self.lists)
            discard(&self.following)
            discard(&self.jumps)
            free(self.masks)
            self.masks = NULL
            self.mask_room = 0
        self.node_count = self.segment_count = self.mask_count = 0
        self.ints.size = self.lists.size = 0
        empty(&self.following)
        empty(&self.jumps)
        self.keeping = True
        self._segment()  # number 0 stands for no segment
        self._take(0)
        start = self.lists.size
        push(&self.lists, self._segment())
        self._node(-1, 0, start)
        self._node(0, IS_TEXT, self.lists.size)  # NOTHING
        self.nodes[NOTHING].flags = 0
        return 0

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

    cdef const int32_t *leaves_of(self, const Segment *segment) noexcept nogil:
        """Where its leaves are; the first one is a count (see the struct)."""
        return self.ints.at + segment.numbers_at + segment.numbers * (2 if self.mask_words else 1)

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
            own = self._segment()
        else:
            count = self._tests(code, tests)
            for test in range(count):
                wanted |= trace(tests[test])
            if code >> KIND_SHIFT == IS_ATTRIBUTE >> KIND_SHIFT:
                self._attributes(node, tests, count)
                own = self._segment()
            elif self.further[node].child & wanted:
                self._step(node, tests, count)
                own = self._segment()
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
            found = self._void(node)
        else:
            start = self.lists.size
            if own:
                push(&self.lists, own)
            append(&self.lists, self.jumped.at, self.jumped.size)
            found = self._node(node, code, start)
        if self.keeping:
            if code >= IS_VALUE:
                self.ints.at[class_slot(&self.further[node], code)] = found
            else:
                insert(&self.following, joined(node, code), found)
        return found

    cdef int32_t _void(self, int32_t node) except -1 nogil:
        """The node of elements at which no state is reached: all below one context are alike, whatever their names.

        Its parent is the context, so that label paths lose levels: not where joins would count them.
        """
        cdef int32_t context = self.further[node].context, found
        if context < 0:
            context = NOTHING
        found = self.further[context].void
        if found < 0:
            found = self._node(context, IS_ELEMENT, self.lists.size)
            if context == NOTHING:
                self.further[found].context = -1
            self.further[context].void = found
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
                        self._take(found)
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
                            self._take(found)
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
                            self._take(found)
                    at = find(&self.automaton.ranges_of, joined(state[0], 0))
                    if at >= 0:
                        found = find(&self.automaton.range_counts, joined(state[0], 0))
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
                self._take(test.state)
            elif test.op >= LESS:  # in the order of their operands, no other of this kind holds
                while at < end and self.automaton.ranges[at].op == test.op:
                    at += 1
        return 0

    cdef int32_t _jump(
        self, int32_t node, int32_t code, const int32_t *tests, int count
    ) except -1 nogil:
        """The segment that the states waiting at a node lead to on a label, 0 if it would be empty."""
        cdef int32_t edge = DESCENDANT, segment = find(&self.jumps, joined(node, code))
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
        segment = self._segment()
        if self.keeping:
            insert(&self.jumps, joined(node, code), segment)
        return segment

    # collecting

    cdef int _take(self, int32_t state) except -1 nogil:
        """Let a state be part of the next segment."""
        cdef const State *known = &self.automaton.states[state]
        cdef int32_t count = known.count if known.count < MANY else MANY, numbers
        if known.child:
            self.child |= known.child
            push(&self.near, known.first)
            push(&self.near, <int32_t>known.child | count)
        if known.deep:
            if known.flags & NAMED:
                push(&self.named, known.first)
                push(&self.named, <int32_t>known.deep | count)
            else:
                push(&self.starred, known.first)
                push(&self.starred, <int32_t>known.deep | count)
        if known.flags & (ATTRIBUTES | VALUES):
            push(&self.sides, state)
        numbers = self.automaton.states[state + 1].numbers - known.numbers
        if numbers:
            append(&self.numbers, self.automaton.numbers.at + known.numbers, numbers)
            if self.mask_words:
                append(&self.hops, self.automaton.hops.at + known.numbers, numbers)
        if known.leaf >= 0:
            push(
                &self.joined_leaves if self.automaton.twigs.joined[known.leaf] else &self.leaves,
                known.leaf,
            )
        self.flags |= known.flags & ~<uint32_t>NAMED
        return 0

    cdef int32_t _segment(self) except -1 nogil:
        """What was taken, as a segment; 0 if that is nothing."""
        cdef Segment *new
        cdef Content *content
        cdef Py_ssize_t total = (
            self.near.size + self.named.size + self.starred.size
            + self.sides.size + self.numbers.size + self.joined_leaves.size + self.leaves.size
        )
        if total == 0 and self.segment_count:
            return 0
        if self.segment_count == self.segment_room:
            _grow(<void **>&self.segments, &self.segment_room, self.segment_count + 1, sizeof(Segment))
        if self.segment_count >= self.content_room:
            _grow(<void **>&self.contents, &self.content_room, self.segment_count + 1, sizeof(Content))
        new = &self.segments[self.segment_count]
        content = &self.contents[self.segment_count]
        memset(new, 0, sizeof(Segment))
        content.at = self.ints.size
        content.near = <int32_t>(self.near.size // 2)
        content.named = <int32_t>(self.named.size // 2)
        content.starred = <int32_t>(self.starred.size // 2)
        content.sides = <int32_t>self.sides.size
        content.flags = self.flags
        content.child = self.child
        append(&self.ints, self.near.at, self.near.size)
        append(&self.ints, self.named.at, self.named.size)
        append(&self.ints, self.starred.at, self.starred.size)
        append(&self.ints, self.sides.at, self.sides.size)
        new.numbers_at = self.ints.size
        new.numbers = <int32_t>self.numbers.size
        new.mask = -1
        append(&self.ints, self.numbers.at, self.numbers.size)
        append(&self.ints, self.hops.at, self.hops.size)
        if self.joined_leaves.size or self.leaves.size:
            new.leaves = <int32_t>(1 + self.joined_leaves.size + self.leaves.size)
            push(&self.ints, <int32_t>self.joined_leaves.size)
            append(&self.ints, self.joined_leaves.at, self.joined_leaves.size)
            append(&self.ints, self.leaves.at, self.leaves.size)
            self.joined_leaves.size = self.leaves.size = 0
        self.near.size = self.named.size = self.starred.size = 0
        self.sides.size = self.numbers.size = self.hops.size = 0
        self.flags = self.child = 0
        self.segment_count += 1
        return <int32_t>self.segment_count - 1

    cdef int32_t _node(self, int32_t parent, int32_t code, Py_ssize_t start) except -1 nogil:
        """A node with the segments that are listed from `start` on."""
        cdef Node *new
        cdef int32_t number = <int32_t>self.node_count, index, segment
        if self.node_count == self.node_room:
            _grow(<void **>&self.nodes, &self.node_room, self.node_count + 1, sizeof(Node))
        if self.node_count >= self.further_room:
            _grow(<void **>&self.further, &self.further_room, self.node_count + 1, sizeof(Further))
        new = &self.nodes[number]
        memset(new, 0, sizeof(Node))
        memset(&self.further[number], 0, sizeof(Further))
        new.parent = parent
        new.code = code
        new.segments = <int32_t>start
        new.segment_count = <int32_t>(self.lists.size - start)
        new.first = -1
        self.further[number].context = self.further[number].void = -1
        self.further[number].precise = parent < 0 or (
            self.further[parent].precise
            and FIRST_NAME <= code < IS_ATTRIBUTE
            and not self.automaton.names.is_space(code)
        )
        if parent >= 0:
            self.further[number].context = self.further[parent].context
            if self.further[parent].context >= 0:
                self.further[number].below = self.further[self.further[parent].context].below
            new.flags = self.nodes[parent].flags & (DEEP_ATTRIBUTES | DEEP_OTHERS)
        for index in range(new.segment_count):
            segment = self.lists.at[start + index]
            new.flags |= self.contents[segment].flags
            self.further[number].child |= self.contents[segment].child
            if self.segments[segment].numbers or self.segments[segment].leaves:
                self.lists.at[start + index] = self.lists.at[start + new.holding]
                self.lists.at[start + new.holding] = segment
                new.holding += 1
        self.node_count += 1
        if code >> KIND_SHIFT == IS_ELEMENT:
            self._deepen(number)
        if self.nodes[number].flags & VALUES:
            self._operands(number)
        if self.nodes[number].flags & (ATTRIBUTES | DEEP_ATTRIBUTES):
            self._ask_attributes(number)
        return number

    cdef int _ask_attributes(self, int32_t node) except -1 nogil:
        """Note which attributes its states ask for: most of a document's are not worth a look."""
        cdef Further *further = &self.further[node]
        cdef const Content *segment
        cdef const int32_t *pair
        cdef const State *known
        cdef int32_t index, side
        if self.nodes[node].parent >= 0:
            further.deep_attributes = self.further[self.nodes[node].parent].deep_attributes
        if further.context == node:
            for index in range(further.named + further.starred):
                pair = self.ints.at + further.deep + 2 * index
                further.deep_attributes |= self._attribute_bits(
                    pair[0], pair[1] & MANY, DEEP_ATTRIBUTE
                )
        further.attributes = further.deep_attributes
        for index in range(self.nodes[node].segment_count):
            segment = &self.contents[self.lists.at[self.nodes[node].segments + index]]
            pair = self.ints.at + segment.at + 2 * (segment.near + segment.named + segment.starred)
            for side in range(segment.sides):
                known = &self.automaton.states[pair[side]]
                if known.flags & ATTRIBUTES:
                    further.attributes |= self._attribute_bits(known.first, known.count, ATTRIBUTE)
        further.slots = self.ints.size
        return self._blank(2 * __builtin_popcountll(further.attributes))

    cdef int _blank(self, Py_ssize_t count) except -1 nogil:
        """Room for so many numbers that are not known yet."""
        reserve(&self.ints, count)
        memset(self.ints.at + self.ints.size, 255, <size_t>count * sizeof(int32_t))
        self.ints.size += count
        return 0

    cdef uint64_t _attribute_bits(self, int32_t first, int32_t count, int32_t edge) noexcept nogil:
        """The bits of the attributes that the edges of a kind ask for; all, if one asks for more than a name."""
        cdef uint64_t bits = 0
        cdef int32_t state
        if count >= MANY:
            count = self.automaton.states[self.automaton.parents.at[first]].count
        for state in range(first, first + count):
            if self.automaton.states[state].label & EDGE_MASK == edge:
                if not self.automaton.states[state].flags & NAMED:
                    return ~<uint64_t>0
                bits |= attribute_bit(self.automaton.states[state].label >> EDGE_BITS)
        return bits

    cdef int _deepen(self, int32_t node) except -1 nogil:
        """Which of its states go on at any depth and did not do so before."""
        cdef const Node *new = &self.nodes[node]
        cdef Further *further = &self.further[node]
        cdef const Content *segment
        cdef const int32_t *pair
        cdef int32_t index, count, other
        cdef int32_t above = self.further[new.parent].context if new.parent >= 0 else -1
        cdef bint any_named = False, any_starred = False
        for index in range(new.segment_count):
            segment = &self.contents[self.lists.at[new.segments + index]]
            any_named |= segment.named > 0
            any_starred |= segment.starred > 0
        if not any_named and not any_starred:
            return 0
        self.union += 1
        if self.union == 0:
            memset(self.seen, 0, <size_t>self.automaton.size * sizeof(uint32_t))
            self.union = 1
        other = above
        while other >= 0:  # a state reached by a name was met before only where the same name stood
            pair = self.ints.at + self.further[other].deep
            if any_named and self.nodes[other].code == new.code:
                for count in range(self.further[other].named):
                    self.seen[pair[2 * count]] = self.union
            pair += 2 * self.further[other].named
            if any_starred:
                for count in range(self.further[other].starred):
                    self.seen[pair[2 * count]] = self.union
            other = self.nodes[other].parent
            other = self.further[other].context if other >= 0 else -1
        further.deep = self.ints.size
        for index in range(new.segment_count):
            segment = &self.contents[self.lists.at[new.segments + index]]
            for count in range(segment.named):
                pair = self.ints.at + segment.at + 2 * (segment.near + count)
                if self.seen[pair[0]] != self.union:
                    push(&self.near, pair[0])
                    push(&self.near, pair[1])
        further.named = <int32_t>(self.near.size // 2)
        for index in range(new.segment_count):
            segment = &self.contents[self.lists.at[new.segments + index]]
            for count in range(segment.starred):
                pair = self.ints.at + segment.at + 2 * (segment.near + segment.named + count)
                if self.seen[pair[0]] != self.union:
                    push(&self.near, pair[0])
                    push(&self.near, pair[1])
        further.starred = <int32_t>(self.near.size // 2) - further.named
        append(&self.ints, self.near.at, self.near.size)
        self.near.size = 0
        if further.named or further.starred:
            further.context = node
            for count in range(further.named + further.starred):
                further.own |= <uint32_t>self.ints.at[further.deep + 2 * count + 1] & ~<uint32_t>MANY
            further.below |= further.own
        return 0

    # values and hops

    cdef int32_t string_class(self, int32_t node, int32_t string) noexcept nogil:
        """What a value is to the tests of strings at a node; it becomes the value at hand."""
        cdef const int32_t *operands = self.ints.at + self.further[node].operands
        cdef int32_t count = self.further[node].string_count, low
        self.value_string = string
        if string >= 0:
            low = bisected(operands, count, string)
            if low < count and operands[low] == string:
                return IS_VALUE | (1 + low)
        return IS_VALUE

    cdef int32_t number_class(self, int32_t node, int32_t place) noexcept nogil:
        """What a value is to the tests of numbers at a node; it becomes the value at hand."""
        cdef int32_t strings = self.further[node].string_count, count = self.further[node].place_count, low
        cdef const int32_t *operands = self.ints.at + self.further[node].operands + strings
        self.value_place = place
        if place == NOWHERE:
            return IS_VALUE | (1 + strings)
        low = bisected(operands, count, place)
        return IS_VALUE | (2 + strings + 2 * low + (low < count and operands[low] == place))

    cdef int _operands(self, int32_t node) except -1 nogil:
        """Find the operands of a node's value tests."""
        cdef Ints strings, places
        cdef const Content *segment
        cdef const State *known
        cdef int32_t index, side, state, child, operand
        strings = places = Ints(NULL, 0, 0)
        try:
            for index in range(self.nodes[node].segment_count):
                segment = &self.contents[self.lists.at[self.nodes[node].segments + index]]
                for side in range(segment.sides):
                    state = self.ints.at[
                        segment.at + 2 * (segment.near + segment.named + segment.starred) + side
                    ]
                    known = &self.automaton.states[state]
                    for child in range(known.first, known.first + known.count):
                        if self.automaton.states[child].label & EDGE_MASK == VALUE:
                            operand = find(
                                &self.automaton.operands,
                                joined(self.automaton.states[child].label >> EDGE_BITS, 0),
                            )
                            push(&places if operand & 1 else &strings, operand >> 1)
            self.further[node].string_count = sorted_once(&strings)
            self.further[node].place_count = sorted_once(&places)
            self.further[node].operands = self.ints.size
            append(&self.ints, strings.at, strings.size)
            append(&self.ints, places.at, places.size)
            self._blank(3 + strings.size + 2 * places.size)  # see `number_class`
        finally:
            drop(&strings)
            drop(&places)
        return 0

    cdef int hops_of(
        self, int32_t segment, const uint64_t *alive, uint32_t version, uint64_t *hops
    ) except -1 nogil:
        """Join the hops of a segment's numbers that are alive; they are found again when some were removed."""
        cdef Segment *known = &self.segments[segment]
        cdef int32_t word
        if known.mask < 0 or known.mask_version != version:
            if not self.keeping:  # no room is taken that nobody would give back
                self._hops(known, alive, hops)
                return 0
            if known.mask < 0:
                if self.mask_count + self.mask_words > self.mask_room:
                    _grow(
                        <void **>&self.masks,
                        &self.mask_room,
                        self.mask_count + self.mask_words,
                        sizeof(uint64_t),
                    )
                known.mask = <int32_t>self.mask_count
                self.mask_count += self.mask_words
            known.mask_version = version
            memset(self.masks + known.mask, 0, <size_t>self.mask_words * sizeof(uint64_t))
            self._hops(known, alive, self.masks + known.mask)
        for word in range(self.mask_words):
            hops[word] |= self.masks[known.mask + word]
        return 0

    cdef void _hops(self, const Segment *segment, const uint64_t *alive, uint64_t *hops) noexcept nogil:
        cdef const int32_t *number = self.ints.at + segment.numbers_at
        cdef const int32_t *hop = number + segment.numbers
        cdef int32_t index
        for index in range(segment.numbers):
            if hop[index] >= 0 and alive[number[index] >> 6] >> (number[index] & 63) & 1:
                hops[hop[index] >> 6] |= <uint64_t>1 << (hop[index] & 63)


cdef int32_t bisected(const int32_t *sorted, int32_t count, int32_t value) noexcept nogil:
    """Where a value belongs among sorted ones; without branches, which would be guessed wrong half of the time."""
    cdef int32_t low = 0, half
    if count == 0:
        return 0
    while count > 1:
        half = count >> 1
        low += half * (sorted[low + half - 1] < value)
        count -= half
    return low + (sorted[low] < value)


cdef int _by_size(const void *one, const void *two) noexcept nogil:
    cdef int32_t left = (<const int32_t *>one)[0], right = (<const int32_t *>two)[0]
    return (left > right) - (left < right)


cdef int32_t sorted_once(Ints *values) noexcept nogil:
    """Sort values and leave each once; gives how many are left."""
    cdef Py_ssize_t index, kept = 0
    if values.size:
        qsort(values.at, <size_t>values.size, sizeof(int32_t), _by_size)
    for index in range(values.size):
        if index == 0 or values.at[index] != values.at[index - 1]:
            values.at[kept] = values.at[index]
            kept += 1
    values.size = kept
    return <int32_t>kept
