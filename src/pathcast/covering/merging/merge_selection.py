"""Selection of mergers: a table of mergers, and of the roots that no merger covers.

The owner passes the index of uncovered paths (`UncoveredPaths.roots`), and reports which roots were
removed and added. A merger that exceeds the limit without a removed root is undone. Then mergers
are chosen among the candidates of the new entries, in one of two orders (see `merged_table`), until
none is left. Every pair of entries that the rules can merge is considered when the later of the two
is added.

>>> roots = LinearPathIndex()
>>> roots.add(("/a", "/b"))
>>> roots.add(("/a", "/c"))
>>> paths = PathDistribution.from_rates({("a", "b"): 1, ("a", "c"): 1})
>>> MergeSelection(roots, paths, Fraction(0), MergeOrder.SAVING).update(removed=[], added=roots)
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
    """The order in which mergers are made; see `merged_table`."""

    SAVING = "saving"
    GREEDY = "greedy"


class MergeSelection:
    """`entries` cover all roots; those in `mergers` have a degree within the limit."""

    def __init__(
        self,
        roots: LinearPathIndex,
        distribution: PathDistribution,
        limit: Fraction,
        order: MergeOrder,
    ) -> None:
        self.entries = LinearPathIndex()
        self.mergers = LinearPathIndex()
        self.limit = limit
        self.distribution = distribution
        self._roots = roots
        self._order = order
        self._candidates = MergeCandidates()
        self._exposed: set[Steps] = set()  # by the current update
        self._hidden: set[Steps] = set()

    def update(
        self, removed: Iterable[Steps], added: Iterable[Steps]
    ) -> tuple[set[Steps], set[Steps]]:
        """Undo the mergers that need a removed root, and merge their members and the added roots.

        Return the entries that appear and those that disappear.
        """
        self._exposed, self._hidden = set(), set()
        unmerged = list(added)
        affected: dict[Steps, None] = {}
        for root in removed:
            affected.update(dict.fromkeys(self.mergers.covering(root)))
            if root in self.entries:
                self._delete(root)
        for merger in affected:
            if not self._is_valid(merger):
                self._delete(merger)
                unmerged += self._roots.covered_by(merger)
        new_entries = []
        for path in dict.fromkeys(unmerged):
            if path not in self._roots or path in self.entries or self.mergers.covering(path):
                continue
            self._insert(path)
            new_entries.append(path)
        if self._order is MergeOrder.SAVING:
            self._merge_by_saving(new_entries)
        else:
            self._merge_greedily(new_entries)
        return self._exposed, self._hidden

    def _merge_by_saving(self, new_entries: list[Steps]) -> None:
        """Make the best merger until none is left.

        The heap ranks a candidate as if it were perfect; its degree is computed only when it is the
        best.
        """
        seen: set[Steps] = set()
        heap: list[tuple[_Rank, Steps, Fraction | None]] = []

        def push_candidates(entry: Steps) -> None:
            for merger, _ in self._candidates.of(entry):
                if merger not in seen:
                    seen.add(merger)  # its degree is fixed, and its saving does not grow
                    if self._saving(merger) > 0:
                        heappush(heap, (self._rank(merger, Fraction(0)), merger, None))

        for entry in new_entries:
            push_candidates(entry)
        while heap:
            rank, merger, degree = heappop(heap)
            current_rank = self._rank(merger, degree or Fraction(0))
            if current_rank == rank and degree is None:
                degree = self._degree_within_limit(merger, [merger])
                if degree is None:
                    continue
                current_rank = self._rank(merger, degree)
            if current_rank == rank:
                self._make(merger)
                push_candidates(merger)
            elif self._saving(merger) > 0:
                heappush(heap, (current_rank, merger, degree))

    def _rank(self, merger: Steps, degree: Fraction) -> _Rank:
        """Return a sort key; the lowest is the best."""
        saving = self._saving(merger)
        return degree > 0, Fraction(-saving) / (degree or 1), degree, to_xpath(merger)

    def _merge_greedily(self, new_entries: list[Steps]) -> None:
        seen: set[tuple[Steps, ...]] = set()
        waiting = deque(new_entries)
        while waiting:
            entry = waiting.popleft()
            if entry not in self.entries:
                continue
            for merger, parts in self._candidates.of(entry):
                if (merger, *parts) in seen:
                    continue
                seen.add((merger, *parts))
                if (
                    self._saving(merger) > 0
                    and self._degree_within_limit(merger, parts) is not None
                ):
                    self._make(merger)
                    waiting.append(merger)
                    break

    def _saving(self, merger: Steps) -> int:
        return len(self.entries.covered_by(merger)) - 1

    def degree(self, merger: Steps) -> Fraction:
        """Return the imperfect degree of a merger of all roots that it covers."""
        return self.distribution.degree(merger, self._roots.covered_by(merger))

    def _degree_within_limit(self, merger: Steps, parts: list[Steps]) -> Fraction | None:
        """Return the degree of a merger of all roots that its parts cover; None above the limit."""
        members = {member for part in parts for member in self._roots.covered_by(part)}
        return self.distribution.degree_within(merger, members, self.limit)

    def _is_valid(self, merger: Steps) -> bool:
        """Return whether a merger still has several members and a degree within the limit."""
        if len(self._roots.covered_by(merger)) <= 1:
            return False
        return self._degree_within_limit(merger, [merger]) is not None

    def _make(self, merger: Steps) -> None:
        for entry in self.entries.covered_by(merger):
            self._delete(entry)
        self._insert(merger)
        self.mergers.add(merger)

    def _insert(self, entry: Steps) -> None:
        self.entries.add(entry)
        self._candidates.add(entry)
        if entry in self._hidden:
            self._hidden.remove(entry)
        else:
            self._exposed.add(entry)

    def _delete(self, entry: Steps) -> None:
        self.entries.discard(entry)
        self.mergers.discard(entry)
        self._candidates.discard(entry)
        if entry in self._exposed:
            self._exposed.remove(entry)
        else:
            self._hidden.add(entry)
