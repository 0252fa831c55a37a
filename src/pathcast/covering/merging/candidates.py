"""Merge candidates: the mergers of two or more entries of a table, found by hashing.

Every entry *proposes* the results that rules 1 and 3 could have for it, some 40 paths for one of 10
steps. A path that two entries propose is a merger of both. For rule 2, an entry with a `//` also
*awaits* the rule 1 proposal of its partner, under which it stores their merger. So the search for
all mergers of an entry takes as many lookups as it has proposals, regardless of the table's size.

A candidate covers the entries that agree on it. The caller decides whether to make the merger.

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
    """The proposals of the entries of a table."""

    __slots__ = ("_awaited", "_proposed")

    def __init__(self) -> None:
        self._proposed: dict[Steps, list[Steps]] = {}  # proposal -> the entries that make it
        self._awaited: dict[Steps, Counter[Steps]] = {}  # proposal -> mergers with its proposer

    def __len__(self) -> int:
        return len(self._proposed) + len(self._awaited)

    def add(self, entry: Steps) -> None:
        """Add an entry that is not present."""
        for proposal in _proposals(entry):
            self._proposed.setdefault(proposal, []).append(entry)
        for awaited, merger in dict.fromkeys(operator_proposals(entry)):
            self._awaited.setdefault(awaited, Counter())[merger] += 1

    def discard(self, entry: Steps) -> None:
        """Remove an entry that is present."""
        for proposal in _proposals(entry):
            self._proposed[proposal].remove(entry)
            if not self._proposed[proposal]:
                del self._proposed[proposal]
        for awaited, merger in dict.fromkeys(operator_proposals(entry)):
            self._awaited[awaited][merger] -= 1
            if not self._awaited[awaited][merger]:
                del self._awaited[awaited][merger]
            if not self._awaited[awaited]:
                del self._awaited[awaited]

    def of(self, entry: Steps) -> Iterator[tuple[Steps, list[Steps]]]:
        """Yield the mergers of a present entry, with the entries that each merges.

        Rule 1 comes first, from left to right, then rule 2, then rule 3 with the longest common
        part first. A merger may be yielded several times.
        """
        for proposal in name_proposals(entry):
            yield from self._agreed_on(proposal)
        for proposal in name_proposals(entry):
            for merger in self._awaited.get(proposal, ()):
                yield merger, self._proposed[proposal] + self._proposed[merger]
        for awaited, merger in operator_proposals(entry):
            if awaited in self._proposed:
                yield merger, self._proposed[awaited] + self._proposed[merger]
        for proposal in middle_proposals(entry):
            yield from self._agreed_on(proposal)

    def _agreed_on(self, merger: Steps) -> Iterator[tuple[Steps, list[Steps]]]:
        entries = self._proposed[merger]
        if len(entries) > 1:
            yield merger, list(entries)


def _proposals(entry: Steps) -> dict[Steps, None]:
    """Return the distinct proposals in a fixed order."""
    return dict.fromkeys([*name_proposals(entry), *middle_proposals(entry)])
