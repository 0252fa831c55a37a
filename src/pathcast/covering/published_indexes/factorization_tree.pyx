"""Factorization tree: many twigs in one tree of shared prefixes (Chand 2004, section 4).

It is built by algorithms 1 and 2 of Chand and Felber (XNET, 2004) and equals the global query tree
of Cao 2012, section 4.2.2. All twigs with a child of a given label and edge at a node share one
tree node for it; a twig with two such children uses two tree nodes (`twin`). Every node holds the
twigs with a node there, and those with a leaf there. Two Bloom filters at a node hold the names and
pairs of adjacent names that all its twigs have, and those that any of them has.

With `regions`, every node has a region code (Cao 2012, section 4.2.1): a pair of numbers that
encloses the codes of all nodes below. Every label has the list of its nodes from left to right. The
thesis assigns the codes of a static tree. Here a new node takes a share of the gap behind its last
sibling. If the gap is too small, all codes are assigned again in proportion to the sizes of the
subtrees, which `relabelled` counts. The order of nodes never changes, so the lists stay valid.

`factorization_search` searches the tree.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memmove, memset

from pathcast.covering.core.labels cimport BY_RULE, LabelTable
from pathcast.covering.core.twigs cimport HomomorphismTest, TwigBloom, add_node, fill, release
from pathcast.vectors cimport IntVector, erase, find, free_map, free_vector, insert, push, reserve

cdef enum:
    GAP_SHARE = 8  # a new node takes 1/8 of the gap below its parent
    MIN_WIDTH = 8  # a narrower region cannot be divided
    MAX_REBUILT = 32  # a node with more twigs keeps its filters when a twig leaves

cdef int64_t REGION_END = <int64_t>1 << 62


cdef class FactorizationTree:
    """Twigs by id in a factorization tree; `regions` says whether its nodes have region codes."""

    def __init__(self, LabelTable labels not None, bint regions=False):
        self.labels = labels
        self._homomorphism = HomomorphismTest(labels)
        self.regions = regions
        self._new_node()
        self.cold[0].parent = -1
        self.nodes[0].label = -1
        self.cold[0].right = REGION_END
        self.cold[0].free_from = 1

    def __dealloc__(self):
        cdef int32_t index
        for index in range(self.size):
            free_vector(&self.cold[index].twigs)
            free_vector(&self.cold[index].leaves)
        free(self.nodes)
        free(self.cold)
        for index in range(self.entry_count):
            release(&self.entries[index].twig)
            free(self.entries[index].nodes)
        free(self.entries)
        for index in range(self._label_list_count):
            free_vector(&self._label_lists[index])
        free(self._label_lists)
        free_vector(&self._free_nodes)
        free_vector(&self._free_entries)
        free_map(&self._child_lookup)

    def __len__(self):
        return self.entry_count - self._free_entries.size

    @property
    def node_count(self):
        """The number of nodes without the root.

        As in Chand 2004, a `//` is a node of its own, which its children share.
        """
        cdef int32_t index, count = -1
        for index in range(self.size):
            if index == 0 or self.cold[index].parent >= 0:
                count += 1 + (self.cold[index].descendant_children > 0)
        return count

    # adding and removing

    def add(self, labels, parents, descendant):
        """Add a twig and return its id."""
        cdef int32_t id, index, node, size = <int32_t>len(labels)
        cdef FactoredTwig *entry
        cdef int32_t *room
        if self._free_entries.size:
            self._free_entries.size -= 1
            id = self._free_entries.at[self._free_entries.size]
        else:
            if self.entry_count == self._entry_room:
                self._entry_room = self._entry_room * 2 if self._entry_room else 64
                entry = <FactoredTwig *>realloc(
                    self.entries, <size_t>self._entry_room * sizeof(FactoredTwig)
                )
                if entry == NULL:
                    raise MemoryError
                self.entries = entry
            id = self.entry_count
            memset(&self.entries[id], 0, sizeof(FactoredTwig))
            self.entry_count += 1
        room = <int32_t *>malloc(<size_t>size * 3 * sizeof(int32_t))
        if room == NULL:
            raise MemoryError
        entry = &self.entries[id]
        fill(&entry.twig, labels, parents, descendant)
        entry.bloom = TwigBloom(0, 0)
        for index in range(1, size):
            add_node(&entry.bloom, &entry.twig, index, self.labels)
        entry.nodes, entry.places, entry.leaf_places = room, room + size, room + 2 * size
        self._addition += 1
        for index in range(size):
            node = 0
            if index:
                node = entry.nodes[entry.twig.parents[index]]
                node = self._child_for(node, entry.twig.labels[index], entry.twig.descendant[index])
            entry.nodes[index] = node
            self.cold[node].used_by = self._addition
            entry.places[index] = <int32_t>self.cold[node].twigs.size
            self._add_bloom(node, &entry.bloom)
            push(&self.cold[node].twigs, id)
            self.nodes[node].twig_count += 1
            entry.leaf_places[index] = -1
            if entry.twig.degrees[index] == 0:
                entry.leaf_places[index] = <int32_t>self.cold[node].leaves.size
                push(&self.cold[node].leaves, id)
            elif entry.twig.degrees[index] > 1:
                self.nodes[node].branching += 1
        return id

    def remove(self, int32_t id):
        """Remove a twig. Its id is reused. Raises KeyError."""
        cdef int32_t index, node
        cdef FactoredTwig *entry
        if not 0 <= id < self.entry_count or self.entries[id].nodes == NULL:
            raise KeyError(id)
        entry = &self.entries[id]
        for index in range(entry.twig.size - 1, -1, -1):
            node = entry.nodes[index]
            self._detach(id, index)
            if node and not self.cold[node].twigs.size:
                self._delete_node(node)
        release(&entry.twig)
        free(entry.nodes)
        entry.nodes = NULL
        push(&self._free_entries, id)

    cdef int _add_bloom(self, int32_t node, const TwigBloom *bloom) noexcept:
        """Update the filters of a node for a new twig; call before counting it."""
        cdef FactorNode *here = &self.nodes[node]
        if not here.twig_count:
            here.in_all = TwigBloom(<uint64_t>-1, <uint64_t>-1)
            here.in_any = TwigBloom(0, 0)
        here.in_all.names &= bloom.names
        here.in_all.pairs &= bloom.pairs
        here.in_any.names |= bloom.names
        here.in_any.pairs |= bloom.pairs
        return 0

    cdef int _detach(self, int32_t id, int32_t index) except -1:
        """Remove a twig node from its tree node; the last twig there takes its place."""
        cdef FactoredTwig *entry = &self.entries[id]
        cdef FactoredTwig *moved
        cdef int32_t node = entry.nodes[index], other, at
        cdef FactorNode *here = &self.nodes[node]
        cdef FactorNodeCold *cold = &self.cold[node]
        if entry.twig.degrees[index] > 1:
            here.branching -= 1
        cold.twigs.size -= 1
        other = cold.twigs.at[cold.twigs.size]
        if other != id:
            cold.twigs.at[entry.places[index]] = other
            moved = &self.entries[other]
            at = 0
            while moved.nodes[at] != node:
                at += 1
            moved.places[at] = entry.places[index]
        if entry.leaf_places[index] >= 0:
            cold.leaves.size -= 1
            other = cold.leaves.at[cold.leaves.size]
            if other != id:
                cold.leaves.at[entry.leaf_places[index]] = other
                moved = &self.entries[other]
                at = 0
                while moved.nodes[at] != node:
                    at += 1
                moved.leaf_places[at] = entry.leaf_places[index]
        here.twig_count -= 1
        if here.twig_count <= MAX_REBUILT:
            at = here.twig_count
            here.twig_count = 0
            for other in range(at):
                self._add_bloom(node, &self.entries[cold.twigs.at[other]].bloom)
                here.twig_count += 1
        return 0

    cdef int32_t _new_node(self) except -1:
        cdef void *moved
        cdef int32_t node, room
        cdef IntVector twigs = IntVector(NULL, 0, 0), ends = IntVector(NULL, 0, 0)
        if self._free_nodes.size:
            self._free_nodes.size -= 1
            node = self._free_nodes.at[self._free_nodes.size]
            twigs, ends = self.cold[node].twigs, self.cold[node].leaves
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
        self.cold[node].twigs, self.cold[node].leaves = twigs, ends
        self.nodes[node].first_child = self.nodes[node].next_sibling = self.nodes[node].twin = -1
        self.cold[node].last_child = self.cold[node].previous_sibling = -1
        return node

    cdef int32_t _child_for(self, int32_t parent, int32_t label, int32_t descendant) except -1:
        """Return a child with this label and edge that the current addition has not used."""
        cdef uint64_t key = child_key(parent, label, descendant)
        cdef int32_t node = find(&self._child_lookup, key), last = -1
        cdef FactorNodeCold *above
        cdef FactorNodeCold *here
        while node >= 0:
            if self.cold[node].used_by != self._addition:
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
            insert(&self._child_lookup, key, node)
        here.previous_sibling = above.last_child
        if above.last_child >= 0:
            self.nodes[above.last_child].next_sibling = node
        else:
            self.nodes[parent].first_child = node
        above.last_child = node
        above.child_count += 1
        above.descendant_children += descendant
        self.nodes[parent].rule_children += (self.labels.kinds.at[label] & BY_RULE) != 0
        if self.regions:
            if (above.right - above.free_from) // GAP_SHARE < MIN_WIDTH:
                self._relabel()
            else:
                here.left = above.free_from
                above.free_from += (above.right - above.free_from) // GAP_SHARE
                here.right = above.free_from
                here.free_from = here.left + 1
            self._insert_into_label_list(node)
        return node

    cdef int _delete_node(self, int32_t node) except -1:
        """Delete a node without twigs."""
        cdef FactorNode *here = &self.nodes[node]
        cdef FactorNodeCold *cold = &self.cold[node]
        cdef int32_t parent = cold.parent
        cdef uint64_t key = child_key(parent, here.label, here.descendant)
        cdef int32_t first = find(&self._child_lookup, key)
        if self.regions:
            self._remove_from_label_list(node)
        if first == node:
            erase(&self._child_lookup, key)
            if here.twin >= 0:
                insert(&self._child_lookup, key, here.twin)
        else:
            while self.nodes[first].twin != node:
                first = self.nodes[first].twin
            self.nodes[first].twin = here.twin
        if cold.previous_sibling >= 0:
            self.nodes[cold.previous_sibling].next_sibling = here.next_sibling
        else:
            self.nodes[parent].first_child = here.next_sibling
        if here.next_sibling >= 0:
            self.cold[here.next_sibling].previous_sibling = cold.previous_sibling
        else:
            self.cold[parent].last_child = cold.previous_sibling
        self.cold[parent].child_count -= 1
        self.cold[parent].descendant_children -= here.descendant
        self.nodes[parent].rule_children -= (self.labels.kinds.at[here.label] & BY_RULE) != 0
        cold.parent = -1
        push(&self._free_nodes, node)
        return 0

    # regions

    cdef Py_ssize_t _first_from(self, const IntVector *nodes, int64_t left) noexcept:
        """Return the first place in a list whose node starts at `left` or later."""
        cdef Py_ssize_t low = 0, high = nodes.size, middle
        while low < high:
            middle = (low + high) >> 1
            if self.cold[nodes.at[middle]].left < left:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int _insert_into_label_list(self, int32_t node) except -1:
        cdef int32_t label = self.nodes[node].label, count
        cdef IntVector *moved
        cdef IntVector *nodes
        cdef Py_ssize_t at
        if label >= self._label_list_count:
            count = max(label + 1, self._label_list_count * 2)
            moved = <IntVector *>realloc(self._label_lists, <size_t>count * sizeof(IntVector))
            if moved == NULL:
                raise MemoryError
            self._label_lists = moved
            memset(
                &self._label_lists[self._label_list_count],
                0,
                <size_t>(count - self._label_list_count) * sizeof(IntVector),
            )
            self._label_list_count = count
        nodes = &self._label_lists[label]
        reserve(nodes, 1)
        at = self._first_from(nodes, self.cold[node].left)
        memmove(&nodes.at[at + 1], &nodes.at[at], <size_t>(nodes.size - at) * sizeof(int32_t))
        nodes.at[at] = node
        nodes.size += 1
        return 0

    cdef int _remove_from_label_list(self, int32_t node) except -1:
        cdef IntVector *nodes = &self._label_lists[self.nodes[node].label]
        cdef Py_ssize_t at = self._first_from(nodes, self.cold[node].left)
        nodes.size -= 1
        memmove(&nodes.at[at], &nodes.at[at + 1], <size_t>(nodes.size - at) * sizeof(int32_t))
        return 0

    cdef int _relabel(self) except -1:
        """Assign all region codes again, in the same order, in proportion to subtree sizes.

        The share of a node that stays free shrinks with its depth.
        """
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
            while index < order.size:  # breadth-first: parents precede their children
                node = order.at[index]
                index += 1
                child = self.nodes[node].first_child
                while child >= 0:
                    levels[child] = levels[node] + 1
                    push(&order, child)
                    child = self.nodes[child].next_sibling
            for index in range(order.size - 1, -1, -1):
                node = order.at[index]
                sizes[node] += 1
                if node:
                    sizes[self.cold[node].parent] += sizes[node]
            for index in range(order.size):
                node = order.at[index]
                here = &self.cold[node]
                at = here.left + 1
                scale = <double>(here.right - at) / sizes[node]
                scale = scale * (levels[node] + 1) / (levels[node] + 2)
                child = self.nodes[node].first_child
                while child >= 0:
                    width = <int64_t>(scale * sizes[child])
                    if width < MIN_WIDTH:
                        raise OverflowError("the tree is too deep for its regions")
                    self.cold[child].left = at
                    at += width
                    self.cold[child].right = at
                    child = self.nodes[child].next_sibling
                here.free_from = at
        finally:
            free_vector(&order)
            free(sizes)
            free(levels)
        return 0
