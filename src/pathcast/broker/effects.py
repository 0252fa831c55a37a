"""What a broker asks its driver to do, in this order and none before those in front of it.

`Keep` must be on disk before anything behind it is done: an acknowledgement says that the document is safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pathcast.routing.messages import Message, Publication
from pathcast.routing.outputs import Deliver, Refuse
from pathcast.routing.requests import Request
from pathcast.transport import Frame

__all__ = [
    "Accepted",
    "Effect",
    "Forget",
    "Keep",
    "Note",
    "Remember",
    "Send",
    "Wake",
    "Whole",
]


@dataclass(frozen=True, slots=True)
class Send:
    neighbour: str
    frame: Frame[Message]


@dataclass(frozen=True, slots=True)
class Wake:
    """Call again at this time at the latest; a later `Wake` replaces it."""

    at: float


@dataclass(frozen=True, slots=True)
class Keep:
    """A document that has been accepted: on disk, until it is forgotten."""

    document: Publication
    came_from: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Everybody who should have the document has it. Its id is remembered for a while all the same."""

    id: str


@dataclass(frozen=True, slots=True)
class Remember:
    """By which neighbour the documents of an origin come; None: by none any more."""

    origin: str
    neighbour: str | None


@dataclass(frozen=True, slots=True)
class Note:
    """A fact of the tables, for a broker that keeps them: what a neighbour said (or `LOCAL`, one of our clients asked for)."""

    source: str
    fact: Message | Request


@dataclass(frozen=True, slots=True)
class Whole:
    """The tables that were lost are there again: from now on the notes are all of them."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Tell the publisher that its document is safe."""

    id: str


Effect: TypeAlias = (
    Send | Wake | Keep | Forget | Remember | Note | Whole | Accepted | Deliver | Refuse
)
