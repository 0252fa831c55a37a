"""Sets of nodes: sorted arrays of node numbers, and hash or bit sets for membership tests."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from pathcast.matching.compiled.core.evaluator.arena cimport Arena, allocate, allocate_zeros


# Ascending node numbers, that is, in document order.
cdef struct NodeSet:
    int32_t *at
    Py_ssize_t size


cdef inline Py_ssize_t bisect_right(const NodeSet *nodes, int32_t node) noexcept nogil:
    """Return the index of the first node after the given one."""
    cdef Py_ssize_t low = 0, high = nodes.size, middle
    while low < high:
        middle = (low + high) >> 1
        if nodes.at[middle] <= node:
            low = middle + 1
        else:
            high = middle
    return low


# A bit for every node of the document or, where the members are few, an open hash table of them in
# which -1 marks a free slot. The other pointer is NULL.
cdef struct NodeMembers:
    uint64_t *bits
    int32_t *slots
    uint32_t mask


cdef inline int init_members(
    NodeMembers *members, Arena *arena, Py_ssize_t count, Py_ssize_t nodes
) except -1 nogil:
    """Allocate for `count` members of a document with `nodes` nodes; takes O(count) time."""
    cdef size_t slots = 4
    members.bits = NULL
    members.slots = NULL
    members.mask = 0
    if count >= nodes >> 6:
        members.bits = <uint64_t *>allocate_zeros(arena, (<size_t>nodes >> 6 << 3) + 8)
        return 0
    while slots < 2 * <size_t>count:
        slots *= 2
    members.mask = <uint32_t>(slots - 1)
    members.slots = <int32_t *>allocate(arena, slots * sizeof(int32_t))
    memset(members.slots, 0xFF, slots * sizeof(int32_t))
    return 0


cdef inline uint32_t _hash_node(int32_t node) noexcept nogil:
    cdef uint32_t code = <uint32_t>node * <uint32_t>0x9E3779B1
    return code ^ (code >> 15)


cdef inline void add_member(NodeMembers *members, int32_t node) noexcept nogil:
    cdef uint32_t place
    if members.bits != NULL:
        members.bits[node >> 6] |= <uint64_t>1 << (node & 63)
        return
    place = _hash_node(node) & members.mask
    while members.slots[place] != -1 and members.slots[place] != node:
        place = (place + 1) & members.mask
    members.slots[place] = node


cdef inline bint has_member(const NodeMembers *members, int32_t node) noexcept nogil:
    cdef uint32_t place
    if members.bits != NULL:
        return (members.bits[node >> 6] >> (node & 63)) & 1
    place = _hash_node(node) & members.mask
    while members.slots[place] != -1:
        if members.slots[place] == node:
            return True
        place = (place + 1) & members.mask
    return False
