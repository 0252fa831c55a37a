"""Twig join: finds a document node at which all branches of a twig meet, bottom-up.

The join starts at the nodes that reached a leaf. Along child edges the match of an upper state is
the ancestor a fixed number of levels above; the NFA has checked the names already. At a descendant
edge the candidates are all ancestors that reached the state above the edge. So a join edge yields
the nodes at its upper end, and a join node intersects the nodes of its edges.

A state that was reached at one node only needs no join: everything reached below it was reached
through that node.

Each leaf, edge and join node is computed once per document. An edge costs its nodes and their
ancestors, each at most once per descendant edge. `work` counts them.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pathcast.matching.compiled.core.node_table cimport NodeTable
from pathcast.matching.compiled.core.path_table cimport VALUE_SYMBOL, PathHot
from pathcast.matching.compiled.core.traversal cimport LeafHits, Traversal
from pathcast.matching.compiled.core.twigs cimport JoinEdge, JoinNode
from pathcast.vectors cimport append, free_vector, has_bit, push, reserve


cdef class TwigJoin:
    """The joins of one traversal."""

    def __cinit__(self):
        self.edge_results = self.node_results = NULL

    def __init__(self, Traversal traversal not None, NodeTable nodes not None):
        self.traversal = traversal
        self.twigs = traversal.nfa.twigs
        self.nodes = nodes
        self.edge_results = <JoinResult *>calloc(
            <size_t>self.twigs.edge_count + 1, sizeof(JoinResult)
        )
        self.node_results = <JoinResult *>calloc(
            <size_t>self.twigs.join_node_count + 1, sizeof(JoinResult)
        )
        if self.edge_results == NULL or self.node_results == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.edge_results)
        free(self.node_results)
        free_vector(&self.results)
        free_vector(&self.marks)

    cdef int start_document(self) except -1 nogil:
        """Reset the scratch space; the traversal has run."""
        self.results.size = 0
        self.marks.size = 0
        reserve(&self.marks, self.nodes.size)
        self.marks.size = self.nodes.size
        memset(self.marks.at, 0, <size_t>self.nodes.size * sizeof(int32_t))
        self.serial = 0
        return 0

    cdef bint has_match(self, int32_t join_node) except -1 nogil:
        """Return whether a join node has a match; all its leaves were hit."""
        cdef const JoinNode *node = &self.twigs.join_nodes[join_node]
        cdef int32_t index, target
        if node.branch_point < 0 or not has_bit(self.traversal.multi_hit, node.branch_point):
            # One node reached the branch point, so every branch leads up to it: only the join
            # nodes below can fail.
            for index in range(node.edges, node.edges + node.edge_count):
                target = self.twigs.edges[self.twigs.join_node_edges.at[index]].target
                if target & 1 and not self.has_match(target >> 1):
                    return False
            return True
        if self.node_results[join_node].stamp != self.traversal.epoch:
            self._join(join_node)
        return self.node_results[join_node].count > 0

    cdef int _join(self, int32_t join_node) except -1 nogil:
        """Compute the matches of a join node: the intersection of its edges."""
        cdef const JoinNode *node = &self.twigs.join_nodes[join_node]
        cdef const int32_t *edges = self.twigs.join_node_edges.at + node.edges
        cdef JoinResult *result = &self.node_results[join_node]
        cdef JoinResult *edge_result
        cdef int32_t index, at, row, kept, start, count
        result.stamp = self.traversal.epoch
        result.count = 0
        if not has_bit(self.traversal.multi_hit, node.branch_point):
            if self.has_match(join_node):
                self._list_leaf(node.branch_point)
                result.at = self.traversal.leaf_hits[node.branch_point].listed
                result.count = self.traversal.leaf_hits[node.branch_point].count
            return 0
        for index in range(node.edge_count):  # all edges first: the results here must come last
            if self.edge_results[edges[index]].stamp != self.traversal.epoch:
                self._follow_edge(edges[index])
            if self.edge_results[edges[index]].count == 0:
                return 0
        start = <int32_t>self.results.size
        edge_result = &self.edge_results[edges[0]]
        count = edge_result.count
        reserve(&self.results, count)
        append(&self.results, self.results.at + edge_result.at, count)
        for index in range(1, node.edge_count):
            edge_result = &self.edge_results[edges[index]]
            self.serial += 1
            for at in range(edge_result.count):
                self.marks.at[self.results.at[edge_result.at + at]] = self.serial
            kept = 0
            for at in range(start, start + count):
                row = self.results.at[at]
                if self.marks.at[row] == self.serial:
                    self.results.at[start + kept] = row
                    kept += 1
            count = kept
        self.results.size = start + count
        result.at = start
        result.count = count
        return 0

    cdef int _follow_edge(self, int32_t number) except -1 nogil:
        """Compute the nodes at the upper end of an edge."""
        cdef const JoinEdge *edge = &self.twigs.edges[number]
        cdef const int32_t *climbs = self.twigs.climbs.at
        cdef int32_t target = edge.target >> 1, part, start
        cdef const JoinResult *result
        if edge.target & 1 and self.node_results[target].stamp != self.traversal.epoch:
            self._join(target)
        for part in range(edge.climb + 1, edge.climb_end, 2):  # lists precede the results here
            self._list_leaf(climbs[part])
        start = <int32_t>self.results.size
        if edge.target & 1:
            result = &self.node_results[target]
            reserve(&self.results, result.count)
            append(&self.results, self.results.at + result.at, result.count)
            if climbs[edge.climb]:
                self._climb(start, climbs[edge.climb])
        else:
            self._ancestors_of_leaf(target, climbs[edge.climb])
        for part in range(edge.climb + 1, edge.climb_end):
            if (part - edge.climb) & 1:
                self._filter_by_ancestor(start, climbs[part])
            elif climbs[part]:
                self._climb(start, climbs[part])
        self.edge_results[number] = JoinResult(
            self.traversal.epoch, start, <int32_t>self.results.size - start
        )
        return 0

    cdef int _ancestors_of_leaf(self, int32_t leaf, int32_t levels) except -1 nogil:
        """Append the distinct ancestors, `levels` above, of the nodes that reached a leaf."""
        cdef int32_t set_link = self.traversal.leaf_hits[leaf].first_set
        cdef int32_t path_link, instance, path, row, level
        cdef PathHot *paths = self.traversal.paths.hot
        if self.traversal.leaf_hits[leaf].stamp != self.traversal.epoch:
            return 0
        self.serial += 1
        while set_link >= 0:
            path_link = self.traversal.sets.hot[self.traversal.set_chain.at[set_link]].path_chain
            while path_link >= 0:
                path = self.traversal.path_chain.at[path_link]
                instance = paths[path].first_instance
                if paths[path].symbol >= VALUE_SYMBOL:
                    path = paths[path].parent  # a value belongs to the node of its parent path
                for level in range(levels):
                    path = paths[path].parent
                if levels and self.traversal.instances.at[paths[path].first_instance + 1] < 0:
                    # One node has the ancestor's path: all instances lead to it.
                    self._add_result(self.traversal.instances.at[paths[path].first_instance])
                    instance = -1
                while instance >= 0:
                    row = self.traversal.instances.at[instance]
                    for level in range(levels):
                        row = self.nodes.rows[row].parent
                    self._add_result(row)
                    instance = self.traversal.instances.at[instance + 1]
                path_link = self.traversal.path_chain.at[path_link + 1]
            set_link = self.traversal.set_chain.at[set_link + 1]
        return 0

    cdef int _add_result(self, int32_t row) except -1 nogil:
        """Append a row unless this pass has marked it."""
        self.work += 1
        if self.marks.at[row] != self.serial:
            self.marks.at[row] = self.serial
            push(&self.results, row)
        return 0

    cdef int _list_leaf(self, int32_t leaf) except -1 nogil:
        """Append the nodes that reached a leaf, once per document."""
        cdef LeafHits *hits = &self.traversal.leaf_hits[leaf]
        cdef int32_t set_link, path_link, instance
        if hits.stamp != self.traversal.epoch:  # the traversal did not reach it
            hits.listed = hits.count = 0
            return 0
        if hits.listed >= 0:
            return 0
        hits.listed = <int32_t>self.results.size
        set_link = hits.first_set
        while set_link >= 0:
            path_link = self.traversal.sets.hot[self.traversal.set_chain.at[set_link]].path_chain
            while path_link >= 0:
                instance = self.traversal.paths.hot[
                    self.traversal.path_chain.at[path_link]
                ].first_instance
                while instance >= 0:
                    push(&self.results, self.traversal.instances.at[instance])
                    instance = self.traversal.instances.at[instance + 1]
                path_link = self.traversal.path_chain.at[path_link + 1]
            set_link = self.traversal.set_chain.at[set_link + 1]
        hits.count = <int32_t>self.results.size - hits.listed
        self.work += <uint64_t>hits.count
        return 0

    cdef int _climb(self, int32_t start, int32_t levels) except -1 nogil:
        """Replace the results from `start` on by their distinct ancestors `levels` above."""
        cdef Py_ssize_t at
        cdef int32_t kept = start, row, level
        self.serial += 1
        for at in range(start, self.results.size):
            row = self.results.at[at]
            for level in range(levels):
                row = self.nodes.rows[row].parent
            if self.marks.at[row] != self.serial:
                self.marks.at[row] = self.serial
                self.results.at[kept] = row
                kept += 1
        self.work += <uint64_t>(self.results.size - start)
        self.results.size = kept
        return 0

    cdef int _filter_by_ancestor(self, int32_t start, int32_t leaf) except -1 nogil:
        """Replace the results from `start` on by their ancestors that reached a leaf."""
        cdef Py_ssize_t at
        cdef int32_t row, candidate, visited, index
        cdef Py_ssize_t end = self.results.size
        cdef const LeafHits *hits = &self.traversal.leaf_hits[leaf]
        self.serial += 2
        candidate = self.serial
        visited = candidate - 1
        for index in range(hits.count):
            self.marks.at[self.results.at[hits.listed + index]] = candidate
        for at in range(start, end):
            row = self.nodes.rows[self.results.at[at]].parent
            while row >= 0 and self.marks.at[row] != visited:
                self.work += 1
                if self.marks.at[row] == candidate:
                    push(&self.results, row)
                self.marks.at[row] = visited
                row = self.nodes.rows[row].parent
        # The ancestors were appended behind the old results: move them to the front.
        for at in range(end, self.results.size):
            self.results.at[start + at - end] = self.results.at[at]
        self.results.size = start + self.results.size - end
        return 0
