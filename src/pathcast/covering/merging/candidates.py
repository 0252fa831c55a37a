"""Which mergers are worth a look: those that two entries of a table agree on, found by hashing.

Every entry *proposes* what rules 1 and 3 could make of it, some 40 patterns for one of 10 steps. A pattern that two of them propose
is their merger. For rule 2 an entry with a // also *awaits*, under what rule 1 could make of the other entry, the merger of both. So
to find all that an entry can be merged to takes as many lookups as it has proposals, however many entries there are.

A candidate covers the entries that agree on it; whether it is good enough is for others to say.

>>> candidates = MergeCandidates()
>>> for entry in (("/a", "/b"), ("/a", "/c")):
...     candidates.add(entry)
>>> list(candidates.of(("/a", "/b")))
[(('/a', '/*'), [('/a', '/b'), ('/a', '/c')])]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pathcast.covering.merging.linear import Steps
from pathcast.covering.merging.rules import middle_proposals, name_proposals, operator_proposals

__all__ = ["MergeCandidates"]


class MergeCandidates:
    """What the entries of a table propose, and who does."""

    __slots__ = ("_awaited", "_proposed")

    def __init__(self) -> None:
        self._proposed: dict[Steps, list[Steps]] = {}
        self._awaited: dict[Steps, Counter[Steps]] = {}

    def __len__(self) -> int:
        return len(self._proposed) + len(self._awaited)

    def add(self, entry: Steps) -> None:
        """Take an entry that is not here."""
        for one in _proposals(entry):
            self._proposed.setdefault(one, []).append(entry)
        for near, merger in dict.fromkeys(operator_proposals(entry)):
            self._awaited.setdefault(near, Counter())[merger] += 1

    def discard(self, entry: Steps) -> None:
        """Let an entry go that is here."""
        for one in _proposals(entry):
            self._proposed[one].remove(entry)
            if not self._proposed[one]:
                del self._proposed[one]
        for near, merger in dict.fromkeys(operator_proposals(entry)):
            self._awaited[near][merger] -= 1
            if not self._awaited[near][merger]:
                del self._awaited[near][merger]
            if not self._awaited[near]:
                del self._awaited[near]

    def of(self, entry: Steps) -> Iterator[tuple[Steps, list[Steps]]]:
        """What an entry that is here can be merged to, and who agrees: by rule 1 from left to right, by rule 2, by rule 3 with
        most in common first. The same may come more than once."""
        for one in name_proposals(entry):
            yield from self._agreed(one)
        for one in name_proposals(entry):
            for merger in self._awaited.get(one, ()):
                yield merger, self._proposed[one] + self._proposed[merger]
        for near, merger in operator_proposals(entry):
            if near in self._proposed:
                yield merger, self._proposed[near] + self._proposed[merger]
        for one in middle_proposals(entry):
            yield from self._agreed(one)

    def _agreed(self, merger: Steps) -> Iterator[tuple[Steps, list[Steps]]]:
        agreed = self._proposed[merger]
        if len(agreed) > 1:
            yield merger, list(agreed)


def _proposals(entry: Steps) -> dict[Steps, None]:
    """Each once, and in the same order every time."""
    return dict.fromkeys([*name_proposals(entry), *middle_proposals(entry)])
