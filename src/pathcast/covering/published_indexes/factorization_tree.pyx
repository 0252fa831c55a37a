"""Many twigs in one tree of shared beginnings: how it grows and shrinks, and the regions of its nodes.

The tree is Chand and Felber's factorization tree (XNET, section 4, algorithms 1 and 2), which is also Cao's global query tree (section 4.2.2): a child of a
node with a given label and edge is shared by all twigs that have one there; a twig that has two of them gets two (`twin`). Every node knows the
twigs that have a node there, and those of them that have a leaf there; and, as bits, the names (and the names next to each other) that all
its twigs have and those that some have.

With `regions` every node has a region, a pair of numbers between which the regions of all below it lie, and every label has the list of its nodes from
left to right (Cao, section 4.2.1). The thesis numbers a tree that stands still. Here a new node takes a share of what is free
behind its siblings; when that is too little, all regions are given anew, in proportion to what lies below, and that is counted (`relabelled`). The
order never changes, so the lists stay as they are.

How it is searched is in `tree`.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memmove, memset

from pathcast.covering.core.labels cimport RULES, LabelTable
from pathcast.covering.core.twigs cimport HomomorphismTest, TwigBloom, fill, mark, release
from pathcast.vectors cimport IntVector, erase, find, free_map, free_vector, insert, push, reserve

cdef enum:
    SHARE = 8  # a new node takes this part of the room that is left below its parent
    NARROW = 8  # a region that cannot be shared out any more
    RENEWED = 32  # twigs at a node whose marks are made anew when one leaves

cdef int64_t WHOLE = <int64_t>1 << 62


cdef class FactorizationTree:
    """TwigScan by number, in a tree that grows and shrinks. `regions` says whether its nodes have regions."""

    def __init__(self, LabelTable labels not None, bint regions=False):
        self.labels = labels
        self._homomorphism = HomomorphismTest(labels)
        self.regions = regions
        self._new_node()
        self.cold[0].parent = -1
        self.nodes[0].label = -1
        self.cold[0].right = WHOLE
        self.cold[0].tail = 1

    def __dealloc__(self):
        cdef int32_t index
        for index in range(self.size):
            free_vector(&self.cold[index].twigs)
            free_vector(&self.cold[index].ends)
        free(self.nodes)
        free(self.cold)
        for index in range(self.entry_count):
            release(&self.entries[index].twig)
            free(self.entries[index].nodes)
        free(self.entries)
        for index in range(self._list_count):
            free_vector(&self._lists[index])
        free(self._lists)
        free_vector(&self._free_nodes)
        free_vector(&self._free_entries)
        free_map(&self._children)

    def __len__(self):
        return self.entry_count - self._free_entries.size

    @property
    def node_count(self):
        """Nodes of the tree, its start left out; with every // that several nodes share counted once, as XNET does."""
        cdef int32_t index, found = -1
        for index in range(self.size):
            if index == 0 or self.cold[index].parent >= 0:
                found += 1 + (self.cold[index].deep > 0)
        return found

    # adding and removing

    def add(self, labels, parents, descendant):
        """Take a twig in; its number."""
        cdef int32_t number, index, node, size = <int32_t>len(labels)
        cdef FactoredTwig *entry
        cdef int32_t *room
        if self._free_entries.size:
            self._free_entries.size -= 1
            number = self._free_entries.at[self._free_entries.size]
        else:
            if self.entry_count == self._entry_room:
                self._entry_room = self._entry_room * 2 if self._entry_room else 64
                entry = <FactoredTwig *>realloc(self.entries, <size_t>self._entry_room * sizeof(FactoredTwig))
                if entry == NULL:
                    raise MemoryError
                self.entries = entry
            number = self.entry_count
            memset(&self.entries[number], 0, sizeof(FactoredTwig))
            self.entry_count += 1
        room = <int32_t *>malloc(<size_t>size * 3 * sizeof(int32_t))
        if room == NULL:
            raise MemoryError
        entry = &self.entries[number]
        fill(&entry.twig, labels, parents, descendant)
        entry.marks = TwigBloom(0, 0)
        for index in range(1, size):
            mark(&entry.twig, index, self.labels, &entry.marks)
        entry.nodes, entry.places, entry.ends = room, room + size, room + 2 * size
        self._addition += 1
        for index in range(size):
            node = 0
            if index:
                node = entry.nodes[entry.twig.parents[index]]
                node = self._grow(node, entry.twig.labels[index], entry.twig.descendant[index])
            entry.nodes[index] = node
            self.cold[node].used = self._addition
            entry.places[index] = <int32_t>self.cold[node].twigs.size
            self._note(node, &entry.marks)
            push(&self.cold[node].twigs, number)
            self.nodes[node].count += 1
            entry.ends[index] = -1
            if entry.twig.degrees[index] == 0:
                entry.ends[index] = <int32_t>self.cold[node].ends.size
                push(&self.cold[node].ends, number)
            elif entry.twig.degrees[index] > 1:
                self.nodes[node].branching += 1
        return number

    def remove(self, int32_t number):
        """Forget a twig; its number may be given again."""
        cdef int32_t index, node
        cdef FactoredTwig *entry
        if not 0 <= number < self.entry_count or self.entries[number].nodes == NULL:
            raise KeyError(number)
        entry = &self.entries[number]
        for index in range(entry.twig.size - 1, -1, -1):
            node = entry.nodes[index]
            self._leave(number, index)
            if node and not self.cold[node].twigs.size:
                self._prune(node)
        release(&entry.twig)
        free(entry.nodes)
        entry.nodes = NULL
        push(&self._free_entries, number)

    cdef int _note(self, int32_t node, const TwigBloom *marks) noexcept:
        """A twig with these marks comes to a node."""
        cdef FactorNode *here = &self.nodes[node]
        if not here.count:
            here.every = TwigBloom(<uint64_t>-1, <uint64_t>-1)
            here.some = TwigBloom(0, 0)
        here.every.names &= marks.names
        here.every.pairs &= marks.pairs
        here.some.names |= marks.names
        here.some.pairs |= marks.pairs
        return 0

    cdef int _leave(self, int32_t number, int32_t index) except -1:
        """Take a node of a twig out of the tree's node; the last one there takes its place."""
        cdef FactoredTwig *entry = &self.entries[number]
        cdef FactoredTwig *moved
        cdef int32_t node = entry.nodes[index], other, at
        cdef FactorNode *here = &self.nodes[node]
        cdef FactorNodeCold *rest = &self.cold[node]
        if entry.twig.degrees[index] > 1:
            here.branching -= 1
        rest.twigs.size -= 1
        other = rest.twigs.at[rest.twigs.size]
        if other != number:
            rest.twigs.at[entry.places[index]] = other
            moved = &self.entries[other]
            at = 0
            while moved.nodes[at] != node:
                at += 1
            moved.places[at] = entry.places[index]
        if entry.ends[index] >= 0:
            rest.ends.size -= 1
            other = rest.ends.at[rest.ends.size]
            if other != number:
                rest.ends.at[entry.ends[index]] = other
                moved = &self.entries[other]
                at = 0
                while moved.nodes[at] != node:
                    at += 1
                moved.ends[at] = entry.ends[index]
        here.count -= 1
        if here.count <= RENEWED:
            at = here.count
            here.count = 0
            for other in range(at):
                self._note(node, &self.entries[rest.twigs.at[other]].marks)
                here.count += 1
        return 0

    cdef int32_t _new_node(self) except -1:
        cdef void *moved
        cdef int32_t node, room
        cdef IntVector twigs = IntVector(NULL, 0, 0), ends = IntVector(NULL, 0, 0)
        if self._free_nodes.size:
            self._free_nodes.size -= 1
            node = self._free_nodes.at[self._free_nodes.size]
            twigs, ends = self.cold[node].twigs, self.cold[node].ends
        else:
            if self.size == self._room:
                room = self._room * 2 if self._room else 256
                moved = realloc(self.nodes, <size_t>room * sizeof(FactorNode))
                if moved == NULL:
                    raise MemoryError
                self.nodes = <FactorNode *>moved
                moved = realloc(self.cold, <size_t>room * sizeof(FactorNodeCold))
                if moved == NULL:
                    raise MemoryError
                self.cold = <FactorNodeCold *>moved
                self._room = room
            node = self.size
            self.size += 1
        memset(&self.nodes[node], 0, sizeof(FactorNode))
        memset(&self.cold[node], 0, sizeof(FactorNodeCold))
        self.cold[node].twigs, self.cold[node].ends = twigs, ends
        self.nodes[node].first = self.nodes[node].next = self.nodes[node].twin = -1
        self.cold[node].last = self.cold[node].before = -1
        return node

    cdef int32_t _grow(self, int32_t parent, int32_t label, int32_t descendant) except -1:
        """The child of a node with this label and edge that the twig does not have yet, a new one if need be."""
        cdef uint64_t key = child_key(parent, label, descendant)
        cdef int32_t node = find(&self._children, key), last = -1
        cdef FactorNodeCold *above
        cdef FactorNodeCold *here
        while node >= 0:
            if self.cold[node].used != self._addition:
                return node
            last = node
            node = self.nodes[node].twin
        node = self._new_node()
        above, here = &self.cold[parent], &self.cold[node]
        self.nodes[node].label, self.nodes[node].descendant = label, descendant
        here.parent = parent
        if last >= 0:
            self.nodes[last].twin = node
        else:
            insert(&self._children, key, node)
        here.before = above.last
        if above.last >= 0:
            self.nodes[above.last].next = node
        else:
            self.nodes[parent].first = node
        above.last = node
        above.children += 1
        above.deep += descendant
        self.nodes[parent].ruled += (self.labels.kinds.at[label] & RULES) != 0
        if self.regions:
            if (above.right - above.tail) // SHARE < NARROW:
                self._relabel()
            else:
                here.left = above.tail
                above.tail += (above.right - above.tail) // SHARE
                here.right = above.tail
                here.tail = here.left + 1
            self._list(node)
        return node

    cdef int _prune(self, int32_t node) except -1:
        """Take a node without twigs out of the tree."""
        cdef FactorNode *here = &self.nodes[node]
        cdef FactorNodeCold *rest = &self.cold[node]
        cdef int32_t parent = rest.parent
        cdef uint64_t key = child_key(parent, here.label, here.descendant)
        cdef int32_t first = find(&self._children, key)
        if self.regions:
            self._unlist(node)
        if first == node:
            erase(&self._children, key)
            if here.twin >= 0:
                insert(&self._children, key, here.twin)
        else:
            while self.nodes[first].twin != node:
                first = self.nodes[first].twin
            self.nodes[first].twin = here.twin
        if rest.before >= 0:
            self.nodes[rest.before].next = here.next
        else:
            self.nodes[parent].first = here.next
        if here.next >= 0:
            self.cold[here.next].before = rest.before
        else:
            self.cold[parent].last = rest.before
        self.cold[parent].children -= 1
        self.cold[parent].deep -= here.descendant
        self.nodes[parent].ruled -= (self.labels.kinds.at[here.label] & RULES) != 0
        rest.parent = -1
        push(&self._free_nodes, node)
        return 0

    # regions

    cdef Py_ssize_t _from(self, const IntVector *nodes, int64_t left) noexcept:
        """The first place in a list whose node starts at `left` or behind it."""
        cdef Py_ssize_t low = 0, high = nodes.size, middle
        while low < high:
            middle = (low + high) >> 1
            if self.cold[nodes.at[middle]].left < left:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int _list(self, int32_t node) except -1:
        cdef int32_t label = self.nodes[node].label, count
        cdef IntVector *moved
        cdef IntVector *nodes
        cdef Py_ssize_t at
        if label >= self._list_count:
            count = max(label + 1, self._list_count * 2)
            moved = <IntVector *>realloc(self._lists, <size_t>count * sizeof(IntVector))
            if moved == NULL:
                raise MemoryError
            self._lists = moved
            memset(&self._lists[self._list_count], 0, <size_t>(count - self._list_count) * sizeof(IntVector))
            self._list_count = count
        nodes = &self._lists[label]
        reserve(nodes, 1)
        at = self._from(nodes, self.cold[node].left)
        memmove(&nodes.at[at + 1], &nodes.at[at], <size_t>(nodes.size - at) * sizeof(int32_t))
        nodes.at[at] = node
        nodes.size += 1
        return 0

    cdef int _unlist(self, int32_t node) except -1:
        cdef IntVector *nodes = &self._lists[self.nodes[node].label]
        cdef Py_ssize_t at = self._from(nodes, self.cold[node].left)
        nodes.size -= 1
        memmove(&nodes.at[at], &nodes.at[at + 1], <size_t>(nodes.size - at) * sizeof(int32_t))
        return 0

    cdef int _relabel(self) except -1:
        """Give all regions anew, in the same order, in proportion to what lies below; the descendant, the less stays free."""
        cdef IntVector order = IntVector(NULL, 0, 0)
        cdef int64_t *sizes = <int64_t *>calloc(<size_t>self.size, sizeof(int64_t))
        cdef int32_t *levels = <int32_t *>calloc(<size_t>self.size, sizeof(int32_t))
        cdef Py_ssize_t index
        cdef int32_t node, child
        cdef int64_t at, width
        cdef double scale
        cdef FactorNodeCold *here
        self.relabelled += 1
        try:
            if sizes == NULL or levels == NULL:
                raise MemoryError
            push(&order, 0)
            index = 0
            while index < order.size:  # level by level: parents stand before their children
                node = order.at[index]
                index += 1
                child = self.nodes[node].first
                while child >= 0:
                    levels[child] = levels[node] + 1
                    push(&order, child)
                    child = self.nodes[child].next
            for index in range(order.size - 1, -1, -1):
                node = order.at[index]
                sizes[node] += 1
                if node:
                    sizes[self.cold[node].parent] += sizes[node]
            for index in range(order.size):
                node = order.at[index]
                here = &self.cold[node]
                at = here.left + 1
                scale = <double>(here.right - at) / sizes[node] * (levels[node] + 1) / (levels[node] + 2)
                child = self.nodes[node].first
                while child >= 0:
                    width = <int64_t>(scale * sizes[child])
                    if width < NARROW:
                        raise OverflowError("the tree is too deep for its regions")
                    self.cold[child].left = at
                    at += width
                    self.cold[child].right = at
                    child = self.nodes[child].next
                here.tail = at
        finally:
            free_vector(&order)
            free(sizes)
            free(levels)
        return 0
