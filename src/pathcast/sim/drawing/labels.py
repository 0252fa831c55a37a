"""Labels only where there is room: each asks for a rectangle, and gets it if nobody has any of it.

Rectangles are kept in cells of a grid, so a thousand of them need not all be compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

__all__ = ["Rectangle", "Room", "width_of"]

Rectangle: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
_CELL = 64
_CHARACTER = 0.56  # of the size of a letter: digits and small letters of a sans-serif, about


def width_of(text: str, size: int) -> float:
    return len(text) * size * _CHARACTER


class Room:
    def __init__(self) -> None:
        self._cells: defaultdict[tuple[int, int], list[Rectangle]] = defaultdict(list)

    def take(self, rectangle: Rectangle) -> None:
        """It is taken, whoever has it besides."""
        for cell in _cells(rectangle):
            self._cells[cell].append(rectangle)

    def ask(self, x: float, y: float, text: str, size: int) -> bool:
        """Room for a text around a point; whether there is."""
        half = width_of(text, size) / 2
        wanted = (x - half, y - size / 2, x + half, y + size / 2)
        if any(_meet(wanted, one) for cell in _cells(wanted) for one in self._cells[cell]):
            return False
        self.take(wanted)
        return True


def _cells(rectangle: Rectangle) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = (int(side // _CELL) for side in rectangle)
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield column, row


def _meet(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
