cimport cython
from libc.stdint cimport int32_t, uint64_t

from pathcast.matching.compiled.core.labels cimport LinearPaths
from pathcast.matching.compiled.core.predicates cimport ValueIndex
from pathcast.vectors cimport IntMap, IntVector

# How a twig node lies above the nodes that match a part of the twig: some levels above them, or
# anywhere above the node that is some levels above them. A ranked edge leads to numbers that a
# guard compares.
cdef enum:
    BELOW = 1
    RANKED_EDGE = 2
    LEVELS_SHIFT = 2

cdef enum:
    NO_GUARD = -1
    NO_TWIG = -1
    NO_SEMIJOIN = -1
    ANY_VALUE = -1  # the operator of a trigger group without a comparison
    MANY_BRANCH_POINTS = -1


# A node of a twig: a branch point, a node between two descendant edges, or an end. The nodes of a
# twig are adjacent, in preorder.
cdef struct JoinNode:
    int32_t semijoin  # of its matches with the nodes above; NO_SEMIJOIN at the root
    int32_t own  # of its own state, if only descendant edges leave it; else NO_SEMIJOIN
    int32_t guard  # of an end, or NO_GUARD
    int32_t size  # nodes of its subtree, itself included


# The nodes at the upper end of an edge, above the nodes that reached a leaf, or above the matches
# of a twig node. Twigs share equal semijoins.
cdef struct SemiJoin:
    int32_t leaf
    int32_t edge  # levels << LEVELS_SHIFT | flags
    int32_t node  # a twig node, or NO_TWIG


# A comparison of the numbers at a leaf with a constant.
cdef struct Guard:
    int32_t leaf
    int32_t op
    int32_t operand  # the rank of the constant, see `predicates`


# One way in which an entry can match. Its targets are leaves or guards; a guard is the number
# `leaf_count` + 1 + its index. The plan is stored with the others of its trigger, which is one of
# its targets. It matches if all its targets were hit and its twig has a match. That is certain if
# no branch point was reached at more than one node.
cdef struct TwigPlan:
    int32_t number  # the entry's only subscription, if a match needs no further check; else -1
    int32_t hop
    int32_t entry
    int32_t twig  # the root node, or NO_TWIG
    int32_t second_target  # besides the trigger; `leaf_count` stands for none
    int32_t third_target  # -2 - i: the targets from the third on are in `other_targets` at i
    int32_t branch_point  # a leaf; `leaf_count` stands for none
    int32_t second_branch_point  # or MANY_BRANCH_POINTS


# What must be hit for a plan: a leaf, or a guard at that leaf.
cdef struct PlanTarget:
    int32_t leaf
    int32_t guard  # or NO_GUARD


# A plan under construction, with its trigger and its place among the plans of that trigger.
cdef struct PlanDraft:
    int32_t trigger
    int32_t op
    int32_t order
    int32_t place
    int32_t operand
    int32_t entry
    int32_t twig
    int32_t needs_evaluation
    int32_t targets_at
    int32_t target_count
    int32_t branch_points_at
    int32_t branch_point_count


# The plans that a leaf triggers, if its numbers pass a comparison with the operand of the plan.
# The plans are sorted so that those that pass come first.
cdef struct TriggerGroup:
    int32_t op  # or ANY_VALUE
    int32_t first
    int32_t end


@cython.final
cdef class TwigIndex:
    cdef IntVector leaves  # leaf -> NFA state
    cdef TriggerGroup *groups
    cdef IntVector group_starts  # leaf -> the first of its trigger groups
    cdef IntVector other_targets  # lists, each with its length first
    cdef JoinNode *nodes
    cdef Py_ssize_t node_capacity
    cdef SemiJoin *semijoins
    cdef Py_ssize_t semijoin_capacity
    cdef Guard *guards
    cdef Py_ssize_t guard_capacity
    cdef TwigPlan *plans
    cdef IntVector plan_operands  # plan -> the operand of its trigger
    cdef char *needs_evaluation  # plan -> the evaluator checks the entry's condition
    cdef char *has_guards  # plan -> a target of it is a guard
    cdef char *is_join_leaf  # leaf -> joins may read its nodes
    cdef uint64_t *triggers  # a bit for every leaf that triggers a plan
    cdef readonly int32_t plan_count
    cdef readonly int32_t node_count
    cdef readonly int32_t semijoin_count
    cdef readonly int32_t guard_count
    cdef readonly int32_t leaf_count
    cdef int32_t unconditional  # the first of the plans without targets; they come last
    cdef IntVector entry_starts
    cdef IntVector entry_numbers
    cdef IntVector entry_hops
    cdef IntVector has_residual  # by entry
    cdef readonly list keys  # entry -> the caller's key
    # during construction
    cdef IntMap _leaf_numbers  # state -> leaf
    cdef IntMap _guard_numbers  # (leaf, value test) -> guard
    cdef IntMap _leaf_semijoins  # (leaf, edge) -> semijoin
    cdef readonly list guard_tests  # guard -> its value test
    cdef PlanDraft *_drafts
    cdef Py_ssize_t _draft_count
    cdef Py_ssize_t _draft_capacity
    cdef IntVector _draft_ints  # targets and branch points of the drafts
    cdef int32_t add_entry(self, object key, numbers, LinearPaths paths, bint residual) except -1
    cdef int32_t leaf(self, int32_t state) except -1
    cdef int32_t guard(self, int32_t leaf, int32_t op, int32_t test) except -1
    cdef int32_t leaf_semijoin(self, int32_t leaf, int32_t edge) except -1
    cdef int32_t add_semijoin(self, SemiJoin semijoin) except -1
    cdef int32_t add_node(self, JoinNode node) except -1
    cdef int add_plan(
        self,
        int32_t entry,
        const PlanTarget *targets,
        int32_t target_count,
        int32_t twig,
        const IntVector *branch_points,
        bint needs_evaluation,
    ) except -1
    cdef int renumber(self, const int32_t *new_states) except -1
    cdef int rank_guards(self, ValueIndex values, list value_tests) except -1
    cdef int seal(self) except -1
    cdef void _sort_drafts(self) noexcept
    cdef int _group_plans(self) except -1
    cdef int _store_plan(self, int32_t index, const PlanDraft *draft) except -1
    cdef int32_t _target(self, const PlanDraft *draft, int32_t place) noexcept
    cdef int _move_nodes(self) except -1
    cdef int _mark_join_leaves(self) except -1
