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
from libc.stdlib cimport calloc, free, qsort

from pathcast.matching.compiled.core.predicates cimport LESS, LESS_OR_EQUAL, ValueIndex
from pathcast.vectors cimport append, find, free_map, free_vector, grow, insert, pack_key, push


cdef class TwigIndex:
    """The twigs and the plans of all non-linear entries of one NFA."""

    def __cinit__(self):
        self.groups = NULL
        self.nodes = NULL
        self.semijoins = NULL
        self.guards = NULL
        self.plans = NULL
        self._drafts = NULL
        self.needs_evaluation = self.has_guards = self.is_join_leaf = NULL
        self.triggers = NULL

    def __init__(self):
        self.keys = []
        self.guard_tests = []
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
        free(self._drafts)
        free_vector(&self._draft_ints)
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

    cdef int32_t add_entry(self, object key, numbers, LinearPaths paths, bint residual) except -1:
        """Add a pattern by the caller's key, with its subscriptions; return its number here."""
        cdef int32_t number
        for number in numbers:
            push(&self.entry_numbers, number)
            push(&self.entry_hops, paths.hops.at[number])
        push(&self.entry_starts, <int32_t>self.entry_numbers.size)
        push(&self.has_residual, residual)
        self.keys.append(key)
        return <int32_t>self.has_residual.size - 1

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
            semijoin = self.add_semijoin(SemiJoin(leaf, edge, NO_TWIG))
            insert(&self._leaf_semijoins, pack_key(leaf, edge), semijoin)
        return semijoin

    cdef int32_t add_semijoin(self, SemiJoin semijoin) except -1:
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
        self,
        int32_t entry,
        const PlanTarget *targets,
        int32_t target_count,
        int32_t twig,
        const IntVector *branch_points,
        bint needs_evaluation,
    ) except -1:
        """Add a way in which an entry can match; the first target triggers the plan."""
        cdef PlanDraft *draft
        cdef Py_ssize_t index
        if self._draft_count == self._draft_capacity:
            grow(
                <void **>&self._drafts,
                &self._draft_capacity,
                self._draft_count + 1,
                sizeof(PlanDraft),
            )
        draft = &self._drafts[self._draft_count]
        draft.place = <int32_t>self._draft_count
        draft.entry = entry
        draft.twig = twig
        draft.needs_evaluation = needs_evaluation
        draft.targets_at = <int32_t>self._draft_ints.size
        draft.target_count = target_count
        for index in range(target_count):
            push(&self._draft_ints, targets[index].leaf)
            push(&self._draft_ints, targets[index].guard)
        draft.branch_points_at = <int32_t>self._draft_ints.size
        draft.branch_point_count = <int32_t>branch_points.size
        append(&self._draft_ints, branch_points.at, branch_points.size)
        self._draft_count += 1
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
        self.plan_count = <int32_t>self._draft_count
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
        self._sort_drafts()
        self._group_plans()
        self._move_nodes()
        self._mark_join_leaves()
        free_map(&self._leaf_numbers)
        free_map(&self._guard_numbers)
        free_map(&self._leaf_semijoins)
        free_vector(&self._draft_ints)
        free(self._drafts)
        self._drafts = NULL
        self.guard_tests = None
        return 0

    cdef void _sort_drafts(self) noexcept:
        """Sort the plans by leaf, by operator, and those that pass first."""
        cdef PlanDraft *draft
        cdef const Guard *guard
        cdef Py_ssize_t index
        cdef int32_t number
        for index in range(self._draft_count):
            draft = &self._drafts[index]
            draft.trigger = self.leaf_count
            draft.op = ANY_VALUE
            draft.operand = draft.order = 0
            if draft.target_count:
                draft.trigger = self._draft_ints.at[draft.targets_at]
                number = self._draft_ints.at[draft.targets_at + 1]
                if number != NO_GUARD:
                    guard = &self.guards[number]
                    draft.op = guard.op
                    draft.operand = guard.operand
                    falling = guard.op == LESS or guard.op == LESS_OR_EQUAL
                    draft.order = -guard.operand if falling else guard.operand
        qsort(self._drafts, <size_t>self._draft_count, sizeof(PlanDraft), _compare_drafts)

    cdef int _group_plans(self) except -1:
        """Write the sorted plans and the trigger groups."""
        cdef int32_t index, group = -1, last_trigger = -1
        cdef const PlanDraft *draft
        self.unconditional = self.plan_count
        for index in range(self.plan_count):
            draft = &self._drafts[index]
            self._store_plan(index, draft)
            if draft.target_count:
                self.triggers[draft.trigger >> 6] |= <uint64_t>1 << (draft.trigger & 63)
            elif self.unconditional == self.plan_count:
                self.unconditional = index
            push(&self.plan_operands, draft.operand)
            if draft.trigger != last_trigger or self.groups[group].op != draft.op:
                group += 1
                self.groups[group] = TriggerGroup(draft.op, index, index)
                while self.group_starts.size <= draft.trigger:
                    push(&self.group_starts, group)
                last_trigger = draft.trigger
            self.groups[group].end = index + 1
        while self.group_starts.size <= self.leaf_count:
            push(&self.group_starts, group + 1)
        return 0

    cdef int _store_plan(self, int32_t index, const PlanDraft *draft) except -1:
        """Write a plan from its draft."""
        cdef TwigPlan *plan = &self.plans[index]
        cdef int32_t first = self.entry_starts.at[draft.entry], place
        cdef const int32_t *branch_points = self._draft_ints.at + draft.branch_points_at
        plan.entry = draft.entry
        plan.twig = draft.twig
        self.needs_evaluation[index] = draft.needs_evaluation
        for place in range(draft.target_count):
            if self._draft_ints.at[draft.targets_at + 2 * place + 1] != NO_GUARD:
                self.has_guards[index] = True
        plan.number = -1
        if (
            self.entry_starts.at[draft.entry + 1] == first + 1
            and not draft.needs_evaluation
            and not self.has_residual.at[draft.entry]
        ):
            plan.number = self.entry_numbers.at[first]
            plan.hop = self.entry_hops.at[first]
        plan.second_target = self._target(draft, 1)
        plan.third_target = self._target(draft, 2)
        if draft.target_count > 3:
            plan.third_target = -2 - <int32_t>self.other_targets.size
            push(&self.other_targets, draft.target_count - 2)
            for place in range(2, draft.target_count):
                push(&self.other_targets, self._target(draft, place))
        plan.branch_point = plan.second_branch_point = self.leaf_count
        if draft.branch_point_count:
            plan.branch_point = branch_points[0]
        if draft.branch_point_count == 2:
            plan.second_branch_point = branch_points[1]
        elif draft.branch_point_count > 2:
            plan.second_branch_point = MANY_BRANCH_POINTS
        return 0

    cdef int32_t _target(self, const PlanDraft *draft, int32_t place) noexcept:
        """Return a target of a draft as a number; `leaf_count` if it has fewer."""
        cdef const int32_t *target = self._draft_ints.at + draft.targets_at + 2 * place
        if place >= draft.target_count:
            return self.leaf_count
        return target[0] if target[1] == NO_GUARD else self.leaf_count + 1 + target[1]

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


cdef int _compare_drafts(const void *first, const void *second) noexcept nogil:
    cdef const PlanDraft *left = <const PlanDraft *>first
    cdef const PlanDraft *right = <const PlanDraft *>second
    if left.trigger != right.trigger:
        return 1 if left.trigger > right.trigger else -1
    if left.op != right.op:
        return 1 if left.op > right.op else -1
    if left.order != right.order:
        return 1 if left.order > right.order else -1
    return (left.place > right.place) - (left.place < right.place)
