"""The backend of one broker, over the matching engine, aggregates and mergers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache

from pathcast.covering.merging import PathDistribution
from pathcast.errors import RoutingError
from pathcast.matching import Matcher
from pathcast.matching.matcher import MAX_HOPS
from pathcast.routing.advertisement import Advertisement, overlaps
from pathcast.routing.backend import InterestSummary
from pathcast.routing.messages import Interest, InternedInterests
from pathcast.routing.strategy import Strategy
from pathcast.routing.summaries import CoveringSummary, MergingSummary, PlainSummary
from pathcast.xpath import Pattern

__all__ = ["MatcherBackend", "MatcherFilter", "MatcherSelector", "make_summary"]

_MAX_CACHED_OVERLAPS = 1 << 17


class MatcherFilter:
    """A filter over matchers, whose subscriptions are the entries of the table.

    A matcher has at most `MAX_HOPS` hops. A broker on a graph with thousands of origins may need
    more, so hop h belongs to matcher `h // MAX_HOPS`.
    """

    def __init__(self) -> None:
        self._matchers: dict[int, Matcher] = {}
        self._ids: dict[tuple[Interest, int], int] = {}
        self._next_id = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, interest: Interest, hop: int) -> None:
        pattern = interest.pattern
        group, number = divmod(hop, MAX_HOPS)
        matcher = self._matchers.setdefault(group, Matcher())
        matcher.add(self._next_id, pattern.text, dict(pattern.namespaces), hop=number)
        self._ids[interest, hop] = self._next_id
        self._next_id += 1

    def remove(self, interest: Interest, hop: int) -> None:
        group = hop // MAX_HOPS
        self._matchers[group].remove(self._ids.pop((interest, hop)))
        if group and not len(self._matchers[group]):
            del self._matchers[group]

    def hops(self, body: bytes) -> Iterable[int]:
        for group, matcher in self._matchers.items():
            for number in matcher.match_hops(body):
                yield group * MAX_HOPS + number


class MatcherSelector:
    """A selector over one matcher; subscription ids are mapped to integers."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._numbers: dict[Hashable, int] = {}
        self._ids: dict[int, Hashable] = {}
        self._next_id = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, id: Hashable, interest: Interest) -> None:
        pattern = interest.pattern
        self._matcher.add(self._next_id, pattern.text, dict(pattern.namespaces))
        self._numbers[id] = self._next_id
        self._ids[self._next_id] = id
        self._next_id += 1

    def remove(self, id: Hashable) -> None:
        number = self._numbers.pop(id)
        del self._ids[number]
        self._matcher.remove(number)

    def match(self, body: bytes) -> Iterable[Hashable]:
        return [self._ids[int(number)] for number in self._matcher.match(body)]


def make_summary(
    strategy: Strategy,
    covering: Callable[[], InterestSummary],
    interests: InternedInterests,
    distribution: PathDistribution | None,
) -> InterestSummary:
    """Return an empty summary of the kind that a strategy requires; raise RoutingError."""
    if not strategy.covering:
        return PlainSummary()
    if strategy.limit is None:
        return covering()
    if distribution is None:
        message = "mergers are judged by the paths that publishers send"
        raise RoutingError("merging", message, hint="name a DTD, or give rates of paths")
    return MergingSummary(covering(), interests, distribution, strategy.limit)


class MatcherBackend:
    """The backend of one broker. Merging strategies require a `distribution`."""

    def __init__(self, strategy: Strategy, distribution: PathDistribution | None = None) -> None:
        self._strategy = strategy
        self._interests = InternedInterests()
        self._distribution = distribution
        self._cached_overlaps = lru_cache(_MAX_CACHED_OVERLAPS)(_overlaps)

    def interest(self, pattern: Pattern) -> Interest:
        return self._interests.intern(pattern)

    def filter(self) -> MatcherFilter:
        return MatcherFilter()

    def selector(self) -> MatcherSelector:
        return MatcherSelector()

    def summary(self) -> InterestSummary:
        return make_summary(self._strategy, CoveringSummary, self._interests, self._distribution)

    def overlaps(self, advertisement: Advertisement, interest: Interest) -> bool:
        return self._cached_overlaps(advertisement, interest)


def _overlaps(advertisement: Advertisement, interest: Interest) -> bool:
    return overlaps(advertisement, interest.pattern)
