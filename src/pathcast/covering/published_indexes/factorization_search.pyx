"""Searches of a factorization tree for the twigs that a query covers and those that cover it.

Both searches find homomorphisms, so their results equal those of a linear scan.

*Covered by the query*: XSearch in covered mode (Chand 2004, section 4), containee (Cao 2012,
section 4.2.3). The search maps the nodes of the query to tree nodes, from the root down. The result
for a pair of a query node and a tree node is the set of twigs there whose subtrees the query's
subtree maps to: for a leaf all of them, for a branching node the intersection over its children.
Each pair is computed once. (Cao's algorithm 9 keeps the set by query node alone, which mixes up
tree nodes and is wrong.)

*Covering the query*: XSearch in cover mode, container (Cao 2012, section 4.2.4). The search maps
tree nodes to query nodes, descends only where the query has an image, and collects the twigs that
end. A twig that branches is pack_key: the search must find all its branches. The papers collect the
twigs that fail, which are nearly all.

There are two ways to move in the tree. With `regions=False`, a search walks over all children, and
for a descendant edge over all nodes below: XSearch. With `regions=True`, it looks up children by
label and edge. For a descendant edge it takes the list of the label's nodes and cuts out those
within the region of the current node. A `*` has no list: `//*/a` takes the list of `a` and visits
their parents, and other wildcards are walked.

Three measures keep searches short, in either way:

- Bloom filters. If the query lacks a name that all twigs at a node have, none of them covers it. If
  a name that the query requires is in no twig at a node, the query covers none of them.
- Direct tests. A subtree with at most `scan_limit` twigs is not searched; its twigs are tested one
  by one, once per search, and then left out of the sets.
- Topmost images. If all edges below a query node are descendant edges, an image below another image
  adds nothing, so only the topmost ones are visited.

A set is a span of one of the tree's arrays, or lies in a block that the next search reuses.
"""

from cpython cimport array
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

import array as _array

from pathcast.covering.core.labels cimport BY_RULE, STAR, LabelTable
from pathcast.covering.core.twigs cimport TwigBloom, add_node, fill, lacks, release
from pathcast.covering.published_indexes.factorization_tree cimport (
    FactoredTwig,
    FactorizationTree,
    FactorNode,
    child_key,
)
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
    BLOCK = 1 << 16  # ids in a block of results
    MAX_WALKED_CHILDREN = 6  # with more children, look them up
    MAX_KEPT_MEMO = 1 << 14  # slots; a larger memo is freed before the next search


cdef int _push_span(IdSpans *spans, const int32_t *at, Py_ssize_t size) except -1:
    cdef IdSpan *moved
    if spans.size == spans.room:
        spans.room = spans.room * 2 if spans.room else 64
        moved = <IdSpan *>realloc(spans.at, <size_t>spans.room * sizeof(IdSpan))
        if moved == NULL:
            raise MemoryError
        spans.at = moved
    spans.at[spans.size].at = at
    spans.at[spans.size].size = size
    spans.size += 1
    return 0


