from libc.stdint cimport int32_t, uint64_t

from pathcast.vectors cimport IntVector, has_bit


# A join edge leads from the matches of its target up to their ancestors at an upper state. The
# climb is a list of ints: a number of levels, then (for a descendant edge) the leaf whose matches
# are the ancestors to find, a number of levels again, ...
cdef struct JoinEdge:
    int32_t target  # leaf << 1, or join node << 1 | 1
    int32_t climb
    int32_t climb_end


# A branch point of a twig: its matches are the nodes that all its edges reach.
cdef struct JoinNode:
    int32_t edges
    int32_t edge_count
    int32_t branch_point  # the leaf of its state; -1: the state is reached at one node at most


cdef enum:
    MANY_BRANCH_POINTS = -1


# One way in which an entry can match. The plan is stored with the others of its trigger leaf. It
# matches if all its leaves were hit and its join node has a match, which needs no join if no branch
# point was reached at more than one node.
cdef struct TwigPlan:
    int32_t number  # the entry's only subscription, if a match needs no further check; else -1
    int32_t hop
    int32_t entry
    int32_t join_node  # or -1
    int32_t second_leaf  # leaves besides the trigger; `leaf_count` stands for none
    int32_t third_leaf  # -2 - i: the leaves from the third on are in `other_leaves` at i
    int32_t branch_point  # `leaf_count` stands for none
    int32_t second_branch_point  # or MANY_BRANCH_POINTS


cdef inline bint all_leaves_hit(
    const TwigPlan *plan, const uint64_t *hit, const int32_t *other_leaves
) noexcept nogil:
    """Return whether the leaves of a plan besides its trigger were hit."""
    cdef int32_t index
    if not has_bit(hit, plan.second_leaf):
        return False
    if plan.third_leaf >= 0:
        return has_bit(hit, plan.third_leaf)
    other_leaves -= plan.third_leaf + 2
    for index in range(1, other_leaves[0] + 1):
        if not has_bit(hit, other_leaves[index]):
            return False
    return True


cdef class TwigIndex:
    cdef IntVector leaves  # leaf -> NFA state
    cdef IntVector plan_starts  # leaf -> the first of the plans that it triggers
    cdef IntVector other_leaves  # lists, each with its length first
    cdef IntVector climbs
    cdef JoinEdge *edges
    cdef JoinNode *join_nodes
    cdef IntVector join_node_edges
    cdef TwigPlan *plans
    cdef char *needs_evaluation  # plan -> the evaluator checks the entry's condition
    cdef char *is_join_leaf  # leaf -> joins may read its nodes
    cdef uint64_t *triggers  # a bit for every leaf that triggers a plan
    cdef readonly int32_t plan_count
    cdef readonly int32_t join_node_count
    cdef readonly int32_t edge_count
    cdef readonly int32_t leaf_count
    cdef int32_t unconditional  # the first of the plans without leaves; they come last
    cdef IntVector entry_starts
    cdef IntVector entry_numbers
    cdef IntVector entry_hops
    cdef IntVector has_residual  # by entry
    cdef readonly list keys  # entry -> the caller's key
    # during construction
    cdef dict _leaf_numbers
    cdef dict _edge_numbers
    cdef dict _join_node_numbers
    cdef list _edge_list
    cdef list _join_node_list
    cdef list _plan_list
    cdef list _climb_list
    cpdef int32_t leaf(self, int32_t state) except -1
    cpdef int32_t join_edge(
        self, int32_t target, int32_t lower, int32_t upper, tuple climb
    ) except -1
    cpdef int32_t join_node(self, int32_t state, edges, int32_t branch_point) except -1
    cdef int renumber(self, const int32_t *new_states) except -1
    cdef int _store_plan(self, int32_t index, tuple draft, int32_t trigger) except -1
    cdef int _mark_join_leaves(self) except -1
