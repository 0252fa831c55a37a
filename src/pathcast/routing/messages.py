"""What brokers tell each other, as frozen values.

    Advertise(origin, publisher, path, advertisement)   documents of this sort come from there; `path` is how word of it came
    Unadvertise(origin, publisher)
    Subscribe(interest, without)                        send me what matches, unless it comes from one of these origins
    Unsubscribe(interest, without)
    Publish(document)
    Recall(origins, waiting)                            you used to lead to these: do you still? these brokers wait for the answer, one for the other
    Complete(facts, origin)                             that is all I have to say of an origin: offers answer `Recall`; interests say that
                                                        what I said in an earlier life, and have not said again, is no longer so

An *origin* is the broker that publishers are attached to; a document travels down the tree of its origin. An `Interest` is a pattern that has been
given a number: one object for each pattern, so that tables compare it by identity.

Every message is the addition or the removal of one fact that the receiver keeps until it is told otherwise, so whatever was lost
can be told again.
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
    """The two sorts of facts: which documents come from where, and who wants which."""

    OFFERS = "offers"
    INTERESTS = "interests"


class Interest:
    """A pattern with a number; equal only to itself."""

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
    """One interest for each pattern, in the order in which they were first asked for."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[tuple[str, str], ...]], Interest] = {}
        self._list: list[Interest] = []

    def intern(self, pattern: Pattern) -> Interest:
        name = (pattern.text, pattern.namespaces)
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = Interest(len(self._known), pattern)
            self._list.append(found)
        return found

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, number: int) -> Interest:
        return self._list[number]


@dataclass(frozen=True, slots=True)
class Publication:
    """A document on its way. `id` is what its publisher gave it, or its place in what the publisher sent.

    One that lies `outside` what its publisher has advertised goes to every broker: nobody was asked whether it is wanted.
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
        return f"subscribe {self.interest}{_but(self.except_origins)}"


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    interest: Interest
    except_origins: Origins = frozenset()

    def __str__(self) -> str:
        return f"unsubscribe {self.interest}{_but(self.except_origins)}"


@dataclass(frozen=True, slots=True)
class Publish:
    document: Publication

    def __str__(self) -> str:
        return f"publish {self.document.id} of {self.document.origin}"


@dataclass(frozen=True, slots=True)
class Recall:
    """`waiting`: those who can tell nothing of an origin before they are answered, the sender last; empty if it can do without."""

    origins: tuple[str, ...]
    waiting: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"recall {', '.join(self.origins)}"


@dataclass(frozen=True, slots=True)
class Complete:
    """`origin` None: of all origins, those included that are to come."""

    facts: FactKind
    origin: str | None

    def __str__(self) -> str:
        return f"{self.facts.value} complete for {self.origin or 'all'}"


Message: TypeAlias = Advertise | Unadvertise | Subscribe | Unsubscribe | Publish | Recall | Complete


def _but(except_origins: Origins) -> str:
    return f" but from {', '.join(sorted(except_origins))}" if except_origins else ""
