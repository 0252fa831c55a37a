"""Do the branches of a twig hang together? Joined from the leaves up, for one document.

A leaf was reached at some nodes. The way from there to where branches meet goes up a fixed number of levels as long as the
steps lead to children: parents are what they are, and the automaton has seen to their names. Where the path has an edge to any
depth, the nodes of the state above that edge are looked for among the ancestors; every one of them will do, since below it
any node of the right name at any depth is as good. So a link gives the nodes at its upper end, and a joint
keeps those that all its links give.

Where a state was reached at one node only, all this is not needed: what was reached below it was reached through that node.

Every leaf, link and joint is worked out once for a document. Cost of a link: its nodes and their ancestors, each at most once
for every edge to any depth. `work` counts them.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pathcast.matching.compiled.core.course cimport Course, LeafState
from pathcast.matching.compiled.core.label_paths cimport IS_VALUE, Node
from pathcast.matching.compiled.core.twigs cimport Joint, Link
from pathcast.vectors cimport append, free_vector, has_bit, push, reserve
from pathcast.matching.compiled.core.walk cimport Walk


cdef class Branches:
    """The joins of one course."""

    def __cinit__(self):
        self.links = self.joints = NULL

    def __init__(self, Course course not None, Walk walk not None):
        self.course = course
        self.walk = walk
        self.links = <Found *>calloc(<size_t>course.automaton.twigs.link_count + 1, sizeof(Found))
        self.joints = <Found *>calloc(<size_t>course.automaton.twigs.joint_count + 1, sizeof(Found))
        if self.links == NULL or self.joints == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.links)
        free(self.joints)
        free_vector(&self.results)
        free_vector(&self.marks)

    cdef int begin(self) except -1 nogil:
        """Before the joins of a document; its course has been run."""
        self.results.size = 0
        self.marks.size = 0
        reserve(&self.marks, self.walk.size)
        self.marks.size = self.walk.size
        memset(self.marks.at, 0, <size_t>self.walk.size * sizeof(int32_t))
        self.serial = 0
        return 0

    cdef bint holds(self, int32_t joint) except -1 nogil:
        """Whether a joint has a node; all its leaves have."""
        cdef const Joint *known = &self.course.automaton.twigs.joints[joint]
        cdef int32_t index, target
        if known.fork < 0 or not has_bit(self.course.several, known.fork):
            # every way up from what was reached leads through this one node
            for index in range(known.links, known.links + known.count):
                target = self.course.automaton.twigs.links[self.course.automaton.twigs.joint_links.at[index]].target
                if target & 1 and not self.holds(target >> 1):
                    return False
            return True
        if self.joints[joint].stamp != self.course.epoch:
            self._join(joint)
        return self.joints[joint].count > 0

    cdef int _join(self, int32_t joint) except -1 nogil:
        """The nodes of a joint: those of all its links."""
        cdef const Joint *known = &self.course.automaton.twigs.joints[joint]
        cdef const int32_t *links = self.course.automaton.twigs.joint_links.at + known.links
        cdef Found *found
        cdef int32_t index, at, spot, kept, start, count
        self.joints[joint].stamp = self.course.epoch
        self.joints[joint].count = 0
        if not has_bit(self.course.several, known.fork):
            if self.holds(joint):
                self._list(known.fork)
                self.joints[joint].at = self.course.leaves[known.fork].listed
                self.joints[joint].count = self.course.leaves[known.fork].count
            return 0
        for index in range(known.count):  # all links first: what they give lies before what is kept
            if self.links[links[index]].stamp != self.course.epoch:
                self._link(links[index])
            if self.links[links[index]].count == 0:
                return 0
        start = <int32_t>self.results.size
        found = &self.links[links[0]]
        count = found.count
        reserve(&self.results, count)
        append(&self.results, self.results.at + found.at, count)
        for index in range(1, known.count):
            found = &self.links[links[index]]
            self.serial += 1
            for at in range(found.count):
                self.marks.at[self.results.at[found.at + at]] = self.serial
            kept = 0
            for at in range(start, start + count):
                spot = self.results.at[at]
                if self.marks.at[spot] == self.serial:
                    self.results.at[start + kept] = spot
                    kept += 1
            count = kept
        self.results.size = start + count
        self.joints[joint].at = start
        self.joints[joint].count = count
        return 0

    cdef int _link(self, int32_t link) except -1 nogil:
        """The nodes above from which the way down leads to the target."""
        cdef const Link *known = &self.course.automaton.twigs.links[link]
        cdef const int32_t *ways = self.course.automaton.twigs.ways.at
        cdef int32_t target = known.target >> 1, step, start
        cdef const Found *found
        if known.target & 1 and self.joints[target].stamp != self.course.epoch:
            self._join(target)
        for step in range(known.way + 1, known.way_end, 2):  # lists stay: they must lie before what comes now
            self._list(ways[step])
        start = <int32_t>self.results.size
        if known.target & 1:
            found = &self.joints[target]
            reserve(&self.results, found.count)
            append(&self.results, self.results.at + found.at, found.count)
            if ways[known.way]:
                self._up(start, ways[known.way])
        else:
            self._lift(target, ways[known.way])
        for step in range(known.way + 1, known.way_end):
            if (step - known.way) & 1:
                self._above(start, ways[step])
            elif ways[step]:
                self._up(start, ways[step])
        self.links[link] = Found(self.course.epoch, start, <int32_t>self.results.size - start)
        return 0

    cdef int _lift(self, int32_t leaf, int32_t levels) except -1 nogil:
        """Take the ancestors, so many levels above, of the nodes at which a leaf was reached, each once."""
        cdef int32_t hit = self.course.leaves[leaf].first, visitor, instance, node, spot, level
        cdef Node *nodes = self.course.memo.nodes
        if self.course.leaves[leaf].stamp != self.course.epoch:
            return 0
        self.serial += 1
        while hit >= 0:
            visitor = self.course.memo.segments[self.course.hits.at[hit]].visitors
            while visitor >= 0:
                node = self.course.visitors.at[visitor]
                instance = nodes[node].first
                if nodes[node].code >= IS_VALUE:
                    node = nodes[node].parent  # a value's label path is that of its node
                for level in range(levels):
                    node = nodes[node].parent
                if levels and self.course.instances.at[nodes[node].first + 1] < 0:
                    self._take(self.course.instances.at[nodes[node].first])  # no other has its path
                    instance = -1
                while instance >= 0:
                    spot = self.course.instances.at[instance]
                    for level in range(levels):
                        spot = self.walk.spots[spot].parent
                    self._take(spot)
                    instance = self.course.instances.at[instance + 1]
                visitor = self.course.visitors.at[visitor + 1]
            hit = self.course.hits.at[hit + 1]
        return 0

    cdef int _take(self, int32_t spot) except -1 nogil:
        self.work += 1
        if self.marks.at[spot] != self.serial:
            self.marks.at[spot] = self.serial
            push(&self.results, spot)
        return 0

    cdef int _list(self, int32_t leaf) except -1 nogil:
        """List the nodes at which a leaf was reached."""
        cdef LeafState *state = &self.course.leaves[leaf]
        cdef int32_t hit, visitor, instance
        if state.stamp != self.course.epoch:  # it was not: a course stamps what it reaches
            state.listed = state.count = 0
            return 0
        if state.listed >= 0:
            return 0
        state.listed = <int32_t>self.results.size
        hit = state.first
        while hit >= 0:
            visitor = self.course.memo.segments[self.course.hits.at[hit]].visitors
            while visitor >= 0:
                instance = self.course.memo.nodes[self.course.visitors.at[visitor]].first
                while instance >= 0:
                    push(&self.results, self.course.instances.at[instance])
                    instance = self.course.instances.at[instance + 1]
                visitor = self.course.visitors.at[visitor + 1]
            hit = self.course.hits.at[hit + 1]
        state.count = <int32_t>self.results.size - state.listed
        self.work += <uint64_t>state.count
        return 0

    cdef int _up(self, int32_t start, int32_t levels) except -1 nogil:
        """Replace the nodes from `start` on by their ancestors so many levels above, each once."""
        cdef Py_ssize_t at
        cdef int32_t kept = start, spot, level
        self.serial += 1
        for at in range(start, self.results.size):
            spot = self.results.at[at]
            for level in range(levels):
                spot = self.walk.spots[spot].parent
            if self.marks.at[spot] != self.serial:
                self.marks.at[spot] = self.serial
                self.results.at[kept] = spot
                kept += 1
        self.work += <uint64_t>(self.results.size - start)
        self.results.size = kept
        return 0

    cdef int _above(self, int32_t start, int32_t leaf) except -1 nogil:
        """Replace the nodes from `start` on by those of a leaf that are above one of them."""
        cdef Py_ssize_t at, end
        cdef int32_t spot, wanted, seen, index
        cdef Py_ssize_t last = self.results.size
        self.serial += 2
        wanted = self.serial
        seen = wanted - 1  # not wanted, and asked before
        for index in range(self.course.leaves[leaf].count):
            self.marks.at[self.results.at[self.course.leaves[leaf].listed + index]] = wanted
        end = self.results.size
        for at in range(start, last):
            spot = self.walk.spots[self.results.at[at]].parent
            while spot >= 0 and self.marks.at[spot] != seen:
                self.work += 1
                if self.marks.at[spot] == wanted:
                    push(&self.results, spot)
                self.marks.at[spot] = seen
                spot = self.walk.spots[spot].parent
        # what was found came behind; bring it to the front
        for at in range(end, self.results.size):
            self.results.at[start + at - end] = self.results.at[at]
        self.results.size = start + self.results.size - end
        return 0
