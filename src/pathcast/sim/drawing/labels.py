"""Placement of labels without overlaps: a set of occupied rectangles.

A grid of cells indexes the rectangles, so that a query compares only those nearby.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

__all__ = ["OccupiedArea", "Rectangle", "width_of"]

Rectangle: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
_CELL = 64
_CHARACTER_WIDTH = 0.56  # of the font size; digits and lower case of a sans-serif, about


def width_of(text: str, size: int) -> float:
    """Estimate the width of a text at a font size."""
    return len(text) * size * _CHARACTER_WIDTH


class OccupiedArea:
    """The rectangles that are taken."""

    def __init__(self) -> None:
        self._cells: defaultdict[tuple[int, int], list[Rectangle]] = defaultdict(list)

    def occupy(self, rectangle: Rectangle) -> None:
        """Mark a rectangle as taken, also where it overlaps others."""
        for cell in _cells(rectangle):
            self._cells[cell].append(rectangle)

    def try_occupy(self, x: float, y: float, text: str, size: int) -> bool:
        """Take the room of a text around a point; return False if some of it is taken."""
        half = width_of(text, size) / 2
        label = (x - half, y - size / 2, x + half, y + size / 2)
        if any(_overlap(label, other) for cell in _cells(label) for other in self._cells[cell]):
            return False
        self.occupy(label)
        return True


def _cells(rectangle: Rectangle) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = (int(side // _CELL) for side in rectangle)
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield column, row


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
