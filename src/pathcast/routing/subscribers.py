"""The local subscribers of a broker: their subscriptions and their deliveries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from pathcast.errors import RoutingError
from pathcast.routing.backend import Backend
from pathcast.routing.messages import Interest, Publication
from pathcast.routing.outputs import Deliver
from pathcast.routing.requests import Cancel, Register

__all__ = ["Subscribers"]


class Subscribers:
    """The local subscriptions by id, with a selector over them."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._selector = backend.selector()
        self._subscriptions: dict[Hashable, tuple[Interest, str]] = {}
        self._uncovered: int | None = 0  # None: to be counted again

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __iter__(self) -> Iterator[tuple[Hashable, Interest, str]]:
        """Yield id, interest and subscriber of each subscription."""
        for id, (interest, subscriber) in self._subscriptions.items():
            yield id, interest, subscriber

    def add(self, register: Register) -> Interest:
        """Add a subscription and return its interest; raise RoutingError for a duplicate id."""
        if register.id in self._subscriptions:
            raise RoutingError("duplicate-id", f"there is a subscription {register.id!r} already")
        interest = self._backend.interest(register.pattern)
        self._selector.add(register.id, interest)
        self._subscriptions[register.id] = (interest, register.subscriber)
        self._uncovered = None
        return interest

    def remove(self, id: Hashable) -> Interest:
        """Remove a subscription and return its interest; raise KeyError."""
        interest, _ = self._subscriptions.pop(id)
        self._selector.remove(id)
        self._uncovered = None
        return interest

    def inverse(self, request: Register | Cancel) -> Register | Cancel:
        """Return the request that undoes a request; raise KeyError."""
        if isinstance(request, Register):
            return Cancel(request.id)
        interest, subscriber = self._subscriptions[request.id]
        return Register(request.id, interest.pattern, subscriber)

    def deliveries(self, document: Publication) -> Iterator[Deliver]:
        """Yield one delivery per subscriber with a matching subscription; raise DocumentError."""
        if not self._subscriptions:
            return
        by_subscriber: dict[str, list[Hashable]] = {}
        for id in self._selector.match(document.body):
            by_subscriber.setdefault(self._subscriptions[id][1], []).append(id)
        for subscriber, ids in sorted(by_subscriber.items()):
            yield Deliver(document, subscriber, tuple(sorted(ids, key=str)))

    def uncovered_count(self) -> int:
        """Count the interests that the strategy's summary exposes: with covering, the roots."""
        if self._uncovered is None:
            summary = self._backend.summary()
            for interest in {interest: None for interest, _ in self._subscriptions.values()}:
                summary.add(interest)
            self._uncovered = len(summary.take_changes().exposed)
        return self._uncovered
