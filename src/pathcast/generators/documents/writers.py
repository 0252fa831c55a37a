"""The functions that write a document, one maker for each shape of a content model.

A writer takes the list to write to, the random function, the list of points to note growth in, and the count of the
path (see `elements`). It writes the smallest thing that its part of the model allows, and leaves a slot, an
empty list, wherever more could stand. So what is written is valid at any time, and what it measures is the sum of the
lengths of its items.

Each maker binds all that it needs, so that a writer does nothing but draw and append: they are the inner loop.

>>> out, points = [], []
>>> growth_slot(([text_element(["<b>"], ["1", "2"], "</b>")], 0), 3, True, 0)(out, lambda: 0.5, points, 0)
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
    "MAX_STRINGS",
    "GrowthPoint",
    "MixedContent",
    "OutputItems",
    "RandomFunction",
    "Writer",
    "WriterRef",
    "choice",
    "empty_element",
    "exact_repeats",
    "growth_slot",
    "mixed_element",
    "mixed_element_at_once",
    "parent_element",
    "repeat_at_once",
    "sequence",
    "text_element",
]

RandomFunction = Callable[[], float]
OutputItems = list[Any]  # strings, and slots, which are Items again
Writer = Callable[[OutputItems, RandomFunction, "list[GrowthPoint]", int], None]
WriterRef = tuple[list[Writer], int]
"""A row of writers and a number in it: what stands there may be made, or replaced, later."""
GrowthPoint = tuple[OutputItems, list[Writer], int, int, bool, int]
"""A slot, the part that it takes (row, number), how often (0 for once at most), may it stay empty, the path's count."""

MAX_STRINGS = 3_000_000
"""What one document may be made of; more is a mistake in the parameters."""


def empty_element(start_tags: Sequence[str]) -> Writer:
    """An element without content: any of its tags."""
    tag_count = len(start_tags)

    def write(
        out: OutputItems, random: RandomFunction, _points: list[GrowthPoint], _path: int
    ) -> None:
        out.append(start_tags[int(random() * tag_count)])

    return write


def text_element(start_tags: Sequence[str], texts: Sequence[str], end_tag: str) -> Writer:
    """An element with text alone."""
    tag_count, text_count = len(start_tags), len(texts)
    single_tag = start_tags[0]

    def write(
        out: OutputItems, random: RandomFunction, _points: list[GrowthPoint], _path: int
    ) -> None:
        out.append(
            f"{start_tags[int(random() * tag_count)]}{texts[int(random() * text_count)]}{end_tag}"
        )

    def write_single(
        out: OutputItems, random: RandomFunction, _points: list[GrowthPoint], _path: int
    ) -> None:
        out.append(f"{single_tag}{texts[int(random() * text_count)]}{end_tag}")

    return write_single if tag_count == 1 else write


@dataclass(frozen=True, slots=True)
class MixedContent:
    """The children that may stand beside text: each one's part and need; and the texts."""

    parts: Sequence[WriterRef]
    masks: Sequence[int]
    texts: Sequence[str]


def mixed_element(
    start_tags: Sequence[str], content: MixedContent, max_repeats: int, end_tag: str, step: int
) -> Writer:
    """An element with text, and a slot for children with more text after each."""
    texts = content.texts
    tag_count, text_count = len(start_tags), len(texts)
    row, number = [_child_and_text(content)], 0

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        slot: OutputItems = []
        first = f"{start_tags[int(random() * tag_count)]}{texts[int(random() * text_count)]}"
        out += (first, slot, end_tag)
        points.append((slot, row, number, max_repeats, True, path + step))

    return write


def mixed_element_at_once(
    start_tags: Sequence[str],
    content: MixedContent,
    max_repeats: int,
    optional: float,
    end_tag: str,
    step: int,
) -> Writer:
    """An element with text, and with as many children as are drawn at once."""
    texts = content.texts
    tag_count, text_count = len(start_tags), len(texts)
    absent = 1.0 - optional  # so that a random function of 0 leaves the children out
    write_child = _child_and_text(content)

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        first = f"{start_tags[int(random() * tag_count)]}{texts[int(random() * text_count)]}"
        excess = random() - absent
        if excess <= 0.0:
            out.append(first + end_tag)
            return
        out.append(first)
        path += step
        for _ in range(1 + int(excess / optional * max_repeats)):
            write_child(out, random, points, path)
        out.append(end_tag)

    return write


