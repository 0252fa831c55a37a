cimport cython
from libc.stdint cimport int32_t, uint32_t

from pathcast.matching.compiled.core.labels cimport LinearPaths, Vocabulary
from pathcast.matching.compiled.core.names cimport NameTable
from pathcast.matching.compiled.core.predicates cimport RangeTest, ValueIndex
from pathcast.matching.compiled.core.trie cimport Trie
from pathcast.matching.compiled.core.twigs cimport TwigIndex
from pathcast.vectors cimport IntMap, IntVector

# Flags of a state: the kinds of its edges besides those to elements, and how it is reached.
cdef enum:
    ATTRIBUTES = 1  # edges to its own attributes
    VALUES = 2  # edges that test its string-value
    OTHERS = 4  # child edges whose test may pass a node that is no element
    DEEP_ATTRIBUTES = 8
    DEEP_OTHERS = 16
    NAMED = 32  # its incoming edge tests a single name
    RANKED = 64  # guards compare its number


cdef struct NfaState:
    int32_t label  # of its incoming edge
    int32_t first_successor  # successors are adjacent states, sorted by label
    int32_t successor_count
    uint32_t child_bloom  # Bloom filter of the tests on child edges
    uint32_t loop_bloom  # the same for descendant edges, those to attributes included
    int32_t numbers_at  # its subscription numbers, up to those of the next state
    int32_t leaf  # its leaf number if a twig branch ends here, else -1
    uint32_t flags


# An edge word packs what a state set copies of a state: a Bloom filter of 24 bits above the number
# of successors.
cdef enum:
    COUNT_BITS = 8
    COUNT_OVERFLOW = 255  # this number of successors, or more


cdef inline uint32_t edge_bloom_bit(int32_t test) noexcept nogil:
    """Return the bit of a node test in the Bloom filter of an edge word."""
    return <uint32_t>1 << (COUNT_BITS + ((<uint32_t>test * <uint32_t>2654435761) >> 16) % 24)


@cython.final
cdef class CompiledNfa:
    cdef NfaState *states
    cdef readonly int32_t size
    cdef IntVector parents
    cdef IntVector labels
    cdef IntVector numbers
    cdef IntVector hops
    cdef RangeTest *ranges
    cdef IntMap range_starts  # state -> its range tests in `ranges`
    cdef IntMap range_counts
    cdef IntMap operands  # value test -> its operand, see `ValueIndex.operand`
    cdef NameTable names
    cdef readonly bint simple  # linear paths of elements only: no attributes, texts, values, twigs
    cdef readonly ValueIndex values
    cdef readonly TwigIndex twigs
    cdef readonly int32_t largest_number
    cdef readonly int32_t largest_hop
    cdef readonly object vocabulary
    cdef int _renumber(self, Trie trie, IntVector *ends) except -1
    cdef int _group_numbers(self, LinearPaths paths, IntVector *ends) except -1
    cdef int32_t successor(self, int32_t first, int32_t count, int32_t label) noexcept nogil
    cdef int _set_flags(self) except -1
    cdef int _index_tests(self, Vocabulary vocabulary) except -1
    cdef int _index_values(self, Vocabulary vocabulary, dict tests) except -1
