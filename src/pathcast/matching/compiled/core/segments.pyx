"""States that were reached together, as segments: what they hold lies in one array, one after the other.

A segment is collected state by state (`take`) and then laid down (`segment`). What every document asks for (numbers, leaves)
and what only a new label path does (edges that go on) are kept apart, so that the former is close together.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from pathcast.matching.compiled.core.automaton cimport ATTRIBUTES, MANY, NAMED, VALUES, State
from pathcast.vectors cimport append, free_vector, grow, push, reserve


cdef class Segments:
    """The segments that were made of one automaton, and the hops of their numbers."""

    def __cinit__(self):
        self.segments = NULL
        self.contents = NULL
        self.masks = NULL

    def __dealloc__(self):
        free(self.segments)
        free(self.contents)
        free(self.masks)
        free_vector(&self.ints)
        free_vector(&self.near)
        free_vector(&self.named)
        free_vector(&self.starred)
        free_vector(&self.sides)
        free_vector(&self.numbers)
        free_vector(&self.hops)
        free_vector(&self.joined_leaves)
        free_vector(&self.leaves)

    cdef int clear_segments(self) except -1 nogil:
        """Start again without any; number 0 stands for none."""
        if self.ints.capacity > 1 << 16:  # give the room back, too: the next documents may be small
            free_vector(&self.ints)
            free(self.masks)
            self.masks = NULL
            self.mask_room = 0
        self.segment_count = self.mask_count = 0
        self.ints.size = 0
        self.segment()
        return 0

    cdef int take(self, int32_t state) except -1 nogil:
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

    cdef int32_t segment(self) except -1 nogil:
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
            grow(<void **>&self.segments, &self.segment_room, self.segment_count + 1, sizeof(Segment))
        if self.segment_count >= self.content_room:
            grow(<void **>&self.contents, &self.content_room, self.segment_count + 1, sizeof(Content))
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

    cdef int blank(self, Py_ssize_t count) except -1 nogil:
        """Room for so many numbers that are not known yet."""
        reserve(&self.ints, count)
        memset(self.ints.at + self.ints.size, 255, <size_t>count * sizeof(int32_t))
        self.ints.size += count
        return 0

    cdef const int32_t *leaves_of(self, const Segment *segment) noexcept nogil:
        """Where its leaves are; the first one is a count (see the struct)."""
        return self.ints.at + segment.numbers_at + segment.numbers * (2 if self.mask_words else 1)

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
                    grow(
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
