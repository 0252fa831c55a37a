from libc.stdint cimport int32_t, uint32_t, uint64_t

from pathcast.covering.core.labels cimport RULES, STAR, LabelTable
from pathcast.vectors cimport IntVector


cdef struct TwigBloom:  # bits, shared by several of what they stand for
    uint64_t names  # the names in a twig
    uint64_t pairs  # two names with a child edge between them


cdef struct FlatTwig:
    int32_t size
    int32_t *labels
    int32_t *parents
    int32_t *ends  # behind the last node below, in preorder
    int32_t *degrees
    int32_t *descendant


cdef int fill(FlatTwig *twig, labels, parents, descendant) except -1
cdef void release(FlatTwig *twig) noexcept


cdef inline bint lacks(const TwigBloom *there, const TwigBloom *needed) noexcept:
    """Whether something that is needed is not there."""
    return (needed.names & ~there.names) | (needed.pairs & ~there.pairs)


cdef inline void mark(const FlatTwig *twig, int32_t node, LabelTable labels, TwigBloom *marks) noexcept:
    """Add the bits of a node of a twig: its name, and with its parent's if it is a child."""
    cdef uint32_t name = <uint32_t>twig.labels[node], above
    if labels.kinds.at[name] & (STAR | RULES):
        return
    marks.names |= <uint64_t>1 << (name * <uint32_t>0x9E3779B1 >> 26)
    above = <uint32_t>twig.labels[twig.parents[node]]
    if not twig.descendant[node] and not labels.kinds.at[above] & (STAR | RULES):
        marks.pairs |= <uint64_t>1 << ((name * 31 + above) * <uint32_t>0x9E3779B1 >> 26)


cdef class HomomorphismTest:
    cdef readonly LabelTable labels
    cdef uint64_t *_rows
    cdef Py_ssize_t _room

    cdef bint exists(self, const FlatTwig *wide, const FlatTwig *narrow) except -1


cdef class TwigScan:
    cdef HomomorphismTest homomorphism
    cdef FlatTwig *twigs
    cdef Py_ssize_t size
    cdef Py_ssize_t _room
    cdef list _free
    cdef FlatTwig _query
