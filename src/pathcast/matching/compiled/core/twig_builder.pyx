"""The construction of twigs and plans from the alternatives of entries.

A twig comes as branches below the document node, each a pair of labels and further branches. Its
paths go into the trie. Its tree is reduced to the part whose join can fail, and stored with the
rarest branches first:

- A branch point that every document reaches at one node at most takes no part, because whatever is
  reached below it lies below that node.
- A descendant edge within a branch gets a node of its own above it. So each edge leads a fixed
  number of levels up, or to any node above such a level.
"""

from libc.stdint cimport int32_t

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
from pathcast.matching.compiled.core.trie cimport RANGE_RARITY, Trie
from pathcast.matching.compiled.core.twigs cimport (
    BELOW,
    LEVELS_SHIFT,
    NO_GUARD,
    NO_SEMIJOIN,
    NO_TWIG,
    RANKED_EDGE,
    TwigIndex,
    JoinNode,
)

_GUARD_OPS = {"<": LESS, "<=": LESS_OR_EQUAL, ">": GREATER, ">=": GREATER_OR_EQUAL}

# A draft of a twig node: a list of these.
cdef enum:
    _STATE = 0
    _GUARD = 1
    _EDGE = 2  # to the node above, as in `JoinNode`
    _CHILDREN = 3


cdef class TwigBuilder:
    """Adds the plans of entries to a trie and a twig index."""

    def __init__(self, Trie trie not None, TwigIndex twigs not None):
        self.trie = trie
        self.twigs = twigs

    cdef int add_paths(self, int32_t entry, paths, bint needs_evaluation) except -1:
        """Add a plan that needs an occurrence of every path, without a join."""
        targets = dict.fromkeys([self._add_end(0, path) for path in paths])
        return self.twigs.add_plan(
            entry, self._rarest_first(targets), NO_TWIG, [], needs_evaluation
        )

    cdef int add_twig(self, int32_t entry, branches) except -1:
        """Add the plan of a twig."""
        cdef int32_t state = 0, twig = NO_TWIG
        targets = {}
        branch_points = []
        while len(branches) == 1:  # the path to the first branch point takes no part in the join
            labels, branches = branches[0]
            state = self.trie.add_path(state, labels)
        draft = [state, NO_GUARD, 0, [
            self._draft_below(state, labels, branches_below, targets)
            for labels, branches_below in branches
        ]]
        draft = self._required_part(draft)
        if draft is not None:
            twig = self.twigs.node_count
            self._store(draft, True, branch_points)
        return self.twigs.add_plan(
            entry, self._rarest_first(targets), twig, branch_points, False
        )

    cdef list _rarest_first(self, targets):
        return sorted(targets, key=self._target_rarity, reverse=True)

    def _target_rarity(self, target):
        leaf, guard = target
        return self._rarity(self.twigs.leaves.at[<int32_t>leaf], guard)

    cdef int32_t _rarity(self, int32_t state, int32_t guard) except -1:
        return self.trie.rarities.at[state] + (0 if guard == NO_GUARD else RANGE_RARITY)

    cdef tuple _add_end(self, int32_t state, labels):
        """Add the path to a leaf; return the target, a pair of the leaf and its guard."""
        cdef int32_t leaf, label = labels[len(labels) - 1] if labels else CHILD
        if label & EDGE_MASK == VALUE:
            kind, op, _ = self.trie.vocabulary.value_tests[label >> EDGE_BITS]
            if kind == "number" and op in _GUARD_OPS and not _follows_functions(labels):
                leaf = self.twigs.leaf(self.trie.add_path(state, labels[:len(labels) - 1]))
                return leaf, self.twigs.guard(leaf, _GUARD_OPS[op], label >> EDGE_BITS)
        return self.twigs.leaf(self.trie.add_path(state, labels)), NO_GUARD

    cdef list _draft_below(self, int32_t upper, labels, branches, dict targets):
        """Return the draft of a branch, attached to the state above it; collect its targets."""
        cdef int32_t state
        if branches:
            state = self.trie.add_path(upper, labels)
            children = [
                self._draft_below(state, labels_below, branches_below, targets)
                for labels_below, branches_below in branches
            ]
            return self._draft_edge([state, NO_GUARD, 0, children], upper)
        leaf, guard = self._add_end(upper, labels)
        targets[leaf, guard] = None
        return self._draft_edge([self.twigs.leaves.at[<int32_t>leaf], guard, 0, []], upper)

    cdef list _draft_edge(self, list draft, int32_t upper):
        """Set the edge of a draft to an upper state; return it, or the topmost node between."""
        cdef int32_t state = draft[_STATE], edge, levels = 0
        while state != upper:
            edge = self.trie.labels.at[state] & EDGE_MASK
            state = self.trie.parents.at[state]
            if edge == CHILD or edge == ATTRIBUTE:
                levels += 1
            elif edge != VALUE:
                draft[_EDGE] = levels << LEVELS_SHIFT | BELOW
                if state == upper:
                    return draft
                draft = [state, NO_GUARD, 0, [draft]]
                levels = 0
        draft[_EDGE] = levels << LEVELS_SHIFT
        return draft

    cdef list _required_part(self, list draft):
        """Return the part of a twig whose join can fail, None if there is none."""
        while self._reached_once(draft[_STATE]):
            twigs_below = [child for child in draft[_CHILDREN] if _has_branch_point(child)]
            if len(twigs_below) > 1:
                return [draft[_STATE], NO_GUARD, 0, twigs_below]
            if not twigs_below:
                return None
            draft = twigs_below[0]
            while len(draft[_CHILDREN]) == 1:
                draft = draft[_CHILDREN][0]
        return draft

    cdef bint _reached_once(self, int32_t state) except -1:
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

    cdef tuple _store(self, list draft, bint is_root, list branch_points):
        """Append the nodes of a draft to the index; return the key of its subtree."""
        cdef int32_t leaf = self.twigs.leaf(draft[_STATE]), guard = draft[_GUARD]
        cdef int32_t edge = draft[_EDGE]
        cdef int32_t index = self.twigs.add_node(JoinNode(NO_SEMIJOIN, NO_SEMIJOIN, guard, 1))
        children = sorted(draft[_CHILDREN], key=self._draft_order)
        if not children:
            if guard != NO_GUARD:
                edge |= RANKED_EDGE
            self.twigs.nodes[index].semijoin = self.twigs.leaf_semijoin(leaf, edge)
            return leaf, guard, edge
        if len(children) > 1 and not self._reached_once(draft[_STATE]):
            if leaf not in branch_points:
                branch_points.append(leaf)
        if all([child[_EDGE] & BELOW for child in children]):
            self.twigs.nodes[index].own = self.twigs.leaf_semijoin(leaf, 0)
        key = (leaf, edge, tuple([
            self._store(child, False, branch_points) for child in children
        ]))
        self.twigs.nodes[index].size = self.twigs.node_count - index
        if not is_root:
            self.twigs.nodes[index].semijoin = self.twigs.node_semijoin(key, edge, index)
        return key

    def _draft_order(self, draft):
        """Return the sort key of a child: ends before twigs, the rarest first."""
        return bool(draft[_CHILDREN]), -self._rarity(draft[_STATE], draft[_GUARD])


cdef bint _follows_functions(labels) except -1:
    """Return whether the last label tests the result of string functions, not a node's value."""
    return len(labels) > 1 and labels[len(labels) - 2] & EDGE_MASK == VALUE


cdef bint _has_branch_point(list draft) except -1:
    while len(draft[_CHILDREN]) == 1:
        draft = draft[_CHILDREN][0]
    return bool(draft[_CHILDREN])
