"""Where saved subscriptions live, and in which order: read from their plans, so that nothing is parsed again.

A path lives at itself. Of anything else each alternative has a home, the path among those it needs that should be rarest
(`homes.home`); the subscription lives at one of them, the one that should be commonest: documents that have the others
are to be sent there too, and those should be few. What any document may match lives at the empty path.

A home is written as bytes, `WIDTH` for each label, such that homes in order are paths in order of their labels' texts: what begins alike
lies together, and the first labels of a home are the first bytes. So a range of homes is a part of the automaton that
hangs together, and a set of documents that are alike has most of its matches in few ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pathcast.matching.encode import FIRST_NAME_CODE, PlainVocabulary, PlanEncoder
from pathcast.matching.nfa import Label
from pathcast.matching.sharding.homes import home, rarity
from pathcast.matching.sharding.key import Key
from pathcast.matching.snapshot import Snapshot, snapshot_ints

__all__ = ["WIDTH", "Homes", "homes_of", "words_of"]

WIDTH: Final = 4  # bytes of a label
_EDGE: Final = 7  # the bits of a label that say which edge it is
_VALUE: Final = 4  # and what they are for a value test, which is no part of a path

_Codes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Homes:
    """The homes of all subscriptions of a snapshot."""

    lives: list[bytes]
    """For every number the home where it lives."""
    further: Mapping[int, tuple[bytes, ...]]
    """For some numbers further homes, from which documents are to be sent to where it lives."""
    labels: tuple[int, ...]
    """What the bytes of a home stand for."""

    def path(self, found: bytes) -> tuple[int, ...]:
        """The labels of a home, in the numbers of the snapshot."""
        return tuple(
            self.labels[int.from_bytes(found[at : at + WIDTH], "big")]
            for at in range(0, len(found), WIDTH)
        )


def words_of(snapshot: Snapshot) -> PlainVocabulary:
    """The vocabulary that a snapshot is written in."""
    words = PlainVocabulary()
    for name in snapshot.names:
        words.code(name)
    for test in snapshot.values:
        words.value(*test)
    assert len(words.keys) == FIRST_NAME_CODE + len(snapshot.names)
    return words


def homes_of(snapshot: Snapshot) -> Homes:
    """Where each subscription of a snapshot lives."""
    encoder = PlanEncoder(words_of(snapshot))
    labels, ends = snapshot_ints(snapshot.labels), snapshot_ints(snapshot.ends)
    patterns = [_pattern_homes(one.alternatives, encoder) for one in snapshot.patterns]
    used = {*labels, *(label for found in patterns for path in found for label in path)}
    ordered = sorted(used, key=lambda label: str(Key(encoder.decode([label]))))
    written = {label: rank.to_bytes(WIDTH, "big") for rank, label in enumerate(ordered)}

    def text(path: Iterable[int]) -> bytes:
        return b"".join([written[label] for label in path])

    texts = [tuple(map(text, found)) for found in patterns]
    lives: list[bytes] = []
    further: dict[int, tuple[bytes, ...]] = {}
    start = 0
    for number, (end, known) in enumerate(zip(ends, snapshot_ints(snapshot.entries), strict=True)):
        if known < 0:
            lives.append(text(labels[start:end]))
        else:
            lives.append(texts[known][0])
            if len(texts[known]) > 1:
                further[number] = texts[known][1:]
        start = end
    return Homes(lives, further, tuple(ordered))


def _pattern_homes(alternatives: Iterable[tuple[str, Any]], encoder: PlanEncoder) -> list[_Codes]:
    """The homes of the alternatives, each once, the commonest first."""
    found: dict[Key, _Codes] = {}
    for kind, what in alternatives:
        codes: dict[tuple[Label, ...], _Codes] = {
            encoder.decode(path): path for path in _paths(kind, what)
        }
        one = home(codes)
        found[one] = codes.get(one.labels, ())
    return [found[key] for key in sorted(found, key=rarity, reverse=True)]


def _paths(kind: str, what: Any) -> Iterator[_Codes]:
    """The paths that an alternative needs, as it was saved."""
    if kind == "general":
        yield from what
        return
    waiting = [((), (what, ()))] if kind == "exact" else [((), branch) for branch in what]
    while waiting:
        before, (labels, branches) = waiting.pop()
        path = (*before, *[label for label in labels if label & _EDGE != _VALUE])
        if not branches:
            yield path
        waiting += [(path, branch) for branch in branches]
