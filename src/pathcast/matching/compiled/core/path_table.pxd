cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from pathcast.matching.compiled.core.nfa cimport CompiledNfa
from pathcast.matching.compiled.core.predicates cimport (
    FUNCTION_TEST,
    KEYWORD_TEST,
    NUMBER_TEST,
    STRING_TEST,
)
from pathcast.matching.compiled.core.state_set_table cimport StateSetTable
from pathcast.vectors cimport IntVector

# The input symbols of the lazy DFA: the kind of a document node in the high bits; below them the
# code of its name or, for a value, its value class.
cdef enum:
    KIND_SHIFT = 28
    NAME_MASK = (1 << 28) - 1
    ELEMENT_SYMBOL = 0
    ATTRIBUTE_SYMBOL = 1 << 28
    TEXT_SYMBOL = 2 << 28
    COMMENT_SYMBOL = 3 << 28
    INSTRUCTION_SYMBOL = 4 << 28
    VALUE_SYMBOL = 5 << 28


cdef enum:
    DOCUMENT_PATH = 0
    DEAD_PATH = 1  # the path of all nodes, elements excepted, that reach no state


# A label path, split hot/cold: every document that contains the path reads `PathHot`, only a memo
# miss and the nodes around an element read `PathCold`.
cdef struct PathHot:
    uint32_t stamp  # epoch of the last document that contained the path
    uint32_t flags
    int32_t sets_at  # its state sets, in `set_lists`
    int32_t set_count
    int32_t output_count  # sets with subscription numbers or leaves; they come first
    int32_t first_instance  # head of the chain of this document's nodes that have the path
    int32_t parent
    int32_t symbol


# A looping state has a descendant edge: it stays active below the path that reached it. The loops
# of a path are pairs as in `StateSetCold`, the named ones first.
cdef struct PathCold:
    int32_t loop_context  # this path, or its nearest ancestor that has loops; -1: none
    int32_t named_loops
    int64_t loops_at
    # Sorted strings, ranks, keywords and chains of functions; then a path per value class.
    int64_t operands_at
    int64_t attribute_slots_at  # for each bit of `attribute_mask`: the last name, and its path
    int32_t wildcard_loops
    int32_t string_count  # distinct operands of string tests
    int32_t number_count  # distinct operands of numeric tests
    int32_t keyword_count  # distinct keywords
    int32_t function_count  # distinct chains of string functions
    uint32_t child_bloom  # Bloom filter of the tests on child edges
    uint32_t loop_bloom  # the same for the loops of this path
    uint32_t inherited_bloom  # the same for the loops of this path and its ancestors
    int32_t is_exact  # one label path, all of whose names have codes of their own
    int32_t dead_child  # the path of child elements that reach no state; -1: not created
    uint64_t attribute_mask  # Bloom filter of the attribute names that its states test
    uint64_t deep_attribute_mask  # the same for descendant edges to attributes
    uint32_t rank_stamp  # epoch of the last document with a number that guards compare
    int32_t smallest_rank  # of these numbers
    int32_t largest_rank


cdef inline uint64_t attribute_bit(int32_t name) noexcept nogil:
    """Return the bit of an attribute name in `attribute_mask`."""
    return <uint64_t>1 << ((<uint32_t>name * <uint32_t>2654435761) >> 26)


cdef extern from *:
    int __builtin_popcountll(unsigned long long) noexcept nogil


cdef inline int64_t attribute_slot(const PathCold *path, uint64_t bit) noexcept nogil:
    """Return the offset of the cache slot of an attribute name, by its bit."""
    return path.attribute_slots_at + 2 * __builtin_popcountll(path.attribute_mask & (bit - 1))


cdef inline int64_t class_slot(const PathCold *path, int32_t symbol) noexcept nogil:
    """Return the offset of the path of a value class."""
    return (
        path.operands_at
        + path.string_count
        + path.number_count
        + path.keyword_count
        + path.function_count
        + (symbol & NAME_MASK)
    )


cdef inline int32_t value_test_kind(const PathCold *path, int32_t symbol) noexcept nogil:
    """Return the kind of the tests that a value class belongs to."""
    cdef int32_t place = symbol & NAME_MASK
    if place <= path.string_count:
        return STRING_TEST
    place -= 3 + path.string_count + 2 * path.number_count
    if place < 0:
        return NUMBER_TEST
    return KEYWORD_TEST if place < path.keyword_count else FUNCTION_TEST


@cython.final
cdef class PathTable:
    cdef CompiledNfa nfa
    cdef StateSetTable sets
    cdef PathHot *hot
    cdef PathCold *cold
    cdef Py_ssize_t count
    cdef Py_ssize_t hot_capacity
    cdef Py_ssize_t cold_capacity
    cdef IntVector set_lists  # the state sets of all paths
    cdef IntVector ints  # loops, operands, class slots and attribute slots of all paths
    cdef uint32_t *seen  # NFA state -> `seen_serial` of the last search that marked it
    cdef Py_ssize_t seen_capacity
    cdef uint32_t seen_serial

    cdef int bind(self, CompiledNfa nfa) except -1
    cdef int clear(self, bint shrink) except -1 nogil
    cdef int32_t add(self, int32_t parent, int32_t symbol, Py_ssize_t start) except -1 nogil
    cdef int32_t dead_child(self, int32_t path) except -1 nogil
    cdef int32_t string_class(self, int32_t path, int32_t string) noexcept nogil
    cdef int32_t number_class(self, int32_t path, int32_t rank) noexcept nogil
    cdef int32_t keyword_class(self, int32_t path, int32_t keyword) noexcept nogil
    cdef int32_t function_chain(self, int32_t path, int32_t place) noexcept nogil
    cdef int32_t function_class(self, int32_t path, int32_t place) noexcept nogil
    cdef int _find_loops(self, int32_t path) except -1 nogil
    cdef int _find_attributes(self, int32_t path) except -1 nogil
    cdef uint64_t _attribute_bits(self, int32_t first, int32_t count, int32_t edge) noexcept nogil
    cdef int _find_operands(self, int32_t path) except -1 nogil
    cdef int _push_empty_slots(self, Py_ssize_t count) except -1 nogil
