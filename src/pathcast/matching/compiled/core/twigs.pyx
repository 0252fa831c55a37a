"""The twigs of an NFA as a graph of shared parts: leaves, join edges and join nodes.

The root-to-leaf paths of a twig are linear and part of the NFA like all others. Only a document
that contains all of them needs a join; the rarest leaf triggers the check. A `JoinEdge` yields the
nodes at an upper state that have a match of the lower one below them. A `JoinNode` yields the
nodes that all its edges yield. The twig matches if the join node at its first branch point has a
match. Twigs share equal parts, and a document computes each part once.

`twig_join` holds the per-document side; a `TwigIndex` is immutable after `seal`.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

from pathcast.vectors cimport free_vector, push


cdef class TwigIndex:
    """The join graph and the plans of all non-linear entries of one NFA."""

    def __cinit__(self):
        self.edges = NULL
        self.join_nodes = NULL
        self.plans = NULL
        self.needs_evaluation = self.is_join_leaf = NULL
        self.triggers = NULL

    def __init__(self):
        self.keys = []
        self._leaf_numbers = {}
        self._edge_numbers = {}
        self._join_node_numbers = {}
        self._edge_list = []
        self._join_node_list = []
        self._plan_list = []
        self._climb_list = []
        push(&self.entry_starts, 0)

    def __dealloc__(self):
        free(self.edges)
        free(self.join_nodes)
        free(self.plans)
        free(self.needs_evaluation)
        free(self.is_join_leaf)
        free(self.triggers)
        free_vector(&self.leaves)
        free_vector(&self.plan_starts)
        free_vector(&self.other_leaves)
        free_vector(&self.join_node_edges)
        free_vector(&self.climbs)
        free_vector(&self.entry_starts)
        free_vector(&self.entry_numbers)
        free_vector(&self.entry_hops)
        free_vector(&self.has_residual)

    def add_entry(self, key, numbers, hops, residual):
        """Add a pattern by the caller's key, with its subscriptions; return its number here."""
        for number, hop in zip(numbers, hops, strict=True):
            push(&self.entry_numbers, number)
            push(&self.entry_hops, hop)
        push(&self.entry_starts, <int32_t>self.entry_numbers.size)
        push(&self.has_residual, bool(residual))
        self.keys.append(key)
        return len(self.keys) - 1

    cpdef int32_t leaf(self, int32_t state) except -1:
        """Return the leaf of an NFA state; create it if it is new."""
        leaf = self._leaf_numbers.get(state)
        if leaf is None:
            leaf = self._leaf_numbers[state] = len(self._leaf_numbers)
            push(&self.leaves, state)
        return leaf

    cpdef int32_t join_edge(
        self, int32_t target, int32_t lower, int32_t upper, tuple climb
    ) except -1:
        """Return the edge from a target to an upper state; create it if it is new."""
        key = (target, lower, upper)
        edge = self._edge_numbers.get(key)
        if edge is None:
            edge = self._edge_numbers[key] = len(self._edge_list)
            self._edge_list.append(key)
            self._climb_list.append(climb)
        return edge

    cpdef int32_t join_node(self, int32_t state, edges, int32_t branch_point) except -1:
        """Return the join node of some edges at a state; create it if it is new."""
        key = (state, tuple(sorted(set(edges))))
        node = self._join_node_numbers.get(key)
        if node is None:
            node = self._join_node_numbers[key] = len(self._join_node_list)
            self._join_node_list.append((key[1], branch_point))
        return node

    def add_plan(self, entry, leaves, join_node, needs_evaluation):
        """Add a way in which an entry can match; `join_node` -1: hits of all leaves suffice."""
        if join_node >= 0:
            join_node = self._required_join(join_node)
        self._plan_list.append((entry, tuple(leaves), join_node, needs_evaluation))

    def _required_join(self, join_node):
        """Return the topmost join node that can fail, -1 if there is none.

        A state that is reached at one node at most needs no join: whatever lies below it lies
        below that node.
        """
        edges, branch_point = self._join_node_list[join_node]
        if branch_point >= 0:
            return join_node
        targets = [self._edge_list[edge][0] for edge in edges]
        below = [target >> 1 for target in targets if target & 1]
        if not below:
            return -1
        return join_node if len(below) > 1 else self._required_join(below[0])

    def _branch_points(self, join_node):
        """Return the distinct branch points of a join node and all join nodes below it."""
        branch_points = {}
        join_nodes = [join_node] if join_node >= 0 else []
        for join_node in join_nodes:  # the loop appends to it
            edges, branch_point = self._join_node_list[join_node]
            if branch_point >= 0:
                branch_points[branch_point] = None
            for edge in edges:
                target = self._edge_list[edge][0]
                if target & 1 and target >> 1 not in join_nodes:
                    join_nodes.append(target >> 1)
        return list(branch_points)

    def numbers(self):
        """Return the subscription numbers of all entries."""
        return [self.entry_numbers.at[index] for index in range(self.entry_numbers.size)]

    cdef int renumber(self, const int32_t *new_states) except -1:
        """Replace the states of all leaves by their new numbers."""
        cdef Py_ssize_t index
        for index in range(self.leaves.size):
            self.leaves.at[index] = new_states[self.leaves.at[index]]
        return 0

    def seal(self, list rarity):
        """Freeze the index: write all parts to flat arrays.

        The leaf with the highest `rarity` triggers a plan; its other leaves are checked then.
        """
        cdef int32_t index, leaf, place = 0
        self.leaf_count = <int32_t>self.leaves.size
        self.edge_count = <int32_t>len(self._edge_list)
        self.join_node_count = <int32_t>len(self._join_node_list)
        self.plan_count = <int32_t>len(self._plan_list)
        self.edges = <JoinEdge *>calloc(<size_t>self.edge_count + 1, sizeof(JoinEdge))
        self.join_nodes = <JoinNode *>calloc(<size_t>self.join_node_count + 1, sizeof(JoinNode))
        self.plans = <TwigPlan *>calloc(<size_t>self.plan_count + 1, sizeof(TwigPlan))
        self.needs_evaluation = <char *>calloc(<size_t>self.plan_count + 1, 1)
        self.is_join_leaf = <char *>calloc(<size_t>self.leaf_count + 1, 1)
        self.triggers = <uint64_t *>calloc(<size_t>(self.leaf_count >> 6) + 1, sizeof(uint64_t))
        if (
            self.edges == NULL or self.join_nodes == NULL or self.plans == NULL
            or self.needs_evaluation == NULL or self.is_join_leaf == NULL or self.triggers == NULL
        ):
            raise MemoryError
        for index, (target, _, _) in enumerate(self._edge_list):
            self.edges[index] = JoinEdge(target, <int32_t>self.climbs.size, 0)
            for part in self._climb_list[index]:
                push(&self.climbs, part)
            self.edges[index].climb_end = <int32_t>self.climbs.size
        for index, (edges, branch_point) in enumerate(self._join_node_list):
            self.join_nodes[index] = JoinNode(
                <int32_t>self.join_node_edges.size, <int32_t>len(edges), branch_point
            )
            for edge in edges:
                push(&self.join_node_edges, edge)
        self._mark_join_leaves()
        drafts_by_trigger = [[] for _ in range(self.leaf_count + 1)]
        for draft in self._plan_list:
            leaves = draft[1]
            trigger = max(leaves, key=rarity.__getitem__) if leaves else self.leaf_count
            drafts_by_trigger[trigger].append(draft)
        for leaf in range(self.leaf_count + 1):
            push(&self.plan_starts, place)
            if drafts_by_trigger[leaf] and leaf < self.leaf_count:
                self.triggers[leaf >> 6] |= <uint64_t>1 << (leaf & 63)
            for draft in drafts_by_trigger[leaf]:
                self._store_plan(place, draft, leaf)
                place += 1
        self.unconditional = self.plan_starts.at[self.leaf_count]
        self._leaf_numbers = self._edge_numbers = self._join_node_numbers = None
        self._edge_list = self._join_node_list = self._plan_list = self._climb_list = None

    cdef int _store_plan(self, int32_t index, tuple draft, int32_t trigger) except -1:
        """Write a plan, drafted as (entry, leaves, join node, needs evaluation)."""
        cdef TwigPlan *plan = &self.plans[index]
        cdef int32_t entry = draft[0], first = self.entry_starts.at[entry]
        leaves = [leaf for leaf in draft[1] if leaf != trigger]
        branch_points = self._branch_points(draft[2])
        plan.entry = entry
        plan.join_node = draft[2]
        self.needs_evaluation[index] = draft[3]
        plan.number = -1
        if (
            self.entry_starts.at[entry + 1] == first + 1
            and not draft[3]
            and not self.has_residual.at[entry]
        ):
            plan.number = self.entry_numbers.at[first]
            plan.hop = self.entry_hops.at[first]
        plan.second_leaf = leaves[0] if leaves else self.leaf_count
        plan.third_leaf = leaves[1] if len(leaves) == 2 else self.leaf_count
        if len(leaves) > 2:
            plan.third_leaf = -2 - <int32_t>self.other_leaves.size
            push(&self.other_leaves, <int32_t>len(leaves) - 1)
            for leaf in leaves[1:]:
                push(&self.other_leaves, leaf)
        plan.branch_point = branch_points[0] if branch_points else self.leaf_count
        plan.second_branch_point = (
            branch_points[1] if len(branch_points) == 2 else self.leaf_count
        )
        if len(branch_points) > 2:
            plan.second_branch_point = MANY_BRANCH_POINTS
        return 0

    cdef int _mark_join_leaves(self) except -1:
        """Mark the leaves whose nodes a join may read.

        These are the leaves of the join nodes whose state can be reached at several nodes.
        """
        cdef int32_t index, at, part
        cdef const JoinNode *node
        cdef const JoinEdge *edge
        for index in range(self.join_node_count):
            node = &self.join_nodes[index]
            if node.branch_point < 0:
                continue
            self.is_join_leaf[node.branch_point] = True
            for at in range(node.edges, node.edges + node.edge_count):
                edge = &self.edges[self.join_node_edges.at[at]]
                if not edge.target & 1:
                    self.is_join_leaf[edge.target >> 1] = True
                for part in range(edge.climb + 1, edge.climb_end, 2):
                    self.is_join_leaf[self.climbs.at[part]] = True
        return 0

    @property
    def memory(self):
        """The memory of the index, in bytes."""
        return (
            self.edge_count * <Py_ssize_t>sizeof(JoinEdge)
            + self.join_node_count * <Py_ssize_t>sizeof(JoinNode)
            + self.plan_count * <Py_ssize_t>sizeof(TwigPlan)
            + self.plan_count + self.leaf_count + self.leaf_count // 8
            + 4 * (self.leaves.capacity + self.plan_starts.capacity)
            + 4 * (self.other_leaves.capacity + self.climbs.capacity)
            + 4 * (self.join_node_edges.capacity + self.entry_starts.capacity)
            + 4 * (self.has_residual.capacity + self.entry_numbers.capacity)
            + 4 * self.entry_hops.capacity
        )
