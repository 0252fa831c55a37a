"""The kit for many routers in one process: every pattern, and every relation between two of them, is known once for all.

A simulation of a hundred brokers matches a document at each of them, and asks each table what covers what. Here a document is matched once, against all patterns that any
broker has; what a broker's table makes of it is an intersection of two bitmaps. Likewise of each pattern the patterns that it covers and that cover it
are known as bitmaps, which grow with each pattern that comes; a table's roots follow from intersections. Answers equal those of `engine_kit` (tests compare
them); of patterns that cover each other the one that came first into the process stands for the others.

Nothing is ever taken out: a pattern costs its bits for as long as the kit lives.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator

from pyroaring import BitMap

from pathcast.covering import Change
from pathcast.covering.encode import TwigEncoder
from pathcast.covering.indexes import feature_index
from pathcast.covering.merging import PathDistribution
from pathcast.matching import Matcher
from pathcast.routing.advertisement import Advertisement, overlaps
from pathcast.routing.backend import Summary
from pathcast.routing.matcher_backend import summary_of
from pathcast.routing.messages import Interest, InternedInterests
from pathcast.routing.strategy import Strategy
from pathcast.routing.summaries import Net
from pathcast.xpath import Pattern

__all__ = ["SharedBackend"]

_BODIES = 256  # documents whose matches are remembered


class _Matches:
    """Which of all patterns does a document match?"""

    def __init__(self) -> None:
        self._matcher = Matcher()
        self._known: set[int] = set()
        self._found: OrderedDict[bytes, BitMap] = OrderedDict()

    def add(self, interest: Interest) -> None:
        if interest.number in self._known:
            return
        pattern = interest.pattern
        self._matcher.add(interest.number, pattern.text, dict(pattern.namespaces))
        self._known.add(interest.number)
        self._found.clear()

    def of(self, body: bytes) -> BitMap:
        """Raises DocumentError."""
        found = self._found.get(body)
        if found is None:
            found = BitMap(int(one) for one in self._matcher.match(body))
            self._found[body] = found
            if len(self._found) > _BODIES:
                self._found.popitem(last=False)
        return found


class _Relations:
    """Of each pattern those that it covers, and those that cover it; itself in neither."""

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


class _Filter:
    def __init__(self, matches: _Matches) -> None:
        self._matches = matches
        self._entries: dict[int, BitMap] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, interest: Interest, hop: int) -> None:
        self._matches.add(interest)
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
        found = self._matches.of(body)
        for hop, entries in self._entries.items():
            if entries.intersect(found):
                yield hop


class _Selector:
    def __init__(self, matches: _Matches) -> None:
        self._matches = matches
        self._interests: dict[Hashable, int] = {}
        self._ids: dict[int, dict[Hashable, None]] = {}
        self._numbers = BitMap()

    def __len__(self) -> int:
        return len(self._interests)

    def add(self, id: Hashable, interest: Interest) -> None:
        self._matches.add(interest)
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
        return [id for number in self._matches.of(body) & self._numbers for id in self._ids[number]]


class _Covering:
    """A table's patterns and its roots. One that covers another hides it, unless it is covered as well and came later."""

    def __init__(self, interests: InternedInterests, relations: _Relations) -> None:
        self._interests = interests
        self._relations = relations
        self._table = BitMap()
        self._roots = BitMap()
        self._net = Net()

    def __len__(self) -> int:
        return len(self._table)

    def add(self, interest: Interest) -> None:
        self._relations.add(interest)
        number = interest.number
        self._table.add(number)
        if self._hidden(number, self._roots):
            return
        hidden = self._roots & self._hides(number)
        self._roots -= hidden
        self._roots.add(number)
        self._net.expose(interest)
        for one in hidden:
            self._net.hide(self._interests[one])

    def remove(self, interest: Interest) -> None:
        number = interest.number
        self._table.remove(number)
        if number not in self._roots:
            return
        self._roots.remove(number)
        self._net.hide(interest)
        orphans = (self._hides(number) & self._table) - self._roots
        loose = BitMap(one for one in orphans if not self._hidden(one, self._roots))
        for one in loose:
            if not self._hidden(one, loose):
                self._roots.add(one)
                self._net.expose(self._interests[one])

    def _hidden(self, number: int, among: BitMap) -> bool:
        above = self._relations.above[number]
        if not above.intersect(among):
            return False
        strictly = above - self._relations.below[number]
        if strictly.intersect(among):
            return True
        return any(one < number for one in above & among)

    def _hides(self, number: int) -> BitMap:
        below = self._relations.below[number]
        alike = below & self._relations.above[number]
        earlier = BitMap(one for one in alike if one < number)
        return below - earlier

    def changes(self) -> Change[Interest]:
        return self._net.take()

    def standing_for(self, interest: Interest) -> list[Interest]:
        self._relations.add(interest)
        below = self._relations.below[interest.number] | BitMap([interest.number])
        return [self._interests[one] for one in below & self._table]


class SharedBackend:
    """One for all routers of a simulation, as long as they have one strategy."""

    def __init__(self, strategy: Strategy, distribution: PathDistribution | None = None) -> None:
        self._strategy = strategy
        self._distribution = distribution
        self._interests = InternedInterests()
        self._matches = _Matches()
        self._relations = _Relations()
        self._overlaps: dict[tuple[int, int], bool] = {}
        self._advertisements: dict[Advertisement, int] = {}

    def interest(self, pattern: Pattern) -> Interest:
        return self._interests.intern(pattern)

    def filter(self) -> _Filter:
        return _Filter(self._matches)

    def selector(self) -> _Selector:
        return _Selector(self._matches)

    def summary(self) -> Summary:
        return summary_of(self._strategy, self._covering, self._interests, self._distribution)

    def _covering(self) -> _Covering:
        return _Covering(self._interests, self._relations)

    def overlaps(self, advertisement: Advertisement, interest: Interest) -> bool:
        number = self._advertisements.setdefault(advertisement, len(self._advertisements))
        key = (number, interest.number)
        found = self._overlaps.get(key)
        if found is None:
            found = self._overlaps[key] = overlaps(advertisement, interest.pattern)
        return found
