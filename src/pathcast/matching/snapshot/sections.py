"""A snapshot as the sections of a file: first arrays of int32, then JSON lists.

This module checks that the sections agree with each other. `json_lists` and `plan_codes` check each
section on its own, and `Paths.fill` checks labels and ends when a matcher loads them.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from pathcast.matching.snapshot.content_errors import reject
from pathcast.matching.snapshot.json_lists import (
    ids_from_json,
    ids_to_json,
    names_from_json,
    patterns_from_json,
    patterns_to_json,
    values_from_json,
)
from pathcast.matching.snapshot.model import SavedPattern, Snapshot
from pathcast.matching.snapshot.plan_codes import PlanReader, encode_plans

__all__ = ["pack", "unpack"]

_ARRAYS: Final = 5  # the number of sections that are arrays
_MAX_HOPS: Final = 4096


def pack(snapshot: Snapshot) -> list[memoryview]:
    """Return the sections of a snapshot, in the order of the file."""
    patterns = snapshot.patterns
    parts: list[bytes | memoryview] = [
        snapshot.labels,
        snapshot.ends,
        snapshot.hops,
        snapshot.entries,
        encode_plans(pattern.alternatives for pattern in patterns).tobytes(),
    ]
    columns = patterns_to_json(patterns)
    return [
        *[_swap_bytes(memoryview(part).cast("B")) for part in parts],
        _json(ids_to_json(snapshot.ids), "surrogatepass"),
        *[_json(part) for part in (snapshot.names, snapshot.values, columns)],
    ]


def unpack(sections: Sequence[memoryview]) -> Snapshot:
    """Return the snapshot in these sections; reject invalid content."""
    if any(len(section) % 4 for section in sections[:_ARRAYS]):
        reject("an array ends within a number")
    labels, ends, hops, entries, plans = [
        _swap_bytes(section).cast("i") for section in sections[:_ARRAYS]
    ]
    ids, names, values, patterns = sections[_ARRAYS:]
    snapshot = Snapshot(
        ids=ids_from_json(_list(ids, "surrogatepass")),
        names=names_from_json(_list(names)),
        values=values_from_json(_list(values)),
        labels=labels,
        ends=ends,
        hops=hops,
        entries=entries,
        patterns=[],
    )
    count = len(snapshot.ids)
    if not len(ends) == len(hops) == len(entries) == count:
        reject(f"{count} ids, {len(ends)} paths, {len(hops)} hops and {len(entries)} entries")
    if (ends[-1] if count else 0) != len(labels):
        reject("labels that belong to no path")
    if count and not -1 <= min(hops) <= max(hops) < _MAX_HOPS:
        reject(f"a hop that is not from 0 to {_MAX_HOPS - 1}")
    reader = PlanReader(plans.tolist(), len(snapshot.names), len(snapshot.values))
    snapshot.patterns.extend(patterns_from_json(_list(patterns), reader))
    _check_entries(set(entries), snapshot.patterns)
    return snapshot


def _check_entries(used: set[int], patterns: Sequence[SavedPattern]) -> None:
    """Reject an entry without a pattern, and two entries with the same pattern."""
    used.discard(-1)
    if used and not 0 <= min(used) <= max(used) < len(patterns):
        reject("an entry that no pattern belongs to")
    keys = {(patterns[entry].text, patterns[entry].namespaces) for entry in used}
    if len(keys) < len(used):
        reject("a pattern that has two entries")


def _swap_bytes(part: memoryview) -> memoryview:
    """Convert int32 between native and little-endian byte order."""
    if sys.byteorder == "little" or len(part) % 4:
        return part
    swapped = array("i", bytes(part))
    swapped.byteswap()
    return memoryview(swapped).cast("B")


def _json(value: object, errors: str = "strict") -> memoryview:
    # Without escapes: two escaped lone surrogates would be read as one character.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return memoryview(text.encode(errors=errors))
    except UnicodeEncodeError:
        reject("half a surrogate pair outside of the ids")


def _list(section: memoryview, errors: str = "strict") -> list[Any]:
    try:
        text = str(section, "utf-8", errors)
        value = json.loads(text, parse_float=_reject_float, parse_constant=_reject_float)
    except (ValueError, RecursionError) as error:
        reject(f"a section is not the JSON that it should be: {error}")
    if type(value) is not list:
        reject("a section is not a list")
    return value


def _reject_float(text: str) -> NoReturn:
    raise ValueError(f"{text} among numbers that are whole")
