from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.covering.core.labels cimport BY_RULE, STAR, LabelTable
from pathcast.vectors cimport IntVector


cdef struct TwigBloom:  # Bloom filters with a single hash function
    uint64_t names  # of the names in a twig
    uint64_t pairs  # of the pairs of names pack_key by a child edge


cdef struct FlatTwig:  # in preorder; the arrays share the allocation of `labels`
    int32_t size
    int32_t *labels
    int32_t *parents
    int32_t *ends  # one past the last node of each subtree
    int32_t *degrees  # numbers of children
    int32_t *descendant  # whether the edge above each node is a descendant edge


cdef int fill(FlatTwig *twig, labels, parents, descendant) except -1
cdef void release(FlatTwig *twig) noexcept


cdef inline bint lacks(const TwigBloom *bloom, const TwigBloom *needed) noexcept:
    """Return whether some needed bit is missing."""
    return (needed.names & ~bloom.names) | (needed.pairs & ~bloom.pairs)


cdef inline void add_node(
    TwigBloom *bloom, const FlatTwig *twig, int32_t node, LabelTable labels
) noexcept:
    """Add a node's name, and on a child edge the pair with its parent's name."""
    cdef uint32_t name = <uint32_t>twig.labels[node], above
    if labels.kinds.at[name] & (STAR | BY_RULE):
        return
    bloom.names |= <uint64_t>1 << (name * <uint32_t>0x9E3779B1 >> 26)
    above = <uint32_t>twig.labels[twig.parents[node]]
    if not twig.descendant[node] and not labels.kinds.at[above] & (STAR | BY_RULE):
        bloom.pairs |= <uint64_t>1 << ((name * 31 + above) * <uint32_t>0x9E3779B1 >> 26)


cdef class HomomorphismTest:
    cdef readonly LabelTable labels
    cdef uint64_t *_rows  # scratch: a bit row for each wide node, and an extra row
    cdef Py_ssize_t _room

    cdef bint exists(self, const FlatTwig *wide, const FlatTwig *narrow) except -1


cdef class TwigScan:
    cdef HomomorphismTest homomorphism
    cdef FlatTwig *twigs
    cdef Py_ssize_t size
    cdef Py_ssize_t _room
    cdef list _free
    cdef FlatTwig _query
