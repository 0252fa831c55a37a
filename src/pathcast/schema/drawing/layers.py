"""Layered layout of an element graph (Sugiyama's method): columns by depth, few crossings.

The column of an element is its least depth, so an edge leads at most one column to the right and
needs no route around boxes. Barycentre sweeps order the boxes of a column by the mean position of
their neighbours, in the column to the left and the column to the right alternately. The order with
the fewest crossings is kept.

Vertical positions bring each box near the middle of its parents and children, in the given order.
With the minimal distances subtracted, that is isotonic regression, solved by pooling adjacent
violators.

Coordinates are integer pixels and ties follow DTD order, so a schema always has the same drawing.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Box", "Layout", "crossings", "layout"]

BOX_HEIGHT, STEP = 20, 30  # STEP - BOX_HEIGHT: gap between the boxes of a column
MARGIN = 24
_CHARACTER_WIDTH = 7.5  # pixels; a little more than a monospaced 12-pixel character
_PADDING = 16
_SWEEPS = 12
_PASSES = 4

Columns = list[list[str]]
_Links = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, by its upper left corner."""

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
    """Boxes by element name, and the size of the drawing with its margin."""

    boxes: Mapping[str, Box]
    width: int
    height: int


def layout(
    depth: Mapping[str, int], children: Mapping[str, tuple[str, ...]], top: int = MARGIN
) -> Layout:
    """Place the elements of `depth` (1 is the first column) in boxes below `top`."""
    columns: Columns = [[] for _ in range(max(depth.values(), default=0))]
    for name, at in depth.items():
        columns[at - 1].append(name)
    down = {
        name: [child for child in children[name] if depth[child] == depth[name] + 1]
        for name in depth
    }
    up: dict[str, list[str]] = {name: [] for name in depth}
    for name, below in down.items():
        for child in below:
            up[child].append(name)
    columns = _order_columns(columns, down, up)
    heights = _y_positions(columns, down, up)
    first = min(heights.values(), default=0)
    boxes: dict[str, Box] = {}
    x = MARGIN
    for column in columns:
        width = max(_width(name) for name in column)
        for name in column:
            boxes[name] = Box(x, heights[name] - first + top, width)
        # Tall columns have steep curves, which need a wider gap.
        x += width + max(80, min(260, len(column) * STEP // 5))
    right = max((box.right for box in boxes.values()), default=0)
    bottom = max((box.y + box.height for box in boxes.values()), default=top)
    return Layout(boxes, right + 6 * MARGIN, bottom + MARGIN)


def crossings(columns: Columns, down: _Links) -> int:
    """Return the number of pairs of edges between adjacent columns that cross."""
    total = 0
    for left, right in pairwise(columns):
        position = {name: index for index, name in enumerate(right)}
        seen: list[int] = []  # end positions of the edges of the boxes above
        for name in left:
            ends = sorted(position[child] for child in down[name])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _order_columns(columns: Columns, down: _Links, up: _Links) -> Columns:
    best, fewest = columns, crossings(columns, down)
    current = [list(column) for column in columns]
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        left_to_right = sweep % 2 == 0
        links = up if left_to_right else down
        order = range(1, len(current)) if left_to_right else range(len(current) - 2, -1, -1)
        for index in order:
            fixed = current[index - 1 if left_to_right else index + 1]
            current[index] = _by_barycentre(current[index], fixed, links)
        count = crossings(current, down)
        if count < fewest:
            best, fewest = [list(column) for column in current], count
    return best


def _by_barycentre(column: list[str], fixed: list[str], links: _Links) -> list[str]:
    position = {name: index for index, name in enumerate(fixed)}
    keys = []
    for index, name in enumerate(column):
        ends = [position[neighbour] for neighbour in links[name]]
        # A box without neighbours there keeps its relative position.
        keys.append(sum(ends) / len(ends) if ends else index * len(fixed) / len(column))
    order = sorted(range(len(column)), key=lambda index: (keys[index], index))
    return [column[index] for index in order]


def _y_positions(columns: Columns, down: _Links, up: _Links) -> dict[str, int]:
    heights = {name: index * STEP for column in columns for index, name in enumerate(column)}
    for number in range(_PASSES):
        left_to_right = number % 2 == 1
        for column in columns if left_to_right else reversed(columns):
            desired = []
            for name in column:
                ends = [heights[neighbour] for neighbour in (up if left_to_right else down)[name]]
                desired.append(sum(ends) / len(ends) if ends else heights[name])
            heights |= zip(column, _separate(desired), strict=True)
    return heights


def _separate(desired: list[float]) -> list[int]:
    """Return the positions nearest to the desired ones that keep order and STEP between boxes.

    >>> _separate([100.0, 100.0, 0.0])
    [36, 66, 96]
    """
    pools: list[tuple[float, int]] = []  # sums and sizes; means must not decrease
    for index, value in enumerate(desired):
        total, size = value - index * STEP, 1
        while pools and pools[-1][0] * size >= total * pools[-1][1]:
            pool_total, pool_size = pools.pop()
            total, size = total + pool_total, size + pool_size
        pools.append((total, size))
    flat = [int(total // size) for total, size in pools for _ in range(size)]
    return [y + index * STEP for index, y in enumerate(flat)]


def _width(name: str) -> int:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in name)
    return int((len(name) + wide) * _CHARACTER_WIDTH) + _PADDING
