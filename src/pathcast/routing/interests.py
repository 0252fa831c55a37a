"""Who wants what, and what of it each neighbour has to know.

A source (a neighbour, or `LOCAL` for our own subscribers) wants an interest without the documents of some origins: those that the source gets along another
branch of the origin's tree. Towards neighbour N an interest is passed on for the origins that come from N and that some other source wants; what is left of
N's origins is what it is wanted `without`. On a network without cycles nothing is left, ever. With advertisements it is passed on only if one of those
origins may send something that matches.

Interests that are wanted without the same origins form a group, with one summary each: a pattern may stand for another only if it is wanted from
everywhere where the other is.

What has been told is compared with what should be told when `flush` is called: everything new comes before everything that goes, so that at no moment a
document that somebody wants finds neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TypeAlias

from pathcast.routing.backend import Backend, Summary
from pathcast.routing.messages import Interest, Origins, Subscribe, Unsubscribe
from pathcast.routing.trees import Trees

__all__ = ["LOCAL", "InterestTable", "NeighbourView", "Relevance"]

LOCAL = ""
_EVERYTHING: Origins = frozenset()
Sources: TypeAlias = dict[str, frozenset[Origins]]

_SETS: dict[frozenset[Origins], frozenset[Origins]] = {}


def _shared(origins: frozenset[Origins]) -> frozenset[Origins]:
    """One object for equal sets: there are millions in a large overlay, and few different ones."""
    return _SETS.setdefault(origins, origins)


class Relevance(Enum):
    """Whether a neighbour has to know of an entry, and if not, why."""

    RELEVANT = "its documents are wanted"
    NO_ORIGIN = "no documents come from there"
    OTHER_PATH = "its documents are not wanted along this way"
    NOT_ADVERTISED = "no advertisement from there overlaps"


class InterestTable:
    """Each interest with those who want it."""

    def __init__(self) -> None:
        self._sources: dict[Interest, Sources] = {}
        self._local_counts: dict[Interest, int] = {}

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[Interest]:
        return iter(self._sources)

    def sources(self, interest: Interest) -> Sources:
        return self._sources.get(interest, {})

    def add_local(self, interest: Interest) -> bool:
        """One more subscriber of ours; whether it is the first."""
        count = self._local_counts.get(interest, 0)
        self._local_counts[interest] = count + 1
        return not count and self.add(LOCAL, interest, _EVERYTHING)

    def remove_local(self, interest: Interest) -> bool:
        """One subscriber less; whether it was the last."""
        self._local_counts[interest] -= 1
        if self._local_counts[interest]:
            return False
        del self._local_counts[interest]
        return self.remove(LOCAL, interest, _EVERYTHING)

    def add(self, source: str, interest: Interest, except_origins: Origins) -> bool:
        """Whether that is news."""
        sources = self._sources.setdefault(interest, {})
        before = sources.get(source, frozenset())
        if except_origins in before:
            return False
        sources[source] = _shared(before | {except_origins})
        return True

    def remove(self, source: str, interest: Interest, except_origins: Origins) -> bool:
        """Whether that is news."""
        sources = self._sources.get(interest, {})
        before = sources.get(source, frozenset())
        if except_origins not in before:
            return False
        after = before - {except_origins}
        if after:
            sources[source] = _shared(after)
        else:
            del sources[source]
            if not sources:
                del self._sources[interest]
        return True


class NeighbourView:
    """What one neighbour is told."""

    def __init__(
        self, neighbour: str, trees: Trees, backend: Backend, by_advertisement: bool
    ) -> None:
        self.neighbour = neighbour
        self.sent: dict[Interest, frozenset[Origins]] = {}
        self._trees = trees
        self._backend = backend
        self._by_advertisement = by_advertisement
        self._placed: dict[Interest, Origins] = {}
        self._groups: dict[Origins, Summary] = {}
        self._dirty: dict[Origins, None] = {}
        self._scopes: dict[frozenset[tuple[str, frozenset[Origins]]], tuple[Origins, Origins]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.sent.values()))

    def placed_count(self) -> int:
        """How many interests are held for the neighbour, told or not, and groups of them."""
        return len(self._placed) + len(self._groups)

    def invalidate_scopes(self) -> None:
        """The trees or advertisements are others: what was derived from them is so no more."""
        self._scopes.clear()

    def place(self, interest: Interest, sources: Sources) -> None:
        """Put an interest into the group where it belongs now."""
        now = self._except_origins(interest, sources)
        before = self._placed.get(interest)
        if now == before:
            return
        if now is None:
            del self._placed[interest]
        else:
            group = self._groups.get(now)
            if group is None:
                group = self._groups[now] = self._backend.summary()
            group.add(interest)
            self._placed[interest] = now
            self._dirty[now] = None
        if before is not None:
            self._groups[before].remove(interest)
            self._dirty[before] = None

    def _except_origins(self, interest: Interest, sources: Sources) -> Origins | None:
        """The origins of this neighbour that nobody else wants it from; None if it need not know the interest at all."""
        if not sources or (len(sources) == 1 and self.neighbour in sources):
            return None
        others = frozenset(pair for pair in sources.items() if pair[0] != self.neighbour)
        scope = self._scopes.get(others)
        if scope is None:
            scope = self._scopes[others] = self._scope(others)
        wanted, except_origins = scope
        if not wanted:
            return None
        if self._by_advertisement and not self._is_advertised(interest, wanted):
            return None
        return except_origins

    def _scope(self, sources: Iterable[tuple[str, frozenset[Origins]]]) -> tuple[Origins, Origins]:
        origins = frozenset(self._trees.origins_by(self.neighbour))
        wanted: set[str] = set()
        for source, exceptions in sources:
            if source == LOCAL:
                return origins, _EVERYTHING
            for origin in origins - wanted:
                if self._trees.is_child(source, origin) and any(
                    origin not in except_origins for except_origins in exceptions
                ):
                    wanted.add(origin)
        return frozenset(wanted), origins - wanted

    def _is_advertised(self, interest: Interest, origins: Origins) -> bool:
        overlaps = self._backend.overlaps
        return any(
            overlaps(one, interest)
            for origin in origins
            for one in self._trees.advertisements(origin)
        )

    def flush(self) -> list[Subscribe | Unsubscribe]:
        """What has to be told so that the neighbour knows what it should."""
        if not self._dirty:
            return []
        come: list[Subscribe | Unsubscribe] = []
        gone: list[Subscribe | Unsubscribe] = []
        for except_origins in self._dirty:
            change = self._groups[except_origins].changes()
            for one in sorted(change.exposed):
                self.sent[one] = _shared(self.sent.get(one, frozenset()) | {except_origins})
                come.append(Subscribe(one, except_origins))
            for one in sorted(change.hidden):
                left = self.sent.pop(one) - {except_origins}
                if left:
                    self.sent[one] = _shared(left)
                gone.append(Unsubscribe(one, except_origins))
            if not len(self._groups[except_origins]):
                del self._groups[except_origins]
        self._dirty.clear()
        return come + gone

    def resend(self) -> list[Subscribe]:
        """All that has been told: the neighbour has lost it."""
        return [
            Subscribe(one, except_origins)
            for one, exceptions in sorted(self.sent.items(), key=_by_number)
            for except_origins in sorted(exceptions, key=sorted)
        ]

    # for `inspect`

    def represented_by(self, interest: Interest, except_origins: Origins) -> list[Interest]:
        """The interests that one of the told ones stands for."""
        group = self._groups.get(except_origins)
        if group is None or except_origins not in self.sent.get(interest, ()):
            return []
        return group.standing_for(interest)

    def group_of(self, interest: Interest) -> Origins | None:
        """What an interest is wanted without; None if the neighbour need not know it."""
        return self._placed.get(interest)

    def representatives(self) -> dict[Interest, Interest]:
        """Of each interest that the neighbour should know, the told one that stands for it: itself, or the first."""
        found: dict[Interest, Interest] = {}
        for told, exceptions in sorted(self.sent.items(), key=_by_number):
            for except_origins in exceptions:
                for one in self.represented_by(told, except_origins):
                    if one is told or one not in found:
                        found[one] = told
        return found

    def relevance(self, interest: Interest, source: str, except_origins: Origins) -> Relevance:
        """Whether one entry alone is a reason for the neighbour to know its interest."""
        if not self._trees.origins_by(self.neighbour):
            return Relevance.NO_ORIGIN
        wanted, _ = self._scope([(source, frozenset({except_origins}))])
        if not wanted:
            return Relevance.OTHER_PATH
        if self._by_advertisement and not self._is_advertised(interest, wanted):
            return Relevance.NOT_ADVERTISED
        return Relevance.RELEVANT


def _by_number(item: tuple[Interest, frozenset[Origins]]) -> int:
    return item[0].number
