"""Sampler of one random subscription: draw an instance, then weaken it.

The instance is a walk or a tree of `walks`; some valid document contains it. Then, from the root
down:

- A step has the axis // with probability p(//) and represents a run of levels of the instance. The
  number of levels that it skips is uniform, from none to all but one of those left of the walk, and
  is cut where the walk ends or branches. (YFilter's generator does the same.) So `//c` may come
  from a/b/c, and a query has at most as many steps as its instance has levels.
- A name becomes `*` with probability p(*). A name with a prefix always does, since a text alone
  declares no namespaces.
- Predicates are added to the resulting steps.

Each of these only weakens the query, so the document with the instance still matches.

The caller sets the number of levels of a walk; it ends earlier in an element without children.

Branches at a node are sorted by their texts, the last one being the main path, and equal ones are
merged. So queries that differ in the order of branches only have one text. `//*/a`, `/*//a` and
`//*//a` are equivalent as well, and are not unified: that would change p(*) and p(//).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Sequence
from itertools import pairwise

from pathcast.generators.subscriptions.options import SubscriptionOptions
from pathcast.generators.subscriptions.predicates import PredicateSampler, QueryStep
from pathcast.generators.subscriptions.walks import InstanceNode, SchemaWalks, WalkState
from pathcast.rng import SeededRandom
from pathcast.schema import Schema

__all__ = ["SubscriptionSampler"]

RequiredParts = tuple[bool, bool]
_NOTHING: RequiredParts = (False, False)
_PREFIXED = re.compile(r"[^/]+:[^/]+")


class SubscriptionSampler:
    """Draws subscriptions of one schema, with fixed options."""

    __slots__ = (
        "_options",
        "_predicates",
        "_prefixed",
        "_rows",
        "_start",
        "_step_bounds",
        "_walks",
        "linear_only",
        "schema",
        "sectors",
        "tries_used",
    )

    def __init__(self, schema: Schema, options: SubscriptionOptions) -> None:
        self.schema = schema
        self._options = options
        self._walks = SchemaWalks(schema, options.theta)
        self._predicates = PredicateSampler(self._walks, options.kinds)
        self.linear_only = not options.predicate and (not options.branch or options.branches == 1)
        self._prefixed = any(":" in name for name in schema.graph.depth)
        near = 1.0 - options.descendant
        # One random number decides a step: below these bounds /name, /*, //name, above them //*.
        self._step_bounds = (
            near * (1 - options.wildcard),
            near,
            1.0 - options.descendant * options.wildcard,
        )
        self._rows = self._walks.choices_by_level(options.min_depth, options.max_depth)
        self._start = self._walks.to_states(self._rows)
        self.sectors = self._walks.sectors(self._start, options.max_depth)
        self.tries_used = 0

    def draw_required_parts(self, rng: SeededRandom) -> RequiredParts:
        """Draw what the next subscription must have: (branches, predicates).

        The caller keeps the result until a subscription has it.
        """
        if self.linear_only:
            return _NOTHING
        options = self._options
        branches = options.branching == "query" and rng.random() < options.branch
        return branches, rng.random() < options.predicate

    def draw(self, rng: SeededRandom, levels: int, required_parts: RequiredParts) -> str | None:
        """Draw a subscription from a walk of `levels`; None if it lacks a required part."""
        return (
            self.draw_new_path(rng, levels, (), 1, ())
            if self.linear_only
            else self._draw_twig(rng, levels, required_parts)
        )

    def draw_new_path(
        self,
        rng: SeededRandom,
        levels: int,
        seen: Container[str],
        tries: int,
        begin: Sequence[WalkState],
    ) -> str | None:
        """Draw a linear path that is not in `seen`, with up to `tries`; `tries_used` counts them.

        `begin`: the elements that every walk starts with.

        The same as `_draw_twig` without branches and predicates, several in one call: a distinct
        stream spends most of its time on duplicates.
        """
        random = rng.random
        named, near, star = self._step_bounds
        least = self._options.min_depth
        relative_share = self._options.relative
        start = self._start
        relative = forced = False
        free_levels = levels - len(begin)  # with more levels left, `begin` sets the walk
        for self.tries_used in range(1, tries + 1):
            if relative_share:
                relative = forced = random() < relative_share
            levels_left = levels
            spare = levels - least
            state = start
            parts: list[str] = []
            while levels_left and (children := state.children):
                shares = state.shares
                if levels_left > free_levels:
                    state = begin[levels - levels_left]
                    draw = random()
                elif shares is None:  # one number for both the child and the step
                    draw = random() * len(children)
                    child_index = int(draw)
                    state = children[child_index]
                    draw -= child_index
                else:
                    state = children[bisect_right(shares, random())]
                    draw = random()
                levels_left -= 1
                if forced:
                    forced = False
                    draw = near + draw * (1.0 - near)
                if draw < named:
                    parts.append(state.name)
                elif draw < near:
                    parts.append("*")
                else:
                    skip = int(random() * (min(levels_left, spare) + 1))
                    spare -= skip
                    while skip and (children := state.children):
                        shares = state.shares
                        if levels_left > free_levels:
                            state = begin[levels - levels_left]
                        elif shares is None:
                            state = children[int(random() * len(children))]
                        else:
                            state = children[bisect_right(shares, random())]
                        levels_left -= 1
                        skip -= 1
                    parts.append("/" + state.name if draw < star else "/*")
            if len(parts) < least:
                continue
            if self._prefixed:
                parts = [_PREFIXED.sub("*", part) for part in parts]
            text = "/".join(parts)
            text = text[1:] if relative else "/" + text
            if text not in seen:
                return text
        return None

    def _draw_twig(
        self, rng: SeededRandom, levels: int, required_parts: RequiredParts
    ) -> str | None:
        options = self._options
        branches, predicates = required_parts
        root = self._walks.tree(self._walks.draw_path(rng, self._rows[:levels])).children[0]
        if options.branching == "node":
            self._branch_nodes(rng, root)
        elif branches and not self._branch_query(rng, root):
            return None
        relative = options.relative > 0 and rng.random() < options.relative
        steps: list[QueryStep] = []
        first = self._derive_steps(rng, root, levels, levels - options.min_depth, steps, relative)
        if predicates and not self._predicates.add_predicates(rng, steps, options.predicates):
            return None
        text, paths, depth = _serialize(first)
        if depth < options.min_depth or (branches and paths != options.branches):
            return None  # skipped too much, or two branches became equal
        return text[2:] if relative else text

    def _branch_nodes(self, rng: SeededRandom, root: InstanceNode) -> None:
        """Add branches; each node decides independently."""
        options = self._options
        forks = _inner_nodes(root)
        paths = 1
        for node in forks:  # grows during the loop: branches may branch
            if paths < options.branches and rng.random() < options.branch:
                side = self._walks.draw_branch(rng, node, self._branch_levels(rng, node))
                if side is not None:
                    paths += 1
                    forks += _inner_nodes(side)

    def _branch_query(self, rng: SeededRandom, root: InstanceNode) -> bool:
        """Add branches up to the required number of paths; return False if impossible."""
        forks = _inner_nodes(root)
        paths = 1
        for _ in range(4 * self._options.branches):
            if paths == self._options.branches or not forks:
                break
            node = rng.pick(forks)
            side = self._walks.draw_branch(rng, node, self._branch_levels(rng, node))
            if side is not None:
                paths += 1
                forks += _inner_nodes(side)
        return paths == self._options.branches

    def _branch_levels(self, rng: SeededRandom, node: InstanceNode) -> int:
        levels_left = self._options.max_depth - node.level
        return levels_left if self._options.full else rng.between(1, levels_left)

    def _derive_steps(
        self,
        rng: SeededRandom,
        node: InstanceNode,
        levels: int,
        spare: int,
        steps: list[QueryStep],
        forced: bool = False,
    ) -> QueryStep:
        """Return the first of the steps derived from this node's subtree.

        The walk had `levels` to go, of which `spare` may be skipped.
        """
        run = [node]
        while len(run[-1].children) == 1:
            run += run[-1].children
        options = self._options
        steps_of_run: list[QueryStep] = []
        at = 0
        while at < len(run):
            axis = "/"
            if forced or rng.random() < options.descendant:
                forced = False
                axis = "//"
                skip = rng.below(min(levels - at - 1, spare) + 1)
                spare -= skip
                at = min(at + skip, len(run) - 1)
            name = run[at].name
            star = rng.random() < options.wildcard or ":" in name
            steps_of_run.append(QueryStep(run[at], axis, "*" if star else name))
            at += 1
        for above, step in pairwise(steps_of_run):
            above.children.append(step)
        steps += steps_of_run
        levels -= len(run)
        # The first child continues the walk, the others are side branches.
        for rank, child in enumerate(run[-1].children):
            below = options.max_depth - run[-1].level
            room = (below, below) if rank else (levels, spare)
            steps_of_run[-1].children.append(self._derive_steps(rng, child, *room, steps))
        return steps_of_run[0]


def _inner_nodes(node: InstanceNode) -> list[InstanceNode]:
    """Return the nodes of a walk that have a child."""
    nodes = []
    while node.children:
        nodes.append(node)
        node = node.children[0]
    return nodes


def _serialize(step: QueryStep) -> tuple[str, int, int]:
    """Return the text of a step's subtree, its number of paths, and its depth in steps."""
    below = sorted({_serialize(child) for child in step.children})
    if not below:
        return step.text, 1, 1
    *sides, main_path = (text for text, _, _ in below)
    branches = "".join(f"[.{side}]" if side.startswith("//") else f"[{side[1:]}]" for side in sides)
    depth = 1 + max(depth for _, _, depth in below)
    return step.text + branches + main_path, sum(paths for _, paths, _ in below), depth
