"""The clients of one broker, as the simulation keeps them.

Clients outlive their broker and repeat their requests after it restarts. A publisher submits a
document again until its broker accepts or refuses it. A subscriber drops a document that it has.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from pathcast.routing.messages import Publication
from pathcast.routing.requests import Announce, Register, Request

__all__ = ["Clients", "Delivery"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A document that a subscriber received for the first time.

    `delay` is in seconds since it was published. `hops` counts the links between the origin and the
    subscriber's broker; None if the broker does not know the origin.
    """

    document: str
    subscriber: str
    subscriptions: tuple[Hashable, ...]
    time: float
    delay: float
    broker: str = ""
    hops: int | None = None


@dataclass(slots=True)
class Clients:
    """All clients of one broker."""

    subscriptions: dict[Hashable, Register] = field(default_factory=dict)
    publishers: dict[str, Announce] = field(default_factory=dict)
    unaccepted: dict[str, Publication] = field(default_factory=dict)
    received: dict[tuple[str, str], None] = field(default_factory=dict)  # (document, subscriber)

    def requests(self) -> Iterator[Request]:
        """Yield every request that is in force."""
        yield from self.publishers.values()
        yield from self.subscriptions.values()
