"""What a router decides, as frozen values: what neighbours are told, who gets a document, what is refused."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.routing.messages import Message, Publication, Unadvertise, Unsubscribe

__all__ = ["Decision", "Deliver", "DropStale", "Refuse", "RouterOutput", "SendMessage"]


@dataclass(frozen=True, slots=True)
class SendMessage:
    neighbour: str
    message: Message


@dataclass(frozen=True, slots=True)
class Deliver:
    """A document for one subscriber, with the subscriptions that it matches."""

    document: Publication
    subscriber: str
    subscriptions: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """A document that is not accepted."""

    document: Publication
    reason: str


@dataclass(frozen=True, slots=True)
class DropStale:
    """Something that a neighbour said in an earlier life and has not said again: as if it had taken it back."""

    neighbour: str
    message: Unsubscribe | Unadvertise


RouterOutput: TypeAlias = SendMessage | Deliver | Refuse | DropStale


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a document goes: neighbours, our own subscribers with their subscriptions, and those who are not yet known well enough."""

    neighbours: tuple[str, ...]
    deliveries: tuple[Deliver, ...]
    undecided: tuple[str, ...] = ()
