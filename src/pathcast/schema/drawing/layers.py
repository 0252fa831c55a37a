"""Places for the boxes of an element graph: columns by depth, few crossings, no two boxes over each other.

The column of an element is how near to the root it may stand, so an edge leads at most one column to the right, and no edge
needs a way around boxes to get there. Inside the columns, barycentre sweeps (each box goes to the mean of its neighbours in
the column before it, then in the one behind it) lessen the crossings of those edges; the best order seen is kept.
Heights are then chosen so that each box is near the middle of its parents and its children, in the order found: with the
least distance between boxes subtracted, that is isotonic regression, solved by pooling adjacent violators.

Everything is counted in whole pixels, and ties go by the order of the DTD, so a schema always has the same drawing.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Box", "Layout", "crossings", "layout"]

BOX_HEIGHT, STEP = 20, 30  # STEP - BOX_HEIGHT is the room between two boxes of a column
MARGIN = 24
_CHARACTER = 7.5  # a little more than what a monospaced character of 12 pixels takes
_PADDING = 16
_SWEEPS = 12
_PASSES = 4

Columns = list[list[str]]
_Links = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its upper left corner."""

    x: int
    y: int
    width: int
    height: int = BOX_HEIGHT

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def middle(self) -> int:
        return self.y + self.height // 2


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes by element name, and the size of the whole with a margin around it."""

    boxes: Mapping[str, Box]
    width: int
    height: int


def layout(
    depth: Mapping[str, int], children: Mapping[str, tuple[str, ...]], top: int = MARGIN
) -> Layout:
    """Boxes for the elements of `depth` (1 is the first column), below `top`."""
    columns: Columns = [[] for _ in range(max(depth.values(), default=0))]
    for name, at in depth.items():
        columns[at - 1].append(name)
    down = {
        name: [one for one in children[name] if depth[one] == depth[name] + 1] for name in depth
    }
    up: dict[str, list[str]] = {name: [] for name in depth}
    for name, below in down.items():
        for child in below:
            up[child].append(name)
    columns = _ordered(columns, down, up)
    heights = _heights(columns, down, up)
    first = min(heights.values(), default=0)
    boxes: dict[str, Box] = {}
    x = MARGIN
    for column in columns:
        width = max(_width(name) for name in column)
        for name in column:
            boxes[name] = Box(x, heights[name] - first + top, width)
        # Where many boxes stand above each other, steep curves need more room between the columns.
        x += width + max(80, min(260, len(column) * STEP // 5))
    right = max((box.right for box in boxes.values()), default=0)
    bottom = max((box.y + box.height for box in boxes.values()), default=top)
    return Layout(boxes, right + 6 * MARGIN, bottom + MARGIN)


def crossings(columns: Columns, down: _Links) -> int:
    """How many pairs of edges between neighbouring columns cross."""
    total = 0
    for left, right in pairwise(columns):
        place = {name: index for index, name in enumerate(right)}
        seen: list[int] = []  # where the edges of the boxes above lead
        for name in left:
            ends = sorted(place[child] for child in down[name])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _ordered(columns: Columns, down: _Links, up: _Links) -> Columns:
    best, fewest = columns, crossings(columns, down)
    current = [list(column) for column in columns]
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        forth = sweep % 2 == 0
        links = up if forth else down
        order = range(1, len(current)) if forth else range(len(current) - 2, -1, -1)
        for index in order:
            fixed = current[index - 1 if forth else index + 1]
            current[index] = _by_barycentre(current[index], fixed, links)
        many = crossings(current, down)
        if many < fewest:
            best, fewest = [list(column) for column in current], many
    return best


def _by_barycentre(column: list[str], fixed: list[str], links: _Links) -> list[str]:
    place = {name: index for index, name in enumerate(fixed)}
    keys = []
    for index, name in enumerate(column):
        ends = [place[one] for one in links[name]]
        # Without a neighbour there, a box keeps its relative place.
        keys.append(sum(ends) / len(ends) if ends else index * len(fixed) / len(column))
    order = sorted(range(len(column)), key=lambda index: (keys[index], index))
    return [column[index] for index in order]


def _heights(columns: Columns, down: _Links, up: _Links) -> dict[str, int]:
    heights = {name: index * STEP for column in columns for index, name in enumerate(column)}
    for number in range(_PASSES):
        forth = number % 2 == 1
        for column in columns if forth else reversed(columns):
            wanted = []
            for name in column:
                ends = [heights[one] for one in (up if forth else down)[name]]
                wanted.append(sum(ends) / len(ends) if ends else heights[name])
            heights |= zip(column, _apart(wanted), strict=True)
    return heights


def _apart(wanted: list[float]) -> list[int]:
    """The heights nearest to the wanted ones that keep the order, and STEP between two of them.

    >>> _apart([100.0, 100.0, 0.0])
    [36, 66, 96]
    """
    pools: list[tuple[float, int]] = []  # sums and sizes; the means must not fall
    for index, value in enumerate(wanted):
        total, size = value - index * STEP, 1
        while pools and pools[-1][0] * size >= total * pools[-1][1]:
            above, more = pools.pop()
            total, size = total + above, size + more
        pools.append((total, size))
    flat = [int(total // size) for total, size in pools for _ in range(size)]
    return [y + index * STEP for index, y in enumerate(flat)]


def _width(name: str) -> int:
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in name)
    return int((len(name) + wide) * _CHARACTER) + _PADDING
