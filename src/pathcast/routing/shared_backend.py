"""The backend of all routers of one process, which share patterns and covering relations.

A simulation of a hundred brokers matches each document at each broker and asks each table for
covering. This backend matches a document once, against the patterns of all brokers; the result of
one table is the intersection of two bitmaps. It also computes the covering relation of each pattern
once, as bitmaps that grow with new patterns; the covering roots of a table are intersections.

The answers equal those of `MatcherBackend` (property tests compare them). Of patterns that cover
each other, the one that was interned first represents the others.

Patterns are never removed: each costs its bits for the lifetime of the backend.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator

from pyroaring import BitMap

from pathcast.covering import Change
from pathcast.covering.encode import TwigEncoder
from pathcast.covering.index_registry import feature_index
from pathcast.covering.merging import PathDistribution
from pathcast.matching import Matcher
from pathcast.routing.advertisement import Advertisement, overlaps
from pathcast.routing.backend import InterestSummary
from pathcast.routing.matcher_backend import make_summary
from pathcast.routing.messages import Interest, InternedInterests
from pathcast.routing.strategy import Strategy
from pathcast.routing.summaries import NetChange
from pathcast.xpath import Pattern

__all__ = ["SharedBackend"]

_MAX_CACHED_DOCUMENTS = 256


class _MatchCache:
    """Matches documents against all patterns of the process; caches recent results."""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._numbers: set[int] = set()
        self._cache: OrderedDict[bytes, BitMap] = OrderedDict()

    def add(self, interest: Interest) -> None:
        if interest.number in self._numbers:
            return
        pattern = interest.pattern
        self._matcher.add(interest.number, pattern.text, dict(pattern.namespaces))
        self._numbers.add(interest.number)
        self._cache.clear()

    def matches(self, body: bytes) -> BitMap:
        """Return the numbers of the matching interests; raise DocumentError."""
        numbers = self._cache.get(body)
        if numbers is None:
            numbers = BitMap(int(number) for number in self._matcher.match(body))
            self._cache[body] = numbers
            if len(self._cache) > _MAX_CACHED_DOCUMENTS:
                self._cache.popitem(last=False)
        return numbers


class _CoveringRelation:
    """The covering relation: `below` has the patterns that one covers, `above` its coverers.

    A pattern is in neither of its own sets.
    """

    def __init__(self) -> None:
        self._encoder = TwigEncoder()
        self._index = feature_index(self._encoder.labels)
        self.below: dict[int, BitMap] = {}
        self.above: dict[int, BitMap] = {}

    def add(self, interest: Interest) -> None:
        number = interest.number
        if number in self.below:
            return
        twigs = self._encoder.encode(interest.pattern)
        below = self.below[number] = BitMap(self._index.covered_by(twigs))
        above = self.above[number] = BitMap(self._index.covering(twigs))
        for other in below:
            self.above[other].add(number)
        for other in above:
            self.below[other].add(number)
        self._index.add(number, twigs)


class _BitmapFilter:
    def __init__(self, cache: _MatchCache) -> None:
        self._cache = cache
        self._entries: dict[int, BitMap] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, interest: Interest, hop: int) -> None:
        self._cache.add(interest)
        entries = self._entries.get(hop)
        if entries is None:
            entries = self._entries[hop] = BitMap()
        entries.add(interest.number)
        self._size += 1

    def remove(self, interest: Interest, hop: int) -> None:
        self._entries[hop].remove(interest.number)
        self._size -= 1
        if not self._entries[hop]:
            del self._entries[hop]

    def hops(self, body: bytes) -> Iterator[int]:
        matches = self._cache.matches(body)
        for hop, entries in self._entries.items():
            if entries.intersect(matches):
                yield hop


class _BitmapSelector:
    def __init__(self, cache: _MatchCache) -> None:
        self._cache = cache
        self._interests: dict[Hashable, int] = {}
        self._ids: dict[int, dict[Hashable, None]] = {}
        self._numbers = BitMap()

    def __len__(self) -> int:
        return len(self._interests)

    def add(self, id: Hashable, interest: Interest) -> None:
        self._cache.add(interest)
        self._interests[id] = interest.number
        self._ids.setdefault(interest.number, {})[id] = None
        self._numbers.add(interest.number)

    def remove(self, id: Hashable) -> None:
        number = self._interests.pop(id)
        del self._ids[number][id]
        if not self._ids[number]:
            del self._ids[number]
            self._numbers.remove(number)

    def match(self, body: bytes) -> Iterable[Hashable]:
        return [
            id for number in self._cache.matches(body) & self._numbers for id in self._ids[number]
        ]


class _BitmapCoveringSummary:
    """The interests of one table and its covering roots, as bitmaps.

    An interest hides those that it covers. Of interests that cover each other, the first hides the
    others.
    """

    def __init__(self, interests: InternedInterests, relation: _CoveringRelation) -> None:
        self._interests = interests
        self._relation = relation
        self._table = BitMap()
        self._roots = BitMap()
        self._net = NetChange()

    def __len__(self) -> int:
        return len(self._table)

    def add(self, interest: Interest) -> None:
        self._relation.add(interest)
        number = interest.number
        self._table.add(number)
        if self._is_hidden(number, self._roots):
            return
        hidden = self._roots & self._hides(number)
        self._roots -= hidden
        self._roots.add(number)
        self._net.expose(interest)
        for root in hidden:
            self._net.hide(self._interests[root])

    def remove(self, interest: Interest) -> None:
        number = interest.number
        self._table.remove(number)
        if number not in self._roots:
            return
        self._roots.remove(number)
        self._net.hide(interest)
        orphans = (self._hides(number) & self._table) - self._roots
        uncovered = BitMap(orphan for orphan in orphans if not self._is_hidden(orphan, self._roots))
        for orphan in uncovered:
            if not self._is_hidden(orphan, uncovered):
                self._roots.add(orphan)
                self._net.expose(self._interests[orphan])

    def _is_hidden(self, number: int, by: BitMap) -> bool:
        above = self._relation.above[number]
        if not above.intersect(by):
            return False
        strictly_above = above - self._relation.below[number]
        if strictly_above.intersect(by):
            return True
        return any(equivalent < number for equivalent in above & by)

    def _hides(self, number: int) -> BitMap:
        below = self._relation.below[number]
        equivalent = below & self._relation.above[number]
        earlier = BitMap(other for other in equivalent if other < number)
        return below - earlier

    def take_changes(self) -> Change[Interest]:
        return self._net.take()

    def represented_by(self, interest: Interest) -> list[Interest]:
        self._relation.add(interest)
        below = self._relation.below[interest.number] | BitMap([interest.number])
        return [self._interests[number] for number in below & self._table]


class SharedBackend:
    """The backend of all routers of a simulation, which must have the same strategy."""

    def __init__(self, strategy: Strategy, distribution: PathDistribution | None = None) -> None:
        self._strategy = strategy
        self._distribution = distribution
        self._interests = InternedInterests()
        self._match_cache = _MatchCache()
        self._relation = _CoveringRelation()
        self._overlaps: dict[tuple[int, int], bool] = {}
        self._advertisements: dict[Advertisement, int] = {}

    def interest(self, pattern: Pattern) -> Interest:
        return self._interests.intern(pattern)

    def filter(self) -> _BitmapFilter:
        return _BitmapFilter(self._match_cache)

    def selector(self) -> _BitmapSelector:
        return _BitmapSelector(self._match_cache)

    def summary(self) -> InterestSummary:
        return make_summary(self._strategy, self._covering, self._interests, self._distribution)

    def _covering(self) -> _BitmapCoveringSummary:
        return _BitmapCoveringSummary(self._interests, self._relation)

    def overlaps(self, advertisement: Advertisement, interest: Interest) -> bool:
        number = self._advertisements.setdefault(advertisement, len(self._advertisements))
        key = (number, interest.number)
        answer = self._overlaps.get(key)
        if answer is None:
            answer = self._overlaps[key] = overlaps(advertisement, interest.pattern)
        return answer
