"""The routing tables of one broker, and the propagation of their changes to neighbours.

    trees      the tree of each origin (SRT)
    interests  each interest with its sources: neighbours and local subscribers
    entries    the entries of each neighbour, in order of arrival; `filter` matches them (PRT)
    views      of each neighbour, the interests that this broker sends to it

The state sent to a neighbour is a function of the tables. So two neighbours can only disagree about
messages in transit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from pathcast.routing.backend import Backend
from pathcast.routing.entries import NeighbourEntries
from pathcast.routing.interests import InterestTable, NeighbourView
from pathcast.routing.messages import Interest, Origins
from pathcast.routing.outputs import RouterOutput, SendMessage
from pathcast.routing.trees import Trees

__all__ = ["InterestEntry", "Tables"]

InterestEntry: TypeAlias = tuple[Interest, Origins]


class Tables:
    """Tables that change by one fact at a time.

    After a change, `propagate_interests` or `propagate_origin` returns the messages that bring the
    neighbours up to date.
    """

    def __init__(
        self, name: str, neighbours: Iterable[str], backend: Backend, by_advertisement: bool
    ) -> None:
        names = tuple(neighbours)
        self.trees = Trees(name, names)
        self.interests = InterestTable()
        self.filter = NeighbourEntries(backend.filter())
        self.entries: dict[str, dict[InterestEntry, None]] = {name: {} for name in names}
        self.views = {
            name: NeighbourView(name, self.trees, backend, by_advertisement) for name in names
        }

    def add(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Add an entry of a neighbour; return whether it is new."""
        if not self.interests.add(neighbour, interest, except_origins):
            return False
        self.entries[neighbour][interest, except_origins] = None
        self.filter.add(neighbour, interest, except_origins)
        return True

    def remove(self, neighbour: str, interest: Interest, except_origins: Origins) -> bool:
        """Remove an entry of a neighbour; return whether it existed."""
        if not self.interests.remove(neighbour, interest, except_origins):
            return False
        del self.entries[neighbour][interest, except_origins]
        self.filter.remove(neighbour, interest, except_origins)
        return True

    def propagate_interests(self, interests: Iterable[Interest]) -> list[RouterOutput]:
        """Return the messages due after a change of the sources of some interests."""
        outputs: list[RouterOutput] = []
        for name, view in self.views.items():
            for interest in interests:
                view.place(interest, self.interests.sources(interest))
            outputs += [SendMessage(name, message) for message in view.flush()]
        return outputs

    def propagate_origin(self, origin: str) -> list[RouterOutput]:
        """Return the messages due after a change of an origin's tree or advertisements.

        Advertisements come first. Then all interests are placed again, because the change may
        affect where they are sent.
        """
        self.trees.choose_parent(origin)
        outputs: list[RouterOutput] = []
        for name in self.views:
            outputs += [
                SendMessage(name, message) for message in self.trees.updates_for(name, origin)
            ]
        for view in self.views.values():
            view.invalidate_scopes()
        return outputs + self.propagate_interests(list(self.interests))

    def resend_all(self, neighbour: str) -> list[RouterOutput]:
        """Return the whole state sent to a neighbour, which has lost it."""
        self.trees.forget_sent_offers(neighbour)
        outputs: list[RouterOutput] = []
        for origin in list(self.trees.parent):
            outputs += [
                SendMessage(neighbour, message)
                for message in self.trees.updates_for(neighbour, origin)
            ]
        refresh = self.views[neighbour].resend()
        return outputs + [SendMessage(neighbour, message) for message in refresh]
