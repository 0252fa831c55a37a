"""Do the branches of a twig hang together? Joined by depths, for one document.

A leaf was reached at some nodes. For each of them the label path alone says at which depths the node above may
stand where the branches meet: `_span`, a mask with a bit for every depth, made by shifting a bit up the labels of the
path, kept where the path from the root also leads there. The ancestors at these depths are what the link gives,
and a joint keeps those that all its links give.

Every link and joint is worked out once for a document. Cost of a link: its nodes, times the depths in their masks. `work`
counts the ancestors that were found.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pathcast.matching.core.course cimport Course
from pathcast.matching.core.labels cimport (
    ANY,
    ATTRIBUTE,
    CHILD,
    COMMENT,
    DEEP_ATTRIBUTE,
    EDGE_BITS,
    EDGE_MASK,
    INSTRUCTION,
    NODE,
    TEXT,
    VALUE,
)
from pathcast.matching.core.memo cimport IS_ATTRIBUTE, IS_VALUE, KIND_SHIFT, NAME_MASK
from pathcast.matching.core.twigs cimport Joint, Link
from pathcast.matching.core.vectors cimport drop, find, joined, push, reserve
from pathcast.matching.core.walk cimport Walk

cdef extern from *:
    int __builtin_clzll(unsigned long long) noexcept nogil


cdef class Branches:
    """The joins of one course."""

    def __cinit__(self):
        self.link_stamp = self.joint_stamp = NULL
        self.link_at = self.link_size = self.joint_at = self.joint_size = NULL

    def __init__(self, Course course not None):
        cdef size_t links = <size_t>course.automaton.twigs.link_count + 1
        cdef size_t joints = <size_t>course.automaton.twigs.joint_count + 1
        self.course = course
        self.link_stamp = <uint32_t *>calloc(links, 4)
        self.link_at = <int32_t *>calloc(links, 4)
        self.link_size = <int32_t *>calloc(links, 4)
        self.joint_stamp = <uint32_t *>calloc(joints, 4)
        self.joint_at = <int32_t *>calloc(joints, 4)
        self.joint_size = <int32_t *>calloc(joints, 4)
        if not (self.link_stamp and self.link_at and self.link_size):
            raise MemoryError
        if not (self.joint_stamp and self.joint_at and self.joint_size):
            raise MemoryError

    def __dealloc__(self):
        free(self.link_stamp)
        free(self.link_at)
        free(self.link_size)
        free(self.joint_stamp)
        free(self.joint_at)
        free(self.joint_size)
        drop(&self.results)
        drop(&self.chain)
        drop(&self.marks)

    cdef int begin(self, Walk walk) except -1:
        """Before the joins of a document; its course has been run."""
        self.walk = walk
        self.results.size = 0
        self._path_node = -1
        self.marks.size = 0
        reserve(&self.marks, walk.size)
        self.marks.size = walk.size
        memset(self.marks.at, 0, <size_t>walk.size * sizeof(int32_t))
        self.serial = 0
        return 0

    cdef bint holds(self, int32_t joint) except -1 nogil:
        """Whether a joint has a node."""
        if self.joint_stamp[joint] != self.course.epoch:
            self._join(joint)
        return self.joint_size[joint] > 0

    cdef int _join(self, int32_t joint) except -1 nogil:
        """The nodes of a joint: those of all its links."""
        cdef const Joint *known = &self.course.automaton.twigs.joints[joint]
        cdef int32_t index, link, at, size = 0, spot, kept, start
        self.joint_stamp[joint] = self.course.epoch
        self.joint_size[joint] = 0
        for index in range(known.count):  # all links first: what they give lies before what is kept
            link = self.course.automaton.twigs.joint_links.at[known.links + index]
            if self.link_stamp[link] != self.course.epoch:
                self._link(link)
            if self.link_size[link] == 0:
                return 0
        start = <int32_t>self.results.size
        for index in range(known.count):
            link = self.course.automaton.twigs.joint_links.at[known.links + index]
            if index == 0:
                size = self.link_size[link]
                for at in range(size):
                    push(&self.results, self.results.at[self.link_at[link] + at])
                continue
            self.serial += 1
            for at in range(self.link_size[link]):
                self.marks.at[self.results.at[self.link_at[link] + at]] = self.serial
            kept = 0
            for at in range(size):
                spot = self.results.at[start + at]
                if self.marks.at[spot] == self.serial:
                    self.results.at[start + kept] = spot
                    kept += 1
            size = kept
        self.results.size = start + size
        self.joint_at[joint] = start
        self.joint_size[joint] = size
        return 0

    cdef int _link(self, int32_t link) except -1 nogil:
        """The nodes above from which the way down leads to the target."""
        cdef const Link *known = &self.course.automaton.twigs.links[link]
        cdef int32_t target = known.target >> 1, hit, visitor, instance, node, spot, at, start
        cdef uint64_t mask
        if known.target & 1 and self.joint_stamp[target] != self.course.epoch:
            self._join(target)
        self.serial += 1
        start = <int32_t>self.results.size
        if known.target & 1:
            for at in range(self.joint_size[target]):
                spot = self.results.at[self.joint_at[target] + at]
                self._climb(spot, self._span(self.course.at.at[spot], known.lower, known.upper))
        elif self.course.leaf_stamp[target] == self.course.epoch:
            hit = self.course.leaf_first[target]
            while hit >= 0:
                visitor = self.course.memo.segments[self.course.hits.at[hit]].visitors
                while visitor >= 0:
                    node = self.course.visitors.at[visitor]
                    mask = self._span(node, known.lower, known.upper)
                    instance = self.course.memo.nodes[node].first
                    while mask and instance >= 0:
                        self._climb(self.course.instances.at[instance], mask)
                        instance = self.course.instances.at[instance + 1]
                    visitor = self.course.visitors.at[visitor + 1]
                hit = self.course.hits.at[hit + 1]
        self.link_stamp[link] = self.course.epoch
        self.link_at[link] = start
        self.link_size[link] = <int32_t>self.results.size - start
        return 0

    cdef int _climb(self, int32_t spot, uint64_t mask) except -1 nogil:
        """Take the ancestors (or the node itself) at the depths of a mask, each once."""
        cdef int depth
        while mask:
            depth = 63 - __builtin_clzll(mask)
            mask ^= <uint64_t>1 << depth
            while self.walk.spots[spot].depth > depth:
                spot = self.walk.spots[spot].parent
            self.work += 1
            if self.marks.at[spot] != self.serial:
                self.marks.at[spot] = self.serial
                push(&self.results, spot)
        return 0

    cdef uint64_t _span(self, int32_t node, int32_t lower, int32_t upper) except? 0 nogil:
        """The depths at which `upper` may stand on a label path that `lower` ends."""
        cdef int32_t depth = self.course.memo.nodes[node].depth, state, label, edge
        cdef Py_ssize_t index
        cdef uint64_t there, above
        if self._path_node != node:
            self._path_node = node
            state = node
            if self.course.memo.nodes[state].code >= IS_VALUE:
                state = self.course.memo.nodes[state].parent
            while state > 0:
                self._path[self.course.memo.nodes[state].depth] = self.course.memo.nodes[state].code
                state = self.course.memo.nodes[state].parent
        # from below: where the way down to the node may start
        there = <uint64_t>1 << depth
        state = lower
        while state != upper:
            edge = self.course.automaton.labels.at[state] & EDGE_MASK
            if edge == CHILD or edge == ATTRIBUTE:
                there >>= 1
            elif edge != VALUE and there:
                there = (<uint64_t>1 << (63 - __builtin_clzll(there))) - 1
            state = self.course.automaton.parents.at[state]
            if state != upper:
                there &= self._passing(self.course.automaton.labels.at[state], depth)
            if there == 0:
                return 0
        # from above: where the path from the root leads
        self.chain.size = 0
        while state:
            push(&self.chain, self.course.automaton.labels.at[state])
            state = self.course.automaton.parents.at[state]
        above = 1
        for index in range(self.chain.size - 1, -1, -1):
            label = self.chain.at[index]
            edge = label & EDGE_MASK
            if edge == CHILD or edge == ATTRIBUTE:
                above <<= 1
            elif edge != VALUE:
                above = ~(((above & (~above + 1)) << 1) - 1)
            above &= self._passing(label, depth)
            if above == 0:
                return 0
        return above & there

    cdef uint64_t _passing(self, int32_t label, int32_t depth) noexcept nogil:
        """The depths of the path at hand whose node passes the test of a label."""
        cdef int32_t test = label >> EDGE_BITS, edge = label & EDGE_MASK, level, code, kind
        cdef uint64_t found = 0
        cdef bint attribute = edge == ATTRIBUTE or edge == DEEP_ATTRIBUTE, passes
        if edge == VALUE:
            return ~<uint64_t>0
        for level in range(1, depth + 1):
            code = self._path[level]
            kind = code >> KIND_SHIFT
            if (kind == IS_ATTRIBUTE >> KIND_SHIFT) != attribute:
                continue
            if test == NODE:
                passes = True
            elif test == ANY:
                passes = kind <= 1
            elif test == TEXT:
                passes = kind == 2
            elif test == COMMENT:
                passes = kind == 3
            elif test == INSTRUCTION:
                passes = kind == 4
            else:
                code &= NAME_MASK
                passes = (
                    code == test
                    or find(&self.course.automaton.space_of, joined(code, 0)) == test
                )
            if passes:
                found |= <uint64_t>1 << level
        return found
