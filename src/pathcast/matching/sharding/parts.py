"""A snapshot cut into what each owner gets: a snapshot of its subscriptions, with no more words than they need.

Routes are a snapshot too. Their paths are subscriptions whose hops are owners, so `Matcher.match_hops` finds those
that a document is to be sent to, at the speed of matching.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, cast

from pathcast.matching.encode import FIRST_NAME_CODE, PlainVocabulary, PlanEncoder
from pathcast.matching.sharding.saved import words_of
from pathcast.matching.snapshot import SavedPattern, Snapshot, snapshot_ints

__all__ = ["part", "router"]

_EVERY: Final = (8,)  # /*: there is no document without an element


def part(snapshot: Snapshot, numbers: Iterable[int]) -> Snapshot:
    """Some subscriptions of a snapshot, by number, in the order that is given."""
    old, words = words_of(snapshot), PlainVocabulary()
    encoder = PlanEncoder(words)
    all_labels, all_ends, all_hops, all_entries = map(
        snapshot_ints, (snapshot.labels, snapshot.ends, snapshot.hops, snapshot.entries)
    )
    ids = []
    labels, ends, hops, entries = array("i"), array("i"), array("i"), array("i")
    places = {-1: -1}
    patterns: list[SavedPattern] = []
    for number in numbers:
        labels.extend(all_labels[all_ends[number - 1] if number else 0 : all_ends[number]])
        ids.append(snapshot.ids[number])
        ends.append(len(labels))
        hops.append(all_hops[number])
        known = all_entries[number]
        if known not in places:
            places[known] = len(patterns)
            saved = snapshot.patterns[known]
            moved = tuple(encoder.translate(saved.alternatives, old))
            patterns.append(replace(saved, alternatives=moved))
        entries.append(places[known])
    return Snapshot(
        ids=ids,
        labels=_moved(labels, encoder, old).tobytes(),
        ends=ends.tobytes(),
        hops=hops.tobytes(),
        entries=entries.tobytes(),
        patterns=patterns,
        names=words.keys[FIRST_NAME_CODE:],
        values=words.value_tests,
    )


def _moved(labels: array[int], encoder: PlanEncoder, old: PlainVocabulary) -> array[int]:
    """Labels in other words; to look each up once is enough."""
    used = tuple(sorted(set(labels)))
    [(_, new)] = encoder.translate([("exact", used)], old)
    table = dict(zip(used, cast(tuple[int, ...], new), strict=True))
    return array("i", map(table.__getitem__, labels))


def router(snapshot: Snapshot, routes: Sequence[tuple[Sequence[int], int]]) -> Snapshot:
    """Paths in the labels of a snapshot, each with an owner that documents with this path go to."""
    labels, ends = array("i"), array("i")
    for path, _ in routes:
        labels.extend(path or _EVERY)
        ends.append(len(labels))
    table = replace(
        snapshot,
        ids=list(range(len(routes))),
        labels=labels.tobytes(),
        ends=ends.tobytes(),
        hops=array("i", [owner for _, owner in routes]).tobytes(),
        entries=array("i", [-1] * len(routes)).tobytes(),
        patterns=[],
    )
    return part(table, range(len(routes)))
