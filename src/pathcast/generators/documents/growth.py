"""Growth: fills the slots of a minimal document until it has the requested size.

The input is a list of growth points, each a slot that can take more content (see `writers`).

`grow_freely` visits each point once and fills it as the options say: an optional part with the
optional probability, a repeatable one up to the maximal number of times. New content brings new
points; the loop ends when all have been visited. If every slot stays empty, one optional part is
added, so that a feed does not consist of empty roots.

`grow_to_size` has a size to reach. It visits points in random order, so no part of a document is
favoured, and stops near the size. Content that is too big is drawn again at its cheapest, or
omitted. If bytes are missing after all points were visited, another round adds the optional parts
omitted so far and further repetitions. The cost is that of writing, plus a visit per point.

`lengthen_texts` serves schemas in which nothing can grow: it adds values to existing texts.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from pathcast.errors import WorkloadError
from pathcast.generators.documents.writers import (
    MAX_STRINGS,
    GrowthPoint,
    OutputItems,
    RandomFunction,
)

__all__ = ["always_zero", "flatten", "grow_freely", "grow_to_size", "lengthen_texts"]

_MAX_MISSES = 16  # rejected draws before a nearly complete document is accepted
_MAX_TEXT_SIZE = 5_000_000  # bytes; libxml2's limit is twice that


def always_zero() -> float:
    """Random function with which every writer writes its cheapest content."""
    return 0.0


def grow_freely(points: list[GrowthPoint], random: RandomFunction, optional: float) -> None:
    """Fill every slot as drawn; if all stay empty, fill an optional one."""
    free = [point for point in points if point[4]] if optional else []
    if not _fill_slots(points, random, optional) and free:
        slot, row, number, max_repeats, _, path = free[int(random() * len(free))]
        for _ in range(1 + int(random() * max_repeats)):
            row[number](slot, random, points, path)
        _fill_slots(points, random, optional)


def _fill_slots(points: list[GrowthPoint], random: RandomFunction, optional: float) -> int:
    """Fill slots as drawn until none is left; return the number of strings written."""
    written = 0
    while points:
        slot, row, number, max_repeats, may_be_absent, path = points.pop()
        draw = random()
        if may_be_absent:
            if draw >= optional:
                continue
            times = 1 + int(draw / optional * max_repeats)
        else:
            times = int(draw * max_repeats)
        for _ in range(times):
            row[number](slot, random, points, path)
        written += len(slot)
        if written > MAX_STRINGS:
            message = f"a document has more than {MAX_STRINGS} tags and texts, and is not finished"
            hint = "a lower repetition, optional, max_depth or recursion; or a size"
            raise WorkloadError("limit", message, hint=hint)
    return written


def grow_to_size(
    points: list[GrowthPoint], random: RandomFunction, optional: float, missing: int
) -> int:
    """Fill slots until no bytes are missing; return the missing bytes (negative: excess)."""
    tolerance = missing >> 6
    misses = 0
    first = True
    next_round: list[GrowthPoint] = []
    before = missing
    while True:
        while points:
            fraction = random() * len(points)
            index = int(fraction)
            fraction -= index  # the fractional part is uniform as well
            point = points[index]
            last = points.pop()
            if last is not point:
                points[index] = last
            slot, row, number, max_repeats, may_be_absent, path = point
            if not first:
                times = 1 + int(fraction * max_repeats)
            elif not may_be_absent:
                times = int(fraction * max_repeats)
            elif fraction < optional:
                times = 1 + int(fraction / optional * max_repeats)
            else:
                times = 0
            if max_repeats or not times:
                next_round.append(point)
            if not times:
                continue
            begin, mark = len(slot), len(points)
            for _ in range(times):
                row[number](slot, random, points, path)
            size = sum(map(len, slot[begin:] if begin else slot))
            if size > missing:
                del slot[begin:], points[mark:]
                size = _fill_once(point, random, points, missing)
                misses += not size
                if misses > _MAX_MISSES and missing < tolerance << 2:
                    return missing
            missing -= size
            if missing <= tolerance:
                return missing
        if not next_round or (missing == before and not first):
            return missing
        before = missing
        first = False
        points, next_round = next_round, []


def _fill_once(
    point: GrowthPoint, random: RandomFunction, points: list[GrowthPoint], missing: int
) -> int:
    """Fill a slot once if that brings the size nearer; return the bytes added."""
    slot, row, number, _, _, path = point
    mark = len(points)
    for draw in (random, always_zero):
        unit: OutputItems = []
        row[number](unit, draw, points, path)
        size = sum(map(len, unit))
        if size < 2 * missing:
            slot += unit
            return size
        del points[mark:]
    return 0


def flatten(items: OutputItems) -> list[str]:
    """Return the strings in order; slots are nested lists, as deep as the document."""
    out: list[str] = []
    append = out.append
    waiting = []
    iterator = iter(items)
    while True:
        for item in iterator:
            if item.__class__ is str:
                append(item)
            elif item:
                waiting.append(iterator)
                iterator = iter(item)
                break
        else:
            if not waiting:
                return out
            iterator = waiting.pop()


def lengthen_texts(
    strings: list[str],
    random: RandomFunction,
    texts: Sequence[str],
    ends: Container[str],
    missing: int,
) -> int:
    """Add values to the texts before these end tags; return the bytes still missing."""
    text_indices = [at for at, string in enumerate(strings) if string[string.rfind("</") :] in ends]
    text_count = len(texts)
    for turn, index in enumerate(text_indices):
        share = min(missing // (len(text_indices) - turn), _MAX_TEXT_SIZE)
        missing -= share
        values: list[str] = []
        while share > 0:
            value = texts[int(random() * text_count)]
            values.append(value)
            share -= len(value) + 1
        missing += share
        head, tag, tail = strings[index].rpartition("</")
        strings[index] = f"{head} {' '.join(values)}{tag}{tail}" if values else strings[index]
    return missing
