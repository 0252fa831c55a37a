"""The snapshots of shards: the subscriptions of each, with a vocabulary of their own.

The router is a snapshot as well. Its subscriptions are the routes, and their hops are the shards:
`Matcher.match_hops` returns the shards that a document must visit, at the speed of matching.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, cast

from pathcast.matching.encode import FIRST_NAME_CODE, PlainVocabulary, PlanEncoder
from pathcast.matching.sharding.snapshot_keys import snapshot_vocabulary
from pathcast.matching.snapshot import SavedPattern, Snapshot, snapshot_ints

__all__ = ["router_snapshot", "snapshot_subset"]

_ANY_ROOT: Final = (8,)  # the codes of /*, a path that every document contains


def snapshot_subset(snapshot: Snapshot, numbers: Iterable[int]) -> Snapshot:
    """Return a snapshot of some subscriptions, by number, in the given order."""
    old_vocabulary, vocabulary = snapshot_vocabulary(snapshot), PlainVocabulary()
    encoder = PlanEncoder(vocabulary)
    all_labels, all_ends, all_hops, all_entries = map(
        snapshot_ints, (snapshot.labels, snapshot.ends, snapshot.hops, snapshot.entries)
    )
    ids = []
    labels, ends, hops, entries = array("i"), array("i"), array("i"), array("i")
    new_entry = {-1: -1}
    patterns: list[SavedPattern] = []
    for number in numbers:
        labels.extend(all_labels[all_ends[number - 1] if number else 0 : all_ends[number]])
        ids.append(snapshot.ids[number])
        ends.append(len(labels))
        hops.append(all_hops[number])
        entry = all_entries[number]
        if entry not in new_entry:
            new_entry[entry] = len(patterns)
            saved = snapshot.patterns[entry]
            alternatives = tuple(encoder.translate(saved.alternatives, old_vocabulary))
            patterns.append(replace(saved, alternatives=alternatives))
        entries.append(new_entry[entry])
    return Snapshot(
        ids=ids,
        labels=_translate(labels, encoder, old_vocabulary).tobytes(),
        ends=ends.tobytes(),
        hops=hops.tobytes(),
        entries=entries.tobytes(),
        patterns=patterns,
        names=vocabulary.keys[FIRST_NAME_CODE:],
        values=vocabulary.value_tests,
    )


def _translate(
    labels: array[int], encoder: PlanEncoder, old_vocabulary: PlainVocabulary
) -> array[int]:
    """Return labels in the encoder's vocabulary, with one translation per distinct label."""
    used = tuple(sorted(set(labels)))
    [(_, new)] = encoder.translate([("exact", used)], old_vocabulary)
    table = dict(zip(used, cast(tuple[int, ...], new), strict=True))
    return array("i", map(table.__getitem__, labels))


def router_snapshot(snapshot: Snapshot, routes: Sequence[tuple[Sequence[int], int]]) -> Snapshot:
    """Return the router: paths in the codes of `snapshot`, each with its shard as the hop."""
    labels, ends = array("i"), array("i")
    for path, _ in routes:
        labels.extend(path or _ANY_ROOT)
        ends.append(len(labels))
    table = replace(
        snapshot,
        ids=list(range(len(routes))),
        labels=labels.tobytes(),
        ends=ends.tobytes(),
        hops=array("i", [shard for _, shard in routes]).tobytes(),
        entries=array("i", [-1] * len(routes)).tobytes(),
        patterns=[],
    )
    return snapshot_subset(table, range(len(routes)))
