"""The tree of twigs (`shape`) searched for those that a twig covers and those that cover it.

Both searches find mappings, so they agree with asking each twig (`twigs`).

*Covered by s* (XSearch in covered mode, containee): the nodes of `s` are laid on the tree from the start down. What a node of `s` finds at a node
of the tree is the set of twigs there that have all it asks for below: at a leaf of `s` all of them, where `s` branches what all branches find. The
set belongs to the pair of both nodes (kept on the node of `s` alone it would mix places, as Cao's algorithm 9 does), and is found once.

*Covering s* (cover mode, container): the tree is laid on `s`. Going down only where `s` has something to lie on, the twigs that end are collected; where a twig
branches in the tree, all its branches must come back. The papers collect those that fail, which are nearly all.

Two ways to move. `regions=False` walks: over all children, and for // over all below, which is XSearch. `regions=True` looks children up by
label and edge, and for // takes the list of the nodes with that label and cuts out those inside the region of the node at hand. A `*` has no list: `//*/a` takes the
list of the `a` and looks at their parents, other wildcards are walked.

Three things keep searches short, however they move. Where the query lacks a name that all twigs at a node have nothing covers it, and where one
that it needs is not among those that some have it covers nothing. Where only a scan_limit twigs are left (`scan_limit`) these are asked one by one, for good, instead of
following their ends that nobody shares; whoever was asked is left out of the sets. And where all that is asked below a node of the query may lie anywhere below it, the
topmost places for it are enough: whatever a lower one finds, the one above it finds as well.

A search holds on to nothing but numbers; the sets are views of the tree's own arrays, or lie in blocks that the next search uses again.
"""

from cpython cimport array
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

import array as _array

from pathcast.covering.core.labels cimport RULES, STAR, LabelTable
from pathcast.covering.published_indexes.factorization_tree cimport FactoredTwig, FactorNode, FactorizationTree, child_key
from pathcast.covering.core.twigs cimport TwigBloom, fill, lacks, mark, release
from pathcast.vectors cimport (
    IntVector,
    clear_map,
    find,
    free_map,
    free_vector,
    insert,
    pack_key,
    push,
)

cdef enum:
    BLOCK = 1 << 16  # numbers in a block of results
    WALKED = 6  # children that are rather walked over than looked up
    MEMO = 1 << 14  # a larger memo is not kept for the next search


cdef int _push_view(IdSpans *views, const int32_t *at, Py_ssize_t size) except -1:
    cdef IdSpan *moved
    if views.size == views.room:
        views.room = views.room * 2 if views.room else 64
        moved = <IdSpan *>realloc(views.at, <size_t>views.room * sizeof(IdSpan))
        if moved == NULL:
            raise MemoryError
        views.at = moved
    views.at[views.size].at = at
    views.at[views.size].size = size
    views.size += 1
    return 0


