"""Label paths that documents have had, and what was found out about each when it came first.

A `Node` stands for a label path and has the segments of the states that it reaches. For each one it is worked out which of
its states go on at any depth (`_deepen`), which attributes are asked for (`_ask_attributes`), and with what values
are compared (`_operands`), so that documents with the same path need not ask again.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memset

from pathcast.matching.compiled.core.automaton cimport (
    ATTRIBUTES,
    DEEP_ATTRIBUTES,
    DEEP_OTHERS,
    MANY,
    NAMED,
    VALUES,
    State,
)
from pathcast.matching.compiled.core.labels cimport (
    ATTRIBUTE,
    DEEP_ATTRIBUTE,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    VALUE,
)
from pathcast.matching.compiled.core.predicates cimport NOWHERE
from pathcast.matching.compiled.core.segments cimport Content
from pathcast.vectors cimport IntVector, append, find, free_vector, grow, pack_key, push


cdef class LabelPaths(Segments):
    """The label paths that are known, of one automaton."""

    def __cinit__(self):
        self.nodes = NULL
        self.further = NULL
        self.seen = NULL

    def __dealloc__(self):
        free(self.nodes)
        free(self.further)
        free(self.seen)
        free_vector(&self.lists)

    def __len__(self):
        return self.node_count

    cdef int make_room(self) except -1:
        """Have a stamp for every state of the automaton."""
        cdef void *room
        if self.automaton.size > self.seen_room:
            room = realloc(self.seen, <size_t>self.automaton.size * sizeof(uint32_t))
            if room == NULL:
                raise MemoryError
            self.seen = <uint32_t *>room
            self.seen_room = self.automaton.size
        memset(self.seen, 0, <size_t>self.automaton.size * sizeof(uint32_t))
        self.union = 0
        return 0

    cdef int clear_paths(self) except -1 nogil:
        """Start again with the document node, and the one of paths that lead nowhere."""
        if self.ints.capacity > 1 << 16:
            free_vector(&self.lists)
        self.clear_segments()
        self.node_count = 0
        self.lists.size = 0
        self.take(0)
        push(&self.lists, self.segment())
        self.node(-1, 0, 0)
        self.node(0, IS_TEXT, self.lists.size)  # NOTHING
        self.nodes[NOTHING].flags = 0
        return 0

    cdef int32_t void_below(self, int32_t node) except -1 nogil:
        """The node of elements at which no state is reached: all below one context are alike, whatever their names.

        Its parent is the context, so that label paths lose levels: not where joins would count them.
        """
        cdef int32_t context = self.further[node].context, found
        if context < 0:
            context = NOTHING
        found = self.further[context].void
        if found < 0:
            found = self.node(context, IS_ELEMENT, self.lists.size)
            if context == NOTHING:
                self.further[found].context = -1
            self.further[context].void = found
        return found

    cdef int32_t node(self, int32_t parent, int32_t code, Py_ssize_t start) except -1 nogil:
        """A node with the segments that are listed from `start` on."""
        cdef Node *new
        cdef int32_t number = <int32_t>self.node_count, index, segment
        if self.node_count == self.node_room:
            grow(<void **>&self.nodes, &self.node_room, self.node_count + 1, sizeof(Node))
        if self.node_count >= self.further_room:
            grow(<void **>&self.further, &self.further_room, self.node_count + 1, sizeof(Further))
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
        return self.blank(2 * __builtin_popcountll(further.attributes))

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

    cdef int _operands(self, int32_t node) except -1 nogil:
        """Find the operands of a node's value tests."""
        cdef IntVector strings, places
        cdef const Content *segment
        cdef const State *known
        cdef int32_t index, side, state, child, operand
        strings = places = IntVector(NULL, 0, 0)
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
                                pack_key(self.automaton.states[child].label >> EDGE_BITS, 0),
                            )
                            push(&places if operand & 1 else &strings, operand >> 1)
            self.further[node].string_count = sorted_once(&strings)
            self.further[node].place_count = sorted_once(&places)
            self.further[node].operands = self.ints.size
            append(&self.ints, strings.at, strings.size)
            append(&self.ints, places.at, places.size)
            self.blank(3 + strings.size + 2 * places.size)  # see `number_class`
        finally:
            free_vector(&strings)
            free_vector(&places)
        return 0

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


cdef int32_t sorted_once(IntVector *values) noexcept nogil:
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
