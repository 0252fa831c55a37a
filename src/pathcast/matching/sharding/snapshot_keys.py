"""The shard keys of all subscriptions of a snapshot, from their saved plans: nothing is parsed.

The shard key of a linear path is the path itself. Any other subscription has a key per alternative
(`shard_keys.shard_key`). The most common of them is its primary key, which decides its shard; the
others are secondary keys. Documents with a secondary key must also visit that shard, and these
should be few. A subscription that any document may match has the empty path as a key.

A shard key is stored as bytes, `LABEL_BYTES` per label, with labels ranked by their text. So the
order of the bytes is the order of the paths, and a prefix of a path is a prefix of the bytes. A
range of keys is therefore a connected part of the NFA, and the matches of similar documents fall
into few ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pathcast.matching.encode import FIRST_NAME_CODE, PlainVocabulary, PlanEncoder
from pathcast.matching.nfa import Label
from pathcast.matching.sharding.shard_keys import rarity, shard_key
from pathcast.matching.sharding.state_key import StateKey
from pathcast.matching.snapshot import Snapshot, snapshot_ints

__all__ = ["LABEL_BYTES", "SnapshotKeys", "shard_keys_of", "snapshot_vocabulary"]

LABEL_BYTES: Final = 4
_EDGE_MASK: Final = 7
_VALUE_EDGE: Final = 4  # value tests are not part of a key

_PathCodes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SnapshotKeys:
    """The shard keys of all subscriptions of a snapshot."""

    primary: list[bytes]
    """By subscription number: the key that decides its shard."""
    secondary: Mapping[int, tuple[bytes, ...]]
    """By subscription number, for some: further keys whose documents must visit the shard."""
    labels: tuple[int, ...]
    """By rank: the label codes that the bytes of a key stand for."""

    def path(self, key: bytes) -> tuple[int, ...]:
        """Return the labels of a key, in the codes of the snapshot."""
        return tuple(
            self.labels[int.from_bytes(key[start : start + LABEL_BYTES], "big")]
            for start in range(0, len(key), LABEL_BYTES)
        )


def snapshot_vocabulary(snapshot: Snapshot) -> PlainVocabulary:
    """Return the vocabulary of a snapshot's codes."""
    vocabulary = PlainVocabulary()
    for name in snapshot.names:
        vocabulary.code(name)
    for test in snapshot.values:
        vocabulary.value(*test)
    assert len(vocabulary.keys) == FIRST_NAME_CODE + len(snapshot.names)
    return vocabulary


def shard_keys_of(snapshot: Snapshot) -> SnapshotKeys:
    """Return the shard keys of all subscriptions of a snapshot."""
    encoder = PlanEncoder(snapshot_vocabulary(snapshot))
    labels, ends = snapshot_ints(snapshot.labels), snapshot_ints(snapshot.ends)
    pattern_paths = [_key_paths(saved.alternatives, encoder) for saved in snapshot.patterns]
    used = {*labels, *(label for paths in pattern_paths for path in paths for label in path)}
    ordered = sorted(used, key=lambda label: str(StateKey(encoder.decode([label]))))
    label_bytes = {label: rank.to_bytes(LABEL_BYTES, "big") for rank, label in enumerate(ordered)}

    def key_of(path: Iterable[int]) -> bytes:
        return b"".join([label_bytes[label] for label in path])

    pattern_keys = [tuple(map(key_of, paths)) for paths in pattern_paths]
    primary: list[bytes] = []
    secondary: dict[int, tuple[bytes, ...]] = {}
    start = 0
    for number, (end, entry) in enumerate(zip(ends, snapshot_ints(snapshot.entries), strict=True)):
        if entry < 0:
            primary.append(key_of(labels[start:end]))
        else:
            primary.append(pattern_keys[entry][0])
            if len(pattern_keys[entry]) > 1:
                secondary[number] = pattern_keys[entry][1:]
        start = end
    return SnapshotKeys(primary, secondary, tuple(ordered))


def _key_paths(alternatives: Iterable[tuple[str, Any]], encoder: PlanEncoder) -> list[_PathCodes]:
    """Return the distinct shard keys of the alternatives as paths, the most common first."""
    path_of: dict[StateKey, _PathCodes] = {}
    for form, codes in alternatives:
        required: dict[tuple[Label, ...], _PathCodes] = {
            encoder.decode(path): path for path in _required_paths(form, codes)
        }
        key = shard_key(required)
        path_of[key] = required.get(key.labels, ())
    return [path_of[key] for key in sorted(path_of, key=rarity, reverse=True)]


def _required_paths(form: str, codes: Any) -> Iterator[_PathCodes]:
    """Yield the required paths of a saved alternative."""
    if form == "general":
        for path in codes:
            yield tuple([label for label in path if label & _EDGE_MASK != _VALUE_EDGE])
        return
    stack = [((), (codes, ()))] if form == "exact" else [((), branch) for branch in codes]
    while stack:
        above, (labels, branches) = stack.pop()
        path = (*above, *[label for label in labels if label & _EDGE_MASK != _VALUE_EDGE])
        if not branches:
            yield path
        stack += [(path, branch) for branch in branches]
