"""Outputs of a router, as frozen values: messages, deliveries, rejections and decisions."""

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
    """A document for one subscriber, with the ids of its matching subscriptions."""

    document: Publication
    subscriber: str
    subscriptions: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """A document that the broker does not accept."""

    document: Publication
    reason: str


@dataclass(frozen=True, slots=True)
class DropStale:
    """A fact of a neighbour's earlier session that its refresh did not confirm.

    `message` is the retraction that has the same effect.
    """

    neighbour: str
    message: Unsubscribe | Unadvertise


RouterOutput: TypeAlias = SendMessage | Deliver | Refuse | DropStale


@dataclass(frozen=True, slots=True)
class Decision:
    """The route of a document.

    `undecided` are the hops whose interests are not known yet, after a loss of tables.
    """

    neighbours: tuple[str, ...]
    deliveries: tuple[Deliver, ...]
    undecided: tuple[str, ...] = ()
