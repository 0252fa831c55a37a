"""Tables: what a broker knows, and what follows from it for its neighbours.

    trees     which neighbour leads to which publisher's broker, and what comes from there
    wanted    each interest with those who want it, neighbours and our own subscribers
    entries   of the neighbours, in the order in which they said so, and as a filter
    outgoing  of each neighbour, what it is told

What a neighbour is told is a function of what is known here, so there is no state that could be out of step but for what is on its way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from pathcast.routing.backend import Backend
from pathcast.routing.entries import Entries
from pathcast.routing.interests import InterestTable, NeighbourView
from pathcast.routing.messages import Interest, Origins
from pathcast.routing.outputs import Effect, Tell
from pathcast.routing.trees import Trees

__all__ = ["Entry", "Tables"]

Entry: TypeAlias = tuple[Interest, Origins]


class Tables:
    """Facts are added and removed one at a time; `replaced` and `retold` say what neighbours have to hear because of it."""

    def __init__(
        self, name: str, neighbours: Iterable[str], backend: Backend, by_advertisement: bool
    ) -> None:
        names = tuple(neighbours)
        self.trees = Trees(name, names)
        self.wanted = InterestTable()
        self.filter = Entries(backend.filter())
        self.entries: dict[str, dict[Entry, None]] = {one: {} for one in names}
        self.outgoing = {
            one: NeighbourView(one, self.trees, backend, by_advertisement) for one in names
        }

    def add(self, neighbour: str, interest: Interest, without: Origins) -> bool:
        """An entry of a neighbour's; whether that is news."""
        if not self.wanted.add(neighbour, interest, without):
            return False
        self.entries[neighbour][interest, without] = None
        self.filter.add(neighbour, interest, without)
        return True

    def drop(self, neighbour: str, interest: Interest, without: Origins) -> bool:
        """Whether there was such an entry."""
        if not self.wanted.remove(neighbour, interest, without):
            return False
        del self.entries[neighbour][interest, without]
        self.filter.remove(neighbour, interest, without)
        return True

    def replaced(self, interests: Iterable[Interest]) -> list[Effect]:
        """The sources of these interests have changed: tell whom it concerns."""
        effects: list[Effect] = []
        for name, outgoing in self.outgoing.items():
            for interest in interests:
                outgoing.place(interest, self.wanted.sources(interest))
            effects += [Tell(name, message) for message in outgoing.flush()]
        return effects

    def retold(self, origin: str) -> list[Effect]:
        """Something about an origin has changed: tell of it, and see what interests it concerns."""
        self.trees.settle(origin)
        effects: list[Effect] = []
        for name in self.outgoing:
            effects += [Tell(name, message) for message in self.trees.news(name, origin)]
        for outgoing in self.outgoing.values():
            outgoing.reconsider()
        return effects + self.replaced(list(self.wanted))

    def again(self, neighbour: str) -> list[Effect]:
        """All that a neighbour has been told: it has lost it."""
        self.trees.forget_said(neighbour)
        told: list[Effect] = []
        for origin in list(self.trees.parent):
            told += [Tell(neighbour, one) for one in self.trees.news(neighbour, origin)]
        return told + [Tell(neighbour, one) for one in self.outgoing[neighbour].again()]
