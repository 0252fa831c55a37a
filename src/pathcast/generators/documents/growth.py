"""From the smallest document to the one that was asked for: slots are filled until there is enough.

Growth has a list of points, each a slot that could take more (see `writers`). `bloom` visits each point once,
and fills it as the options say: an optional part with the optional probability, a repeated one up to so many times.
What it writes brings points of its own, so it ends when all have been visited. A document that would stay at its
smallest gets one of its optional parts: nobody wants half of a feed to be empty roots.

`fill` has a size to reach. It visits points in random order, so that no part of a document is favoured, and stops
when the size is as near as it gets; what is too big for the rest is written once more at its cheapest, or left out. If
all points were visited and bytes are missing, it begins another round: then optional parts that were left out come
in, and repeated ones go beyond their number. The cost is that of writing, and of a visit for each point.

`stretch` is for schemas in which nothing can grow: it adds values to the texts that there are.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from pathcast.errors import WorkloadError
from pathcast.generators.documents.writers import MOST_STRINGS, Items, Point, Random

__all__ = ["bloom", "fill", "flat", "stretch", "zero"]

_MISSES = 16  # writings in vain that a nearly finished document is worth
_LONGEST = 5_000_000  # bytes of one text: libxml2 takes no more than twice that


def zero() -> float:
    """A random function with which writers write the cheapest thing."""
    return 0.0


def bloom(points: list[Point], random: Random, optional: float) -> None:
    """Fill every slot as drawn; if all stayed empty, fill one that need not."""
    free = [point for point in points if point[4]] if optional else []
    if not _visit(points, random, optional) and free:
        slot, row, number, most, _, path = free[int(random() * len(free))]
        for _ in range(1 + int(random() * most)):
            row[number](slot, random, points, path)
        _visit(points, random, optional)


def _visit(points: list[Point], random: Random, optional: float) -> int:
    """Fill slots as drawn until there are no more; returns how many strings were written."""
    written = 0
    while points:
        slot, row, number, most, may_be_absent, path = points.pop()
        drawn = random()
        if may_be_absent:
            if drawn >= optional:
                continue
            times = 1 + int(drawn / optional * most)
        else:
            times = int(drawn * most)
        for _ in range(times):
            row[number](slot, random, points, path)
        written += len(slot)
        if written > MOST_STRINGS:
            message = f"a document has more than {MOST_STRINGS} tags and texts, and is not finished"
            hint = "a lower repetition, optional, max_depth or recursion; or a size"
            raise WorkloadError("limit", message, hint=hint)
    return written


def fill(points: list[Point], random: Random, optional: float, missing: int) -> int:
    """Fill slots until no bytes are missing; returns how many still are (below 0: so many too much)."""
    enough = missing >> 6
    misses = 0
    first = True
    later: list[Point] = []
    before = missing
    while True:
        while points:
            place = random() * len(points)
            drawn = int(place)
            place -= drawn  # what is left of it is random, too
            point = points[drawn]
            last = points.pop()
            if last is not point:
                points[drawn] = last
            slot, row, number, most, may_be_absent, path = point
            if not first:
                times = 1 + int(place * most)
            elif not may_be_absent:
                times = int(place * most)
            elif place < optional:
                times = 1 + int(place / optional * most)
            else:
                times = 0
            if most or not times:
                later.append(point)
            if not times:
                continue
            begin, mark = len(slot), len(points)
            for _ in range(times):
                row[number](slot, random, points, path)
            size = sum(map(len, slot[begin:] if begin else slot))
            if size > missing:
                del slot[begin:], points[mark:]
                size = _squeeze(point, random, points, missing)
                misses += not size
                if misses > _MISSES and missing < enough << 2:
                    return missing
            missing -= size
            if missing <= enough:
                return missing
        if not later or (missing == before and not first):
            return missing
        before = missing
        first = False
        points, later = later, []


def _squeeze(point: Point, random: Random, points: list[Point], missing: int) -> int:
    """Fill a slot once with what brings the size nearer; returns the bytes, 0 if nothing does."""
    slot, row, number, _, _, path = point
    mark = len(points)
    for draw in (random, zero):
        unit: Items = []
        row[number](unit, draw, points, path)
        size = sum(map(len, unit))
        if size < 2 * missing:
            slot += unit
            return size
        del points[mark:]
    return 0


def flat(items: Items) -> list[str]:
    """The strings in order: slots are lists in lists, as deep as the document."""
    out: list[str] = []
    append = out.append
    waiting = []
    rest = iter(items)
    while True:
        for item in rest:
            if item.__class__ is str:
                append(item)
            elif item:
                waiting.append(rest)
                rest = iter(item)
                break
        else:
            if not waiting:
                return out
            rest = waiting.pop()


def stretch(
    strings: list[str], random: Random, texts: Sequence[str], ends: Container[str], missing: int
) -> int:
    """Add values to the texts before these end tags; returns how many bytes are still missing."""
    places = [at for at, one in enumerate(strings) if one[one.rfind("</") :] in ends]
    lines = len(texts)
    for turn, place in enumerate(places):
        share = min(missing // (len(places) - turn), _LONGEST)
        missing -= share
        more: list[str] = []
        while share > 0:
            value = texts[int(random() * lines)]
            more.append(value)
            share -= len(value) + 1
        missing += share
        head, tag, tail = strings[place].rpartition("</")
        strings[place] = f"{head} {' '.join(more)}{tag}{tail}" if more else strings[place]
    return missing
