"""Messages between brokers, as frozen values.

    Advertise(origin, publisher, path, advertisement)  `path` leads from the sender to the origin
    Unadvertise(origin, publisher)
    Subscribe(interest, except_origins)                send matching documents of other origins
    Unsubscribe(interest, except_origins)
    Publish(document)
    Recall(origins, waiting)                           ask the parent for its state of origins
    Complete(kind, origin)                             end of the refresh of an origin's state

The *origin* of a document is the broker at which its publisher is attached; the document travels
down the origin's spanning tree. An `Interest` is an interned pattern, so that tables compare it by
identity.

Routing state is soft state. Each message adds or removes one fact, which the receiver holds until
the sender retracts it, so a sender can refresh lost state by sending its facts again. After a
restart, `Complete` marks the end of a refresh: the receiver drops the facts of the earlier session
that the sender has not sent again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pathcast.routing.advertisement import Advertisement
from pathcast.xpath import Pattern

__all__ = [
    "Advertise",
    "Complete",
    "FactKind",
    "Interest",
    "InternedInterests",
    "Message",
    "Origins",
    "Publication",
    "Publish",
    "Recall",
    "Subscribe",
    "Unadvertise",
    "Unsubscribe",
]

Origins: TypeAlias = frozenset[str]


class FactKind(Enum):
    """The two kinds of routing state."""

    OFFERS = "offers"  # advertisements, which flow down a tree
    INTERESTS = "interests"  # which flow up


class Interest:
    """An interned pattern with a sequence number; it is equal only to itself."""

    __slots__ = ("number", "pattern")

    def __init__(self, number: int, pattern: Pattern) -> None:
        self.number = number
        self.pattern = pattern

    def __lt__(self, other: Interest) -> bool:
        return self.number < other.number

    def __repr__(self) -> str:
        return f"<{self.pattern.text}>"

    def __str__(self) -> str:
        return self.pattern.text


class InternedInterests:
    """The intern table of patterns: one `Interest` per pattern, numbered by first use."""

    def __init__(self) -> None:
        self._by_pattern: dict[tuple[str, tuple[tuple[str, str], ...]], Interest] = {}
        self._by_number: list[Interest] = []

    def intern(self, pattern: Pattern) -> Interest:
        key = (pattern.text, pattern.namespaces)
        interest = self._by_pattern.get(key)
        if interest is None:
            interest = self._by_pattern[key] = Interest(len(self._by_pattern), pattern)
            self._by_number.append(interest)
        return interest

    def __len__(self) -> int:
        return len(self._by_pattern)

    def __getitem__(self, number: int) -> Interest:
        return self._by_number[number]


@dataclass(frozen=True, slots=True)
class Publication:
    """A document on its way through the overlay.

    `id` is the publisher's, or the document's sequence number at the publisher. A document that is
    `outside` its publisher's advertisement is flooded along the whole tree, because no broker holds
    a subscription for it.
    """

    id: str
    origin: str
    publisher: str
    body: bytes = field(repr=False)
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Advertise:
    origin: str
    publisher: str
    path: tuple[str, ...]
    advertisement: Advertisement

    def __str__(self) -> str:
        return f"advertise {self.publisher} of {self.origin} by {'-'.join(self.path)}"


@dataclass(frozen=True, slots=True)
class Unadvertise:
    origin: str
    publisher: str

    def __str__(self) -> str:
        return f"unadvertise {self.publisher} of {self.origin}"


@dataclass(frozen=True, slots=True)
class Subscribe:
    interest: Interest
    except_origins: Origins = frozenset()

    def __str__(self) -> str:
        return f"subscribe {self.interest}{_but_from(self.except_origins)}"


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    interest: Interest
    except_origins: Origins = frozenset()

    def __str__(self) -> str:
        return f"unsubscribe {self.interest}{_but_from(self.except_origins)}"


@dataclass(frozen=True, slots=True)
class Publish:
    document: Publication

    def __str__(self) -> str:
        return f"publish {self.document.id} of {self.document.origin}"


@dataclass(frozen=True, slots=True)
class Recall:
    """A request for `Complete(OFFERS, origin)` of each origin.

    `waiting` is the chain of brokers that cannot answer for the origin before this request is
    answered, the sender last. It is empty if the sender does not depend on the answer.
    """

    origins: tuple[str, ...]
    waiting: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"recall {', '.join(self.origins)}"


@dataclass(frozen=True, slots=True)
class Complete:
    """The sender has sent all its facts of a kind about an origin.

    `origin` None means all origins, future ones included.
    """

    kind: FactKind
    origin: str | None

    def __str__(self) -> str:
        return f"{self.kind.value} complete for {self.origin or 'all'}"


Message: TypeAlias = Advertise | Unadvertise | Subscribe | Unsubscribe | Publish | Recall | Complete


def _but_from(except_origins: Origins) -> str:
    return f" but from {', '.join(sorted(except_origins))}" if except_origins else ""
