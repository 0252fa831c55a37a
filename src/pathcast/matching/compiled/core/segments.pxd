from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.automaton cimport Automaton
from pathcast.vectors cimport IntVector


# States that were reached together, in two halves: what every document asks for, and what is behind it. What the segment has of
# each lies in `ints`, one after the other: near, named, starred, sides, numbers, hops, leaves. Leaves begin with the count of
# those that joins may ask for, which come first.
cdef struct Segment:
    uint32_t stamp  # the document that met it last
    int32_t numbers
    int32_t leaves  # that count included, 0 if there are none
    int32_t visitors
    int64_t numbers_at
    int32_t mask  # where its hops are, or -1
    uint32_t mask_version


cdef struct Content:
    int64_t at
    int32_t near  # pairs: states with edges to children, and the bits of their tests
    int32_t named  # pairs: states with edges to any depth that were reached by a name
    int32_t starred  # the same, reached by * and the like
    int32_t sides  # states with edges to attributes and values
    uint32_t flags
    uint32_t child  # the bits of all tests that edges to children have


cdef class Segments:
    cdef readonly Automaton automaton
    cdef Segment *segments
    cdef Content *contents
    cdef Py_ssize_t segment_count
    cdef Py_ssize_t segment_room
    cdef Py_ssize_t content_room
    cdef IntVector ints
    cdef uint64_t *masks
    cdef Py_ssize_t mask_count
    cdef Py_ssize_t mask_room
    cdef int32_t mask_words  # 0 if there are no hops
    cdef bint keeping
    # what is being collected
    cdef IntVector near
    cdef IntVector named
    cdef IntVector starred
    cdef IntVector sides
    cdef IntVector numbers
    cdef IntVector hops
    cdef IntVector joined_leaves
    cdef IntVector leaves
    cdef uint32_t flags
    cdef uint32_t child

    cdef int clear_segments(self) except -1 nogil
    cdef int take(self, int32_t state) except -1 nogil
    cdef int32_t segment(self) except -1 nogil
    cdef int blank(self, Py_ssize_t count) except -1 nogil
    cdef const int32_t *leaves_of(self, const Segment *segment) noexcept nogil
    cdef int hops_of(
        self, int32_t segment, const uint64_t *alive, uint32_t version, uint64_t *hops
    ) except -1 nogil
    cdef void _hops(self, const Segment *segment, const uint64_t *alive, uint64_t *hops) noexcept nogil
