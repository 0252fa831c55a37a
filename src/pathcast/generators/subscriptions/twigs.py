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
from pathcast.generators.subscriptions.predicates import Predicates, Step
from pathcast.generators.subscriptions.walk import Link, Node, Walks
from pathcast.rng import SeededRandom
from pathcast.schema import Schema

__all__ = ["Twigs"]

Wish = tuple[bool, bool]
_NOTHING: Wish = (False, False)
_PREFIXED = re.compile(r"[^/]+:[^/]+")


class Twigs:
    """Draws subscriptions of one schema, with the same options."""

    __slots__ = (
        "_bounds",
        "_options",
        "_predicates",
        "_prefixed",
        "_rows",
        "_start",
        "_walks",
        "plain",
        "schema",
        "sectors",
        "spent",
    )

    def __init__(self, schema: Schema, options: SubscriptionOptions) -> None:
        self.schema = schema
        self._options = options
        self._walks = Walks(schema, options.theta)
        self._predicates = Predicates(self._walks, options.kinds)
        self.plain = not options.predicate and (not options.branch or options.branches == 1)
        self._prefixed = any(":" in name for name in schema.graph.depth)
        near = 1.0 - options.descendant
        # One random number decides a step: below these bounds it is /name, /*, //name, and //* from there on.
        self._bounds = (
            near * (1 - options.wildcard),
            near,
            1.0 - options.descendant * options.wildcard,
        )
        self._rows = self._walks.rows(options.min_depth, options.max_depth)
        self._start = self._walks.linked(self._rows)
        self.sectors = self._walks.sectors(self._start, options.max_depth)
        self.spent = 0

    def wish(self, rng: SeededRandom) -> Wish:
        """What the next subscription must have: (branches, predicates). It is kept until one has it."""
        if self.plain:
            return _NOTHING
        options = self._options
        branches = options.branching == "query" and rng.random() < options.branch
        return branches, rng.random() < options.predicate

    def draw(self, rng: SeededRandom, levels: int, wish: Wish) -> str | None:
        """A subscription from a walk that is to go so many levels down; None if it cannot have what it must."""
        return self.fresh(rng, levels, (), 1, ()) if self.plain else self._twig(rng, levels, wish)

    def fresh(
        self,
        rng: SeededRandom,
        levels: int,
        seen: Container[str],
        tries: int,
        begin: Sequence[Link],
    ) -> str | None:
        """A plain subscription that was not seen, if so many tries bring one; `spent` counts them.

        `begin`: the elements that every walk begins with.

        The same as `_twig` without branches and predicates, many in one go: most of the time of a distinct stream
        goes into drawing what was drawn before.
        """
        random = rng.random
        named, near, star = self._bounds
        least = self._options.min_depth
        relation = self._options.relative
        start = self._start
        relative = forced = False
        known = levels - len(begin)  # as long as more levels are left than this, the walk is given
        for self.spent in range(1, tries + 1):
            if relation:
                relative = forced = random() < relation
            left = levels
            spare = levels - least
            place = start
            parts: list[str] = []
            while left and (kids := place.kids):
                shares = place.shares
                if left > known:
                    place = begin[levels - left]
                    drawn = random()
                elif (
                    shares is None
                ):  # one number for both: which child, and what becomes of the step
                    drawn = random() * len(kids)
                    which = int(drawn)
                    place = kids[which]
                    drawn -= which
                else:
                    place = kids[bisect_right(shares, random())]
                    drawn = random()
                left -= 1
                if forced:
                    forced = False
                    drawn = near + drawn * (1.0 - near)
                if drawn < named:
                    parts.append(place.name)
                elif drawn < near:
                    parts.append("*")
                else:
                    skip = int(random() * (min(left, spare) + 1))
                    spare -= skip
                    while skip and (kids := place.kids):
                        shares = place.shares
                        if left > known:
                            place = begin[levels - left]
                        elif shares is None:
                            place = kids[int(random() * len(kids))]
                        else:
                            place = kids[bisect_right(shares, random())]
                        left -= 1
                        skip -= 1
                    parts.append("/" + place.name if drawn < star else "/*")
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

    def _twig(self, rng: SeededRandom, levels: int, wish: Wish) -> str | None:
        options = self._options
        branches, predicates = wish
        root = self._walks.tree(self._walks.path(rng, self._rows[:levels])).kids[0]
        if options.branching == "node":
            self._branch_nodes(rng, root)
        elif branches and not self._branch_query(rng, root):
            return None
        relative = options.relative > 0 and rng.random() < options.relative
        steps: list[Step] = []
        first = self._step(rng, root, levels, levels - options.min_depth, steps, relative)
        if predicates and not self._predicates.put(rng, steps, options.predicates):
            return None
        text, paths, depth = _written(first)
        if depth < options.min_depth or (branches and paths != options.branches):
            return None  # too much was skipped, or two branches became equal
        return text[2:] if relative else text

    def _branch_nodes(self, rng: SeededRandom, root: Node) -> None:
        """Let branches grow, each node deciding for itself."""
        options = self._options
        forks = _inner(root)
        paths = 1
        for node in forks:  # grows while it is read: branches may branch
            if paths < options.branches and rng.random() < options.branch:
                side = self._walks.grow(rng, node, self._levels(rng, node))
                if side is not None:
                    paths += 1
                    forks += _inner(side)

    def _branch_query(self, rng: SeededRandom, root: Node) -> bool:
        """Let branches grow until there are as many paths as there must be; False if they cannot."""
        forks = _inner(root)
        paths = 1
        for _ in range(4 * self._options.branches):
            if paths == self._options.branches or not forks:
                break
            node = rng.pick(forks)
            side = self._walks.grow(rng, node, self._levels(rng, node))
            if side is not None:
                paths += 1
                forks += _inner(side)
        return paths == self._options.branches

    def _levels(self, rng: SeededRandom, node: Node) -> int:
        left = self._options.max_depth - node.level
        return left if self._options.full else rng.between(1, left)

    def _step(
        self,
        rng: SeededRandom,
        node: Node,
        levels: int,
        spare: int,
        steps: list[Step],
        forced: bool = False,
    ) -> Step:
        """The steps from this node on, of a walk that had so many levels to go and has some of them to spare."""
        run = [node]
        while len(run[-1].kids) == 1:
            run += run[-1].kids
        options = self._options
        found: list[Step] = []
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
            found.append(Step(run[at], axis, "*" if star else name))
            at += 1
        for above, step in pairwise(found):
            above.kids.append(step)
        steps += found
        levels -= len(run)
        for rank, kid in enumerate(
            run[-1].kids
        ):  # the first goes on with the walk, the others are sides
            below = options.max_depth - run[-1].level
            room = (below, below) if rank else (levels, spare)
            found[-1].kids.append(self._step(rng, kid, *room, steps))
        return found[0]


def _inner(node: Node) -> list[Node]:
    """The nodes of a walk that have a child."""
    found = []
    while node.kids:
        found.append(node)
        node = node.kids[0]
    return found


def _written(step: Step) -> tuple[str, int, int]:
    """The text of a step and all below it, how many paths it has, and the steps of the longest."""
    below = sorted({_written(kid) for kid in step.kids})
    if not below:
        return step.text, 1, 1
    *sides, onwards = (text for text, _, _ in below)
    branches = "".join(f"[.{one}]" if one.startswith("//") else f"[{one[1:]}]" for one in sides)
    depth = 1 + max(depth for _, _, depth in below)
    return step.text + branches + onwards, sum(paths for _, paths, _ in below), depth
