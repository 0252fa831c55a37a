"""The table behind merging: mergers, and the uncovered patterns that no merger covers.

It is given the uncovered patterns (`UncoveredPaths.top`) and told which of them have gone and come. A merger that is over the limit without
one that has gone is undone. Then mergers are chosen among the candidates of the entries that are new, in one of two orders (see
`merging`), until none is left: every pair of entries that the rules can merge is looked at when the later one of the two comes.

>>> top = LinearPathIndex()
>>> top.add(("/a", "/b"))
>>> top.add(("/a", "/c"))
>>> paths = PathDistribution.observed({("a", "b"): 1, ("a", "c"): 1})
>>> MergeSelection(top, paths, Fraction(0), MergeOrder.SAVING).change(gone=[], come=top)
({('/a', '/*')}, set())
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from heapq import heappop, heappush
from typing import TypeAlias

from pathcast.covering.merging.candidates import MergeCandidates
from pathcast.covering.merging.distribution import PathDistribution
from pathcast.covering.merging.index import LinearPathIndex
from pathcast.covering.merging.linear import Steps, to_xpath

__all__ = ["MergeOrder", "MergeSelection"]

_Rank: TypeAlias = tuple[bool, Fraction, Fraction, str]


class MergeOrder(Enum):
    """Which merger is made first."""

    SAVING = "saving"
    GREEDY = "greedy"


class MergeSelection:
    """`entries` cover all of `top`; those that are in `mergers` have a degree within the limit."""

    def __init__(
        self,
        top: LinearPathIndex,
        distribution: PathDistribution,
        limit: Fraction,
        order: MergeOrder,
    ) -> None:
        self.entries = LinearPathIndex()
        self.mergers = LinearPathIndex()
        self.limit = limit
        self.distribution = distribution
        self._top = top
        self._order = order
        self._candidates = MergeCandidates()
        self._exposed: set[Steps] = set()  # by the change that is being made
        self._hidden: set[Steps] = set()

    def change(self, gone: Iterable[Steps], come: Iterable[Steps]) -> tuple[set[Steps], set[Steps]]:
        """Undo the mergers that need what has gone, and merge what that leaves and what is new.

        Gives the entries that appear and those that disappear.
        """
        self._exposed, self._hidden = set(), set()
        loose = list(come)
        touched: dict[Steps, None] = {}
        for one in gone:
            touched.update(dict.fromkeys(self.mergers.covering(one)))
            if one in self.entries:
                self._drop(one)
        for merger in touched:
            if not self._holds(merger):
                self._drop(merger)
                loose += self._top.covered_by(merger)
        new = []
        for one in dict.fromkeys(loose):
            if one in self._top and one not in self.entries and not self.mergers.covering(one):
                self._put(one)
                new.append(one)
        if self._order is MergeOrder.SAVING:
            self._merge_by_saving(new)
        else:
            self._merge_in_turn(new)
        return self._exposed, self._hidden

    def _merge_by_saving(self, new: list[Steps]) -> None:
        """A candidate waits as if it were perfect until it is the best; only then its degree is asked for."""
        seen: set[Steps] = set()
        heap: list[tuple[_Rank, Steps, Fraction | None]] = []

        def look(entry: Steps) -> None:
            for merger, _ in self._candidates.of(entry):
                if merger not in seen:
                    seen.add(merger)  # its degree stays the same, and its saving does not grow
                    if self._saved(merger) > 0:
                        heappush(heap, (self._rank(merger, Fraction(0)), merger, None))

        for entry in new:
            look(entry)
        while heap:
            rank, merger, degree = heappop(heap)
            now = self._rank(merger, degree or Fraction(0))
            if now == rank and degree is None:
                degree = self._within(merger, [merger])
                if degree is None:
                    continue
                now = self._rank(merger, degree)
            if now == rank:
                self._make(merger)
                look(merger)
            elif self._saved(merger) > 0:
                heappush(heap, (now, merger, degree))

    def _rank(self, merger: Steps, degree: Fraction) -> _Rank:
        """The lower, the better."""
        saved = self._saved(merger)
        return degree > 0, Fraction(-saved) / (degree or 1), degree, to_xpath(merger)

    def _merge_in_turn(self, new: list[Steps]) -> None:
        seen: set[tuple[Steps, ...]] = set()
        waiting = deque(new)
        while waiting:
            entry = waiting.popleft()
            if entry not in self.entries:
                continue
            for merger, agreed in self._candidates.of(entry):
                if (merger, *agreed) in seen:
                    continue
                seen.add((merger, *agreed))
                if self._saved(merger) > 0 and self._within(merger, agreed) is not None:
                    self._make(merger)
                    waiting.append(merger)
                    break

    def _saved(self, merger: Steps) -> int:
        return len(self.entries.covered_by(merger)) - 1

    def degree(self, merger: Steps) -> Fraction:
        """The imperfect degree of a merger of all on top that it covers."""
        return self.distribution.degree(merger, self._top.covered_by(merger))

    def _within(self, merger: Steps, parts: list[Steps]) -> Fraction | None:
        """The degree of a merger of all on top that its parts cover, if it is within the limit."""
        members = {member for part in parts for member in self._top.covered_by(part)}
        return self.distribution.within(merger, members, self.limit)

    def _holds(self, merger: Steps) -> bool:
        """Whether a merger still has members, and enough of them."""
        return len(self._top.covered_by(merger)) > 1 and self._within(merger, [merger]) is not None

    def _make(self, merger: Steps) -> None:
        for one in self.entries.covered_by(merger):
            self._drop(one)
        self._put(merger)
        self.mergers.add(merger)

    def _put(self, entry: Steps) -> None:
        self.entries.add(entry)
        self._candidates.add(entry)
        if entry in self._hidden:
            self._hidden.remove(entry)
        else:
            self._exposed.add(entry)

    def _drop(self, entry: Steps) -> None:
        self.entries.discard(entry)
        self.mergers.discard(entry)
        self._candidates.discard(entry)
        if entry in self._exposed:
            self._exposed.remove(entry)
        else:
            self._hidden.add(entry)