cdef class FactorizationIndex(FactorizationTree):
    """TwigScan by number. `regions` says how a search moves, `scan_limit` how many twigs are rather asked one by one."""

    def __init__(self, LabelTable labels not None, bint regions=False, int32_t scan_limit=8):
        FactorizationTree.__init__(self, labels, regions)
        self.scan_limit = scan_limit

    def __dealloc__(self):
        cdef int32_t index
        free(self._asked_in)
        free_vector(&self._direct)
        for index in range(self._block_count):
            free(self._blocks[index])
        free(self._blocks)
        free_map(&self._memo)
        free(self._stamps)
        free(self._counts)
        free(self._results.at)
        free(self._pending.at)
        free(self._needs)
        free(self._topmost)
        release(&self._query)

    def covered_by(self, labels, parents, descendant, flags=None):
        """The numbers of those onto which a twig can be laid; with `flags` (bytes), only those whose byte is set."""
        cdef IdSpan found = IdSpan(self.cold[0].twigs.at, self.cold[0].twigs.size)
        self._prepare(labels, parents, descendant, flags, True)
        if self._query.degrees[0]:
            self._branches(0, 0, &found)
        return self._answer(&found)

    def covering(self, labels, parents, descendant, flags=None):
        """The numbers of those that can be laid on a twig; with `flags` (bytes), only those whose byte is set."""
        cdef IdSpan found
        self._prepare(labels, parents, descendant, flags, False)
        self._above(0, 0, &found)
        return self._answer(&found)

    cdef object _answer(self, const IdSpan *found):
        """What was found and wanted: the sets, but for those that were asked, and of these the ones that said yes."""
        cdef array.array numbers = array.clone(_TEMPLATE, found.size + self._direct.size, zero=False)
        cdef Py_ssize_t index, size = self._direct.size
        cdef int32_t number
        if size:
            memcpy(numbers.data.as_ints, self._direct.at, <size_t>size * sizeof(int32_t))
        for index in range(found.size):
            number = found.at[index]
            if self._asked_in[number] != self._search and (self._wanted == NULL or self._wanted[number]):
                numbers.data.as_ints[size] = number
                size += 1
        array.resize(numbers, size)
        return numbers

    cdef int _ask(self, int32_t node) except -1:
        """Ask the scan_limit twigs at a node of the tree, unless they were asked before."""
        cdef const IntVector *twigs = &self.cold[node].twigs
        cdef Py_ssize_t index
        cdef int32_t number
        cdef FactoredTwig *entry
        cdef bint found
        for index in range(twigs.size):
            number = twigs.at[index]
            if self._asked_in[number] == self._search:
                continue
            self._asked_in[number] = self._search
            if self._wanted != NULL and not self._wanted[number]:
                continue
            entry = &self.entries[number]
            self.looked_at += 1
            if self._downwards:
                found = not lacks(&entry.marks, &self._needs[0]) and self._homomorphism.exists(&self._query, &entry.twig)
            else:
                found = not lacks(&self._needs[0], &entry.marks) and self._homomorphism.exists(&entry.twig, &self._query)
            if found:
                push(&self._direct, number)
        return 0

    cdef int _prepare(self, labels, parents, descendant, flags, bint downwards) except -1:
        cdef int32_t room, node
        cdef void *moved
        cdef const unsigned char[::1] wanted
        self._wanted = NULL
        if flags is not None:
            wanted = flags
            self._wanted = &wanted[0] if wanted.shape[0] else NULL
        self._downwards = downwards
        release(&self._query)
        fill(&self._query, labels, parents, descendant)
        moved = realloc(self._needs, <size_t>self._query.size * sizeof(TwigBloom))
        if moved == NULL:
            raise MemoryError
        self._needs = <TwigBloom *>moved
        memset(self._needs, 0, <size_t>self._query.size * sizeof(TwigBloom))
        for node in range(self._query.size - 1, 0, -1):
            mark(&self._query, node, self.labels, &self._needs[node])
            self._needs[self._query.parents[node]].names |= self._needs[node].names
            self._needs[self._query.parents[node]].pairs |= self._needs[node].pairs
        moved = realloc(self._topmost, <size_t>self._query.size)
        if moved == NULL:
            raise MemoryError
        self._topmost = <unsigned char *>moved
        memset(self._topmost, 1, <size_t>self._query.size)
        for node in range(1, self._query.size):
            if not self._query.descendant[node]:
                self._topmost[self._query.parents[node]] = 0
        self._direct.size = 0
        if self.entry_count > self._stamp_room:
            room = self._entry_room
            moved = realloc(self._stamps, <size_t>room * sizeof(uint32_t))
            if moved == NULL:
                raise MemoryError
            self._stamps = <uint32_t *>moved
            moved = realloc(self._counts, <size_t>room * sizeof(int32_t))
            if moved == NULL:
                raise MemoryError
            self._counts = <int32_t *>moved
            moved = realloc(self._asked_in, <size_t>room * sizeof(uint32_t))
            if moved == NULL:
                raise MemoryError
            self._asked_in = <uint32_t *>moved
            self._search = <uint32_t>-1
            self._stamp_room = room
            self._stamp = <uint32_t>-1
        self._search += 1
        if self._search == 0:
            memset(self._asked_in, 0, <size_t>self._stamp_room * sizeof(uint32_t))
            self._search = 1
        if self._stamp > <uint32_t>1 << 31:
            memset(self._stamps, 0, <size_t>self._stamp_room * sizeof(uint32_t))
            self._stamp = 0
        if self._memo.mask > MEMO:
            free_map(&self._memo)
        else:
            clear_map(&self._memo)
        self._results.size = self._pending.size = 0
        while self._block_count > 1:
            self._block_count -= 1
            free(self._blocks[self._block_count])
        self._block_left = 0
        if self._block_count:
            self._block = <int32_t *>self._blocks[0]
            self._block_left = BLOCK
        self._star = self.labels.star
        return 0

    cdef int32_t *_take(self, Py_ssize_t count) except NULL:
        """Room for so many numbers until the next search."""
        cdef void **moved
        cdef Py_ssize_t size
        cdef int32_t *taken
        if count > self._block_left:
            size = max(count, BLOCK)
            moved = <void **>realloc(self._blocks, <size_t>(self._block_count + 1) * sizeof(void *))
            if moved == NULL:
                raise MemoryError
            self._blocks = moved
            self._blocks[self._block_count] = malloc(<size_t>size * sizeof(int32_t))
            if self._blocks[self._block_count] == NULL:
                raise MemoryError
            self._block = <int32_t *>self._blocks[self._block_count]
            self._block_count += 1
            self._block_left = size
        taken = self._block
        self._block += count
        self._block_left -= count
        return taken

    cdef int _merge(self, Py_ssize_t start, IdSpan *out) except -1:
        """All that lies in the pending views from `start` on, each number once; the views are taken away."""
        cdef Py_ssize_t index, at, size = 0, total = 0
        cdef int32_t *room
        cdef int32_t number
        cdef IdSpan *view
        if self._pending.size - start == 1:
            out[0] = self._pending.at[start]
            self._pending.size = start
            return 0
        for index in range(start, self._pending.size):
            total += self._pending.at[index].size
        room = self._take(max(total, 1))
        self._stamp += 1
        for index in range(start, self._pending.size):
            view = &self._pending.at[index]
            for at in range(view.size):
                number = view.at[at]
                if self._stamps[number] != self._stamp:
                    self._stamps[number] = self._stamp
                    room[size] = number
                    size += 1
        self._pending.size = start
        out.at = room
        out.size = size
        return 0

    # those that the query covers

    cdef int _below(self, int32_t node, int32_t asked, IdSpan *out) except -1:
        """The twigs that have, below a node of the tree, what a node of the query asks for."""
        cdef Py_ssize_t start = self._pending.size
        cdef int32_t label = self._query.labels[asked], child
        cdef const TwigBloom *need = &self._needs[asked]
        cdef bint by_name = self.regions and not self.labels.kinds.at[label] & (STAR | RULES)
        if self._query.descendant[asked]:
            child = self._named_child(asked) if self.regions and not by_name else -1
            if by_name:
                self._jump(node, asked)
            elif child >= 0:
                self._jump_above(node, asked, child)
            else:
                self._descend(node, asked)
        elif by_name:
            child = find(&self._children, child_key(node, label, 0))
            while child >= 0:
                self.looked_at += 1
                if not lacks(&self.nodes[child].some, need):
                    self._at(child, asked)
                child = self.nodes[child].twin
        else:
            child = self.nodes[node].first
            while child >= 0:
                self.looked_at += 1
                if (
                    not self.nodes[child].descendant
                    and not lacks(&self.nodes[child].some, need)
                    and self.labels.subsumes(label, self.nodes[child].label)
                ):
                    self._at(child, asked)
                child = self.nodes[child].next
        return self._merge(start, out)

    cdef int _descend(self, int32_t node, int32_t asked) except -1:
        """All nodes below that the query's node subsumes, by walking."""
        cdef int32_t here = self.nodes[node].first, label = self._query.labels[asked]
        cdef bint topmost = self._topmost[asked], inside
        cdef const TwigBloom *need = &self._needs[asked]
        while here >= 0:
            self.looked_at += 1
            inside = not lacks(&self.nodes[here].some, need)
            if inside and self.labels.subsumes(label, self.nodes[here].label):
                self._at(here, asked)
                inside = not topmost  # whoever is found below is found here as well
            if inside and self.nodes[here].first >= 0:
                here = self.nodes[here].first
                continue
            while here != node and self.nodes[here].next < 0:
                here = self.cold[here].parent
            if here == node:
                break
            here = self.nodes[here].next
        return 0

    cdef int _jump(self, int32_t node, int32_t asked) except -1:
        """All nodes below with the label of the query's node, by their list."""
        cdef int32_t label = self._query.labels[asked], here
        cdef bint topmost = self._topmost[asked]
        cdef int64_t right = self.cold[node].right, behind = 0
        cdef const TwigBloom *need = &self._needs[asked]
        cdef const IntVector *nodes
        cdef Py_ssize_t at
        if label >= self._list_count:
            return 0
        nodes = &self._lists[label]
        at = self._from(nodes, self.cold[node].left + 1)
        while at < nodes.size:
            here = nodes.at[at]
            at += 1
            if self.cold[here].left >= right:
                break
            self.looked_at += 1
            if lacks(&self.nodes[here].some, need):
                continue
            if topmost:
                if self.cold[here].left < behind:
                    continue
                behind = self.cold[here].right
            self._at(here, asked)
        return 0

    cdef int32_t _named_child(self, int32_t asked) noexcept:
        """A child of a node of the query that has a name and hangs right below it, or -1."""
        cdef int32_t child = asked + 1
        while child < self._query.ends[asked]:
            if not self._query.descendant[child] and not self.labels.kinds.at[self._query.labels[child]] & (STAR | RULES):
                return child
            child = self._query.ends[child]
        return -1

    cdef int _jump_above(self, int32_t node, int32_t asked, int32_t child) except -1:
        """All nodes below that the query's node subsumes and that have something for a child of it with a name: the parents of those in the list of that name."""
        cdef int32_t label = self._query.labels[child], here, above, last = -1
        cdef int64_t left = self.cold[node].left, right = self.cold[node].right
        cdef const TwigBloom *need = &self._needs[asked]
        cdef const IntVector *nodes
        cdef Py_ssize_t at
        if label >= self._list_count:
            return 0
        nodes = &self._lists[label]
        at = self._from(nodes, left + 1)
        while at < nodes.size:
            here = nodes.at[at]
            at += 1
            if self.cold[here].left >= right:
                break
            self.looked_at += 1
            above = self.cold[here].parent
            if above == last or above == node or self.nodes[here].descendant:
                continue
            last = above
            if not lacks(&self.nodes[above].some, need) and self.labels.subsumes(self._query.labels[asked], self.nodes[above].label):
                self._at(above, asked)
        return 0

    cdef int _at(self, int32_t node, int32_t asked) except -1:
        """Leave on the pile the twigs at a node of the tree that have all that the query asks below its own."""
        cdef IdSpan found
        cdef uint64_t key
        cdef int32_t known
        if self._query.degrees[asked] == 0:
            return _push_view(&self._pending, self.cold[node].twigs.at, self.cold[node].twigs.size)
        if self.nodes[node].count <= self.scan_limit:
            return self._ask(node)
        key = pack_key(node, asked)
        known = find(&self._memo, key)
        if known < 0:
            self._branches(node, asked, &found)
            insert(&self._memo, key, <int32_t>self._results.size)
            _push_view(&self._results, found.at, found.size)
        else:
            found = self._results.at[known]
        if found.size:
            _push_view(&self._pending, found.at, found.size)
        return 0

    cdef int _branches(self, int32_t node, int32_t asked, IdSpan *out) except -1:
        """The twigs at a node of the tree that have something for every child of the query's node."""
        cdef Py_ssize_t start = self._pending.size, index, at, size
        cdef int32_t child = asked + 1, count = self._query.degrees[asked]
        cdef IdSpan *view
        cdef IdSpan found
        cdef int32_t *room
        cdef uint32_t base
        out.at, out.size = NULL, 0
        while child < self._query.ends[asked]:
            self._below(node, child, &found)
            if not found.size:
                self._pending.size = start
                return 0
            _push_view(&self._pending, found.at, found.size)
            child = self._query.ends[child]
        if count == 1:
            self._pending.size = start
            out[0] = found
            return 0
        base = self._stamp + 1
        self._stamp += count
        for index in range(count - 1):
            view = &self._pending.at[start + index]
            for at in range(view.size):
                if index == 0 or self._stamps[view.at[at]] == base + index - 1:
                    self._stamps[view.at[at]] = base + <uint32_t>index
        view = &self._pending.at[start + count - 1]
        room = self._take(max(view.size, 1))
        size = 0
        for at in range(view.size):
            if self._stamps[view.at[at]] == base + count - 2:
                room[size] = view.at[at]
                size += 1
        self._pending.size = start
        out.at, out.size = room, size
        return 0

    # those that cover the query

    cdef int _above(self, int32_t node, int32_t place, IdSpan *out) except -1:
        """The twigs at a node of the tree whose part from there on can be laid on the query from `place` on."""
        cdef uint64_t key = pack_key(node, place)
        cdef int32_t known = find(&self._memo, key), child, other, label, kind, end = self._query.ends[place]
        cdef Py_ssize_t start = self._pending.size
        if self.nodes[node].first < 0:
            out.at, out.size = self.cold[node].ends.at, self.cold[node].ends.size
            return 0
        if known >= 0:
            out[0] = self._results.at[known]
            return 0
        if not self.regions or self.cold[node].children <= WALKED:
            child = self.nodes[node].first
            while child >= 0:
                self._child_at(child, place, -1)
                child = self.nodes[child].next
        else:
            for other in range(place + 1, end):
                label = self._query.labels[other]
                kind = self.labels.kinds.at[label]
                if kind & (STAR | RULES):
                    continue
                for child in range(place + 1, other):
                    if self._query.labels[child] == label:
                        break
                else:
                    for kind in range(2):
                        child = find(&self._children, child_key(node, label, kind))
                        while child >= 0:
                            self._child_at(child, place, label)
                            child = self.nodes[child].twin
            if self._star >= 0:
                for kind in range(2):
                    child = find(&self._children, child_key(node, self._star, kind))
                    while child >= 0:
                        self._child_at(child, place, -1)
                        child = self.nodes[child].twin
            if self.nodes[node].ruled:
                child = self.nodes[node].first
                while child >= 0:
                    if self.labels.kinds.at[self.nodes[child].label] & RULES:
                        self._child_at(child, place, -1)
                    child = self.nodes[child].next
        self._join(node, start, out)
        insert(&self._memo, key, <int32_t>self._results.size)
        _push_view(&self._results, out.at, out.size)
        return 0

    cdef int _child_at(self, int32_t child, int32_t place, int32_t label) except -1:
        """Leave on the pile the twigs whose part from a child on can be laid on the query somewhere below `place`; `label`, if known, is the child's."""
        cdef Py_ssize_t start = self._pending.size
        cdef int32_t other
        cdef IdSpan found
        self.looked_at += 1
        if lacks(&self._needs[0], &self.nodes[child].every):
            return 0
        if self.nodes[child].count <= self.scan_limit:
            return self._ask(child)
        for other in range(place + 1, self._query.ends[place]):
            self.looked_at += 1
            if label >= 0:
                if self._query.labels[other] != label:
                    continue
            elif not self.labels.subsumes(self.nodes[child].label, self._query.labels[other]):
                continue
            if not self.nodes[child].descendant and (
                self._query.parents[other] != place or self._query.descendant[other]
            ):
                continue
            self._above(child, other, &found)
            if found.size:
                _push_view(&self._pending, found.at, found.size)
        if self._pending.size > start + 1:
            self._merge(start, &found)
            _push_view(&self._pending, found.at, found.size)
        return 0

    cdef int _join(self, int32_t node, Py_ssize_t start, IdSpan *out) except -1:
        """Those that end at a node, and of those that came back from its children the ones of which all branches did."""
        cdef FactorNode *here = &self.nodes[node]
        cdef const IntVector *ends = &self.cold[node].ends
        cdef Py_ssize_t index, at, size = 0, total = ends.size
        cdef int32_t number
        cdef int32_t *room
        cdef IdSpan *view
        if not here.branching:
            if self._pending.size == start:
                out.at, out.size = ends.at, ends.size
                return 0
            if self._pending.size == start + 1 and not ends.size:
                out[0] = self._pending.at[start]
                self._pending.size = start
                return 0
        for index in range(start, self._pending.size):
            total += self._pending.at[index].size
        room = self._take(max(total, 1))
        if ends.size:
            memcpy(room, ends.at, <size_t>ends.size * sizeof(int32_t))
            size = ends.size
        self._stamp += 1
        for index in range(start, self._pending.size):
            view = &self._pending.at[index]
            if not here.branching:
                memcpy(room + size, view.at, <size_t>view.size * sizeof(int32_t))
                size += view.size
                continue
            for at in range(view.size):
                number = view.at[at]
                if self._stamps[number] != self._stamp:
                    self._stamps[number] = self._stamp
                    self._counts[number] = self._degree(number, node)
                self._counts[number] -= 1
                if self._counts[number] == 0:
                    room[size] = number
                    size += 1
        self._pending.size = start
        out.at, out.size = room, size
        return 0

    cdef int32_t _degree(self, int32_t number, int32_t node) noexcept:
        """How many children a twig has at a node of the tree."""
        cdef FactoredTwig *entry = &self.entries[number]
        cdef int32_t at = 0
        while entry.nodes[at] != node:
            at += 1
        return entry.twig.degrees[at]


cdef array.array _TEMPLATE = _array.array("i")
