"""A broker's own subscribers: their subscriptions, and who of them gets a document."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from pathcast.errors import RoutingError
from pathcast.routing.backend import Backend
from pathcast.routing.messages import Interest, Publication
from pathcast.routing.outputs import Deliver
from pathcast.routing.requests import Cancel, Register

__all__ = ["Subscribers"]


class Subscribers:
    """Subscriptions by id."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._selector = backend.selector()
        self._known: dict[Hashable, tuple[Interest, str]] = {}
        self._uncovered: int | None = 0

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[tuple[Hashable, Interest, str]]:
        """Id, interest and subscriber."""
        for id, (interest, subscriber) in self._known.items():
            yield id, interest, subscriber

    def add(self, register: Register) -> Interest:
        """Raises RoutingError."""
        if register.id in self._known:
            raise RoutingError("duplicate-id", f"there is a subscription {register.id!r} already")
        interest = self._backend.interest(register.pattern)
        self._selector.add(register.id, interest)
        self._known[register.id] = (interest, register.subscriber)
        self._uncovered = None
        return interest

    def remove(self, id: Hashable) -> Interest:
        """Raises KeyError."""
        interest, _ = self._known.pop(id)
        self._selector.remove(id)
        self._uncovered = None
        return interest

    def inverse(self, request: Register | Cancel) -> Register | Cancel:
        """What undoes a request; raises KeyError."""
        if isinstance(request, Register):
            return Cancel(request.id)
        interest, subscriber = self._known[request.id]
        return Register(request.id, interest.pattern, subscriber)

    def deliveries(self, document: Publication) -> Iterator[Deliver]:
        """One for each subscriber who wants it; raises DocumentError."""
        if not self._known:
            return
        by_subscriber: dict[str, list[Hashable]] = {}
        for id in self._selector.match(document.body):
            by_subscriber.setdefault(self._known[id][1], []).append(id)
        for subscriber, ids in sorted(by_subscriber.items()):
            yield Deliver(document, subscriber, tuple(sorted(ids, key=str)))

    def uncovered_count(self) -> int:
        """How many of their interests no other covers, if the strategy looks at that."""
        if self._uncovered is None:
            summary = self._backend.summary()
            for interest in {one: None for one, _ in self._known.values()}:
                summary.add(interest)
            self._uncovered = len(summary.changes().exposed)
        return self._uncovered
