"""Effects of a broker: those of every node (`pathcast.node`), persistence, and answers to clients.

The driver's contract in `pathcast.broker` says how to perform them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pathcast.node import Send, SetTimer
from pathcast.routing.messages import Message, Publication
from pathcast.routing.outputs import Deliver, Refuse
from pathcast.routing.requests import Request
from pathcast.transport import Frame

__all__ = [
    "Accepted",
    "DropDocument",
    "Effect",
    "PersistDocument",
    "PersistFact",
    "PersistParent",
    "TablesRecovered",
]


@dataclass(frozen=True, slots=True)
class PersistDocument:
    """Store an accepted document and its id; `came_from` is a neighbour, or `LOCAL`."""

    document: Publication
    came_from: str


@dataclass(frozen=True, slots=True)
class DropDocument:
    """Delete a stored document: every receiver has confirmed it. Its id stays stored."""

    id: str


@dataclass(frozen=True, slots=True)
class PersistParent:
    """Store the neighbour from which the documents of an origin come; None deletes the entry."""

    origin: str
    neighbour: str | None


@dataclass(frozen=True, slots=True)
class PersistFact:
    """Store a table entry: a neighbour's message, or with the source `LOCAL` a client's request.

    A message or request that removes an entry deletes the stored one. The broker returns this
    effect only if its settings say `keep_tables`.
    """

    source: str
    fact: Message | Request


@dataclass(frozen=True, slots=True)
class TablesRecovered:
    """The lost tables are complete again: from now on the stored facts are all table entries."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Confirm to the publisher that the broker has stored its document."""

    id: str


Effect: TypeAlias = (
    Send[Frame[Message]]
    | SetTimer
    | PersistDocument
    | DropDocument
    | PersistParent
    | PersistFact
    | TablesRecovered
    | Accepted
    | Deliver
    | Refuse
)
