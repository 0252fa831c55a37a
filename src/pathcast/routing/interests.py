"""The interests of each source, and the part of them that each neighbour must know.

A *source* is a neighbour, or `LOCAL` for the local subscribers. A source has an interest except in
the documents of some origins: those that reach it along another branch of the origin's tree. The
interest is propagated to neighbour N for the origins whose parent is N and which some other source
asks for. The other origins of N become the propagated interest's `except_origins`; on an overlay
without cycles there are none. With advertisements, the interest is propagated only if it overlaps
an advertisement of one of those origins.

Interests with the same excepted origins form a group with a summary of its own: one pattern may
represent another only if it requests the documents of at least the same origins.

`flush` compares the state already sent with the state due. Additions precede removals, so at no
moment does the neighbour lack an entry for a document that a subscriber asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TypeAlias

from pathcast.routing.backend import Backend, InterestSummary
from pathcast.routing.messages import Interest, Origins, Subscribe, Unsubscribe
from pathcast.routing.trees import Trees

__all__ = ["LOCAL", "InterestTable", "NeighbourView", "Relevance"]

LOCAL = ""
_NO_ORIGINS: Origins = frozenset()
Sources: TypeAlias = dict[str, frozenset[Origins]]  # of each source, its sets of excepted origins

_INTERNED: dict[frozenset[Origins], frozenset[Origins]] = {}


def _intern(exceptions: frozenset[Origins]) -> frozenset[Origins]:
    """Return one object for equal sets: a large overlay has millions, and few distinct ones."""
    return _INTERNED.setdefault(exceptions, exceptions)


class Relevance(Enum):
    """Whether a neighbour must know an entry, and if not, why."""

    RELEVANT = "its documents are wanted"
    NO_ORIGIN = "no documents come from there"
    OTHER_PATH = "its documents are not wanted along this way"
    NOT_ADVERTISED = "no advertisement from there overlaps"


class InterestTable:
    """Each interest with its sources."""

    def __init__(self) -> None:
        self._sources: dict[Interest, Sources] = {}
        self._local_counts: dict[Interest, int] = {}  # of local subscriptions

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[Interest]:
        return iter(self._sources)

    def sources(self, interest: Interest) -> Sources:
        return self._sources.get(interest, {})

    def add_local(self, interest: Interest) -> bool:
        """Add a local subscription; return whether it is the first with this interest."""
        count = self._local_counts.get(interest, 0)
        self._local_counts[interest] = count + 1
        return not count and self.add(LOCAL, interest, _NO_ORIGINS)

    def remove_local(self, interest: Interest) -> bool:
        """Remove a local subscription; return whether it was the last with this interest."""
        self._local_counts[interest] -= 1
        if self._local_counts[interest]:
            return False
        del self._local_counts[interest]
        return self.remove(LOCAL, interest, _NO_ORIGINS)

    def add(self, source: str, interest: Interest, except_origins: Origins) -> bool:
        """Add an entry of a source; return whether it is new."""
        sources = self._sources.setdefault(interest, {})
        before = sources.get(source, frozenset())
        if except_origins in before:
            return False
        sources[source] = _intern(before | {except_origins})
        return True

    def remove(self, source: str, interest: Interest, except_origins: Origins) -> bool:
        """Remove an entry of a source; return whether it existed."""
        sources = self._sources.get(interest, {})
        before = sources.get(source, frozenset())
        if except_origins not in before:
            return False
        after = before - {except_origins}
        if after:
            sources[source] = _intern(after)
        else:
            del sources[source]
            if not sources:
                del self._sources[interest]
        return True


class NeighbourView:
    """The interests that one neighbour must know, and those sent to it."""

    def __init__(
        self, neighbour: str, trees: Trees, backend: Backend, by_advertisement: bool
    ) -> None:
        self.neighbour = neighbour
        self.sent: dict[Interest, frozenset[Origins]] = {}
        self._trees = trees
        self._backend = backend
        self._by_advertisement = by_advertisement
        self._group_of: dict[Interest, Origins] = {}
        self._groups: dict[Origins, InterestSummary] = {}
        self._dirty: dict[Origins, None] = {}  # groups that changed since the last flush
        # Of a set of sources, the origins asked for and those excepted; valid for these trees.
        self._scopes: dict[frozenset[tuple[str, frozenset[Origins]]], tuple[Origins, Origins]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.sent.values()))

    def placed_count(self) -> int:
        """Return the number of interests in groups, plus the number of groups."""
        return len(self._group_of) + len(self._groups)

    def invalidate_scopes(self) -> None:
        """Discard the memo after a change of trees or advertisements."""
        self._scopes.clear()

    def place(self, interest: Interest, sources: Sources) -> None:
        """Move an interest to the group that its sources require now, or out of all groups."""
        now = self._except_origins(interest, sources)
        before = self._group_of.get(interest)
        if now == before:
            return
        if now is None:
            del self._group_of[interest]
        else:
            group = self._groups.get(now)
            if group is None:
                group = self._groups[now] = self._backend.summary()
            group.add(interest)
            self._group_of[interest] = now
            self._dirty[now] = None
        if before is not None:
            self._groups[before].remove(interest)
            self._dirty[before] = None

    def _except_origins(self, interest: Interest, sources: Sources) -> Origins | None:
        """Return the neighbour's origins that no other source asks for.

        Return None if the neighbour need not know the interest at all.
        """
        if not sources or (len(sources) == 1 and self.neighbour in sources):
            return None
        others = frozenset(item for item in sources.items() if item[0] != self.neighbour)
        scope = self._scopes.get(others)
        if scope is None:
            scope = self._scopes[others] = self._scope(others)
        requested, except_origins = scope
        if not requested:
            return None
        if self._by_advertisement and not self._is_advertised(interest, requested):
            return None
        return except_origins

    def _scope(self, sources: Iterable[tuple[str, frozenset[Origins]]]) -> tuple[Origins, Origins]:
        """Split the neighbour's origins into those that a source asks for, and the others."""
        origins = frozenset(self._trees.origins_by(self.neighbour))
        requested: set[str] = set()
        for source, exceptions in sources:
            if source == LOCAL:
                return origins, _NO_ORIGINS
            for origin in origins - requested:
                if self._trees.is_child(source, origin) and any(
                    origin not in except_origins for except_origins in exceptions
                ):
                    requested.add(origin)
        return frozenset(requested), origins - requested

    def _is_advertised(self, interest: Interest, origins: Origins) -> bool:
        overlaps = self._backend.overlaps
        return any(
            overlaps(advertisement, interest)
            for origin in origins
            for advertisement in self._trees.advertisements(origin)
        )

    def flush(self) -> list[Subscribe | Unsubscribe]:
        """Return the messages that bring the neighbour up to date, additions first."""
        if not self._dirty:
            return []
        additions: list[Subscribe | Unsubscribe] = []
        removals: list[Subscribe | Unsubscribe] = []
        for except_origins in self._dirty:
            change = self._groups[except_origins].take_changes()
            for interest in sorted(change.exposed):
                exceptions = self.sent.get(interest, frozenset()) | {except_origins}
                self.sent[interest] = _intern(exceptions)
                additions.append(Subscribe(interest, except_origins))
            for interest in sorted(change.hidden):
                remaining = self.sent.pop(interest) - {except_origins}
                if remaining:
                    self.sent[interest] = _intern(remaining)
                removals.append(Unsubscribe(interest, except_origins))
            if not len(self._groups[except_origins]):
                del self._groups[except_origins]
        self._dirty.clear()
        return additions + removals

    def resend(self) -> list[Subscribe]:
        """Return all entries sent to the neighbour, which has lost them."""
        return [
            Subscribe(interest, except_origins)
            for interest, exceptions in sorted(self.sent.items(), key=_number)
            for except_origins in sorted(exceptions, key=sorted)
        ]

    # Queries of `inspect`.

    def represented_by(self, interest: Interest, except_origins: Origins) -> list[Interest]:
        """Return the interests that an entry sent to the neighbour represents."""
        group = self._groups.get(except_origins)
        if group is None or except_origins not in self.sent.get(interest, ()):
            return []
        return group.represented_by(interest)

    def group_of(self, interest: Interest) -> Origins | None:
        """Return the excepted origins of an interest; None if the neighbour need not know it."""
        return self._group_of.get(interest)

    def representatives(self) -> dict[Interest, Interest]:
        """Map each interest that the neighbour must know to the sent one that represents it.

        An interest represents itself if it was sent; otherwise the first that does is chosen.
        """
        representatives: dict[Interest, Interest] = {}
        for sent, exceptions in sorted(self.sent.items(), key=_number):
            for except_origins in exceptions:
                for interest in self.represented_by(sent, except_origins):
                    if interest is sent or interest not in representatives:
                        representatives[interest] = sent
        return representatives

    def relevance(self, interest: Interest, source: str, except_origins: Origins) -> Relevance:
        """Return whether one entry alone requires that the neighbour knows its interest."""
        if not self._trees.origins_by(self.neighbour):
            return Relevance.NO_ORIGIN
        requested, _ = self._scope([(source, frozenset({except_origins}))])
        if not requested:
            return Relevance.OTHER_PATH
        if self._by_advertisement and not self._is_advertised(interest, requested):
            return Relevance.NOT_ADVERTISED
        return Relevance.RELEVANT


def _number(item: tuple[Interest, frozenset[Origins]]) -> int:
    return item[0].number