def parent_element(
    start_tags: Sequence[str], parts: Sequence[WriterRef], end_tag: str, step: int
) -> Writer:
    """An element with parts in a fixed order."""
    tag_count = len(start_tags)
    single_tag = start_tags[0]

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        out.append(start_tags[int(random() * tag_count)])
        path += step
        for row, number in parts:
            row[number](out, random, points, path)
        out.append(end_tag)

    def write_single(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        out.append(single_tag)
        path += step
        for row, number in parts:
            row[number](out, random, points, path)
        out.append(end_tag)

    return write_single if tag_count == 1 else write


def sequence(parts: Sequence[WriterRef]) -> Writer:
    """Parts one after the other."""

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        for row, number in parts:
            row[number](out, random, points, path)

    return write


def choice(branches: Sequence[WriterRef], masks: Sequence[int]) -> Writer:
    """One of the branches that the path leaves open; nothing if it leaves none."""
    branch_count = len(branches)

    def write_any(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        row, number = branches[int(random() * branch_count)]
        row[number](out, random, points, path)

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        chosen = int(random() * branch_count)
        if path & masks[chosen]:
            open_branches = [branch for branch in range(branch_count) if not path & masks[branch]]
            if not open_branches:
                return
            chosen = open_branches[int(random() * len(open_branches))]
        row, number = branches[chosen]
        row[number](out, random, points, path)

    return write if any(masks) else write_any


def _child_and_text(content: MixedContent) -> Writer:
    """One of the branches, and a text after it; nothing if the path leaves none open."""
    parts, masks, texts = content.parts, content.masks, content.texts
    branch_count, text_count = len(parts), len(texts)
    write_branch = choice(parts, masks)

    def write_any(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        row, number = parts[int(random() * branch_count)]
        row[number](out, random, points, path)
        out.append(texts[int(random() * text_count)])

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        before = len(out)
        write_branch(out, random, points, path)
        if len(out) > before:
            out.append(texts[int(random() * text_count)])

    return write if any(masks) else write_any


def growth_slot(part: WriterRef, max_repeats: int, may_be_absent: bool, mask: int) -> Writer:
    """A slot for a part, after a first one if it may not miss; nothing where the path does not leave it open."""
    row, number = part

    def write_optional(
        out: OutputItems, _random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        if not path & mask:
            slot: OutputItems = []
            out.append(slot)
            points.append((slot, row, number, max_repeats, True, path))

    def write_required(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        row[number](out, random, points, path)
        slot: OutputItems = []
        out.append(slot)
        points.append((slot, row, number, max_repeats, False, path))

    return write_optional if may_be_absent else write_required


def repeat_at_once(
    part: WriterRef, max_repeats: int, may_be_absent: bool, mask: int, optional: float
) -> Writer:
    """A part as often as drawn at once, with no slot: for small parts, which need not wait for their turn."""
    row, number = part
    absent = 1.0 - optional  # so that a random function of 0 leaves the part out

    def write_optional(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        excess = random() - absent
        if excess > 0.0 and not path & mask:
            for _ in range(1 + int(excess / optional * max_repeats)):
                row[number](out, random, points, path)

    def write_required(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        for _ in range(1 + int(random() * max_repeats)):
            row[number](out, random, points, path)

    return write_optional if may_be_absent else write_required


def exact_repeats(
    bodies: Sequence[tuple[int, WriterRef, int]],
    others: WriterRef | None,
    fallback: WriterRef | None,
) -> Writer:
    """Each body (how many, what, its need) so often, in any order, then the rest; else the fallback, if any."""

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        remaining = [(count, part) for count, part, mask in bodies if not path & mask and count]
        written = bool(remaining)
        while remaining:
            turn = int(random() * len(remaining)) if len(remaining) > 1 else 0
            count, (row, number) = remaining[turn]
            row[number](out, random, points, path)
            remaining[turn : turn + 1] = [(count - 1, (row, number))] if count > 1 else []
            if len(out) > MAX_STRINGS:
                message = (
                    f"a document of more than {MAX_STRINGS} tags and texts is needed for repeat"
                )
                hint = "a lower repeat, max_depth or recursion"
                raise WorkloadError("limit", message, hint=hint)
        if others is not None:
            others[0][others[1]](out, random, points, path)
        elif fallback is not None and not written:
            fallback[0][fallback[1]](out, random, points, path)

    return write
