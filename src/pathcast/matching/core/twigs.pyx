"""Twigs as a graph of shared parts: leaves, links from below to above, joints where branches meet.

The paths of a twig from the root to its leaves are linear, and part of the automaton like all others. Only when
all of them occur in a document (the one that is likely to be the rarest is waited for) it is asked whether they hang
together: a `Link` gives the nodes at an upper state that have the lower one below them, a `Joint` those that
all its links give, and the twig matches if the joint where it forks first has a node. Parts that twigs have in common are one part, and are worked out
once for each document.

The document's side of this is in `branches`; here is what does not change.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from pathcast.matching.core.vectors cimport drop, push


cdef class Twigs:
    """The parts of all twigs of one automaton."""

    def __cinit__(self):
        self.links = NULL
        self.joints = NULL
        self.units = NULL

    def __init__(self):
        self.keys = []
        self._leaves = {}
        self._links = {}
        self._joints = {}
        self._link_list = []
        self._joint_list = []
        self._unit_list = []
        self._unit_leaves = []
        self._ways = []
        push(&self.entry_starts, 0)

    def __dealloc__(self):
        free(self.links)
        free(self.joints)
        free(self.units)
        drop(&self.leaves)
        drop(&self.leaf_starts)
        drop(&self.leaf_units)
        drop(&self.joint_links)
        drop(&self.unit_leaves)
        drop(&self.ways)
        drop(&self.always)
        drop(&self.entry_starts)
        drop(&self.entry_numbers)
        drop(&self.entry_hops)
        drop(&self.residual)

    def add_entry(self, key, numbers, hops, residual):
        """A subscription (or several that are equal) by the caller's key; gives its number here."""
        for number, hop in zip(numbers, hops, strict=True):
            push(&self.entry_numbers, number)
            push(&self.entry_hops, hop)
        push(&self.entry_starts, <int32_t>self.entry_numbers.size)
        push(&self.residual, bool(residual))
        self.keys.append(key)
        return len(self.keys) - 1

    cpdef int32_t leaf(self, int32_t state) except -1:
        found = self._leaves.get(state)
        if found is None:
            found = self._leaves[state] = len(self._leaves)
            push(&self.leaves, state)
        return found

    cpdef int32_t link(self, int32_t target, int32_t lower, int32_t upper, tuple way) except -1:
        """The link from a target to a state above; `way` says how to get there (see the struct)."""
        key = (target, lower, upper)
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = len(self._link_list)
            self._link_list.append(key)
            self._ways.append(way)
        return found

    cpdef int32_t joint(self, int32_t state, links, int32_t leaf) except -1:
        key = (state, tuple(sorted(set(links))))
        found = self._joints.get(key)
        if found is None:
            found = self._joints[key] = len(self._joint_list)
            self._joint_list.append((*key, leaf))
        return found

    def add_unit(self, entry, leaves, joint, general):
        self._unit_list.append((entry, len(leaves), joint, general))
        self._unit_leaves.append(leaves)

    def numbers(self):
        """The numbers of all entries."""
        return [self.entry_numbers.at[index] for index in range(self.entry_numbers.size)]

    cdef int renumber(self, const int32_t *new) except -1:
        """The automaton's states have other numbers now."""
        cdef Py_ssize_t index
        for index in range(self.leaves.size):
            self.leaves.at[index] = new[self.leaves.at[index]]
        return 0

    def seal(self, list rarity):
        """Lay everything out in arrays; nothing can be added after that.

        A unit waits at the leaf that has the highest `rarity`; the others are looked at when that one was hit.
        """
        cdef int32_t index, unit
        self.leaf_count = <int32_t>self.leaves.size
        self.link_count = <int32_t>len(self._link_list)
        self.joint_count = <int32_t>len(self._joint_list)
        self.unit_count = <int32_t>len(self._unit_list)
        self.links = <Link *>calloc(<size_t>self.link_count + 1, sizeof(Link))
        self.joints = <Joint *>calloc(<size_t>self.joint_count + 1, sizeof(Joint))
        self.units = <Unit *>calloc(<size_t>self.unit_count + 1, sizeof(Unit))
        if self.links == NULL or self.joints == NULL or self.units == NULL:
            raise MemoryError
        for index, (target, _, _) in enumerate(self._link_list):
            self.links[index] = Link(target, <int32_t>self.ways.size, 0)
            for part in self._ways[index]:
                push(&self.ways, part)
            self.links[index].way_end = <int32_t>self.ways.size
        for index, (_, links, leaf) in enumerate(self._joint_list):
            self.joints[index] = Joint(<int32_t>self.joint_links.size, <int32_t>len(links), leaf)
            for link in links:
                push(&self.joint_links, link)
        waiting = [[] for _ in range(self.leaf_count)]
        for index, (entry, needs, joint, general) in enumerate(self._unit_list):
            self.units[index] = Unit(entry, needs, <int32_t>self.unit_leaves.size, joint, general)
            if needs == 0:
                push(&self.always, index)
                continue
            for leaf in self._unit_leaves[index]:
                push(&self.unit_leaves, leaf)
            waiting[max(self._unit_leaves[index], key=rarity.__getitem__)].append(index)
        for units in waiting:
            push(&self.leaf_starts, <int32_t>self.leaf_units.size)
            for unit in units:
                push(&self.leaf_units, unit)
        push(&self.leaf_starts, <int32_t>self.leaf_units.size)
        self._leaves = self._links = self._joints = None
        self._link_list = self._joint_list = self._unit_list = self._unit_leaves = self._ways = None

    @property
    def memory(self):
        """Bytes."""
        return (
            self.link_count * <Py_ssize_t>sizeof(Link)
            + self.joint_count * <Py_ssize_t>sizeof(Joint)
            + self.unit_count * <Py_ssize_t>sizeof(Unit)
            + 4 * (self.leaves.room + self.leaf_starts.room + self.leaf_units.room)
            + 4 * (self.joint_links.room + self.entry_starts.room + self.entry_numbers.room)
        )
