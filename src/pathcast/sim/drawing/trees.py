"""Layouts of trees without crossing links: in layers, or on rings.

Each leaf has a slot of its own, in depth-first order, and each inner broker is in the middle of its
children. In *layers*, slots are side by side and a level is a row. On *rings*, slots are angles and
a level is a ring around the root; that takes less room for many leaves. A leaf on an inner ring
needs a wider angle than one on an outer ring, and a branch gets an angle in proportion to the needs
of its leaves.

On rings, two things could make links cross:

- A branch may fill more than half of the circle. It never gets more, and `balanced_root` chooses a
  root of which no branch has more than half of the leaves.
- A link may dip below the ring on which it starts, where the links of its neighbours are. So the
  children of a broker at level d lie within acos(d / (d + 1)) of its own angle. A wider branch is
  compressed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import acos, cos, inf, pi, sin
from typing import TypeAlias

__all__ = [
    "LayoutTree",
    "Point",
    "balanced_root",
    "breadth_first_tree",
    "place_in_layers",
    "place_on_rings",
]

Point: TypeAlias = tuple[float, float]
Neighbours: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class LayoutTree:
    """A rooted tree of brokers; `order` has parents before their children."""

    root: str
    order: tuple[str, ...]
    children: Mapping[str, Sequence[str]]
    level: Mapping[str, int]

    def leaves(self) -> dict[str, int]:
        """Return the number of leaves below each broker; 1 for a leaf."""
        leaves: dict[str, int] = {}
        for name in reversed(self.order):
            leaves[name] = sum(leaves[child] for child in self.children[name]) or 1
        return leaves

    def angles(self) -> dict[str, float]:
        """Return the angle that each branch needs, in arbitrary units.

        A leaf needs an angle in inverse proportion to its level.
        """
        needs: dict[str, float] = {}
        for name in reversed(self.order):
            below = sum(needs[child] for child in self.children[name])
            needs[name] = max(below, 1 / max(self.level[name], 1))
        return needs

    @property
    def depth(self) -> int:
        return max(self.level.values())


def breadth_first_tree(neighbours: Neighbours, root: str) -> LayoutTree:
    """Return the breadth-first tree of a root: a tree of shortest paths."""
    level = {root: 0}
    children: dict[str, list[str]] = {}
    order = [root]
    for name in order:
        children[name] = [other for other in neighbours[name] if other not in level]
        level.update(dict.fromkeys(children[name], level[name] + 1))
        order += children[name]
    return LayoutTree(root, tuple(order), children, level)


def balanced_root(neighbours: Neighbours) -> str:
    """Return the first broker whose largest branch has the fewest leaves."""
    tree = breadth_first_tree(neighbours, next(iter(neighbours)))
    leaves = tree.leaves()
    total = leaves[tree.root]
    best, fewest = tree.root, inf
    for name in tree.order:
        above = 0 if name == tree.root else total - leaves[name]
        largest = max([above, *(leaves[child] for child in tree.children[name])])
        if largest < fewest:
            best, fewest = name, largest
    return best


def place_in_layers(tree: LayoutTree) -> dict[str, Point]:
    """Return (slot, level) of each broker; both count from 0."""
    slots: dict[str, float] = {}
    next_slot = 0
    stack = [tree.root]
    preorder = []
    while stack:
        name = stack.pop()
        preorder.append(name)
        stack += reversed(tree.children[name])
        if not tree.children[name]:
            slots[name] = next_slot
            next_slot += 1
    for name in reversed(preorder):
        if children := tree.children[name]:
            slots[name] = (slots[children[0]] + slots[children[-1]]) / 2
    return {name: (slots[name], float(tree.level[name])) for name in tree.order}


def place_on_rings(
    tree: LayoutTree, min_distance: float, min_step: float, max_step: float = inf
) -> dict[str, Point]:
    """Return positions on rings around (0, 0).

    Brokers of a ring are at least `min_distance` apart, unless that takes more than `max_step` from
    ring to ring.
    """
    needs = tree.angles()
    angle = {tree.root: -pi / 2}
    wedge = {tree.root: 2 * pi}
    for name in tree.order:
        children = tree.children[name]
        if not children:
            continue
        total = sum(needs[child] for child in children)
        offsets = []
        start = -wedge[name] / 2
        for child in children:
            share = wedge[name] * needs[child] / total
            wedge[child] = min(share, pi)
            offsets.append(start + share / 2)
            start += share
        compression = 1.0
        if name != tree.root:
            level = tree.level[name]
            widest = max(abs(offsets[0]), abs(offsets[-1]))
            compression = min(1.0, acos(level / (level + 1)) / widest) if widest else 1.0
        for child, offset in zip(children, offsets, strict=True):
            angle[child] = angle[name] + offset * compression
            wedge[child] *= compression
    step = min(max_step, max(min_step, _ring_step(tree, angle, min_distance)))
    return {
        name: (
            step * tree.level[name] * cos(angle[name]),
            step * tree.level[name] * sin(angle[name]),
        )
        for name in tree.order
    }


def _ring_step(tree: LayoutTree, angle: Mapping[str, float], min_distance: float) -> float:
    """Return the step from ring to ring at which the closest brokers are `min_distance` apart."""
    rings: dict[int, list[float]] = {}
    for name in tree.order:
        rings.setdefault(tree.level[name], []).append(angle[name])
    step = 0.0
    for level, angles in rings.items():
        if level and len(angles) > 1:
            angles.sort()
            gaps = [after - before for before, after in pairwise(angles)]
            gap = min(*gaps, angles[0] + 2 * pi - angles[-1])
            step = max(step, min_distance / (2 * level * sin(min(gap, pi) / 2)))
    return step
