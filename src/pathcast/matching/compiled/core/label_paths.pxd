from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.segments cimport Segments
from pathcast.vectors cimport IntVector

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


# A label path, in two halves: what every document asks for, and what is behind it.
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


cdef class LabelPaths(Segments):
    cdef Node *nodes
    cdef Further *further
    cdef Py_ssize_t node_count
    cdef Py_ssize_t node_room
    cdef Py_ssize_t further_room
    cdef IntVector lists  # the segments of nodes
    cdef Py_ssize_t seen_room
    cdef uint32_t *seen  # state -> stamp of a union
    cdef uint32_t union
    cdef int32_t value_string  # the value at hand
    cdef int32_t value_place

    cdef int clear_paths(self) except -1 nogil
    cdef int make_room(self) except -1
    cdef int32_t node(self, int32_t parent, int32_t code, Py_ssize_t start) except -1 nogil
    cdef int32_t void_below(self, int32_t node) except -1 nogil
    cdef int32_t string_class(self, int32_t node, int32_t string) noexcept nogil
    cdef int32_t number_class(self, int32_t node, int32_t place) noexcept nogil
    cdef int _deepen(self, int32_t node) except -1 nogil
    cdef int _ask_attributes(self, int32_t node) except -1 nogil
    cdef uint64_t _attribute_bits(self, int32_t first, int32_t count, int32_t edge) noexcept nogil
    cdef int _operands(self, int32_t node) except -1 nogil
