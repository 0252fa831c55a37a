"""Trees: which neighbour leads to which publisher's broker, and what comes from there.

Every broker with publishers is an *origin* and the root of a tree that spans the overlay. Word of an origin spreads by `Advertise`, which carries
the path that it came along. A broker takes as its parent the neighbour that it heard of the origin from first (with equal links the nearest, else the
quickest), and keeps it for as long as that neighbour stands by its word: a document that is on its way is never left behind
by a tree that has moved. A path with the broker itself in it would be a loop and is no offer.

What a broker tells its neighbours about an origin follows from its parent's word: to all but the parent itself, the path one longer. So a neighbour
that offers nothing for an origin gets it from here (it `takes` it), and one that offers another path does not. On
a network without cycles all but the parent take it.

Of the publishers of one origin those are told whose advertisement no other's covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pathcast.routing.advertisement import Advertisement, covers
from pathcast.routing.messages import Advertise, Unadvertise

__all__ = ["Trees"]

Path: TypeAlias = tuple[str, ...]
Offer: TypeAlias = tuple[Path, Advertisement]


@dataclass(slots=True)
class _Told:
    """By origin and publisher: what one neighbour has said, and what has been said to it."""

    heard: dict[str, dict[str, Offer]] = field(default_factory=dict)
    said: dict[str, dict[str, Offer]] = field(default_factory=dict)


class Trees:
    """`parent` has an origin's neighbour; None stands for this broker itself."""

    def __init__(self, name: str, neighbours: Iterable[str]) -> None:
        self.name = name
        self.own: dict[str, Advertisement] = {}
        self.parent: dict[str, str | None] = {}
        self.expected_parents: dict[
            str, str
        ] = {}  # parents of an earlier life; no other is taken until they have answered
        self.changed_parents: dict[
            str, None
        ] = {}  # origins whose parent has changed; whoever looks clears it
        self._links = {neighbour: _Told() for neighbour in neighbours}

    # changes; each returns the origin whose tree or advertisements may be others now

    def announce(self, publisher: str, advertisement: Advertisement) -> str:
        self.own[publisher] = advertisement
        return self.name

    def retract(self, publisher: str) -> str:
        del self.own[publisher]
        return self.name

    def on_advertise(self, neighbour: str, message: Advertise) -> str:
        offers = self._links[neighbour].heard.setdefault(message.origin, {})
        offers[message.publisher] = (message.path, message.advertisement)
        return message.origin

    def on_unadvertise(self, neighbour: str, message: Unadvertise) -> str:
        heard = self._links[neighbour].heard
        offers = heard.get(message.origin, {})
        offers.pop(message.publisher, None)
        if not offers:
            heard.pop(message.origin, None)
        return message.origin

    def forget_sent(self, neighbour: str) -> None:
        """The neighbour has lost what it was told; `news` will tell it again."""
        self._links[neighbour].said.clear()

    def choose_parent(self, origin: str) -> None:
        """Choose the parent of an origin again if need be."""
        before = self.parent.get(origin, "")
        if origin == self.name:
            if self.own:
                self.parent[origin] = None
            else:
                self.parent.pop(origin, None)
            return
        if before and self._path(before, origin) is not None:
            return
        favourite = self.expected_parents.get(origin)
        offers = [
            (len(path), neighbour)
            for neighbour in self._links
            if favourite in (None, neighbour)
            and (path := self._path(neighbour, origin)) is not None
        ]
        if offers:
            self.parent[origin] = min(offers)[1]
        else:
            self.parent.pop(origin, None)
        if self.parent.get(origin, "") != before:
            self.changed_parents[origin] = None

    # questions

    def offers_of(self, neighbour: str) -> Iterator[tuple[str, str]]:
        """All that a neighbour has advertised, as origin and publisher."""
        for origin, offers in self._links[neighbour].heard.items():
            for publisher in offers:
                yield origin, publisher

    def advertisements(self, origin: str) -> Iterable[Advertisement]:
        """What comes from an origin."""
        if origin == self.name:
            return self.own.values()
        parent = self.parent.get(origin)
        if parent is None:
            return ()
        return [one for _, one in self._links[parent].heard[origin].values()]

    def has_offer(self, neighbour: str, origin: str) -> bool:
        """Whether a neighbour has said that it leads to an origin."""
        return origin in self._links[neighbour].heard

    def is_child(self, neighbour: str, origin: str) -> bool:
        """Whether a neighbour gets the documents of an origin from here."""
        if self.parent.get(origin) == neighbour:
            return False
        offers = self._links[neighbour].heard.get(origin)
        return not offers or any(path[1:2] == (self.name,) for path, _ in offers.values())

    def distance(self, origin: str) -> int | None:
        """How many links a document of an origin has come, if its tree is known here."""
        parent = self.parent.get(origin)
        if parent is None:
            return 0 if origin == self.name else None
        path = self._path(parent, origin)
        return None if path is None else len(path)

    def origins_by(self, neighbour: str) -> list[str]:
        """The origins whose documents come from a neighbour."""
        return [origin for origin, parent in self.parent.items() if parent == neighbour]

    def rows(self) -> Iterator[tuple[str, str, str | None, Path, Advertisement]]:
        """Origin, publisher, last hop, path and advertisement of everything that is in force."""
        for origin, parent in sorted(self.parent.items()):
            if parent is None:
                for publisher, advertisement in sorted(self.own.items(), key=_first):
                    yield origin, publisher, None, (), advertisement
            else:
                for publisher, (path, one) in sorted(self._links[parent].heard[origin].items()):
                    yield origin, publisher, parent, path, one

    def all_offers(self) -> Iterator[tuple[str, str, str, Path, Advertisement]]:
        """Neighbour, origin, publisher, path and advertisement of everything that neighbours have said."""
        for neighbour, link in self._links.items():
            for origin, offers in link.heard.items():
                for publisher, (path, one) in offers.items():
                    yield neighbour, origin, publisher, path, one

    def offer_count(self) -> int:
        """How many advertisements are held."""
        return sum(len(offers) for link in self._links.values() for offers in link.heard.values())

    # what others have to be told

    def updates_for(self, neighbour: str, origin: str) -> list[Advertise | Unadvertise]:
        """What a neighbour must be told about an origin, and has not been; taken as told from then on.

        What is new comes first: a publisher that others stood behind may go or advertise less, and at no moment may it seem as if
        theirs had gone too.
        """
        link = self._links[neighbour]
        due = self._due(neighbour, origin)
        said = link.said.get(origin, {})
        if due == said:
            return []
        found: list[Advertise | Unadvertise] = [
            Advertise(origin, publisher, path, one)
            for publisher, (path, one) in sorted(due.items(), key=lambda pair: pair[0] in said)
            if said.get(publisher) != (path, one)
        ]
        found += [Unadvertise(origin, publisher) for publisher in said if publisher not in due]
        if due:
            link.said[origin] = due
        else:
            link.said.pop(origin, None)
        return found

    def _due(self, neighbour: str, origin: str) -> dict[str, Offer]:
        if origin not in self.parent:
            return {}
        parent = self.parent[origin]
        if parent is None:
            return {publisher: ((self.name,), self.own[publisher]) for publisher in self._widest()}
        if parent == neighbour:
            return {}
        offers = self._links[parent].heard[origin]
        return {
            publisher: ((self.name, *path), one)
            for publisher, (path, one) in offers.items()
            if self.name not in path
        }

    def _path(self, neighbour: str, origin: str) -> Path | None:
        """The path that a neighbour offers to an origin, if it is one for us."""
        for path, _ in self._links[neighbour].heard.get(origin, {}).values():
            if self.name not in path:
                return path
        return None

    def _widest(self) -> list[str]:
        """Our publishers whose advertisement no other's covers; of equal ones the first by name."""
        found: list[str] = []
        for publisher in sorted(self.own):
            mine = self.own[publisher]
            if any(covers(self.own[other], mine) for other in found):
                continue
            found = [other for other in found if not covers(mine, self.own[other])] + [publisher]
        return found


def _first(pair: tuple[str, Advertisement]) -> str:
    return pair[0]
