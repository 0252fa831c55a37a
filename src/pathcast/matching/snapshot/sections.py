"""Snapshot <-> the sections of a file, in order: arrays of int32 first, then lists in JSON.

Here it is checked that the sections fit each other; each for itself is checked in `contents` and `plans`, and
labels and ends by `Paths.fill` when they are loaded.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from pathcast.matching.snapshot.contents import (
    ids_from_json,
    ids_to_json,
    names_from_json,
    patterns_from_json,
    patterns_to_json,
    values_from_json,
)
from pathcast.matching.snapshot.faults import wrong
from pathcast.matching.snapshot.model import SavedPattern, Snapshot
from pathcast.matching.snapshot.plans import Plans, plan_codes

__all__ = ["packed", "unpacked"]

_ARRAYS: Final = 5  # so many sections are arrays, and they come first
_MAX_HOPS: Final = 4096


def packed(snapshot: Snapshot) -> list[memoryview]:
    """The sections of a file, in order."""
    patterns = snapshot.patterns
    parts: list[bytes | memoryview] = [
        snapshot.labels,
        snapshot.ends,
        snapshot.hops,
        snapshot.entries,
        plan_codes(one.alternatives for one in patterns).tobytes(),
    ]
    columns = patterns_to_json(patterns)
    return [
        *[_turned(memoryview(part).cast("B")) for part in parts],
        _json(ids_to_json(snapshot.ids), "surrogatepass"),
        *[_json(part) for part in (snapshot.names, snapshot.values, columns)],
    ]


def unpacked(sections: Sequence[memoryview]) -> Snapshot:
    """The other way; everything is checked but what `Paths.fill` looks at anyway."""
    if any(len(section) % 4 for section in sections[:_ARRAYS]):
        wrong("an array ends within a number")
    labels, ends, hops, entries, plans = [
        _turned(section).cast("i") for section in sections[:_ARRAYS]
    ]
    ids, names, values, patterns = sections[_ARRAYS:]
    found = Snapshot(
        ids=ids_from_json(_list(ids, "surrogatepass")),
        names=names_from_json(_list(names)),
        values=values_from_json(_list(values)),
        labels=labels,
        ends=ends,
        hops=hops,
        entries=entries,
        patterns=[],
    )
    count = len(found.ids)
    if not len(ends) == len(hops) == len(entries) == count:
        wrong(f"{count} ids, {len(ends)} paths, {len(hops)} hops and {len(entries)} entries")
    if (ends[-1] if count else 0) != len(labels):
        wrong("labels that belong to no path")
    if count and not -1 <= min(hops) <= max(hops) < _MAX_HOPS:
        wrong(f"a hop that is not from 0 to {_MAX_HOPS - 1}")
    plan = Plans(plans.tolist(), len(found.names), len(found.values))
    found.patterns.extend(patterns_from_json(_list(patterns), plan))
    _check_entries(set(entries), found.patterns)
    return found


def _check_entries(used: set[int], patterns: Sequence[SavedPattern]) -> None:
    """Every entry is one, and no two that are used are of the same pattern."""
    used.discard(-1)
    if used and not 0 <= min(used) <= max(used) < len(patterns):
        wrong("an entry that no pattern belongs to")
    keys = {(patterns[place].text, patterns[place].namespaces) for place in used}
    if len(keys) < len(used):
        wrong("a pattern that has two entries")


def _turned(part: memoryview) -> memoryview:
    """From the machine's order of bytes to that of the file, and back."""
    if sys.byteorder == "little" or len(part) % 4:
        return part
    turned = array("i", bytes(part))
    turned.byteswap()
    return memoryview(turned).cast("B")


def _json(value: object, errors: str = "strict") -> memoryview:
    # Escapes would make two halves of a pair one character, so there are none.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return memoryview(text.encode(errors=errors))
    except UnicodeEncodeError:
        wrong("half a surrogate pair outside of the ids")


def _list(section: memoryview, errors: str = "strict") -> list[Any]:
    try:
        text = str(section, "utf-8", errors)
        found = json.loads(text, parse_float=_no_number, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        wrong(f"a section is not the JSON that it should be: {error}")
    if type(found) is not list:
        wrong("a section is not a list")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} among numbers that are whole")
