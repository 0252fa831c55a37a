"""The kit of a broker: the matching engine, aggregates, mergers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache

from pathcast.covering.merging import PathDistribution
from pathcast.errors import RoutingError
from pathcast.matching import Matcher
from pathcast.matching.matcher import MAX_HOPS
from pathcast.routing.advertisement import Advertisement, overlaps
from pathcast.routing.backend import Summary
from pathcast.routing.messages import Interest, InternedInterests
from pathcast.routing.strategy import Strategy
from pathcast.routing.summaries import Covering, Merging, Plain
from pathcast.xpath import Pattern

__all__ = ["MatcherBackend", "MatcherFilter", "MatcherSelector", "summary_of"]

_OVERLAPS = 1 << 17  # answers that are kept


class MatcherFilter:
    """A matcher whose subscriptions are entries of a table, and whose hops are asked for.

    There is another matcher for every `MAX_HOPS` hops, which a broker on a graph with thousands of origins may come to.
    """

    def __init__(self) -> None:
        self._matchers: dict[int, Matcher] = {}
        self._ids: dict[tuple[Interest, int], int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, interest: Interest, hop: int) -> None:
        pattern = interest.pattern
        which, number = divmod(hop, MAX_HOPS)
        matcher = self._matchers.setdefault(which, Matcher())
        matcher.add(self._next, pattern.text, dict(pattern.namespaces), hop=number)
        self._ids[interest, hop] = self._next
        self._next += 1

    def remove(self, interest: Interest, hop: int) -> None:
        which = hop // MAX_HOPS
        self._matchers[which].remove(self._ids.pop((interest, hop)))
        if which and not len(self._matchers[which]):
            del self._matchers[which]

    def hops(self, body: bytes) -> Iterable[int]:
        for which, matcher in self._matchers.items():
            for number in matcher.match_hops(body):
                yield which * MAX_HOPS + number


class MatcherSelector:
    """A matcher whose subscriptions have subscribers."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._numbers: dict[Hashable, int] = {}
        self._ids: dict[int, Hashable] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, id: Hashable, interest: Interest) -> None:
        pattern = interest.pattern
        self._matcher.add(self._next, pattern.text, dict(pattern.namespaces))
        self._numbers[id] = self._next
        self._ids[self._next] = id
        self._next += 1

    def remove(self, id: Hashable) -> None:
        number = self._numbers.pop(id)
        del self._ids[number]
        self._matcher.remove(number)

    def match(self, body: bytes) -> Iterable[Hashable]:
        return [self._ids[int(number)] for number in self._matcher.match(body)]


def summary_of(
    strategy: Strategy,
    covering: Callable[[], Summary],
    interests: InternedInterests,
    distribution: PathDistribution | None,
) -> Summary:
    """What a strategy makes of the interests for one neighbour."""
    if not strategy.covering:
        return Plain()
    if strategy.limit is None:
        return covering()
    if distribution is None:
        message = "mergers are judged by the paths that publishers send"
        raise RoutingError("merging", message, hint="name a DTD, or give rates of paths")
    return Merging(covering(), interests, distribution, strategy.limit)


class MatcherBackend:
    """`distribution` is needed by strategies that merge."""

    def __init__(self, strategy: Strategy, distribution: PathDistribution | None = None) -> None:
        self._strategy = strategy
        self._interests = InternedInterests()
        self._distribution = distribution
        self._overlaps = lru_cache(_OVERLAPS)(_overlaps)

    def interest(self, pattern: Pattern) -> Interest:
        return self._interests.intern(pattern)

    def filter(self) -> MatcherFilter:
        return MatcherFilter()

    def selector(self) -> MatcherSelector:
        return MatcherSelector()

    def summary(self) -> Summary:
        return summary_of(self._strategy, Covering, self._interests, self._distribution)

    def overlaps(self, advertisement: Advertisement, interest: Interest) -> bool:
        return self._overlaps(advertisement, interest)


def _overlaps(advertisement: Advertisement, interest: Interest) -> bool:
    return overlaps(advertisement, interest.pattern)
