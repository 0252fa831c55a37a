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
from pathcast.routing.outputs import RouterOutput, SendMessage
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
        self.interests = InterestTable()
        self.filter = Entries(backend.filter())
        self.entries: dict[str, dict[Entry, None]] = {one: {} for one in names}
        self.views = {
            one: NeighbourView(one, self.trees, backend, by_advertisement) for one in names
        }

    def add(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """An entry of a neighbour's; whether that is news."""
        if not self.interests.add(neighbour, interest, except_origins):
            return False
        self.entries[neighbour][interest, except_origins] = None
        self.filter.add(neighbour, interest, except_origins)
        return True

    def remove(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Whether there was such an entry."""
        if not self.interests.remove(neighbour, interest, except_origins):
            return False
        del self.entries[neighbour][interest, except_origins]
        self.filter.remove(neighbour, interest, except_origins)
        return True

    def propagate_interests(self, interests: Iterable[Interest]) -> list[RouterOutput]:
        """The sources of these interests have changed: tell whom it concerns."""
        effects: list[RouterOutput] = []
        for name, outgoing in self.views.items():
            for interest in interests:
                outgoing.place(interest, self.interests.sources(interest))
            effects += [SendMessage(name, message) for message in outgoing.flush()]
        return effects

    def propagate_origin(self, origin: str) -> list[RouterOutput]:
        """Something about an origin has changed: tell of it, and see what interests it concerns."""
        self.trees.choose_parent(origin)
        effects: list[RouterOutput] = []
        for name in self.views:
            effects += [
                SendMessage(name, message) for message in self.trees.updates_for(name, origin)
            ]
        for outgoing in self.views.values():
            outgoing.invalidate_scopes()
        return effects + self.propagate_interests(list(self.interests))

    def resend_all(self, neighbour: str) -> list[RouterOutput]:
        """All that a neighbour has been told: it has lost it."""
        self.trees.forget_sent(neighbour)
        told: list[RouterOutput] = []
        for origin in list(self.trees.parent):
            told += [
                SendMessage(neighbour, one) for one in self.trees.updates_for(neighbour, origin)
            ]
        return told + [SendMessage(neighbour, one) for one in self.views[neighbour].resend()]
