"""Places for the brokers of a tree, so that no two links cross: in layers, or on rings.

Each leaf gets a slot of its own, in the order of a walk through the tree, and each inner broker stands in the middle of its children. In *layers* slots lie
side by side, and a level is a row. On *rings* slots are angles, and a level is a ring with the root in the centre; that needs less room for many leaves.

A leaf on an inner ring needs a wider angle than one on an outer ring; a branch gets an angle in proportion to what its leaves need.

On rings two things could make links cross. A branch may fill more than half of the circle: it never gets more, and the root is a broker for which none has more
than half of the leaves. And a link may dip below the ring that it starts from, where links of its neighbours are: so a broker's children stand within acos(d / (d + 1)) of
its own angle, d being its level; a branch that is wider is pressed together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import acos, cos, inf, pi, sin
from typing import TypeAlias

__all__ = ["Point", "Tree", "in_layers", "middle", "on_rings", "spanning"]

Point: TypeAlias = tuple[float, float]
Near: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Tree:
    """Brokers with a root; `order` has parents before their children."""

    root: str
    order: tuple[str, ...]
    children: Mapping[str, Sequence[str]]
    level: Mapping[str, int]

    def leaves(self) -> dict[str, int]:
        """How many leaves are below each; a leaf has itself."""
        found: dict[str, int] = {}
        for one in reversed(self.order):
            found[one] = sum(found[child] for child in self.children[one]) or 1
        return found

    def angles(self) -> dict[str, float]:
        """How much of a circle each branch needs, in any unit: a leaf needs less, the farther it is from the root."""
        found: dict[str, float] = {}
        for one in reversed(self.order):
            below = sum(found[child] for child in self.children[one])
            found[one] = max(below, 1 / max(self.level[one], 1))
        return found

    @property
    def depth(self) -> int:
        return max(self.level.values())


def spanning(near: Near, root: str) -> Tree:
    """The tree of shortest ways from a root; of a tree, the tree itself."""
    level = {root: 0}
    children: dict[str, list[str]] = {}
    order = [root]
    for one in order:
        children[one] = [other for other in near[one] if other not in level]
        level.update(dict.fromkeys(children[one], level[one] + 1))
        order += children[one]
    return Tree(root, tuple(order), children, level)


def middle(near: Near) -> str:
    """The broker whose largest branch has the fewest leaves; the first of them."""
    tree = spanning(near, next(iter(near)))
    leaves = tree.leaves()
    total = leaves[tree.root]
    best, fewest = tree.root, inf
    for one in tree.order:
        above = 0 if one == tree.root else total - leaves[one]
        largest = max([above, *(leaves[child] for child in tree.children[one])])
        if largest < fewest:
            best, fewest = one, largest
    return best


def in_layers(tree: Tree) -> dict[str, Point]:
    """Slots across, levels down; both count from 0."""
    found: dict[str, float] = {}
    slot = 0
    waiting = [tree.root]
    walk = []
    while waiting:
        one = waiting.pop()
        walk.append(one)
        waiting += reversed(tree.children[one])
        if not tree.children[one]:
            found[one] = slot
            slot += 1
    for one in reversed(walk):
        if below := tree.children[one]:
            found[one] = (found[below[0]] + found[below[-1]]) / 2
    return {one: (found[one], float(tree.level[one])) for one in tree.order}


def on_rings(tree: Tree, apart: float, least: float, most: float = inf) -> dict[str, Point]:
    """Around (0, 0): brokers of a ring are `apart` or more, rings from `least` to `most`, which goes before `apart`."""
    needs = tree.angles()
    angle = {tree.root: -pi / 2}
    wedge = {tree.root: 2 * pi}
    for one in tree.order:
        below = tree.children[one]
        if not below:
            continue
        all_needs = sum(needs[child] for child in below)
        middles = []
        start = -wedge[one] / 2
        for child in below:
            share = wedge[one] * needs[child] / all_needs
            wedge[child] = min(share, pi)
            middles.append(start + share / 2)
            start += share
        press = 1.0
        if one != tree.root:
            level = tree.level[one]
            widest = max(abs(middles[0]), abs(middles[-1]))
            press = min(1.0, acos(level / (level + 1)) / widest) if widest else 1.0
        for child, turn in zip(below, middles, strict=True):
            angle[child] = angle[one] + turn * press
            wedge[child] *= press
    step = min(most, max(least, _step(tree, angle, apart)))
    return {
        one: (
            step * tree.level[one] * cos(angle[one]),
            step * tree.level[one] * sin(angle[one]),
        )
        for one in tree.order
    }


def _step(tree: Tree, angle: Mapping[str, float], apart: float) -> float:
    """From ring to ring, so that on each the nearest two are far enough apart."""
    rings: dict[int, list[float]] = {}
    for one in tree.order:
        rings.setdefault(tree.level[one], []).append(angle[one])
    step = 0.0
    for level, angles in rings.items():
        if level and len(angles) > 1:
            angles.sort()
            gaps = [after - before for before, after in pairwise(angles)]
            gap = min(*gaps, angles[0] + 2 * pi - angles[-1])
            step = max(step, apart / (2 * level * sin(min(gap, pi) / 2)))
    return step
