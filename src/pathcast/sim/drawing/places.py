"""Where the brokers of an overlay stand in its picture, and how large they are drawn.

Up to `_LARGE` brokers are boxes with their tables' sizes, up to `_SMALL` they are circles with a name, beyond that dots. A tree is laid out in layers, across or down as fits a
page better, or on rings if it has many leaves; a graph by stress, or on the rings of a tree of shortest ways if it is large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pathcast.sim.drawing.graphs import by_stress, pushed, untwisted
from pathcast.sim.drawing.trees import Point, Tree, in_layers, middle, on_rings, spanning
from pathcast.sim.topology import Topology

__all__ = ["BOX", "CIRCLE", "DOT", "Look", "Places", "places"]

_LARGE, _SMALL = 40, 160  # brokers
_MOST_LAYERED = 12  # leaves of a tree that is drawn in layers
_RADIUS = 1800  # of the largest rings; where they are too small, dots touch each other
_TINY = 7  # letters that are there for a magnifying glass
_PAGE = 1.3  # a tree grows downwards unless it fits a page so much better from left to right
_MOST_STRESS = 250  # brokers of a graph whose pairs are all looked at


@dataclass(frozen=True, slots=True)
class Look:
    """Half the width and height of a broker, the length of a link, the width of the busiest one; sizes of letters."""

    across: float
    down: float
    link: float
    widest: float
    name: int
    label: int
    badge: int  # half the size of a publisher's or subscribers' mark

    @property
    def apart(self) -> Point:
        """The least distance between two brokers."""
        return 2 * self.across + 1.5 * self.name, 2 * self.down + 1.5 * self.name

    @property
    def ring(self) -> float:
        """The least distance on a ring."""
        return 1.1 * max(self.apart) if self.name > _TINY else 2 * self.across + 4


BOX = Look(49, 20, 150, 12, 13, 10, 5)
CIRCLE = Look(13, 13, 62, 8, 9, 8, 3)
DOT = Look(4, 4, 36, 4, 7, 6, 2)


@dataclass(frozen=True, slots=True)
class Places:
    """The middle of each broker; all of it lies between (0, 0) and (width, height)."""

    at: Mapping[str, Point]
    look: Look
    width: float
    height: float


def places(topology: Topology) -> Places:
    """A place for every broker of an overlay."""
    many = len(topology.brokers)
    look = BOX if many <= _LARGE else CIRCLE if many <= _SMALL else DOT
    near = topology.neighbours()
    links = [(link.left, link.right) for link in topology.links]
    if topology.acyclic:
        found = _of_tree(near, topology.brokers[0], look)
    elif many <= _MOST_STRESS:
        hop = look.link
        raw = {one: (x * hop, y * hop) for one, (x, y) in by_stress(near, links).items()}
        found = pushed(raw, links, (look.apart[0] * 1.1, look.apart[1] * 1.3))
    else:
        found = _rings(untwisted(near, links), look)
    return _moved(found, look)


def _of_tree(near: dict[str, list[str]], first: str, look: Look) -> dict[str, Point]:
    tree = spanning(near, first)
    leaves, levels = tree.leaves()[first], tree.depth + 1
    if leaves > _MOST_LAYERED and leaves > levels:
        rooted = spanning(near, middle(near))
        return _rings(rooted, look)
    slots = in_layers(tree)
    across, down = look.apart[0] + look.name, look.apart[1] + look.name
    right, below = 2 * look.across + look.link / 2, 2 * look.down + look.link / 2
    if _PAGE * _off(levels * right / (leaves * down)) < _off(leaves * across / (levels * below)):
        return {one: (level * right, slot * down) for one, (slot, level) in slots.items()}
    return {one: (slot * across, level * below) for one, (slot, level) in slots.items()}


def _rings(tree: Tree, look: Look) -> dict[str, Point]:
    most = max(3 * look.link, _RADIUS / max(tree.depth, 1))
    return on_rings(tree, look.ring, look.link, most)


def _off(shape: float) -> float:
    """How far a picture that is so many times as wide as it is high is from a good one, which is twice as wide."""
    return max(shape / 2, 2 / shape)


def _moved(found: Mapping[str, Point], look: Look) -> Places:
    """Into the upper left corner, in tenths of pixels."""
    room = 3.5 * look.badge
    left = min(x for x, _ in found.values()) - look.across - room
    top = min(y for _, y in found.values()) - look.down - room
    at = {one: (round(x - left, 1), round(y - top, 1)) for one, (x, y) in found.items()}
    width = max(x for x, _ in at.values()) + look.across + room
    height = max(y for _, y in at.values()) + look.down + room
    return Places(at, look, round(width, 1), round(height, 1))