cdef class FactorizationIndex(FactorizationTree):
    """Twigs by id in a searchable factorization tree.

    `regions` selects how a search moves, `scan_limit` the size of subtrees that are scanned.
    """

    def __init__(self, LabelTable labels not None, bint regions=False, int32_t scan_limit=8):
        FactorizationTree.__init__(self, labels, regions)
        self.scan_limit = scan_limit

    def __dealloc__(self):
        cdef int32_t index
        free(self._scanned_in)
        free_vector(&self._scan_hits)
        for index in range(self._block_count):
            free(self._blocks[index])
        free(self._blocks)
        free_map(&self._memo)
        free(self._stamps)
        free(self._counts)
        free(self._results.at)
        free(self._pending.at)
        free(self._required)
        free(self._topmost)
        release(&self._query)

    def covered_by(self, labels, parents, descendant, flags=None):
        """Return the ids of the twigs that a twig maps to, of those flagged if `flags` is given."""
        cdef IdSpan ids = IdSpan(self.cold[0].twigs.at, self.cold[0].twigs.size)
        self._prepare(labels, parents, descendant, flags, True)
        if self._query.degrees[0]:
            self._covered_with_children(0, 0, &ids)
        return self._to_array(&ids)

    def covering(self, labels, parents, descendant, flags=None):
        """Return the ids of the twigs that map to a twig, of those flagged if `flags` is given."""
        cdef IdSpan ids
        self._prepare(labels, parents, descendant, flags, False)
        self._covering_at(0, 0, &ids)
        return self._to_array(&ids)

    cdef object _to_array(self, const IdSpan *ids):
        """Return the wanted ids of a set, with the hits of direct tests in place of tested ids."""
        cdef Py_ssize_t index, size = self._scan_hits.size
        cdef array.array result = array.clone(_TEMPLATE, ids.size + size, zero=False)
        cdef int32_t id
        if size:
            memcpy(result.data.as_ints, self._scan_hits.at, <size_t>size * sizeof(int32_t))
        for index in range(ids.size):
            id = ids.at[index]
            if self._scanned_in[id] == self._search_id:
                continue
            if self._wanted == NULL or self._wanted[id]:
                result.data.as_ints[size] = id
                size += 1
        array.resize(result, size)
        return result

    cdef int _scan_twigs(self, int32_t node) except -1:
        """Test the twigs at a tree node directly, unless this search has tested them."""
        cdef const IntVector *twigs = &self.cold[node].twigs
        cdef Py_ssize_t index
        cdef int32_t id
        cdef FactoredTwig *entry
        cdef bint passes
        for index in range(twigs.size):
            id = twigs.at[index]
            if self._scanned_in[id] == self._search_id:
                continue
            self._scanned_in[id] = self._search_id
            if self._wanted != NULL and not self._wanted[id]:
                continue
            entry = &self.entries[id]
            self.looked_at += 1
            if self._query_is_wide:
                passes = not lacks(&entry.bloom, &self._required[0])
                passes = passes and self._homomorphism.exists(&self._query, &entry.twig)
            else:
                passes = not lacks(&self._required[0], &entry.bloom)
                passes = passes and self._homomorphism.exists(&entry.twig, &self._query)
            if passes:
                push(&self._scan_hits, id)
        return 0

    cdef int _prepare(self, labels, parents, descendant, flags, bint query_is_wide) except -1:
        """Start a search: encode the query, compute its filters, and reset the scratch memory."""
        cdef int32_t room, node
        cdef void *moved
        cdef const unsigned char[::1] wanted
        self._wanted = NULL
        if flags is not None:
            wanted = flags
            self._wanted = &wanted[0] if wanted.shape[0] else NULL
        self._query_is_wide = query_is_wide
        release(&self._query)
        fill(&self._query, labels, parents, descendant)
        moved = realloc(self._required, <size_t>self._query.size * sizeof(TwigBloom))
        if moved == NULL:
            raise MemoryError
        self._required = <TwigBloom *>moved
        memset(self._required, 0, <size_t>self._query.size * sizeof(TwigBloom))
        for node in range(self._query.size - 1, 0, -1):
            add_node(&self._required[node], &self._query, node, self.labels)
            self._required[self._query.parents[node]].names |= self._required[node].names
            self._required[self._query.parents[node]].pairs |= self._required[node].pairs
        moved = realloc(self._topmost, <size_t>self._query.size)
        if moved == NULL:
            raise MemoryError
        self._topmost = <unsigned char *>moved
        memset(self._topmost, 1, <size_t>self._query.size)
        for node in range(1, self._query.size):
            if not self._query.descendant[node]:
                self._topmost[self._query.parents[node]] = 0
        self._scan_hits.size = 0
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
            moved = realloc(self._scanned_in, <size_t>room * sizeof(uint32_t))
            if moved == NULL:
                raise MemoryError
            self._scanned_in = <uint32_t *>moved
            self._search_id = <uint32_t>-1
            self._stamp_room = room
            self._stamp = <uint32_t>-1
        self._search_id += 1
        if self._search_id == 0:
            memset(self._scanned_in, 0, <size_t>self._stamp_room * sizeof(uint32_t))
            self._search_id = 1
        if self._stamp > <uint32_t>1 << 31:
            memset(self._stamps, 0, <size_t>self._stamp_room * sizeof(uint32_t))
            self._stamp = 0
        if self._memo.mask > MAX_KEPT_MEMO:
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

    cdef int32_t *_allocate(self, Py_ssize_t count) except NULL:
        """Return memory for some ids until the next search."""
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

    cdef int _union(self, Py_ssize_t start, IdSpan *out) except -1:
        """Pop the pending sets from `start` on and return their union."""
        cdef Py_ssize_t index, at, size = 0, total = 0
        cdef int32_t *room
        cdef int32_t id
        cdef IdSpan *span
        if self._pending.size - start == 1:
            out[0] = self._pending.at[start]
            self._pending.size = start
            return 0
        for index in range(start, self._pending.size):
            total += self._pending.at[index].size
        room = self._allocate(max(total, 1))
        self._stamp += 1
        for index in range(start, self._pending.size):
            span = &self._pending.at[index]
            for at in range(span.size):
                id = span.at[at]
                if self._stamps[id] != self._stamp:
                    self._stamps[id] = self._stamp
                    room[size] = id
                    size += 1
        self._pending.size = start
        out.at = room
        out.size = size
        return 0

    # covered by the query

    cdef int _covered_below(self, int32_t node, int32_t query_node, IdSpan *out) except -1:
        """Return the twigs with an image of a query node's subtree below a tree node."""
        cdef Py_ssize_t start = self._pending.size
        cdef int32_t label = self._query.labels[query_node], child
        cdef const TwigBloom *required = &self._required[query_node]
        cdef bint by_name = self.regions and not self.labels.kinds.at[label] & (STAR | BY_RULE)
        if self._query.descendant[query_node]:
            child = self._named_child(query_node) if self.regions and not by_name else -1
            if by_name:
                self._jump_to_label(node, query_node)
            elif child >= 0:
                self._jump_to_parents(node, query_node, child)
            else:
                self._walk_descendants(node, query_node)
        elif by_name:
            child = find(&self._child_lookup, child_key(node, label, 0))
            while child >= 0:
                self.looked_at += 1
                if not lacks(&self.nodes[child].in_any, required):
                    self._push_matches(child, query_node)
                child = self.nodes[child].twin
        else:
            child = self.nodes[node].first_child
            while child >= 0:
                self.looked_at += 1
                if (
                    not self.nodes[child].descendant
                    and not lacks(&self.nodes[child].in_any, required)
                    and self.labels.subsumes(label, self.nodes[child].label)
                ):
                    self._push_matches(child, query_node)
                child = self.nodes[child].next_sibling
        return self._union(start, out)

    cdef int _walk_descendants(self, int32_t node, int32_t query_node) except -1:
        """Push the results of all nodes below that the query node subsumes, by walking."""
        cdef int32_t here = self.nodes[node].first_child, label = self._query.labels[query_node]
        cdef bint topmost = self._topmost[query_node], inside
        cdef const TwigBloom *required = &self._required[query_node]
        while here >= 0:
            self.looked_at += 1
            inside = not lacks(&self.nodes[here].in_any, required)
            if inside and self.labels.subsumes(label, self.nodes[here].label):
                self._push_matches(here, query_node)
                inside = not topmost  # images below this one add nothing
            if inside and self.nodes[here].first_child >= 0:
                here = self.nodes[here].first_child
                continue
            while here != node and self.nodes[here].next_sibling < 0:
                here = self.cold[here].parent
            if here == node:
                break
            here = self.nodes[here].next_sibling
        return 0

    cdef int _jump_to_label(self, int32_t node, int32_t query_node) except -1:
        """Push the results of all nodes below with the query node's label, from its list."""
        cdef int32_t label = self._query.labels[query_node], here
        cdef bint topmost = self._topmost[query_node]
        cdef int64_t right = self.cold[node].right, behind = 0
        cdef const TwigBloom *required = &self._required[query_node]
        cdef const IntVector *nodes
        cdef Py_ssize_t at
        if label >= self._label_list_count:
            return 0
        nodes = &self._label_lists[label]
        at = self._first_from(nodes, self.cold[node].left + 1)
        while at < nodes.size:
            here = nodes.at[at]
            at += 1
            if self.cold[here].left >= right:
                break
            self.looked_at += 1
            if lacks(&self.nodes[here].in_any, required):
                continue
            if topmost:
                if self.cold[here].left < behind:
                    continue
                behind = self.cold[here].right
            self._push_matches(here, query_node)
        return 0

    cdef int32_t _named_child(self, int32_t query_node) noexcept:
        """Return a child of a query node with a name and a child edge, or -1."""
        cdef int32_t child = query_node + 1, kind
        while child < self._query.ends[query_node]:
            kind = self.labels.kinds.at[self._query.labels[child]]
            if not self._query.descendant[child] and not kind & (STAR | BY_RULE):
                return child
            child = self._query.ends[child]
        return -1

    cdef int _jump_to_parents(self, int32_t node, int32_t query_node, int32_t child) except -1:
        """Push the results of all nodes below that the query node subsumes, from a child's list.

        The query node has no list, but its child has: the parents of the nodes in that list.
        """
        cdef int32_t label = self._query.labels[child], here, above, last = -1
        cdef int32_t own_label = self._query.labels[query_node]
        cdef int64_t left = self.cold[node].left, right = self.cold[node].right
        cdef const TwigBloom *required = &self._required[query_node]
        cdef const IntVector *nodes
        cdef Py_ssize_t at
        if label >= self._label_list_count:
            return 0
        nodes = &self._label_lists[label]
        at = self._first_from(nodes, left + 1)
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
            if lacks(&self.nodes[above].in_any, required):
                continue
            if self.labels.subsumes(own_label, self.nodes[above].label):
                self._push_matches(above, query_node)
        return 0

    cdef int _push_matches(self, int32_t node, int32_t query_node) except -1:
        """Push the twigs at a tree node that a query node maps to, with its subtree."""
        cdef IdSpan ids
        cdef uint64_t key
        cdef int32_t memo_id
        if self._query.degrees[query_node] == 0:
            return _push_span(&self._pending, self.cold[node].twigs.at, self.cold[node].twigs.size)
        if self.nodes[node].twig_count <= self.scan_limit:
            return self._scan_twigs(node)
        key = pack_key(node, query_node)
        memo_id = find(&self._memo, key)
        if memo_id < 0:
            self._covered_with_children(node, query_node, &ids)
            insert(&self._memo, key, <int32_t>self._results.size)
            _push_span(&self._results, ids.at, ids.size)
        else:
            ids = self._results.at[memo_id]
        if ids.size:
            _push_span(&self._pending, ids.at, ids.size)
        return 0

    cdef int _covered_with_children(self, int32_t node, int32_t query_node, IdSpan *out) except -1:
        """Return the twigs at a tree node with images of all children of a query node."""
        cdef Py_ssize_t start = self._pending.size, index, at, size
        cdef int32_t child = query_node + 1, count = self._query.degrees[query_node]
        cdef IdSpan *span
        cdef IdSpan ids
        cdef int32_t *room
        cdef uint32_t base
        out.at, out.size = NULL, 0
        while child < self._query.ends[query_node]:
            self._covered_below(node, child, &ids)
            if not ids.size:
                self._pending.size = start
                return 0
            _push_span(&self._pending, ids.at, ids.size)
            child = self._query.ends[child]
        if count == 1:
            self._pending.size = start
            out[0] = ids
            return 0
        base = self._stamp + 1
        self._stamp += count
        for index in range(count - 1):
            span = &self._pending.at[start + index]
            for at in range(span.size):
                if index == 0 or self._stamps[span.at[at]] == base + index - 1:
                    self._stamps[span.at[at]] = base + <uint32_t>index
        span = &self._pending.at[start + count - 1]
        room = self._allocate(max(span.size, 1))
        size = 0
        for at in range(span.size):
            if self._stamps[span.at[at]] == base + count - 2:
                room[size] = span.at[at]
                size += 1
        self._pending.size = start
        out.at, out.size = room, size
        return 0

    # covering the query

    cdef int _covering_at(self, int32_t node, int32_t query_node, IdSpan *out) except -1:
        """Return the twigs at a tree node whose subtree there maps to a query node's subtree."""
        cdef uint64_t key = pack_key(node, query_node)
        cdef int32_t memo_id = find(&self._memo, key), child, other, label, kind
        cdef int32_t end = self._query.ends[query_node]
        cdef Py_ssize_t start = self._pending.size
        if self.nodes[node].first_child < 0:
            out.at, out.size = self.cold[node].leaves.at, self.cold[node].leaves.size
            return 0
        if memo_id >= 0:
            out[0] = self._results.at[memo_id]
            return 0
        if not self.regions or self.cold[node].child_count <= MAX_WALKED_CHILDREN:
            child = self.nodes[node].first_child
            while child >= 0:
                self._push_covering(child, query_node, -1)
                child = self.nodes[child].next_sibling
        else:
            for other in range(query_node + 1, end):
                label = self._query.labels[other]
                kind = self.labels.kinds.at[label]
                if kind & (STAR | BY_RULE):
                    continue
                for child in range(query_node + 1, other):
                    if self._query.labels[child] == label:
                        break
                else:
                    for kind in range(2):
                        child = find(&self._child_lookup, child_key(node, label, kind))
                        while child >= 0:
                            self._push_covering(child, query_node, label)
                            child = self.nodes[child].twin
            if self._star >= 0:
                for kind in range(2):
                    child = find(&self._child_lookup, child_key(node, self._star, kind))
                    while child >= 0:
                        self._push_covering(child, query_node, -1)
                        child = self.nodes[child].twin
            if self.nodes[node].rule_children:
                child = self.nodes[node].first_child
                while child >= 0:
                    if self.labels.kinds.at[self.nodes[child].label] & BY_RULE:
                        self._push_covering(child, query_node, -1)
                    child = self.nodes[child].next_sibling
        self._join_branches(node, start, out)
        insert(&self._memo, key, <int32_t>self._results.size)
        _push_span(&self._results, out.at, out.size)
        return 0

    cdef int _push_covering(self, int32_t child, int32_t query_node, int32_t label) except -1:
        """Push the twigs whose subtree at a tree node maps to a node below a query node.

        `label` is the tree node's label if it is compared by equality, else -1.
        """
        cdef Py_ssize_t start = self._pending.size
        cdef int32_t other
        cdef IdSpan ids
        self.looked_at += 1
        if lacks(&self._required[0], &self.nodes[child].in_all):
            return 0
        if self.nodes[child].twig_count <= self.scan_limit:
            return self._scan_twigs(child)
        for other in range(query_node + 1, self._query.ends[query_node]):
            self.looked_at += 1
            if label >= 0:
                if self._query.labels[other] != label:
                    continue
            elif not self.labels.subsumes(self.nodes[child].label, self._query.labels[other]):
                continue
            if not self.nodes[child].descendant and (
                self._query.parents[other] != query_node or self._query.descendant[other]
            ):
                continue
            self._covering_at(child, other, &ids)
            if ids.size:
                _push_span(&self._pending, ids.at, ids.size)
        if self._pending.size > start + 1:
            self._union(start, &ids)
            _push_span(&self._pending, ids.at, ids.size)
        return 0

    cdef int _join_branches(self, int32_t node, Py_ssize_t start, IdSpan *out) except -1:
        """Pop the results of a node's children and return the twigs with all branches matched.

        Twigs that end at the node have no branches there.
        """
        cdef FactorNode *here = &self.nodes[node]
        cdef const IntVector *ends = &self.cold[node].leaves
        cdef Py_ssize_t index, at, size = 0, total = ends.size
        cdef int32_t id
        cdef int32_t *room
        cdef IdSpan *span
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
        room = self._allocate(max(total, 1))
        if ends.size:
            memcpy(room, ends.at, <size_t>ends.size * sizeof(int32_t))
            size = ends.size
        self._stamp += 1
        for index in range(start, self._pending.size):
            span = &self._pending.at[index]
            if not here.branching:
                memcpy(room + size, span.at, <size_t>span.size * sizeof(int32_t))
                size += span.size
                continue
            for at in range(span.size):
                id = span.at[at]
                if self._stamps[id] != self._stamp:
                    self._stamps[id] = self._stamp
                    self._counts[id] = self._degree_at(id, node)
                self._counts[id] -= 1
                if self._counts[id] == 0:
                    room[size] = id
                    size += 1
        self._pending.size = start
        out.at, out.size = room, size
        return 0

    cdef int32_t _degree_at(self, int32_t id, int32_t node) noexcept:
        """Return how many children a twig has at a tree node."""
        cdef FactoredTwig *entry = &self.entries[id]
        cdef int32_t at = 0
        while entry.nodes[at] != node:
            at += 1
        return entry.twig.degrees[at]


cdef array.array _TEMPLATE = _array.array("i")
