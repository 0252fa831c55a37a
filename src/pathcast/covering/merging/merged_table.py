"""Merging of a routing table: fewer entries that cover the same subscriptions, and hardly more.

    patterns -> those that no other covers -> candidates -> mergers within the limit -> the table: mergers, and what none of them covers

A merger may let through what none of its members asked for; its imperfect degree D, the share of that, must not be over the limit. The members
of a merger are *all* the uncovered subscriptions that it covers, whichever way it came to be. So D is always measured against original
subscriptions, merging mergers again cannot creep over the limit, and what a table holds can be checked without its history.

One merger after the other is chosen, until nothing can be merged any more; two orders are known.

- `MergeOrder.SAVING`: the candidate that saves most entries per D first. Perfect ones (D = 0) come before all others, those that save most first. Ties go
  to the lower D, then by text. Savings only shrink while mergers are made (what a new merger covers leaves the table) and the
  D of a candidate stays, so a heap whose top is looked at again finds the best each time.
- `MergeOrder.GREEDY`, our reading of Li, Hou and Jacobsen (2008, section 4.3): "periodically apply the above rules on the subscription tree", where
  "child nodes of the same parent have a better chance". The uncovered ones are the children of the tree's root. They are gone through in their order of
  coming; each is merged by the first rule, and the first place, that gives a merger within the limit. Mergers queue up at the end. Here a merger
  has to be good enough by the entries alone that the rule merges, and what they cover: that is D(s; s1, ..., sn) as printed. What else it covers is
  hidden all the same, and can only lower D.

A table that changes is kept by `add` and `remove`. When an uncovered subscription leaves, or is covered by a new one, each merger above it
is measured again; one that is over the limit now, or has a single member left, is undone, and what it stood for is merged anew. An addition
looks only at what the new entries can be merged to, so a table that has grown may hold more entries than one merged at once. What is
not linear is left alone: it is in the table as it is, and nothing covers it.

>>> from pathcast.covering.merging.distribution import PathDistribution
>>> paths = PathDistribution.observed({("a", "b"): 1, ("a", "c"): 1, ("a", "d"): 2})
>>> table = merge(["/a/b", "/a/c"], paths, limit=0.5)
>>> table.mergers()[0].pattern, table.mergers()[0].degree
('/a/*', Fraction(1, 2))
>>> table.add("more", "/a/d")
Change(exposed=frozenset(), hidden=frozenset())
>>> table.remove("more")
Change(exposed=frozenset(), hidden=frozenset())
>>> table.remove(0)
Change(exposed=frozenset({'/a/c'}), hidden=frozenset({'/a/*'}))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from pathcast.covering.change import Change
from pathcast.covering.merging.distribution import PathDistribution
from pathcast.covering.merging.linear import Steps, to_steps, to_xpath
from pathcast.covering.merging.merge_selection import MergeOrder, MergeSelection
from pathcast.covering.merging.uncovered import UncoveredPaths
from pathcast.errors import SubscriptionError
from pathcast.xpath import Pattern, parse

__all__ = ["Entry", "MergeOrder", "MergedTable", "Merger", "merge"]

Entry: TypeAlias = str | Pattern  # the text of a linear pattern, or a pattern that is left alone


@dataclass(frozen=True, slots=True)
class Merger:
    """An entry that nobody asked for, the uncovered subscriptions that it stands for, and its imperfect degree."""

    pattern: str
    members: frozenset[str]
    degree: Fraction


def merge(
    patterns: Iterable[str | Pattern],
    distribution: PathDistribution,
    limit: float | Fraction,
    order: MergeOrder = MergeOrder.SAVING,
) -> MergedTable:
    """The table of these patterns, merged at once; the id of each is its number, from 0."""
    merged = MergedTable(distribution, limit, order)
    merged.add_all(dict(enumerate(patterns)))
    return merged


class MergedTable:
    """A table that is kept merged while subscriptions come and go."""

    __slots__ = ("_alike", "_ids", "_other", "_patterns", "_table")

    def __init__(
        self,
        distribution: PathDistribution,
        limit: float | Fraction,
        order: MergeOrder = MergeOrder.SAVING,
    ) -> None:
        self._ids: dict[Hashable, Steps | Pattern] = {}
        self._alike: Counter[Steps | Pattern] = Counter()
        self._other: dict[Pattern, None] = {}
        self._patterns = UncoveredPaths()
        exact = Fraction(str(limit))  # 0.6 is three fifths, not the nearest float
        self._table = MergeSelection(self._patterns.top, distribution, exact, order)

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._table.entries) + len(self._other)

    def __contains__(self, id: Hashable) -> bool:
        return id in self._ids

    @property
    def entries(self) -> frozenset[Entry]:
        return frozenset([*map(to_xpath, self._table.entries), *self._other])

    def mergers(self) -> list[Merger]:
        """The entries that nobody asked for, in the order of their texts."""
        found = []
        for steps in sorted(self._table.mergers, key=to_xpath):
            members = frozenset(map(to_xpath, self._patterns.top.covered_by(steps)))
            found.append(Merger(to_xpath(steps), members, self._table.degree(steps)))
        return found

    def by_pattern(self) -> dict[Steps | Pattern, list[Hashable]]:
        """The ids of each pattern; a linear one is written as steps."""
        found: dict[Steps | Pattern, list[Hashable]] = {}
        for id, pattern in self._ids.items():
            found.setdefault(pattern, []).append(id)
        return found

    def covered_by(self, steps: Steps) -> list[Steps]:
        """The linear subscriptions that a pattern covers."""
        return self._patterns.covered_by(steps)

    def add(self, id: Hashable, pattern: str | Pattern) -> Change[Entry]:
        """Take a subscription; raises SubscriptionError."""
        return self.add_all({id: pattern})

    def add_all(self, patterns: Mapping[Hashable, str | Pattern]) -> Change[Entry]:
        """Take many and merge once. If one of them is wrong, none is taken."""
        read = {id: _read(pattern) for id, pattern in patterns.items()}
        for id in read:
            if id in self._ids:
                raise SubscriptionError("duplicate-id", f"there is a subscription {id!r} already")
        before = self._other.copy()
        gone: list[Steps] = []
        come: list[Steps] = []
        for id, pattern in read.items():
            self._ids[id] = pattern
            self._alike[pattern] += 1
            if self._alike[pattern] > 1:
                continue
            if isinstance(pattern, Pattern):
                self._other[pattern] = None
            else:
                less, more = self._patterns.add(pattern)
                gone += less
                come += more
        return self._changed(before, gone, come)

    def remove(self, id: Hashable) -> Change[Entry]:
        """Let a subscription go; raises KeyError if there is none of this id."""
        pattern = self._ids.pop(id)
        self._alike[pattern] -= 1
        if self._alike[pattern]:
            return Change()
        del self._alike[pattern]
        if isinstance(pattern, Pattern):
            del self._other[pattern]
            return Change(hidden=frozenset({pattern}))
        return self._changed(self._other, *self._patterns.remove(pattern))

    def _changed(
        self, before: Mapping[Pattern, None], gone: list[Steps], come: list[Steps]
    ) -> Change[Entry]:
        exposed, hidden = self._table.change(gone, come)
        others = self._other.keys() - before.keys()
        return Change(
            frozenset([*map(to_xpath, exposed), *others]), frozenset(map(to_xpath, hidden))
        )


def _read(pattern: str | Pattern) -> Steps | Pattern:
    parsed = pattern if isinstance(pattern, Pattern) else parse(pattern)
    steps = to_steps(parsed)
    return parsed if steps is None else steps
