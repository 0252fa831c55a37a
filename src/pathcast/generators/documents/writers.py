"""The functions that write a document, one maker for each shape of a content model.

A writer takes the list to write to, the random function, the list of points to note growth in, and the count of the
path (see `elements`). It writes the smallest thing that its part of the model allows, and leaves a slot, an
empty list, wherever more could stand. So what is written is valid at any time, and what it measures is the sum of the
lengths of its items.

Each maker binds all that it needs, so that a writer does nothing but draw and append: they are the inner loop.

>>> out, points = [], []
>>> repeated(([leaf(["<b>"], ["1", "2"], "</b>")], 0), 3, True, 0)(out, lambda: 0.5, points, 0)
>>> slot, row, number, *_ = points[0]
>>> row[number](slot, lambda: 0.5, points, 0)
>>> out
[['<b>2</b>']]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pathcast.errors import WorkloadError

__all__ = [
    "MOST_STRINGS",
    "Branches",
    "Items",
    "Part",
    "Point",
    "Random",
    "Writer",
    "blended",
    "choice",
    "drawn",
    "empty",
    "exact",
    "leaf",
    "mixed",
    "parent",
    "repeated",
    "sequence",
]

Random = Callable[[], float]
Items = list[Any]  # strings, and slots, which are Items again
Writer = Callable[[Items, Random, "list[Point]", int], None]
Part = tuple[list[Writer], int]
"""A row of writers and a number in it: what stands there may be made, or replaced, later."""
Point = tuple[Items, list[Writer], int, int, bool, int]
"""A slot, the part that it takes (row, number), how often (0 for once at most), may it stay empty, the path's count."""

MOST_STRINGS = 3_000_000
"""What one document may be made of; more is a mistake in the parameters."""


def empty(opens: Sequence[str]) -> Writer:
    """An element without content: any of its tags."""
    many = len(opens)

    def write(out: Items, random: Random, _points: list[Point], _path: int) -> None:
        out.append(opens[int(random() * many)])

    return write


def leaf(opens: Sequence[str], texts: Sequence[str], end: str) -> Writer:
    """An element with text alone."""
    many, lines = len(opens), len(texts)
    only = opens[0]

    def write(out: Items, random: Random, _points: list[Point], _path: int) -> None:
        out.append(f"{opens[int(random() * many)]}{texts[int(random() * lines)]}{end}")

    def plain(out: Items, random: Random, _points: list[Point], _path: int) -> None:
        out.append(f"{only}{texts[int(random() * lines)]}{end}")

    return plain if many == 1 else write


@dataclass(frozen=True, slots=True)
class Branches:
    """The children that may stand beside text: each one's part and need; and the texts."""

    parts: Sequence[Part]
    needs: Sequence[int]
    texts: Sequence[str]


def mixed(opens: Sequence[str], branches: Branches, most: int, end: str, step: int) -> Writer:
    """An element with text, and a slot for children with more text after each."""
    texts = branches.texts
    many, lines = len(opens), len(texts)
    row, number = [_spoken(branches)], 0

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        slot: Items = []
        first = f"{opens[int(random() * many)]}{texts[int(random() * lines)]}"
        out += (first, slot, end)
        points.append((slot, row, number, most, True, path + step))

    return write


def blended(
    opens: Sequence[str], branches: Branches, most: int, optional: float, end: str, step: int
) -> Writer:
    """An element with text, and with as many children as are drawn at once."""
    texts = branches.texts
    many, lines = len(opens), len(texts)
    absent = 1.0 - optional  # so that a random function of 0 leaves the children out
    spoken = _spoken(branches)

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        first = f"{opens[int(random() * many)]}{texts[int(random() * lines)]}"
        chance = random() - absent
        if chance <= 0.0:
            out.append(first + end)
            return
        out.append(first)
        path += step
        for _ in range(1 + int(chance / optional * most)):
            spoken(out, random, points, path)
        out.append(end)

    return write


