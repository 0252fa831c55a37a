"""One random subscription from one schema: draw an instance, then drop demands.

The instance is a walk or a tree of `walk`; it stands in some valid document. Then, from the root down:

- a step has the axis // with probability p(//). It stands for a run of levels of the instance: the number of levels it
  skips is uniform between none and all but one of those that the walk is still to go, and cut short where the walk ends or
  branches part. (So does YFilter's generator.) `//c` may have come from a/b/c, then, and a query has at most as many
  steps as its instance has levels.
- a name becomes `*` with probability p(*); a name with a prefix always does, since a text alone declares no namespaces.
- predicates are put on what is left.

All of this only makes the query weaker, so the document that the instance stands in still matches it.

How many levels a walk is to go is up to `subscriptions`; it ends earlier in an element without children.

Branches at a node are in the order of their texts, the last one being the path that goes on, and equal ones are one: queries that
differ in the order of branches only are the same text. `//*/a`, `/*//a` and `//*//a` are equivalent too, and
are left as they came: rewriting them would change p(*) and p(//).
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
    """Draws subscriptions of one schema, with the same options."""

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
        # One random number decides a step: below these bounds it is /name, /*, //name, and //* from there on.
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
        """What the next subscription must have: (branches, predicates). It is kept until one has it."""
        if self.linear_only:
            return _NOTHING
        options = self._options
        branches = options.branching == "query" and rng.random() < options.branch
        return branches, rng.random() < options.predicate

    def draw(self, rng: SeededRandom, levels: int, required_parts: RequiredParts) -> str | None:
        """A subscription from a walk that is to go so many levels down; None if it cannot have what it must."""
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
        """A plain subscription that was not seen, if so many tries bring one; `tries_used` counts them.

        `begin`: the elements that every walk begins with.

        The same as `_draw_twig` without branches and predicates, many in one go: most of the time of a distinct stream
        goes into drawing what was drawn before.
        """
        random = rng.random
        named, near, star = self._step_bounds
        least = self._options.min_depth
        relative_share = self._options.relative
        start = self._start
        relative = forced = False
        free_levels = levels - len(
            begin
        )  # as long as more levels are left than this, the walk is given
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
                elif (
                    shares is None
                ):  # one number for both: which child, and what becomes of the step
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

    # with branches and predicates

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
            return None  # too much was skipped, or two branches became equal
        return text[2:] if relative else text

    def _branch_nodes(self, rng: SeededRandom, root: InstanceNode) -> None:
        """Let branches grow, each node deciding for itself."""
        options = self._options
        forks = _inner_nodes(root)
        paths = 1
        for node in forks:  # grows while it is read: branches may branch
            if paths < options.branches and rng.random() < options.branch:
                side = self._walks.draw_branch(rng, node, self._branch_levels(rng, node))
                if side is not None:
                    paths += 1
                    forks += _inner_nodes(side)

    def _branch_query(self, rng: SeededRandom, root: InstanceNode) -> bool:
        """Let branches grow until there are as many paths as there must be; False if they cannot."""
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
        """The steps from this node on, of a walk that had so many levels to go and has some of them to spare."""
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
        for rank, child in enumerate(
            run[-1].children
        ):  # the first goes on with the walk, the others are sides
            below = options.max_depth - run[-1].level
            room = (below, below) if rank else (levels, spare)
            steps_of_run[-1].children.append(self._derive_steps(rng, child, *room, steps))
        return steps_of_run[0]


def _inner_nodes(node: InstanceNode) -> list[InstanceNode]:
    """The nodes of a walk that have a child."""
    nodes = []
    while node.children:
        nodes.append(node)
        node = node.children[0]
    return nodes


def _serialize(step: QueryStep) -> tuple[str, int, int]:
    """The text of a step and all below it, how many paths it has, and the steps of the longest."""
    below = sorted({_serialize(child) for child in step.children})
    if not below:
        return step.text, 1, 1
    *sides, main_path = (text for text, _, _ in below)
    branches = "".join(f"[.{side}]" if side.startswith("//") else f"[{side[1:]}]" for side in sides)
    depth = 1 + max(depth for _, _, depth in below)
    return step.text + branches + main_path, sum(paths for _, paths, _ in below), depth
