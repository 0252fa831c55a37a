"""Writers: closures that write a document, one constructor per form of content model.

A writer takes the list to write to, the random function, the list of growth points, and the
recursion counters of the path (see `usable_elements`). It writes the minimal content of its model
and leaves a slot, an empty list, where more may follow. So the output is valid at any time, and its
size is the sum of the lengths of its items.

Constructors bind all that a writer needs: writers are the inner loop and only draw and append.

>>> out, points = [], []
>>> element = [text_element(["<b>"], ["1", "2"], "</b>")], 0
>>> growth_slot(element, 3, True, 0)(out, lambda: 0.5, points, 0)
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
OutputItems = list[Any]  # strings and slots; a slot is again a list of items
Writer = Callable[[OutputItems, RandomFunction, "list[GrowthPoint]", int], None]
WriterRef = tuple[list[Writer], int]
"""A row of writers and an index into it; the entry may be compiled or replaced later."""
GrowthPoint = tuple[OutputItems, list[Writer], int, int, bool, int]
"""Slot, writer (row, index), most repetitions (0: at most once), may stay empty, path counters."""

MAX_STRINGS = 3_000_000
"""Limit for one document; more indicates a mistake in the parameters."""


def empty_element(start_tags: Sequence[str]) -> Writer:
    """Return a writer of an element without content: one of its tags."""
    tag_count = len(start_tags)

    def write(
        out: OutputItems, random: RandomFunction, _points: list[GrowthPoint], _path: int
    ) -> None:
        out.append(start_tags[int(random() * tag_count)])

    return write


def text_element(start_tags: Sequence[str], texts: Sequence[str], end_tag: str) -> Writer:
    """Return a writer of an element with text only."""
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
    """The children that may stand beside text, with their recursion masks, and the texts."""

    parts: Sequence[WriterRef]
    masks: Sequence[int]
    texts: Sequence[str]


def mixed_element(
    start_tags: Sequence[str], content: MixedContent, max_repeats: int, end_tag: str, step: int
) -> Writer:
    """Return a writer of an element with text, and a slot for children with text after each."""
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
    """Return a writer of an element with text and children, without a slot."""
    texts = content.texts
    tag_count, text_count = len(start_tags), len(texts)
    absent = 1.0 - optional  # a random function of 0 omits the children
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
    """Return a writer of an element with parts in a fixed order."""
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
    """Return a writer of parts in order."""

    def write(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        for row, number in parts:
            row[number](out, random, points, path)

    return write


def choice(branches: Sequence[WriterRef], masks: Sequence[int]) -> Writer:
    """Return a writer of one branch that the path allows; it writes nothing if there is none."""
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
    """Return a writer of one allowed branch and a text; it writes nothing if there is no branch."""
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
    """Return a writer of a slot, after one required occurrence unless `may_be_absent`."""
    row, number = part

    def write_optional(
        out: OutputItems, _random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        if not path & mask:
            slot: OutputItems = []
            out.append(slot)
            points.append((slot, row, number, max_repeats, True, path))

    def write_mandatory(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        row[number](out, random, points, path)
        slot: OutputItems = []
        out.append(slot)
        points.append((slot, row, number, max_repeats, False, path))

    return write_optional if may_be_absent else write_mandatory


def repeat_at_once(
    part: WriterRef, max_repeats: int, may_be_absent: bool, mask: int, optional: float
) -> Writer:
    """Return a writer of a part as often as drawn, without a slot, for small parts."""
    row, number = part
    absent = 1.0 - optional  # a random function of 0 omits the part

    def write_optional(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        excess = random() - absent
        if excess > 0.0 and not path & mask:
            for _ in range(1 + int(excess / optional * max_repeats)):
                row[number](out, random, points, path)

    def write_mandatory(
        out: OutputItems, random: RandomFunction, points: list[GrowthPoint], path: int
    ) -> None:
        for _ in range(1 + int(random() * max_repeats)):
            row[number](out, random, points, path)

    return write_optional if may_be_absent else write_mandatory


def exact_repeats(
    bodies: Sequence[tuple[int, WriterRef, int]],
    others: WriterRef | None,
    fallback: WriterRef | None,
) -> Writer:
    """Return a writer of exact repetitions in random order, then of `others`.

    A body is (count, part, mask). If no body can be written, the fallback is.
    """

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
