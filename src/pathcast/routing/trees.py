"""Spanning trees: one per origin, each broker storing its own parent (the SRT of Li 2008).

Every broker with publishers is an *origin* and the root of a tree that spans the overlay.
`Advertise` messages flood the overlay and carry the path back to the origin. A broker takes as its
parent the first neighbour that offers a path: the nearest with equal links, else the fastest. It
keeps the parent until that neighbour retracts its offer, so a tree never moves away from documents
in transit. A path that contains the broker itself would form a loop and is ignored.

The offers to neighbours follow from the parent's offer: all neighbours but the parent receive the
parent's path, extended by this broker. So a neighbour that offers no path for an origin is a child
in the origin's tree (`is_child`), and one that offers another path is not. On an overlay without
cycles every neighbour but the parent is a child.

Of the publishers of one origin, only those are advertised whose advertisement no other publisher's
covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pathcast.routing.advertisement import Advertisement, covers
from pathcast.routing.messages import Advertise, Unadvertise

__all__ = ["Trees"]

OverlayPath: TypeAlias = tuple[str, ...]
Offer: TypeAlias = tuple[OverlayPath, Advertisement]


@dataclass(slots=True)
class _LinkOffers:
    """The offers received from one neighbour and sent to it, by origin and publisher."""

    received: dict[str, dict[str, Offer]] = field(default_factory=dict)
    sent: dict[str, dict[str, Offer]] = field(default_factory=dict)


class Trees:
    """The position of one broker in the tree of every origin."""

    def __init__(self, name: str, neighbours: Iterable[str]) -> None:
        self.name = name
        self.local_advertisements: dict[str, Advertisement] = {}  # by publisher
        self.parent: dict[str, str | None] = {}  # by origin; None: this broker is the origin
        # Parents from before a restart, by origin. Until they answer, no other becomes the parent.
        self.expected_parents: dict[str, str] = {}
        # Origins whose parent changed; the reader clears it.
        self.changed_parents: dict[str, None] = {}
        self._links = {neighbour: _LinkOffers() for neighbour in neighbours}

    # Changes. Each returns the origin whose tree or advertisements may have changed.

    def announce(self, publisher: str, advertisement: Advertisement) -> str:
        self.local_advertisements[publisher] = advertisement
        return self.name

    def retract(self, publisher: str) -> str:
        del self.local_advertisements[publisher]
        return self.name

    def on_advertise(self, neighbour: str, message: Advertise) -> str:
        offers = self._links[neighbour].received.setdefault(message.origin, {})
        offers[message.publisher] = (message.path, message.advertisement)
        return message.origin

    def on_unadvertise(self, neighbour: str, message: Unadvertise) -> str:
        received = self._links[neighbour].received
        offers = received.get(message.origin, {})
        offers.pop(message.publisher, None)
        if not offers:
            received.pop(message.origin, None)
        return message.origin

    def forget_sent_offers(self, neighbour: str) -> None:
        """Forget all offers to a neighbour that lost its tables; `updates_for` resends them."""
        self._links[neighbour].sent.clear()

    def choose_parent(self, origin: str) -> None:
        """Choose the parent for an origin again if the current one no longer offers a path."""
        before = self.parent.get(origin, "")
        if origin == self.name:
            if self.local_advertisements:
                self.parent[origin] = None
            else:
                self.parent.pop(origin, None)
            return
        if before and self._path(before, origin) is not None:
            return
        expected = self.expected_parents.get(origin)
        candidates = [
            (len(path), neighbour)
            for neighbour in self._links
            if expected in (None, neighbour) and (path := self._path(neighbour, origin)) is not None
        ]
        if candidates:
            self.parent[origin] = min(candidates)[1]
        else:
            self.parent.pop(origin, None)
        if self.parent.get(origin, "") != before:
            self.changed_parents[origin] = None

    # Queries.

    def offers_of(self, neighbour: str) -> Iterator[tuple[str, str]]:
        """Yield the origin and publisher of each offer of a neighbour."""
        for origin, offers in self._links[neighbour].received.items():
            for publisher in offers:
                yield origin, publisher

    def advertisements(self, origin: str) -> Iterable[Advertisement]:
        """Return the advertisements of an origin: local ones, or those of the parent's offer."""
        if origin == self.name:
            return self.local_advertisements.values()
        parent = self.parent.get(origin)
        if parent is None:
            return ()
        return [advertisement for _, advertisement in self._links[parent].received[origin].values()]

    def has_offer(self, neighbour: str, origin: str) -> bool:
        """Return whether a neighbour offers a path to an origin."""
        return origin in self._links[neighbour].received

    def is_child(self, neighbour: str, origin: str) -> bool:
        """Return whether a neighbour receives the documents of an origin from this broker."""
        if self.parent.get(origin) == neighbour:
            return False
        offers = self._links[neighbour].received.get(origin)
        return not offers or any(path[1:2] == (self.name,) for path, _ in offers.values())

    def distance(self, origin: str) -> int | None:
        """Return the number of links to an origin along its tree; None if there is no parent."""
        parent = self.parent.get(origin)
        if parent is None:
            return 0 if origin == self.name else None
        path = self._path(parent, origin)
        return None if path is None else len(path)

    def origins_by(self, neighbour: str) -> list[str]:
        """Return the origins whose parent is a neighbour."""
        return [origin for origin, parent in self.parent.items() if parent == neighbour]

    def rows(self) -> Iterator[tuple[str, str, str | None, OverlayPath, Advertisement]]:
        """Yield (origin, publisher, last hop, path, advertisement) of offers in force."""
        for origin, parent in sorted(self.parent.items()):
            if parent is None:
                for publisher, advertisement in sorted(
                    self.local_advertisements.items(), key=_publisher
                ):
                    yield origin, publisher, None, (), advertisement
            else:
                received = self._links[parent].received[origin]
                for publisher, (path, advertisement) in sorted(received.items()):
                    yield origin, publisher, parent, path, advertisement

    def all_offers(self) -> Iterator[tuple[str, str, str, OverlayPath, Advertisement]]:
        """Yield (neighbour, origin, publisher, path, advertisement) of all received offers."""
        for neighbour, link in self._links.items():
            for origin, offers in link.received.items():
                for publisher, (path, advertisement) in offers.items():
                    yield neighbour, origin, publisher, path, advertisement

    def offer_count(self) -> int:
        """Return the number of received offers."""
        return sum(
            len(offers) for link in self._links.values() for offers in link.received.values()
        )

    # Messages to neighbours.

    def updates_for(self, neighbour: str, origin: str) -> list[Advertise | Unadvertise]:
        """Return the messages that bring a neighbour up to date on an origin; record them as sent.

        Additions come first. When a covering advertisement is withdrawn or narrowed, the neighbour
        thus never believes that the covered publishers are gone.
        """
        link = self._links[neighbour]
        due = self._offers_due(neighbour, origin)
        sent = link.sent.get(origin, {})
        if due == sent:
            return []
        messages: list[Advertise | Unadvertise] = [
            Advertise(origin, publisher, path, advertisement)
            for publisher, (path, advertisement) in sorted(
                due.items(), key=lambda item: item[0] in sent
            )
            if sent.get(publisher) != (path, advertisement)
        ]
        messages += [Unadvertise(origin, publisher) for publisher in sent if publisher not in due]
        if due:
            link.sent[origin] = due
        else:
            link.sent.pop(origin, None)
        return messages

    def _offers_due(self, neighbour: str, origin: str) -> dict[str, Offer]:
        if origin not in self.parent:
            return {}
        parent = self.parent[origin]
        if parent is None:
            return {
                publisher: ((self.name,), self.local_advertisements[publisher])
                for publisher in self._uncovered_publishers()
            }
        if parent == neighbour:
            return {}
        offers = self._links[parent].received[origin]
        return {
            publisher: ((self.name, *path), advertisement)
            for publisher, (path, advertisement) in offers.items()
            if self.name not in path
        }

    def _path(self, neighbour: str, origin: str) -> OverlayPath | None:
        """Return the path that a neighbour offers to an origin, unless it contains this broker."""
        for path, _ in self._links[neighbour].received.get(origin, {}).values():
            if self.name not in path:
                return path
        return None

    def _uncovered_publishers(self) -> list[str]:
        """Return the local publishers whose advertisement no other covers.

        Of publishers with equal advertisements, the first by name is returned.
        """
        uncovered: list[str] = []
        for publisher in sorted(self.local_advertisements):
            candidate = self.local_advertisements[publisher]
            if any(covers(self.local_advertisements[other], candidate) for other in uncovered):
                continue
            uncovered = [
                other
                for other in uncovered
                if not covers(candidate, self.local_advertisements[other])
            ]
            uncovered.append(publisher)
        return uncovered


def _publisher(item: tuple[str, Advertisement]) -> str:
    return item[0]