def parent(opens: Sequence[str], parts: Sequence[Part], end: str, step: int) -> Writer:
    """An element with parts in a fixed order."""
    many = len(opens)
    only = opens[0]

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        out.append(opens[int(random() * many)])
        path += step
        for row, number in parts:
            row[number](out, random, points, path)
        out.append(end)

    def plain(out: Items, random: Random, points: list[Point], path: int) -> None:
        out.append(only)
        path += step
        for row, number in parts:
            row[number](out, random, points, path)
        out.append(end)

    return plain if many == 1 else write


def sequence(parts: Sequence[Part]) -> Writer:
    """Parts one after the other."""

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        for row, number in parts:
            row[number](out, random, points, path)

    return write


def choice(branches: Sequence[Part], needs: Sequence[int]) -> Writer:
    """One of the branches that the path leaves open; nothing if it leaves none."""
    many = len(branches)

    def free(out: Items, random: Random, points: list[Point], path: int) -> None:
        row, number = branches[int(random() * many)]
        row[number](out, random, points, path)

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        taken = int(random() * many)
        if path & needs[taken]:
            left = [branch for branch in range(many) if not path & needs[branch]]
            if not left:
                return
            taken = left[int(random() * len(left))]
        row, number = branches[taken]
        row[number](out, random, points, path)

    return write if any(needs) else free


def _spoken(branches: Branches) -> Writer:
    """One of the branches, and a text after it; nothing if the path leaves none open."""
    parts, needs, texts = branches.parts, branches.needs, branches.texts
    many, lines = len(parts), len(texts)
    limited = choice(parts, needs)

    def free(out: Items, random: Random, points: list[Point], path: int) -> None:
        row, number = parts[int(random() * many)]
        row[number](out, random, points, path)
        out.append(texts[int(random() * lines)])

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        before = len(out)
        limited(out, random, points, path)
        if len(out) > before:
            out.append(texts[int(random() * lines)])

    return write if any(needs) else free


def repeated(part: Part, most: int, may_be_absent: bool, need: int) -> Writer:
    """A slot for a part, after a first one if it may not miss; nothing where the path does not leave it open."""
    row, number = part

    def star(out: Items, _random: Random, points: list[Point], path: int) -> None:
        if not path & need:
            slot: Items = []
            out.append(slot)
            points.append((slot, row, number, most, True, path))

    def plus(out: Items, random: Random, points: list[Point], path: int) -> None:
        row[number](out, random, points, path)
        slot: Items = []
        out.append(slot)
        points.append((slot, row, number, most, False, path))

    return star if may_be_absent else plus


def drawn(part: Part, most: int, may_be_absent: bool, need: int, optional: float) -> Writer:
    """A part as often as drawn at once, with no slot: for small parts, which need not wait for their turn."""
    row, number = part
    absent = 1.0 - optional  # so that a random function of 0 leaves the part out

    def star(out: Items, random: Random, points: list[Point], path: int) -> None:
        chance = random() - absent
        if chance > 0.0 and not path & need:
            for _ in range(1 + int(chance / optional * most)):
                row[number](out, random, points, path)

    def plus(out: Items, random: Random, points: list[Point], path: int) -> None:
        for _ in range(1 + int(random() * most)):
            row[number](out, random, points, path)

    return star if may_be_absent else plus


def exact(
    bodies: Sequence[tuple[int, Part, int]], rest: Part | None, fallback: Part | None
) -> Writer:
    """Each body (how many, what, its need) so often, in any order, then the rest; else the fallback, if any."""

    def write(out: Items, random: Random, points: list[Point], path: int) -> None:
        left = [(many, part) for many, part, need in bodies if not path & need and many]
        written = bool(left)
        while left:
            turn = int(random() * len(left)) if len(left) > 1 else 0
            many, (row, number) = left[turn]
            row[number](out, random, points, path)
            left[turn : turn + 1] = [(many - 1, (row, number))] if many > 1 else []
            if len(out) > MOST_STRINGS:
                message = (
                    f"a document of more than {MOST_STRINGS} tags and texts is needed for repeat"
                )
                hint = "a lower repeat, max_depth or recursion"
                raise WorkloadError("limit", message, hint=hint)
        if rest is not None:
            rest[0][rest[1]](out, random, points, path)
        elif fallback is not None and not written:
            fallback[0][fallback[1]](out, random, points, path)

    return write
