"""The construction of twigs and plans from the alternatives of entries.

A plan comes as `plan_codec` packs it: a twig is branches below the document node, each a path and
further branches. Its paths go into the trie. Its tree is reduced to the part whose join can fail,
and stored with the rarest branches first:

- A branch point that every document reaches at one node at most takes no part, because whatever is
  reached below it lies below that node.
- A descendant edge within a branch gets a node of its own above it. So each edge leads a fixed
  number of levels up, or to any node above such a level.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free

from pathcast.matching.compiled.core.labels cimport (
    ANY,
    ATTRIBUTE,
    CHILD,
    EDGE_BITS,
    EDGE_MASK,
    FIRST_NAME,
    TARGET_KEY,
    VALUE,
)
from pathcast.matching.compiled.core.predicates cimport (
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
)
from pathcast.matching.compiled.core.strings cimport add_string, free_strings
from pathcast.matching.compiled.core.trie cimport RANGE_RARITY, Trie
from pathcast.matching.compiled.core.twigs cimport (
    BELOW,
    LEVELS_SHIFT,
    NO_GUARD,
    NO_SEMIJOIN,
    NO_TWIG,
    RANKED_EDGE,
    JoinNode,
    PlanTarget,
    SemiJoin,
    TwigIndex,
)
from pathcast.vectors cimport free_vector, grow, push

_GUARD_OPS = {"<": LESS, "<=": LESS_OR_EQUAL, ">": GREATER, ">=": GREATER_OR_EQUAL}


cdef class TwigBuilder:
    """Adds the plans of entries to a trie and a twig index."""

    def __cinit__(self):
        self.drafts = NULL
        self.targets = NULL

    def __init__(self, Trie trie not None, TwigIndex twigs not None):
        self.trie = trie
        self.twigs = twigs

    def __dealloc__(self):
        free(self.drafts)
        free(self.targets)
        free_vector(&self.branch_points)
        free_vector(&self.key)
        free_strings(&self.keys)
        free_vector(&self.key_semijoins)

    cdef const int32_t *add_paths(
        self, int32_t entry, int32_t count, const int32_t *codes, bint needs_evaluation
    ) except NULL:
        """Add a plan that needs an occurrence of every path, without a join; return its end."""
        cdef int32_t index
        self.target_count = 0
        self.branch_points.size = 0
        for index in range(count):
            self._add_target(self._add_end(0, codes))
            codes += 1 + codes[0]
        self._add_plan(entry, NO_TWIG, needs_evaluation)
        return codes

    cdef const int32_t *add_twig(self, int32_t entry, const int32_t *codes) except NULL:
        """Add the plan of a twig; return the end of its codes."""
        cdef int32_t state = 0, twig = NO_TWIG, draft
        self.target_count = self.draft_count = 0
        self.branch_points.size = 0
        while codes[0] == 1:  # the path to the first branch point takes no part in the join
            codes += 1
            state = self.trie.add_path(state, codes + 1, codes[0])
            codes += 1 + codes[0]
        draft = self._add_draft(state, NO_GUARD, 0, self._draft_children(state, &codes))
        draft = self._required_part(draft)
        if draft != NO_DRAFT:
            twig = self.twigs.node_count
            self._store(draft, True)
        self._add_plan(entry, twig, False)
        return codes

    # targets

    cdef int _add_plan(self, int32_t entry, int32_t twig, bint needs_evaluation) except -1:
        """Add the current plan; its rarest target becomes the trigger."""
        cdef Py_ssize_t index, at
        cdef PlanTarget target
        for index in range(1, self.target_count):
            target = self.targets[index]
            at = index
            while at and self._rarity_of(&self.targets[at - 1]) < self._rarity_of(&target):
                self.targets[at] = self.targets[at - 1]
                at -= 1
            self.targets[at] = target
        return self.twigs.add_plan(
            entry,
            self.targets,
            <int32_t>self.target_count,
            twig,
            &self.branch_points,
            needs_evaluation,
        )

    cdef int32_t _rarity_of(self, const PlanTarget *target) noexcept:
        return self._rarity(self.twigs.leaves.at[target.leaf], target.guard)

    cdef int32_t _rarity(self, int32_t state, int32_t guard) noexcept:
        return self.trie.rarities.at[state] + (0 if guard == NO_GUARD else RANGE_RARITY)

    cdef int _add_target(self, PlanTarget target) except -1:
        """Add a target to the current plan, unless it is there."""
        cdef Py_ssize_t index
        for index in range(self.target_count):
            if (
                self.targets[index].leaf == target.leaf
                and self.targets[index].guard == target.guard
            ):
                return 0
        if self.target_count == self.target_capacity:
            grow(
                <void **>&self.targets,
                &self.target_capacity,
                self.target_count + 1,
                sizeof(PlanTarget),
            )
        self.targets[self.target_count] = target
        self.target_count += 1
        return 0

    cdef PlanTarget _add_end(self, int32_t state, const int32_t *path) except *:
        """Add the path to a leaf; a comparison with a number at its end becomes a guard.

        The path is a count and its labels.
        """
        cdef int32_t count = path[0], label, leaf
        if count and path[count] & EDGE_MASK == VALUE:
            label = path[count] >> EDGE_BITS
            kind, op, _ = self.trie.vocabulary.value_tests[label]
            of_functions = count > 1 and path[count - 1] & EDGE_MASK == VALUE
            if kind == "number" and op in _GUARD_OPS and not of_functions:
                leaf = self.twigs.leaf(self.trie.add_path(state, path + 1, count - 1))
                return PlanTarget(leaf, self.twigs.guard(leaf, _GUARD_OPS[op], label))
        return PlanTarget(
            self.twigs.leaf(self.trie.add_path(state, path + 1, count)), NO_GUARD
        )

    # drafts

    cdef int32_t _add_draft(
        self, int32_t state, int32_t guard, int32_t edge, int32_t child
    ) except -1:
        """Add a draft with its first child; return its number."""
        if self.draft_count == self.draft_capacity:
            grow(
                <void **>&self.drafts,
                &self.draft_capacity,
                self.draft_count + 1,
                sizeof(DraftNode),
            )
        self.drafts[self.draft_count] = DraftNode(state, guard, edge, child, NO_DRAFT)
        self.draft_count += 1
        return <int32_t>self.draft_count - 1

    cdef int32_t _draft_children(self, int32_t upper, const int32_t **codes) except -2:
        """Read branches below a state; return the first of their drafts, NO_DRAFT without any."""
        cdef int32_t count = codes[0][0], index, draft, first = NO_DRAFT, last = NO_DRAFT
        codes[0] += 1
        for index in range(count):
            draft = self._draft_branch(upper, codes)
            if first == NO_DRAFT:
                first = draft
            else:
                self.drafts[last].next_sibling = draft
            last = draft
        return first

    cdef int32_t _draft_branch(self, int32_t upper, const int32_t **codes) except -1:
        """Read a branch below a state; return its draft, and collect its targets."""
        cdef const int32_t *path = codes[0]
        cdef int32_t state
        cdef PlanTarget target
        codes[0] += 1 + path[0]
        if codes[0][0]:
            state = self.trie.add_path(upper, path + 1, path[0])
            return self._draft_edge(
                self._add_draft(state, NO_GUARD, 0, self._draft_children(state, codes)), upper
            )
        codes[0] += 1
        target = self._add_end(upper, path)
        self._add_target(target)
        return self._draft_edge(
            self._add_draft(self.twigs.leaves.at[target.leaf], target.guard, 0, NO_DRAFT), upper
        )

    cdef int32_t _draft_edge(self, int32_t draft, int32_t upper) except -1:
        """Set the edge of a draft to an upper state; return it, or the topmost node between."""
        cdef int32_t state = self.drafts[draft].state, edge, levels = 0
        while state != upper:
            edge = self.trie.labels.at[state] & EDGE_MASK
            state = self.trie.parents.at[state]
            if edge == CHILD or edge == ATTRIBUTE:
                levels += 1
            elif edge != VALUE:
                self.drafts[draft].edge = levels << LEVELS_SHIFT | BELOW
                if state == upper:
                    return draft
                draft = self._add_draft(state, NO_GUARD, 0, draft)
                levels = 0
        self.drafts[draft].edge = levels << LEVELS_SHIFT
        return draft

    cdef int32_t _required_part(self, int32_t draft) except -2:
        """Return the part of a twig whose join can fail, NO_DRAFT if there is none."""
        cdef int32_t child, next_child, first, count
        while self._reached_once(self.drafts[draft].state):
            first = NO_DRAFT
            count = 0
            child = self.drafts[draft].first_child
            while child != NO_DRAFT:  # keep the children that have a branch point
                next_child = self.drafts[child].next_sibling
                if self._has_branch_point(child):
                    self.drafts[child].next_sibling = first
                    first = child
                    count += 1
                child = next_child
            if count == 0:
                return NO_DRAFT
            self.drafts[draft].first_child = first
            if count > 1:
                return draft
            draft = first
            while self._has_one_child(draft):
                draft = self.drafts[draft].first_child
        return draft

    cdef bint _has_one_child(self, int32_t draft) noexcept:
        cdef int32_t child = self.drafts[draft].first_child
        return child != NO_DRAFT and self.drafts[child].next_sibling == NO_DRAFT

    cdef bint _has_branch_point(self, int32_t draft) noexcept:
        while self._has_one_child(draft):
            draft = self.drafts[draft].first_child
        return self.drafts[draft].first_child != NO_DRAFT

    cdef bint _reached_once(self, int32_t state) noexcept:
        """Return whether every document reaches a state at one node at most.

        That holds for the document node and for the document element.
        """
        cdef int32_t label = self.trie.labels.at[state]
        if state == 0:
            return True
        return (
            self.trie.parents.at[state] == 0
            and label & EDGE_MASK == CHILD
            and (label >> EDGE_BITS == ANY or label >> EDGE_BITS >= FIRST_NAME)
            and self.trie.vocabulary.kinds.at[label >> EDGE_BITS] != TARGET_KEY
        )

    # storing

    cdef int32_t _store(self, int32_t draft, bint is_root) except -1:
        """Append the nodes of a draft to the index; return the first one's number."""
        cdef int32_t state = self.drafts[draft].state, guard = self.drafts[draft].guard
        cdef int32_t edge = self.drafts[draft].edge, leaf = self.twigs.leaf(state)
        cdef int32_t node, child, index
        cdef bint all_below = True, is_listed = False
        node = self.twigs.add_node(JoinNode(NO_SEMIJOIN, NO_SEMIJOIN, guard, 1))
        if self.drafts[draft].first_child == NO_DRAFT:
            if guard != NO_GUARD:
                edge |= RANKED_EDGE
            self.twigs.nodes[node].semijoin = self.twigs.leaf_semijoin(leaf, edge)
            return node
        if not self._has_one_child(draft) and not self._reached_once(state):
            for index in range(<int32_t>self.branch_points.size):
                is_listed |= self.branch_points.at[index] == leaf
            if not is_listed:
                push(&self.branch_points, leaf)
        child = self._sort_children(draft)
        while child != NO_DRAFT:
            all_below &= self.drafts[child].edge & BELOW != 0
            self._store(child, False)
            child = self.drafts[child].next_sibling
        if all_below:
            self.twigs.nodes[node].own = self.twigs.leaf_semijoin(leaf, 0)
        self.twigs.nodes[node].size = self.twigs.node_count - node
        if not is_root:
            self.twigs.nodes[node].semijoin = self._node_semijoin(node, leaf, edge)
        return node

    cdef int32_t _sort_children(self, int32_t draft) noexcept:
        """Sort the children of a draft: ends before twigs, the rarest first; return the first."""
        cdef int32_t child = self.drafts[draft].first_child, next_child, before, first = NO_DRAFT
        while child != NO_DRAFT:
            next_child = self.drafts[child].next_sibling
            if first == NO_DRAFT or self._comes_before(child, first):
                self.drafts[child].next_sibling = first
                first = child
            else:
                before = first
                while self.drafts[before].next_sibling != NO_DRAFT and not self._comes_before(
                    child, self.drafts[before].next_sibling
                ):
                    before = self.drafts[before].next_sibling
                self.drafts[child].next_sibling = self.drafts[before].next_sibling
                self.drafts[before].next_sibling = child
            child = next_child
        self.drafts[draft].first_child = first
        return first

    cdef bint _comes_before(self, int32_t first, int32_t second) noexcept:
        cdef const DraftNode *left = &self.drafts[first]
        cdef const DraftNode *right = &self.drafts[second]
        cdef bint left_is_end = left.first_child == NO_DRAFT
        if left_is_end != (right.first_child == NO_DRAFT):
            return left_is_end
        return self._rarity(left.state, left.guard) > self._rarity(right.state, right.guard)

    cdef int32_t _node_semijoin(self, int32_t node, int32_t leaf, int32_t edge) except -1:
        """Return the semijoin of a stored node; nodes with equal subtrees have one semijoin."""
        cdef int32_t child = node + 1, number
        self.key.size = 0
        push(&self.key, leaf)
        push(&self.key, edge)
        while child < node + self.twigs.nodes[node].size:
            push(&self.key, self.twigs.nodes[child].semijoin)
            push(&self.key, self.twigs.nodes[child].guard)
            child += self.twigs.nodes[child].size
        number = add_string(
            &self.keys,
            <const char *>self.key.at,
            self.key.size * <Py_ssize_t>sizeof(int32_t),
            0,
        )
        if number == self.key_semijoins.size:
            push(&self.key_semijoins, self.twigs.add_semijoin(SemiJoin(-1, edge, node)))
        return self.key_semijoins.at[number]
