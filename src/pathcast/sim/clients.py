"""The clients of an overlay: they know what they want, and say it again to a broker that has forgotten it.

A subscriber drops what it has already. A publisher sends a document again until its broker says that it has been accepted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from pathcast.routing.messages import Publication
from pathcast.routing.requests import Announce, Register, Request

__all__ = ["Clients", "Delivery"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A document that a subscriber has got for the first time."""

    document: str
    subscriber: str
    subscriptions: tuple[Hashable, ...]
    at: float
    after: float  # seconds since it was published
    broker: str = ""
    hops: int | None = None  # links that it came by, if the tree of its origin is known


@dataclass(slots=True)
class Clients:
    """All clients of one broker."""

    subscriptions: dict[Hashable, Register] = field(default_factory=dict)
    publishers: dict[str, Announce] = field(default_factory=dict)
    unaccepted: dict[str, Publication] = field(default_factory=dict)

    def requests(self) -> Iterator[Request]:
        """All that they want of their broker."""
        yield from self.publishers.values()
        yield from self.subscriptions.values()
