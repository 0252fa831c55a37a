from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.core.automaton cimport Automaton
from pathcast.matching.core.vectors cimport Ints, Table

# What a node of a document is, in the codes of the memo: the kind above, a name (or a class of values) below.
cdef enum:
    KIND_SHIFT = 28
    NAME_MASK = (1 << 28) - 1
    IS_ELEMENT = 0
    IS_ATTRIBUTE = 1 << 28
    IS_TEXT = 2 << 28
    IS_COMMENT = 3 << 28
    IS_INSTRUCTION = 4 << 28
    IS_VALUE = 5 << 28


# The node of all label paths that lead nowhere.
cdef enum:
    NOTHING = 1


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


# A label path, in two halves again.
cdef struct Node:
    uint32_t stamp
    uint32_t flags
    int32_t segments  # where its segments start
    int32_t segment_count
    int32_t holding  # so many of its segments have numbers or leaves; they come first
    int32_t first  # the first of the document's nodes that have this path
    int32_t parent
    int32_t code


cdef struct Further:
    int32_t context  # itself or the nearest node above that has states which go on at any depth
    int32_t named
    int64_t deep  # where its own such states are: pairs, the named ones first
    int64_t operands  # where the operands of its value tests are, sorted: strings, then places; then a node for each class
    int64_t slots  # pairs for each bit of `attributes`: the name that came last, and the node for it
    int32_t starred
    int32_t string_count
    int32_t place_count
    uint32_t child  # the bits of all tests that its states' edges to children have
    uint32_t own  # the same for its own states that go on at any depth
    uint32_t below  # and for those of the nodes above as well
    int32_t precise  # whether it stands for one label path only, all of its names known
    int32_t void  # the node of all elements below where no state is reached, -1 if there is none yet
    uint64_t attributes  # a bit for every name that its states ask for among its attributes
    uint64_t deep_attributes  # the same for states that ask at any depth


cdef inline uint64_t attribute_bit(int32_t name) noexcept nogil:
    """The bit that stands for the name of an attribute."""
    return <uint64_t>1 << ((<uint32_t>name * <uint32_t>2654435761) >> 26)


cdef extern from *:
    int __builtin_popcountll(unsigned long long) noexcept nogil


cdef inline int64_t attribute_slot(const Further *further, uint64_t bit) noexcept nogil:
    """Where what is known of an attribute's name is kept, by its bit."""
    return further.slots + 2 * __builtin_popcountll(further.attributes & (bit - 1))


cdef inline int64_t class_slot(const Further *further, int32_t code) noexcept nogil:
    """Where the node for a class of values is kept."""
    return further.operands + further.string_count + further.place_count + (code & NAME_MASK)


cdef struct Mark:
    Py_ssize_t nodes
    Py_ssize_t segments
    Py_ssize_t ints
    Py_ssize_t lists


cdef class Memo:
    cdef readonly Automaton automaton
    cdef Node *nodes
    cdef Further *further
    cdef Py_ssize_t node_count
    cdef Py_ssize_t node_room
    cdef Py_ssize_t further_room
    cdef Segment *segments
    cdef Content *contents
    cdef Py_ssize_t segment_count
    cdef Py_ssize_t segment_room
    cdef Py_ssize_t content_room
    cdef Ints ints
    cdef Ints lists  # the segments of nodes
    cdef Table following  # (node, code) -> node
    cdef Table jumps  # (node, code) -> segment, or 0
    cdef int32_t value_string  # the value at hand
    cdef int32_t value_place
    cdef uint64_t *masks
    cdef Py_ssize_t mask_count
    cdef Py_ssize_t mask_room
    cdef int32_t mask_words  # 0 if there are no hops
    cdef Py_ssize_t seen_room
    cdef uint32_t *seen  # state -> stamp of a union
    cdef uint32_t union
    cdef readonly Py_ssize_t limit
    cdef bint by_size
    cdef uint64_t serial  # no two that ever were have the same
    cdef bint keeping
    cdef readonly uint64_t hits
    cdef readonly uint64_t misses
    cdef readonly uint64_t flushes
    cdef readonly uint64_t work
    # what is being collected
    cdef Ints jumped
    cdef Ints picked
    cdef Ints near
    cdef Ints named
    cdef Ints starred
    cdef Ints sides
    cdef Ints numbers
    cdef Ints hops
    cdef Ints joined_leaves
    cdef Ints leaves
    cdef uint32_t flags
    cdef uint32_t child

    cdef int serve(self, Automaton automaton) except -1
    cdef int forget(self) except -1 nogil
    cdef int prepare(self) except -1 nogil
    cdef int32_t advance(self, int32_t node, int32_t code) except -1 nogil
    cdef int32_t string_class(self, int32_t node, int32_t string) noexcept nogil
    cdef int32_t number_class(self, int32_t node, int32_t place) noexcept nogil
    cdef int hops_of(
        self, int32_t segment, const uint64_t *alive, uint32_t version, uint64_t *hops
    ) except -1 nogil
    cdef void _hops(self, const Segment *segment, const uint64_t *alive, uint64_t *hops) noexcept nogil
    cdef const int32_t *leaves_of(self, const Segment *segment) noexcept nogil
    cdef Mark mark(self) noexcept nogil
    cdef void release(self, Mark mark) noexcept nogil

    cdef int _tests(self, int32_t code, int32_t *tests) noexcept nogil
    cdef int _take(self, int32_t state) except -1 nogil
    cdef int32_t _segment(self) except -1 nogil
    cdef int32_t _jump(
        self, int32_t node, int32_t code, const int32_t *tests, int count
    ) except -1 nogil
    cdef int _follow(
        self, int64_t at, int32_t pairs, const int32_t *tests, int count, int32_t edge
    ) except -1 nogil
    cdef int _ranges(self, int32_t at, int32_t end, bint numeric) except -1 nogil
    cdef int _step(self, int32_t node, const int32_t *tests, int count) except -1 nogil
    cdef int _values(self, int32_t node, bint numeric) except -1 nogil
    cdef int _operands(self, int32_t node) except -1 nogil
    cdef int _attributes(self, int32_t node, const int32_t *tests, int count) except -1 nogil
    cdef int32_t _node(self, int32_t parent, int32_t code, Py_ssize_t start) except -1 nogil
    cdef int32_t _void(self, int32_t node) except -1 nogil
    cdef int _blank(self, Py_ssize_t count) except -1 nogil
    cdef int _ask_attributes(self, int32_t node) except -1 nogil
    cdef uint64_t _attribute_bits(self, int32_t first, int32_t count, int32_t edge) noexcept nogil
    cdef int _deepen(self, int32_t node) except -1 nogil
    cdef Py_ssize_t _weight(self) noexcept nogil
