"""One automaton run over one document: which numbers it reaches, and which leaves of twigs.

For every element the memo is asked for the node of its label path; a path is worked off when the
document has it for the first time: the numbers of its segments become bits (a segment that several paths share is taken
once), or their hops are joined where only hops are wanted. Attributes, texts and values are looked at only
below label paths that some state wants them for.

For twigs the course keeps what a join needs: the spots of each label path, the paths that have a segment, the segments
that have a leaf. When the memo had to stop keeping, it says so (`lost`), and the joins are done by somebody else.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from lxml.includes cimport tree

from pathcast.matching.compiled.core.automaton cimport (
    ATTRIBUTES,
    DEEP_ATTRIBUTES,
    DEEP_OTHERS,
    OTHERS,
    VALUES,
    Automaton,
)
from pathcast.matching.compiled.core.label_paths cimport (
    IS_ATTRIBUTE,
    IS_COMMENT,
    IS_INSTRUCTION,
    IS_TEXT,
    NOTHING,
    Node,
    attribute_bit,
    attribute_slot,
    class_slot,
)
from pathcast.matching.compiled.core.memo cimport Mark, Memo
from pathcast.matching.compiled.core.names cimport Addresses
from pathcast.matching.compiled.core.segments cimport Segment
from pathcast.matching.compiled.core.strings cimport string_number
from pathcast.vectors cimport find, free_vector, home_slot, pack_key, push, reserve
from pathcast.matching.compiled.core.walk cimport Spot, Text, Walk, is_text, starts_text

cdef extern from *:
    void __builtin_prefetch(const void *) noexcept nogil

cdef enum:
    _AHEAD = 5  # so many elements ahead what the memo knows of them is brought


cdef class Course:
    """A memo with what it needs to run; used by one thread at a time."""

    def __cinit__(self):
        self.leaves = NULL
        self.hit = self.several = NULL

    def __init__(self, Automaton automaton not None, Py_ssize_t limit):
        self.automaton = automaton
        self.addresses = Addresses()
        self.memo = Memo(automaton, limit)
        self.joins = automaton.twigs.unit_count > 0
        self.leaves = <LeafState *>calloc(<size_t>automaton.twigs.leaf_count + 1, sizeof(LeafState))
        self.leaf_words = (automaton.twigs.leaf_count >> 6) + 1
        self.hit = <uint64_t *>calloc(<size_t>self.leaf_words, sizeof(uint64_t))
        self.several = <uint64_t *>calloc(<size_t>self.leaf_words, sizeof(uint64_t))
        if self.leaves == NULL or self.hit == NULL or self.several == NULL:
            raise MemoryError

    cdef bint serve(self, Automaton automaton) except -1:
        """Take over another automaton in the room that is there; not where twigs are."""
        if self.joins or automaton.twigs.unit_count:
            return False
        self.memo.serve(automaton)
        self.automaton = automaton
        self.shadowed = 0
        self.addresses.forget()
        return True

    def __dealloc__(self):
        free(self.leaves)
        free(self.hit)
        free(self.several)
        free_vector(&self.at)
        free_vector(&self.codes)
        free_vector(&self.shadows)
        free_vector(&self.instances)
        free_vector(&self.visitors)
        free_vector(&self.hits)
        free_vector(&self.sections)
        free_vector(&self.undecided)
        free_vector(&self.met)

    cdef int run(self, Walk walk) except -1 nogil:
        """Run over a document; `bits` or `hops` and `alive` are set by the caller."""
        cdef int32_t spot, node, depth, ahead
        cdef Spot *here
        cdef Mark marks[257]  # libxml2 stops at 256 levels
        cdef int32_t mark_depths[257]
        cdef int marked = 0
        self._start(walk)
        self._enter(walk, 0, 0)
        if self.memo.nodes[0].flags & (OTHERS | DEEP_OTHERS):
            self._others(walk, 0, 0)
        self.codes.size = 0
        reserve(&self.codes, walk.size)
        for spot in range(1, <int32_t>walk.elements + 1):
            here = &walk.spots[spot]
            self.codes.at[spot] = self._code(here.node.name, here.node.ns)
        for spot in range(1, <int32_t>walk.elements + 1):
            ahead = spot + _AHEAD
            if ahead <= walk.elements and walk.spots[ahead].parent < spot and self.memo.following.size:
                __builtin_prefetch(
                    home_slot(
                        &self.memo.following,
                        pack_key(self.at.at[walk.spots[ahead].parent], self.codes.at[ahead]),
                    )
                )
            here = &walk.spots[spot]
            depth = here.depth
            while marked and mark_depths[marked - 1] >= depth:
                marked -= 1
                self.memo.release(marks[marked])
            if not self.memo.keeping:
                marks[marked] = self.memo.mark()
                mark_depths[marked] = depth
                marked += 1
            node = self._step(self.at.at[here.parent], self.codes.at[spot])
            self.at.at[spot] = node
            self._enter(walk, spot, node)
            if self.memo.nodes[node].flags:
                self._around(walk, spot, node)
        self._meet_all()
        if not self.memo.keeping:
            self.lost = True
            if marked:
                self.memo.release(marks[0])
        return 0

    cdef int _start(self, Walk walk) except -1 nogil:
        """Begin with a document."""
        cdef int32_t index, leaf_count = self.automaton.twigs.leaf_count
        self.memo.prepare()
        self.epoch += 1
        if self.epoch == 0:  # after four thousand million documents
            self.memo.flushes += 1
            self.memo.forget()
            for index in range(leaf_count):
                self.leaves[index].stamp = 0
            self.epoch = 1
        self.lost = False
        self.addresses.begin()
        self.instances.size = self.visitors.size = self.hits.size = 0
        self.sections.size = self.met.size = self.undecided.size = 0
        if self.joins:
            memset(self.hit, 0, <size_t>self.leaf_words * sizeof(uint64_t))
            memset(self.several, 0, <size_t>self.leaf_words * sizeof(uint64_t))
            self.hit[leaf_count >> 6] = <uint64_t>1 << (leaf_count & 63)  # it stands for no leaf
        walk.size = walk.elements + 1
        self.at.size = 0
        reserve(&self.at, walk.size)
        self.at.size = walk.size
        self.at.at[0] = 0
        return 0

    cdef int follow(self, Course lead, Walk walk) except -1 nogil:
        """Run where another course has just run: a label path that it knows is looked up by its number there.

        Only for automata that are simple. What this costs is little more than reading two arrays, so that a small
        automaton beside a large one is nearly free.
        """
        if lead.memo.keeping:
            self._start(walk)
            self._adapt(lead)
            if self._shadow(lead, walk):
                return self._meet_all()
        return self.run(walk)

    cdef int _adapt(self, Course lead) except -1 nogil:
        """Have a place for every label path that the other course knows."""
        cdef Py_ssize_t known
        if (
            self.shadowed != lead.memo.serial
            or self.shadowed_flushes != lead.memo.flushes
            or self.own_flushes != self.memo.flushes
        ):
            self.shadowed = lead.memo.serial
            self.shadowed_flushes = lead.memo.flushes
            self.own_flushes = self.memo.flushes
            self.shadows.size = 0
        known = self.shadows.size
        if lead.memo.node_count > known:
            reserve(&self.shadows, lead.memo.node_count - known)
            memset(self.shadows.at + known, 255, <size_t>(lead.memo.node_count - known) * sizeof(int32_t))
            self.shadows.size = lead.memo.node_count
        return 0

    cdef bint _shadow(self, Course lead, Walk walk) except -1 nogil:
        """Find our node for every element; False if the memo cannot keep them all."""
        cdef int32_t spot, node, other
        self._enter(walk, 0, 0)
        for spot in range(1, <int32_t>walk.elements + 1):
            other = lead.at.at[spot]
            node = self.shadows.at[other]
            if node < 0:
                if node == -1 and not lead.memo.further[other].precise:
                    self.shadows.at[other] = -2
                # by our own names: what has a code of its own there may be one of a namespace here
                node = self._step(
                    self.at.at[walk.spots[spot].parent],
                    self._code(walk.spots[spot].node.name, walk.spots[spot].node.ns),
                )
                if self.shadows.at[other] == -1:
                    self.shadows.at[other] = node
                if not self.memo.keeping:
                    self.shadows.size = 0
                    return False
            self.at.at[spot] = node
            if self.memo.nodes[node].stamp != self.epoch:
                self._enter(walk, spot, node)
        return True

    cdef int32_t _code(self, const tree.xmlChar *name, tree.xmlNs *space) except -1 nogil:
        return self.addresses.code(self.automaton.names, name, space)

    # label paths

    cdef int32_t _step(self, int32_t node, int32_t code) except -1 nogil:
        cdef int32_t found = find(&self.memo.following, pack_key(node, code))
        if found >= 0:
            self.memo.hits += 1
            return found
        return self.memo.advance(node, code)

    cdef int32_t _enter(self, Walk walk, int32_t spot, int32_t node) except -1 nogil:
        """A node of the document has this label path."""
        cdef Node *known = &self.memo.nodes[node]
        if known.stamp != self.epoch:
            known.stamp = self.epoch
            known.first = -1
            if known.holding == 0:
                pass
            elif self.memo.keeping:
                push(&self.met, node)
            else:
                self._meet(node)
                known = &self.memo.nodes[node]
        if self.joins and self.memo.keeping and known.holding:
            push(&self.instances, spot)
            push(&self.instances, known.first)
            known.first = <int32_t>self.instances.size - 2
        return 0

    cdef int _meet_all(self) except -1 nogil:
        """Work off the label paths of the document; what the next ones need is brought meanwhile."""
        cdef Py_ssize_t at, count = self.met.size
        cdef const Node *ahead
        cdef const Segment *segment
        cdef int32_t index
        for at in range(count):
            if at + 3 < count:
                __builtin_prefetch(
                    &self.memo.lists.at[self.memo.nodes[self.met.at[at + 3]].segments]
                )
            if at + 2 < count:
                ahead = &self.memo.nodes[self.met.at[at + 2]]
                for index in range(ahead.holding):
                    __builtin_prefetch(
                        &self.memo.segments[self.memo.lists.at[ahead.segments + index]]
                    )
            if at + 1 < count:
                ahead = &self.memo.nodes[self.met.at[at + 1]]
                for index in range(ahead.holding):
                    segment = &self.memo.segments[self.memo.lists.at[ahead.segments + index]]
                    if segment.stamp != self.epoch:
                        __builtin_prefetch(self.memo.ints.at + segment.numbers_at)
            self._meet(self.met.at[at])
        if self.memo.keeping:
            self._hit_all()
        return 0

    cdef int _meet(self, int32_t node) except -1 nogil:
        """The document has this label path: take what its segments hold."""
        cdef Node *known = &self.memo.nodes[node]
        cdef Segment *segment
        cdef const int32_t *number
        cdef const int32_t *last
        cdef int32_t index, which
        cdef uint64_t *bits = self.bits
        for index in range(known.holding):
            which = self.memo.lists.at[known.segments + index]
            segment = &self.memo.segments[which]
            if segment.stamp != self.epoch:
                segment.stamp = self.epoch
                segment.visitors = -1
                number = self.memo.ints.at + segment.numbers_at
                last = number + segment.numbers
                if self.hops == NULL:
                    while number < last:
                        bits[number[0] >> 6] |= <uint64_t>1 << (number[0] & 63)
                        number += 1
                elif segment.numbers and self.memo.mask_words:
                    self.memo.hops_of(which, self.alive, self.version, self.hops)
                if segment.leaves:
                    push(&self.sections, which)
                    if not self.memo.keeping:
                        last = self.memo.leaves_of(segment)
                        self._hit(last + 1, segment.leaves - 1, 0)
            if segment.leaves and self.memo.keeping:
                push(&self.visitors, node)
                push(&self.visitors, segment.visitors)
                segment.visitors = <int32_t>self.visitors.size - 2
        return 0

    # leaves of twigs

    cdef int _hit_all(self) except -1 nogil:
        """Take the leaves of all segments that were met."""
        cdef Py_ssize_t at
        cdef const Segment *segment
        cdef const int32_t *leaves
        cdef int32_t which, visitor
        cdef bint several
        for at in range(self.sections.size):
            which = self.sections.at[at]
            segment = &self.memo.segments[which]
            visitor = segment.visitors
            several = (
                self.visitors.at[visitor + 1] >= 0
                or self.instances.at[self.memo.nodes[self.visitors.at[visitor]].first + 1] >= 0
            )
            leaves = self.memo.leaves_of(segment)
            self._hit(leaves + 1, segment.leaves - 1, ~<uint64_t>0 if several else 0)
            self._chain(which, leaves + 1, leaves[0])
        return 0

    cdef void _hit(self, const int32_t *leaves, int32_t count, uint64_t several) noexcept nogil:
        """Leaves were reached, at several nodes or not."""
        cdef const int32_t *last = leaves + count
        cdef uint64_t bit
        cdef int32_t word
        while leaves < last:
            word = leaves[0] >> 6
            bit = <uint64_t>1 << (leaves[0] & 63)
            self.several[word] |= bit & (several | self.hit[word])
            self.hit[word] |= bit
            leaves += 1

    cdef int _chain(self, int32_t segment, const int32_t *leaves, int32_t count) except -1 nogil:
        """Note of leaves where joins find their nodes."""
        cdef LeafState *state
        cdef int32_t index
        cdef int32_t *hit
        reserve(&self.hits, 2 * count)
        for index in range(count):
            state = &self.leaves[leaves[index]]
            if state.stamp != self.epoch:
                state.stamp = self.epoch
                state.first = state.listed = -1
            hit = self.hits.at + self.hits.size
            hit[0] = segment
            hit[1] = state.first
            state.first = <int32_t>self.hits.size
            self.hits.size += 2
        return 0

    # what else hangs at an element

    cdef int _around(self, Walk walk, int32_t spot, int32_t node) except -1 nogil:
        cdef uint32_t flags = self.memo.nodes[node].flags
        if flags & (ATTRIBUTES | DEEP_ATTRIBUTES):
            self._attributes(walk, spot, node)
        if flags & VALUES:
            self._value(walk, spot, node)
        if flags & (OTHERS | DEEP_OTHERS):
            self._others(walk, spot, node)
        return 0

    cdef int _attributes(self, Walk walk, int32_t spot, int32_t node) except -1 nogil:
        cdef tree.xmlAttr *attribute = walk.spots[spot].node.properties
        cdef uint64_t asked = self.memo.further[node].attributes, bit
        cdef int64_t slot
        cdef int32_t code, below
        cdef Mark mark
        cdef bint kept
        while attribute != NULL:
            code = self._code(attribute.name, attribute.ns)
            bit = attribute_bit(code)
            if asked & bit:
                kept = self.memo.keeping
                if not kept:
                    mark = self.memo.mark()
                slot = attribute_slot(&self.memo.further[node], bit)
                if self.memo.ints.at[slot] == code:
                    self.memo.hits += 1
                    below = self.memo.ints.at[slot + 1]
                else:
                    below = self._step(node, IS_ATTRIBUTE | code)
                    if self.memo.keeping:
                        self.memo.ints.at[slot] = code
                        self.memo.ints.at[slot + 1] = below
                if below != NOTHING:
                    self._add(walk, <tree.xmlNode *>attribute, spot, below)
                if not kept:
                    self.memo.release(mark)
            attribute = attribute.next
        return 0

    cdef int _others(self, Walk walk, int32_t spot, int32_t node) except -1 nogil:
        cdef tree.xmlNode *child
        child = walk.spots[spot].node.children
        if spot == 0:
            child = (<tree.xmlDoc *>walk.spots[0].node).children
        while child != NULL:
            if is_text(child):
                if starts_text(child):
                    self._visit(walk, child, spot, node, IS_TEXT)
            elif child.type == tree.XML_COMMENT_NODE:
                self._visit(walk, child, spot, node, IS_COMMENT)
            elif child.type == tree.XML_PI_NODE:
                self._visit(walk, child, spot, node, IS_INSTRUCTION | self.automaton.names.target(child.name))
            child = child.next
        return 0

    cdef int _visit(
        self, Walk walk, tree.xmlNode *found, int32_t spot, int32_t node, int32_t code
    ) except -1 nogil:
        """A node that is no element and no attribute."""
        cdef Mark mark
        cdef bint kept = self.memo.keeping
        cdef int32_t below
        if not kept:
            mark = self.memo.mark()
        below = self._step(node, code)
        if below != NOTHING:
            self._add(walk, found, spot, below)
        if not kept:
            self.memo.release(mark)
        return 0

    cdef int _add(self, Walk walk, tree.xmlNode *found, int32_t spot, int32_t node) except -1 nogil:
        """Enter a node that is no element."""
        cdef int32_t new = walk.add(found, spot, walk.spots[spot].depth + 1)
        push(&self.at, node)
        self._enter(walk, new, node)
        if self.memo.nodes[node].flags & VALUES:
            self._value(walk, new, node)
        return 0

    cdef int _value(self, Walk walk, int32_t spot, int32_t node) except -1 nogil:
        """What value tests say of a node."""
        cdef Text text
        cdef int32_t string, place
        walk.value(spot, &text)
        if self.memo.further[node].string_count:
            string = string_number(&self.automaton.values.strings, text.at, text.length, 0)
            self._value_step(walk, spot, node, self.memo.string_class(node, string))
        if self.memo.further[node].place_count:
            place = self.automaton.values.place(text.at, text.length)
            self._value_step(walk, spot, node, self.memo.number_class(node, place))
        return 0

    cdef int _value_step(self, Walk walk, int32_t spot, int32_t node, int32_t code) except -1 nogil:
        cdef Mark mark
        cdef bint kept = self.memo.keeping
        cdef int32_t below
        if not kept:
            mark = self.memo.mark()
        below = self.memo.ints.at[class_slot(&self.memo.further[node], code)]
        if below >= 0:
            self.memo.hits += 1
        else:
            below = self.memo.advance(node, code)
        if below != NOTHING:
            self._enter(walk, spot, below)
        if not kept:
            self.memo.release(mark)
        return 0
