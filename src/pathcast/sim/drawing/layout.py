"""OverlayLayout: the positions and the size of the brokers in a picture.

Up to `_MAX_BOXES` brokers are boxes with the sizes of their tables, up to `_MAX_CIRCLES` they are
circles with a name, beyond that dots. A tree is drawn in layers, from left to right or downwards as
fits a page better, or on rings if it has many leaves. A graph with cycles is drawn by stress
majorization, or on the rings of a shortest-path tree if it is large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pathcast.sim.drawing.graphs import place_by_stress, push_apart, untwist
from pathcast.sim.drawing.trees import (
    LayoutTree,
    Point,
    balanced_root,
    breadth_first_tree,
    place_in_layers,
    place_on_rings,
)
from pathcast.sim.topology import Topology

__all__ = ["BOX", "CIRCLE", "DOT", "BrokerStyle", "OverlayLayout", "lay_out"]

_MAX_BOXES, _MAX_CIRCLES = 40, 160  # brokers
_MAX_LAYERED_LEAVES = 12  # of a tree that is drawn in layers
_MAX_RADIUS = 1800  # of the outermost ring; on a ring that is too small, dots touch each other
_TINY_FONT_SIZE = 7  # legible only when magnified
_DOWNWARDS_BONUS = 1.3  # draw from left to right only if the shape is better by this factor
_MAX_STRESS_BROKERS = 250  # stress majorization looks at all pairs


@dataclass(frozen=True, slots=True)
class BrokerStyle:
    """The sizes of brokers, links and letters, in pixels."""

    half_width: float
    half_height: float
    link_length: float
    max_link_width: float
    name_size: int  # font sizes
    label_size: int
    mark_size: int  # half the size of the mark of publishers or subscriptions

    @property
    def min_distance(self) -> Point:
        """The least distance between two brokers, across and down."""
        gap = 1.5 * self.name_size
        return 2 * self.half_width + gap, 2 * self.half_height + gap

    @property
    def min_ring_distance(self) -> float:
        """The least distance between two brokers of a ring."""
        return (
            1.1 * max(self.min_distance)
            if self.name_size > _TINY_FONT_SIZE
            else 2 * self.half_width + 4
        )


BOX = BrokerStyle(49, 20, 150, 12, 13, 10, 5)
CIRCLE = BrokerStyle(13, 13, 62, 8, 9, 8, 3)
DOT = BrokerStyle(4, 4, 36, 4, 7, 6, 2)


@dataclass(frozen=True, slots=True)
class OverlayLayout:
    """The centre of each broker; the picture lies between (0, 0) and (width, height)."""

    positions: Mapping[str, Point]
    style: BrokerStyle
    width: float
    height: float


def lay_out(topology: Topology) -> OverlayLayout:
    """Choose a style and positions for the brokers of an overlay."""
    count = len(topology.brokers)
    style = BOX if count <= _MAX_BOXES else CIRCLE if count <= _MAX_CIRCLES else DOT
    neighbours = topology.neighbours()
    links = [(link.left, link.right) for link in topology.links]
    if topology.acyclic:
        positions = _place_tree(neighbours, topology.brokers[0], style)
    elif count <= _MAX_STRESS_BROKERS:
        hop = style.link_length
        unit = place_by_stress(neighbours, links)
        scaled = {name: (x * hop, y * hop) for name, (x, y) in unit.items()}
        positions = push_apart(
            scaled, links, (style.min_distance[0] * 1.1, style.min_distance[1] * 1.3)
        )
    else:
        positions = _place_on_rings(untwist(neighbours, links), style)
    return _normalize(positions, style)


def _place_tree(
    neighbours: dict[str, list[str]], first: str, style: BrokerStyle
) -> dict[str, Point]:
    tree = breadth_first_tree(neighbours, first)
    leaves, levels = tree.leaves()[first], tree.depth + 1
    if leaves > _MAX_LAYERED_LEAVES and leaves > levels:
        balanced = breadth_first_tree(neighbours, balanced_root(neighbours))
        return _place_on_rings(balanced, style)
    slots = place_in_layers(tree)
    across, down = style.min_distance[0] + style.name_size, style.min_distance[1] + style.name_size
    right, below = (
        2 * style.half_width + style.link_length / 2,
        2 * style.half_height + style.link_length / 2,
    )
    if _DOWNWARDS_BONUS * _misfit(levels * right / (leaves * down)) < _misfit(
        leaves * across / (levels * below)
    ):
        return {name: (level * right, slot * down) for name, (slot, level) in slots.items()}
    return {name: (slot * across, level * below) for name, (slot, level) in slots.items()}


def _place_on_rings(tree: LayoutTree, style: BrokerStyle) -> dict[str, Point]:
    max_step = max(3 * style.link_length, _MAX_RADIUS / max(tree.depth, 1))
    return place_on_rings(tree, style.min_ring_distance, style.link_length, max_step)


def _misfit(ratio: float) -> float:
    """Rate a ratio of width to height: 1 for the ideal ratio of 2, larger for others."""
    return max(ratio / 2, 2 / ratio)


def _normalize(raw: Mapping[str, Point], style: BrokerStyle) -> OverlayLayout:
    """Move the picture to the origin, and round to tenths of pixels."""
    margin = 3.5 * style.mark_size
    left = min(x for x, _ in raw.values()) - style.half_width - margin
    top = min(y for _, y in raw.values()) - style.half_height - margin
    positions = {name: (round(x - left, 1), round(y - top, 1)) for name, (x, y) in raw.items()}
    width = max(x for x, _ in positions.values()) + style.half_width + margin
    height = max(y for _, y in positions.values()) + style.half_height + margin
    return OverlayLayout(positions, style, round(width, 1), round(height, 1))
