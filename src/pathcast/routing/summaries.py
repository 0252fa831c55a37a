"""Summaries: of the interests that a neighbour should know, the fewer that it is told.

    Plain      each is told
    Covering   those that no other covers
    Merging    and of these, mergers in the place of their members

Whatever happens between two questions counts as one change, so what comes and goes in between is not told at all.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from pathcast.covering import Aggregate, Change
from pathcast.covering.merging import MergedTable, PathDistribution
from pathcast.covering.merging.linear import Steps, to_steps
from pathcast.routing.backend import Summary
from pathcast.routing.messages import Interest, InternedInterests
from pathcast.xpath import Pattern, parse

__all__ = ["Covering", "Merging", "Net", "Plain"]


class Net:
    """What several changes come to: an interest that is exposed and hidden again has not changed."""

    def __init__(self) -> None:
        self._exposed: set[Interest] = set()
        self._hidden: set[Interest] = set()

    def expose(self, interest: Interest) -> None:
        (self._hidden.remove if interest in self._hidden else self._exposed.add)(interest)

    def hide(self, interest: Interest) -> None:
        (self._exposed.remove if interest in self._exposed else self._hidden.add)(interest)

    def take(self) -> Change[Interest]:
        change = Change(frozenset(self._exposed), frozenset(self._hidden))
        self._exposed, self._hidden = set(), set()
        return change


class Plain:
    """Each stands for itself."""

    def __init__(self) -> None:
        self._net = Net()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, interest: Interest) -> None:
        self._size += 1
        self._net.expose(interest)

    def remove(self, interest: Interest) -> None:
        self._size -= 1
        self._net.hide(interest)

    def changes(self) -> Change[Interest]:
        return self._net.take()

    def standing_for(self, interest: Interest) -> list[Interest]:
        return [interest]


class Covering:
    """The roots of an aggregate."""

    def __init__(self) -> None:
        self._aggregate: Aggregate[Interest] = Aggregate.of()
        self._net = Net()

    def __len__(self) -> int:
        return len(self._aggregate)

    def add(self, interest: Interest) -> None:
        self._count(self._aggregate.add(interest, interest.pattern))

    def remove(self, interest: Interest) -> None:
        self._count(self._aggregate.remove(interest))

    def _count(self, change: Change[Interest]) -> None:
        for one in change.exposed:
            self._net.expose(one)
        for one in change.hidden:
            self._net.hide(one)

    def changes(self) -> Change[Interest]:
        return self._net.take()

    def standing_for(self, interest: Interest) -> list[Interest]:
        return sorted(self._aggregate.covered_by(interest.pattern))


class Merging:
    """Mergers over the roots of another summary."""

    def __init__(
        self,
        roots: Summary,
        interests: InternedInterests,
        distribution: PathDistribution,
        limit: Fraction,
    ) -> None:
        self._roots = roots
        self._interests = interests
        self._merged = MergedTable(distribution, limit)
        self._members: dict[Steps | Pattern, list[Hashable]] | None = None  # for people, if asked

    def __len__(self) -> int:
        return len(self._roots)

    def add(self, interest: Interest) -> None:
        self._roots.add(interest)

    def remove(self, interest: Interest) -> None:
        self._roots.remove(interest)

    def changes(self) -> Change[Interest]:
        change = self._roots.changes()
        net = Net()
        self._members = None
        come: dict[Hashable, str | Pattern] = {one: one.pattern for one in sorted(change.exposed)}
        told = [self._merged.add_all(come)] if come else []
        told += [self._merged.remove(one) for one in sorted(change.hidden)]
        for one in told:
            for entry in one.exposed:
                net.expose(self._interest(entry))
            for entry in one.hidden:
                net.hide(self._interest(entry))
        return net.take()

    def _interest(self, entry: str | Pattern) -> Interest:
        return self._interests.intern(parse(entry) if isinstance(entry, str) else entry)

    def standing_for(self, interest: Interest) -> list[Interest]:
        """Its members, and what they hide. What is not linear may be covered by mergers, and is told all the same."""
        steps = to_steps(interest.pattern)
        if steps is None:
            return self._roots.standing_for(interest)
        if self._members is None:
            self._members = self._merged.by_pattern()
        found: set[Interest] = set()
        for covered in self._merged.covered_by(steps):
            for member in self._members[covered]:
                assert isinstance(member, Interest)
                found.update(self._roots.standing_for(member))
        return sorted(found)
