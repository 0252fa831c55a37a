"""The twigs of an NFA: trees of leaves that must meet, and the plans that need them.

The root-to-leaf paths of a twig are linear and part of the NFA like all others. Only a document
that contains all of them needs a join; the rarest one triggers the check. A leaf is an NFA state
whose nodes take part in twigs. A comparison with a number has no state of its own: a `Guard` at
the leaf checks it. So a number hits one leaf, however many constants it is compared with, and the
plans that a comparison triggers are found by one pass over sorted operands.

A twig is stored as its nodes in preorder, the twigs of one trigger side by side. The nodes that
have a match of a branch below them depend on that branch alone: a `SemiJoin`, which twigs share.

`twig_builder` writes the index, `twig_join` reads it. It is immutable after `seal`.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free

from pathcast.matching.compiled.core.predicates cimport LESS, LESS_OR_EQUAL, ValueIndex
from pathcast.vectors cimport find, free_map, free_vector, grow, insert, pack_key, push


cdef class TwigIndex:
    """The twigs and the plans of all non-linear entries of one NFA."""

    def __cinit__(self):
        self.groups = NULL
        self.nodes = NULL
        self.semijoins = NULL
        self.guards = NULL
        self.plans = NULL
        self.needs_evaluation = self.has_guards = self.is_join_leaf = NULL
        self.triggers = NULL

    def __init__(self):
        self.keys = []
        self.guard_tests = []
        self._node_semijoins = {}
        self._drafts = []
        push(&self.entry_starts, 0)

    def __dealloc__(self):
        free(self.groups)
        free(self.nodes)
        free(self.semijoins)
        free(self.guards)
        free(self.plans)
        free(self.needs_evaluation)
        free(self.has_guards)
        free(self.is_join_leaf)
        free(self.triggers)
        free_vector(&self.leaves)
        free_vector(&self.group_starts)
        free_vector(&self.other_targets)
        free_vector(&self.plan_operands)
        free_vector(&self.entry_starts)
        free_vector(&self.entry_numbers)
        free_vector(&self.entry_hops)
        free_vector(&self.has_residual)
        free_map(&self._leaf_numbers)
        free_map(&self._guard_numbers)
        free_map(&self._leaf_semijoins)

    def add_entry(self, key, numbers, hops, residual):
        """Add a pattern by the caller's key, with its subscriptions; return its number here."""
        for number, hop in zip(numbers, hops, strict=True):
            push(&self.entry_numbers, number)
            push(&self.entry_hops, hop)
        push(&self.entry_starts, <int32_t>self.entry_numbers.size)
        push(&self.has_residual, bool(residual))
        self.keys.append(key)
        return len(self.keys) - 1

    cdef int32_t leaf(self, int32_t state) except -1:
        """Return the leaf of an NFA state; create it if it is new."""
        cdef int32_t leaf = find(&self._leaf_numbers, pack_key(state, 0))
        if leaf < 0:
            leaf = <int32_t>self.leaves.size
            insert(&self._leaf_numbers, pack_key(state, 0), leaf)
            push(&self.leaves, state)
        return leaf

    cdef int32_t guard(self, int32_t leaf, int32_t op, int32_t test) except -1:
        """Return the guard of a leaf for a value test; create it if it is new."""
        cdef int32_t guard = find(&self._guard_numbers, pack_key(leaf, test))
        if guard < 0:
            guard = self.guard_count
            insert(&self._guard_numbers, pack_key(leaf, test), guard)
            if guard >= self.guard_capacity:
                grow(<void **>&self.guards, &self.guard_capacity, guard + 1, sizeof(Guard))
            self.guards[guard] = Guard(leaf, op, -1)
            self.guard_tests.append(test)
            self.guard_count += 1
        return guard

    cdef int32_t leaf_semijoin(self, int32_t leaf, int32_t edge) except -1:
        """Return the semijoin of a leaf along an edge; create it if it is new."""
        cdef int32_t semijoin = find(&self._leaf_semijoins, pack_key(leaf, edge))
        if semijoin < 0:
            semijoin = self._add_semijoin(SemiJoin(leaf, edge, NO_TWIG))
            insert(&self._leaf_semijoins, pack_key(leaf, edge), semijoin)
        return semijoin

    cdef int32_t node_semijoin(self, tuple key, int32_t edge, int32_t node) except -1:
        """Return the semijoin of a twig node; nodes with equal keys have one semijoin."""
        semijoin = self._node_semijoins.get(key)
        if semijoin is None:
            semijoin = self._add_semijoin(SemiJoin(-1, edge, node))
            self._node_semijoins[key] = semijoin
        return semijoin

    cdef int32_t _add_semijoin(self, SemiJoin semijoin) except -1:
        if self.semijoin_count >= self.semijoin_capacity:
            grow(
                <void **>&self.semijoins,
                &self.semijoin_capacity,
                self.semijoin_count + 1,
                sizeof(SemiJoin),
            )
        self.semijoins[self.semijoin_count] = semijoin
        self.semijoin_count += 1
        return self.semijoin_count - 1

    cdef int32_t add_node(self, JoinNode node) except -1:
        """Append a node to the twig under construction; return its number."""
        if self.node_count >= self.node_capacity:
            grow(
                <void **>&self.nodes, &self.node_capacity, self.node_count + 1, sizeof(JoinNode)
            )
        self.nodes[self.node_count] = node
        self.node_count += 1
        return self.node_count - 1

    cdef int add_plan(
        self, int32_t entry, list targets, int32_t twig, list branch_points, bint needs_evaluation
    ) except -1:
        """Add a way in which an entry can match.

        The first target triggers the plan. A target is a pair of a leaf and a guard or NO_GUARD.
        """
        self._drafts.append((entry, targets, twig, branch_points, needs_evaluation))
        return 0

    def numbers(self):
        """Return the subscription numbers of all entries."""
        return [self.entry_numbers.at[index] for index in range(self.entry_numbers.size)]

    cdef int renumber(self, const int32_t *new_states) except -1:
        """Replace the states of all leaves by their new numbers."""
        cdef Py_ssize_t index
        for index in range(self.leaves.size):
            self.leaves.at[index] = new_states[self.leaves.at[index]]
        return 0

    cdef int rank_guards(self, ValueIndex values, list value_tests) except -1:
        """Set the operands of all guards to the ranks of their constants."""
        cdef int32_t index
        for index in range(self.guard_count):
            self.guards[index].operand = values.operand(value_tests[self.guard_tests[index]]) >> 2
        return 0

    cdef int seal(self) except -1:
        """Freeze the index: group the plans by trigger and write them to flat arrays."""
        cdef int32_t index
        self.leaf_count = <int32_t>self.leaves.size
        self.plan_count = <int32_t>len(self._drafts)
        self.plans = <TwigPlan *>calloc(<size_t>self.plan_count + 1, sizeof(TwigPlan))
        self.needs_evaluation = <char *>calloc(<size_t>self.plan_count + 1, 1)
        self.has_guards = <char *>calloc(<size_t>self.plan_count + 1, 1)
        self.groups = <TriggerGroup *>calloc(<size_t>self.plan_count + 1, sizeof(TriggerGroup))
        self.is_join_leaf = <char *>calloc(<size_t>self.leaf_count + 1, 1)
        self.triggers = <uint64_t *>calloc(<size_t>(self.leaf_count >> 6) + 1, sizeof(uint64_t))
        if (
            self.plans == NULL or self.needs_evaluation == NULL or self.has_guards == NULL
            or self.groups == NULL or self.is_join_leaf == NULL or self.triggers == NULL
        ):
            raise MemoryError
        self._group_plans(sorted(self._drafts, key=self._trigger_order))
        self._move_nodes()
        self._mark_join_leaves()
        free_map(&self._leaf_numbers)
        free_map(&self._guard_numbers)
        free_map(&self._leaf_semijoins)
        self._node_semijoins = self._drafts = self.guard_tests = None
        return 0

    def _trigger_order(self, tuple draft):
        """Return the sort key of a plan: by leaf, by operator, those that pass first."""
        cdef const Guard *guard
        if not draft[1]:
            return self.leaf_count, 0, 0
        leaf, guard_number = draft[1][0]
        if guard_number == NO_GUARD:
            return leaf, ANY_VALUE, 0
        guard = &self.guards[<int32_t>guard_number]
        falling = guard.op == LESS or guard.op == LESS_OR_EQUAL
        return leaf, guard.op, -guard.operand if falling else guard.operand

    cdef int _group_plans(self, list drafts) except -1:
        """Write the plans, sorted by trigger, and the trigger groups."""
        cdef int32_t index, trigger, op, operand, group = -1, last_trigger = -1
        cdef const Guard *guard
        self.unconditional = self.plan_count
        for index in range(self.plan_count):
            draft = drafts[index]
            self._store_plan(index, draft)
            trigger, op, operand = self.leaf_count, ANY_VALUE, 0
            if draft[1]:
                trigger = draft[1][0][0]
                if draft[1][0][1] != NO_GUARD:
                    guard = &self.guards[<int32_t>draft[1][0][1]]
                    op, operand = guard.op, guard.operand
                self.triggers[trigger >> 6] |= <uint64_t>1 << (trigger & 63)
            elif self.unconditional == self.plan_count:
                self.unconditional = index
            push(&self.plan_operands, operand)
            if trigger != last_trigger or self.groups[group].op != op:
                group += 1
                self.groups[group] = TriggerGroup(op, index, index)
                while self.group_starts.size <= trigger:
                    push(&self.group_starts, group)
                last_trigger = trigger
            self.groups[group].end = index + 1
        while self.group_starts.size <= self.leaf_count:
            push(&self.group_starts, group + 1)
        return 0

    cdef int _store_plan(self, int32_t index, tuple draft) except -1:
        """Write a plan from its draft, see `add_plan`."""
        cdef TwigPlan *plan = &self.plans[index]
        cdef int32_t entry = draft[0], first = self.entry_starts.at[entry]
        targets = [
            leaf if guard == NO_GUARD else self.leaf_count + 1 + guard
            for leaf, guard in draft[1][1:]
        ]
        branch_points = draft[3]
        plan.entry = entry
        plan.twig = draft[2]
        self.needs_evaluation[index] = draft[4]
        self.has_guards[index] = any([guard != NO_GUARD for _, guard in draft[1]])
        plan.number = -1
        if (
            self.entry_starts.at[entry + 1] == first + 1
            and not draft[4]
            and not self.has_residual.at[entry]
        ):
            plan.number = self.entry_numbers.at[first]
            plan.hop = self.entry_hops.at[first]
        plan.second_target = targets[0] if targets else self.leaf_count
        plan.third_target = targets[1] if len(targets) == 2 else self.leaf_count
        if len(targets) > 2:
            plan.third_target = -2 - <int32_t>self.other_targets.size
            push(&self.other_targets, <int32_t>len(targets) - 1)
            for target in targets[1:]:
                push(&self.other_targets, target)
        plan.branch_point = branch_points[0] if branch_points else self.leaf_count
        plan.second_branch_point = (
            branch_points[1] if len(branch_points) == 2 else self.leaf_count
        )
        if len(branch_points) > 2:
            plan.second_branch_point = MANY_BRANCH_POINTS
        return 0

    cdef int _move_nodes(self) except -1:
        """Move the twigs to the order of their plans."""
        cdef JoinNode *nodes
        cdef int32_t *places  # of the nodes
        cdef int32_t index, part, place = 0, size
        nodes = <JoinNode *>calloc(<size_t>self.node_count + 1, sizeof(JoinNode))
        places = <int32_t *>calloc(<size_t>self.node_count + 1, sizeof(int32_t))
        if nodes == NULL or places == NULL:
            free(nodes)
            free(places)
            raise MemoryError
        for index in range(self.plan_count):
            if self.plans[index].twig != NO_TWIG:
                size = self.nodes[self.plans[index].twig].size
                for part in range(size):
                    nodes[place + part] = self.nodes[self.plans[index].twig + part]
                    places[self.plans[index].twig + part] = place + part
                self.plans[index].twig = place
                place += size
        for index in range(self.semijoin_count):
            if self.semijoins[index].node != NO_TWIG:
                self.semijoins[index].node = places[self.semijoins[index].node]
        free(places)
        free(self.nodes)
        self.nodes = nodes
        self.node_capacity = self.node_count + 1
        return 0

    cdef int _mark_join_leaves(self) except -1:
        """Mark the leaves whose nodes are read: those of semijoins and of guards."""
        cdef int32_t index
        for index in range(self.semijoin_count):
            if self.semijoins[index].node == NO_TWIG:
                self.is_join_leaf[self.semijoins[index].leaf] = True
        for index in range(self.guard_count):
            self.is_join_leaf[self.guards[index].leaf] = True
        return 0

    @property
    def memory(self):
        """The memory of the index, in bytes."""
        return (
            self.node_capacity * <Py_ssize_t>sizeof(JoinNode)
            + self.semijoin_capacity * <Py_ssize_t>sizeof(SemiJoin)
            + self.guard_capacity * <Py_ssize_t>sizeof(Guard)
            + self.plan_count * <Py_ssize_t>(sizeof(TwigPlan) + sizeof(TriggerGroup) + 2)
            + self.leaf_count + self.leaf_count // 8
            + 4 * (self.leaves.capacity + self.group_starts.capacity)
            + 4 * (self.other_targets.capacity + self.plan_operands.capacity)
            + 4 * (self.entry_starts.capacity + self.has_residual.capacity)
            + 4 * (self.entry_numbers.capacity + self.entry_hops.capacity)
        )
