"""Summaries: reductions of the interests that a neighbour must know.

    PlainSummary      exposes every interest
    CoveringSummary   exposes the covering roots
    MergingSummary    exposes mergers in place of covering roots

A summary reports net changes: an interest that was added and removed between two calls of
`take_changes` is not reported.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from pathcast.covering import Aggregate, Change
from pathcast.covering.merging import MergedTable, PathDistribution
from pathcast.covering.merging.linear import Steps, to_steps
from pathcast.routing.backend import InterestSummary
from pathcast.routing.messages import Interest, InternedInterests
from pathcast.xpath import Pattern, parse

__all__ = ["CoveringSummary", "MergingSummary", "NetChange", "PlainSummary"]


class NetChange:
    """An accumulator of changes in which exposing and hiding an interest cancel out."""

    def __init__(self) -> None:
        self._exposed: set[Interest] = set()
        self._hidden: set[Interest] = set()

    def expose(self, interest: Interest) -> None:
        (self._hidden.remove if interest in self._hidden else self._exposed.add)(interest)

    def hide(self, interest: Interest) -> None:
        (self._exposed.remove if interest in self._exposed else self._hidden.add)(interest)

    def take(self) -> Change[Interest]:
        """Return the net change and start again."""
        change = Change(frozenset(self._exposed), frozenset(self._hidden))
        self._exposed, self._hidden = set(), set()
        return change


class PlainSummary:
    """Every interest represents itself."""

    def __init__(self) -> None:
        self._net = NetChange()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, interest: Interest) -> None:
        self._size += 1
        self._net.expose(interest)

    def remove(self, interest: Interest) -> None:
        self._size -= 1
        self._net.hide(interest)

    def take_changes(self) -> Change[Interest]:
        return self._net.take()

    def represented_by(self, interest: Interest) -> list[Interest]:
        return [interest]


class CoveringSummary:
    """The covering roots of an aggregate."""

    def __init__(self) -> None:
        self._aggregate: Aggregate[Interest] = Aggregate.of()
        self._net = NetChange()

    def __len__(self) -> int:
        return len(self._aggregate)

    def add(self, interest: Interest) -> None:
        self._accumulate(self._aggregate.add(interest, interest.pattern))

    def remove(self, interest: Interest) -> None:
        self._accumulate(self._aggregate.remove(interest))

    def _accumulate(self, change: Change[Interest]) -> None:
        for interest in change.exposed:
            self._net.expose(interest)
        for interest in change.hidden:
            self._net.hide(interest)

    def take_changes(self) -> Change[Interest]:
        return self._net.take()

    def represented_by(self, interest: Interest) -> list[Interest]:
        return sorted(self._aggregate.covered_by(interest.pattern))


class MergingSummary:
    """Mergers over the covering roots of another summary."""

    def __init__(
        self,
        roots: InterestSummary,
        interests: InternedInterests,
        distribution: PathDistribution,
        limit: Fraction,
    ) -> None:
        self._roots = roots
        self._interests = interests
        self._merged = MergedTable(distribution, limit)
        # Built by `represented_by`, and discarded when the table changes.
        self._members: dict[Steps | Pattern, list[Hashable]] | None = None

    def __len__(self) -> int:
        return len(self._roots)

    def add(self, interest: Interest) -> None:
        self._roots.add(interest)

    def remove(self, interest: Interest) -> None:
        self._roots.remove(interest)

    def take_changes(self) -> Change[Interest]:
        root_change = self._roots.take_changes()
        net = NetChange()
        self._members = None
        added: dict[Hashable, str | Pattern] = {
            interest: interest.pattern for interest in sorted(root_change.exposed)
        }
        merged_changes = [self._merged.add_all(added)] if added else []
        merged_changes += [self._merged.remove(interest) for interest in sorted(root_change.hidden)]
        for change in merged_changes:
            for entry in change.exposed:
                net.expose(self._interest_of(entry))
            for entry in change.hidden:
                net.hide(self._interest_of(entry))
        return net.take()

    def _interest_of(self, entry: str | Pattern) -> Interest:
        return self._interests.intern(parse(entry) if isinstance(entry, str) else entry)

    def represented_by(self, interest: Interest) -> list[Interest]:
        """Return the members of a merger and the interests that they cover.

        Patterns that are not linear are exposed even if a merger covers them.
        """
        steps = to_steps(interest.pattern)
        if steps is None:
            return self._roots.represented_by(interest)
        if self._members is None:
            self._members = self._merged.by_pattern()
        represented: set[Interest] = set()
        for covered in self._merged.covered_by(steps):
            for member in self._members[covered]:
                assert isinstance(member, Interest)
                represented.update(self._roots.represented_by(member))
        return sorted(represented)
