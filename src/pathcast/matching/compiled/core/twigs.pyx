"""Twigs as a graph of shared parts: leaves, links from below to above, joints where branches meet.

The paths of a twig from the root to its leaves are linear, and part of the automaton like all others. Only when
all of them occur in a document (the one that is likely to be the rarest is waited for) it is asked whether they hang
together: a `Link` gives the nodes at an upper state that have the lower one below them, a `Joint` those that
all its links give, and the twig matches if the joint where it forks first has a node. Parts that twigs have in common are one part, and are worked out
once for each document.

The document's side of this is in `branches`; here is what does not change.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

from pathcast.vectors cimport free_vector, push


cdef class Twigs:
    """The parts of all twigs of one automaton."""

    def __cinit__(self):
        self.links = NULL
        self.joints = NULL
        self.units = NULL
        self.general = self.joined = NULL
        self.waiting = NULL

    def __init__(self):
        self.keys = []
        self._leaves = {}
        self._links = {}
        self._joints = {}
        self._link_list = []
        self._joint_list = []
        self._unit_list = []
        self._ways = []
        push(&self.entry_starts, 0)

    def __dealloc__(self):
        free(self.links)
        free(self.joints)
        free(self.units)
        free(self.general)
        free(self.joined)
        free(self.waiting)
        free_vector(&self.leaves)
        free_vector(&self.leaf_starts)
        free_vector(&self.rest)
        free_vector(&self.joint_links)
        free_vector(&self.ways)
        free_vector(&self.entry_starts)
        free_vector(&self.entry_numbers)
        free_vector(&self.entry_hops)
        free_vector(&self.residual)

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

    cpdef int32_t joint(self, int32_t state, links, int32_t fork) except -1:
        """The joint of some links at a state; `fork` is the leaf of that state (see the struct)."""
        key = (state, tuple(sorted(set(links))))
        found = self._joints.get(key)
        if found is None:
            found = self._joints[key] = len(self._joint_list)
            self._joint_list.append((key[1], fork))
        return found

    def add_unit(self, entry, leaves, joint, general):
        """One way in which an entry may match; `joint` is -1 if it is enough that all leaves are hit."""
        if joint >= 0:
            joint = self._needed(joint)
        self._unit_list.append((entry, tuple(leaves), joint, general))

    def _needed(self, joint):
        """What has to be asked of a joint: where only one node can be, whatever lies below lies below that."""
        links, fork = self._joint_list[joint]
        if fork >= 0:
            return joint
        below = [self._link_list[link][0] >> 1 for link in links if self._link_list[link][0] & 1]
        if not below:
            return -1
        return joint if len(below) > 1 else self._needed(below[0])

    def _forks(self, joint):
        """The states where a joint and those below it are, as leaves, each once."""
        found = {}
        joints = [joint] if joint >= 0 else []
        for joint in joints:  # which grows
            links, fork = self._joint_list[joint]
            if fork >= 0:
                found[fork] = None
            for link in links:
                target = self._link_list[link][0]
                if target & 1 and target >> 1 not in joints:
                    joints.append(target >> 1)
        return list(found)

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
        cdef int32_t index, leaf, place = 0
        self.leaf_count = <int32_t>self.leaves.size
        self.link_count = <int32_t>len(self._link_list)
        self.joint_count = <int32_t>len(self._joint_list)
        self.unit_count = <int32_t>len(self._unit_list)
        self.links = <Link *>calloc(<size_t>self.link_count + 1, sizeof(Link))
        self.joints = <Joint *>calloc(<size_t>self.joint_count + 1, sizeof(Joint))
        self.units = <Unit *>calloc(<size_t>self.unit_count + 1, sizeof(Unit))
        self.general = <char *>calloc(<size_t>self.unit_count + 1, 1)
        self.joined = <char *>calloc(<size_t>self.leaf_count + 1, 1)
        self.waiting = <uint64_t *>calloc(<size_t>(self.leaf_count >> 6) + 1, sizeof(uint64_t))
        if (
            self.links == NULL or self.joints == NULL or self.units == NULL
            or self.general == NULL or self.joined == NULL or self.waiting == NULL
        ):
            raise MemoryError
        for index, (target, _, _) in enumerate(self._link_list):
            self.links[index] = Link(target, <int32_t>self.ways.size, 0)
            for part in self._ways[index]:
                push(&self.ways, part)
            self.links[index].way_end = <int32_t>self.ways.size
        for index, (links, fork) in enumerate(self._joint_list):
            self.joints[index] = Joint(<int32_t>self.joint_links.size, <int32_t>len(links), fork)
            for link in links:
                push(&self.joint_links, link)
        self._mark_joined()
        waiting = [[] for _ in range(self.leaf_count + 1)]
        for known in self._unit_list:
            waiting[max(known[1], key=rarity.__getitem__) if known[1] else self.leaf_count].append(known)
        for leaf in range(self.leaf_count + 1):
            push(&self.leaf_starts, place)
            if waiting[leaf] and leaf < self.leaf_count:
                self.waiting[leaf >> 6] |= <uint64_t>1 << (leaf & 63)
            for known in waiting[leaf]:
                self._lay_out(place, known, leaf)
                place += 1
        self.always = self.leaf_starts.at[self.leaf_count]
        self._leaves = self._links = self._joints = None
        self._link_list = self._joint_list = self._unit_list = self._ways = None

    cdef int _lay_out(self, int32_t index, tuple known, int32_t waits) except -1:
        """Write down a unit."""
        cdef Unit *unit = &self.units[index]
        cdef int32_t entry = known[0], first = self.entry_starts.at[entry]
        others = [leaf for leaf in known[1] if leaf != waits]
        forks = self._forks(known[2])
        unit.entry = entry
        unit.joint = known[2]
        self.general[index] = known[3]
        unit.number = -1
        if self.entry_starts.at[entry + 1] == first + 1 and not known[3] and not self.residual.at[entry]:
            unit.number = self.entry_numbers.at[first]
            unit.hop = self.entry_hops.at[first]
        unit.second = others[0] if others else self.leaf_count
        unit.third = others[1] if len(others) == 2 else self.leaf_count
        if len(others) > 2:
            unit.third = -2 - <int32_t>self.rest.size
            push(&self.rest, <int32_t>len(others) - 1)
            for leaf in others[1:]:
                push(&self.rest, leaf)
        unit.fork = forks[0] if forks else self.leaf_count
        unit.other_fork = forks[1] if len(forks) == 2 else self.leaf_count
        if len(forks) > 2:
            unit.other_fork = MORE
        return 0

    cdef int _mark_joined(self) except -1:
        """Note the leaves whose nodes joins may ask for: those of joints that can be at several nodes."""
        cdef int32_t index, link, step
        cdef const Link *known
        for index in range(self.joint_count):
            if self.joints[index].fork < 0:
                continue
            self.joined[self.joints[index].fork] = True
            for link in range(self.joints[index].links, self.joints[index].links + self.joints[index].count):
                known = &self.links[self.joint_links.at[link]]
                if not known.target & 1:
                    self.joined[known.target >> 1] = True
                for step in range(known.way + 1, known.way_end, 2):
                    self.joined[self.ways.at[step]] = True
        return 0

    @property
    def memory(self):
        """Bytes."""
        return (
            self.link_count * <Py_ssize_t>sizeof(Link)
            + self.joint_count * <Py_ssize_t>sizeof(Joint)
            + self.unit_count * <Py_ssize_t>sizeof(Unit)
            + self.unit_count + self.leaf_count + self.leaf_count // 8
            + 4 * (self.leaves.capacity + self.leaf_starts.capacity + self.rest.capacity + self.ways.capacity)
            + 4 * (self.joint_links.capacity + self.entry_starts.capacity + self.residual.capacity)
            + 4 * (self.entry_numbers.capacity + self.entry_hops.capacity)
        )
