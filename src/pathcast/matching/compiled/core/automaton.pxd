from libc.stdint cimport int32_t, uint32_t

from pathcast.matching.compiled.core.labels cimport Paths, Vocabulary
from pathcast.matching.compiled.core.names cimport Names
from pathcast.matching.compiled.core.predicates cimport Range, Values
from pathcast.matching.compiled.core.twigs cimport Twigs
from pathcast.vectors cimport IntMap, IntVector

# What a state has besides edges to elements, and what it is.
cdef enum:
    ATTRIBUTES = 1  # edges to its own attributes
    VALUES = 2  # edges that ask for its value
    OTHERS = 4  # edges to children that may be no elements
    DEEP_ATTRIBUTES = 8
    DEEP_OTHERS = 16
    NAMED = 32  # the edge that leads here asks for one name


cdef struct State:
    int32_t label  # of the edge that leads here
    int32_t first  # where the states that follow it start, in the order of their labels
    int32_t count  # how many they are
    uint32_t child  # a bit of 32 for every test that its edges to children have
    uint32_t deep  # the same for edges to any depth, attributes included
    int32_t numbers  # where its numbers start; they end where those of the next state start
    int32_t leaf  # its number as the end of a path of a twig, or -1
    uint32_t flags


# The way to the states that follow one, small enough to be copied about: where they start, and in one
# word the bits of the tests that are asked (24 of them) and how many they are (255: more than that).
cdef enum:
    COUNT_BITS = 8
    MANY = 255


cdef inline uint32_t trace(int32_t test) noexcept nogil:
    """The bit that stands for a test. A bit that is not set says that there is no such edge."""
    return <uint32_t>1 << (COUNT_BITS + ((<uint32_t>test * <uint32_t>2654435761) >> 16) % 24)


cdef class Automaton:
    cdef State *states
    cdef readonly int32_t size
    cdef IntVector parents
    cdef IntVector labels
    cdef IntMap edges  # while it is built
    cdef IntVector numbers
    cdef IntVector hops
    cdef Range *ranges
    cdef IntMap ranges_of  # state -> where its tests that are no equalities start
    cdef IntMap range_counts
    cdef IntMap operands  # value test -> its operand << 1, and 1 if it is a number's place
    cdef Names names
    cdef readonly bint simple  # nothing but paths of elements: no attributes, texts, values, twigs
    cdef readonly Values values
    cdef readonly Twigs twigs
    cdef readonly int32_t largest_number
    cdef readonly int32_t largest_hop
    cdef readonly object vocabulary
    cdef int32_t _insert(self, int32_t state, int32_t label) except -1
    cdef int _linear(self, Paths paths, numbers, IntVector *ends) except -1
    cdef bint _only_one(self, int32_t state) except -1
    cdef int _entry(self, Paths paths, object entry, IntVector *ends) except -1
    cdef int _arrange(self, IntVector *ends) except -1
    cdef int _place(self, Paths paths, IntVector *ends) except -1
    cdef int32_t following(self, int32_t first, int32_t count, int32_t label) noexcept nogil
    cdef int _outline(self) except -1
    cdef int _name(self, Vocabulary vocabulary) except -1
    cdef int _values(self, Vocabulary vocabulary, dict tests) except -1
