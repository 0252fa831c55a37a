"""Merged routing tables: fewer entries that cover the same subscriptions, at a bounded waste.

    patterns -> uncovered roots -> candidates -> mergers within the limit
             -> the table: mergers, and the roots that no merger covers

A merger may match paths that none of its members matches. Their share is its imperfect degree D,
which must not exceed the limit. The members of a merger are *all* roots that it covers, however it
was made. So D is always measured against original subscriptions, repeated merging cannot drift
above the limit, and a table can be checked without its history.

Mergers are made one after the other until no candidate is left, in one of two orders:

- `MergeOrder.SAVING` makes the candidate with the highest saving of entries per D first. Perfect
  candidates (D = 0) precede all others, those with the highest saving first. Ties go to the lower
  D, then to the lower text. Savings only shrink while mergers are made, because the paths that a
  new merger covers leave the table, and the D of a candidate is fixed. So a heap whose top is
  re-ranked yields the best candidate.
- `MergeOrder.GREEDY` is our reading of Li 2008, section 4.3: "periodically apply the above rules on
  the subscription tree", where "child nodes of the same parent have a better chance". The roots are
  the children of the tree's root. They are processed in order of arrival; each is merged by the
  first rule and the first place that yields a merger within the limit. Mergers are queued at the
  end. Here D counts only the entries that the rule merges, and the roots that these cover: this is
  D(s; s1, ..., sn) as printed. Other roots that the merger covers are hidden too, which can only
  lower D.

`add` and `remove` keep a table merged. When a root is removed or gets covered, every merger above
it is measured again. A merger above the limit, or with a single member left, is undone, and its
members are merged again. An addition considers only candidates of the new entries, so a table that
grew may have more entries than one merged at once. Patterns that are not linear are entries as they
are; nothing covers them.

>>> from pathcast.covering.merging.distribution import PathDistribution
>>> paths = PathDistribution.from_rates({("a", "b"): 1, ("a", "c"): 1, ("a", "d"): 2})
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

Entry: TypeAlias = str | Pattern  # the text of a linear path, or another pattern


@dataclass(frozen=True, slots=True)
class Merger:
    """An entry that is no subscription, with its members (roots) and its imperfect degree."""

    pattern: str
    members: frozenset[str]
    degree: Fraction


def merge(
    patterns: Iterable[str | Pattern],
    distribution: PathDistribution,
    limit: float | Fraction,
    order: MergeOrder = MergeOrder.SAVING,
) -> MergedTable:
    """Return the merged table of some patterns; their ids are their numbers from 0."""
    table = MergedTable(distribution, limit, order)
    table.add_all(dict(enumerate(patterns)))
    return table


class MergedTable:
    """A table that stays merged while subscriptions are added and removed."""

    __slots__ = ("_counts", "_ids", "_nonlinear", "_paths", "_selection")

    def __init__(
        self,
        distribution: PathDistribution,
        limit: float | Fraction,
        order: MergeOrder = MergeOrder.SAVING,
    ) -> None:
        self._ids: dict[Hashable, Steps | Pattern] = {}
        self._counts: Counter[Steps | Pattern] = Counter()  # subscriptions with each pattern
        self._nonlinear: dict[Pattern, None] = {}
        self._paths = UncoveredPaths()
        exact = Fraction(str(limit))  # 0.6 is three fifths, not the nearest float
        self._selection = MergeSelection(self._paths.roots, distribution, exact, order)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._selection.entries) + len(self._nonlinear)

    def __contains__(self, id: Hashable) -> bool:
        return id in self._ids

    @property
    def entries(self) -> frozenset[Entry]:
        return frozenset([*map(to_xpath, self._selection.entries), *self._nonlinear])

    def mergers(self) -> list[Merger]:
        """Return the entries that are no subscriptions, ordered by text."""
        mergers = []
        for steps in sorted(self._selection.mergers, key=to_xpath):
            members = frozenset(map(to_xpath, self._paths.roots.covered_by(steps)))
            mergers.append(Merger(to_xpath(steps), members, self._selection.degree(steps)))
        return mergers

    def by_pattern(self) -> dict[Steps | Pattern, list[Hashable]]:
        """Return the ids of each pattern; a linear one is given as steps."""
        ids: dict[Steps | Pattern, list[Hashable]] = {}
        for id, pattern in self._ids.items():
            ids.setdefault(pattern, []).append(id)
        return ids

    def covered_by(self, steps: Steps) -> list[Steps]:
        """Return the linear subscriptions that a path covers."""
        return self._paths.covered_by(steps)

    def add(self, id: Hashable, pattern: str | Pattern) -> Change[Entry]:
        """Add a subscription. Raises SubscriptionError."""
        return self.add_all({id: pattern})

    def add_all(self, patterns: Mapping[Hashable, str | Pattern]) -> Change[Entry]:
        """Add several subscriptions and merge once. Raises SubscriptionError and adds none."""
        parsed = {id: _to_steps_or_pattern(pattern) for id, pattern in patterns.items()}
        for id in parsed:
            if id in self._ids:
                raise SubscriptionError("duplicate-id", f"there is a subscription {id!r} already")
        nonlinear_before = self._nonlinear.copy()
        removed: list[Steps] = []
        added: list[Steps] = []
        for id, pattern in parsed.items():
            self._ids[id] = pattern
            self._counts[pattern] += 1
            if self._counts[pattern] > 1:
                continue
            if isinstance(pattern, Pattern):
                self._nonlinear[pattern] = None
            else:
                removed_roots, added_roots = self._paths.add(pattern)
                removed += removed_roots
                added += added_roots
        return self._update(nonlinear_before, removed, added)

    def remove(self, id: Hashable) -> Change[Entry]:
        """Remove a subscription. Raises KeyError if the id is absent."""
        pattern = self._ids.pop(id)
        self._counts[pattern] -= 1
        if self._counts[pattern]:
            return Change()
        del self._counts[pattern]
        if isinstance(pattern, Pattern):
            del self._nonlinear[pattern]
            return Change(hidden=frozenset({pattern}))
        return self._update(self._nonlinear, *self._paths.remove(pattern))

    def _update(
        self, nonlinear_before: Mapping[Pattern, None], removed: list[Steps], added: list[Steps]
    ) -> Change[Entry]:
        exposed, hidden = self._selection.update(removed, added)
        new_nonlinear = self._nonlinear.keys() - nonlinear_before.keys()
        return Change(
            frozenset([*map(to_xpath, exposed), *new_nonlinear]), frozenset(map(to_xpath, hidden))
        )


def _to_steps_or_pattern(pattern: str | Pattern) -> Steps | Pattern:
    parsed = pattern if isinstance(pattern, Pattern) else parse(pattern)
    steps = to_steps(parsed)
    return parsed if steps is None else steps
