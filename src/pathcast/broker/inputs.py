"""Inputs of a broker: those of every node (`pathcast.node`), and the requests of its clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pathcast.node import FrameReceived, Start, TimerFired
from pathcast.routing.messages import Message, Publication
from pathcast.routing.requests import Request
from pathcast.transport import Frame

__all__ = ["ClientRequest", "ClientsKnown", "DocumentSubmitted", "Input"]


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A client subscribes, cancels, announces or retracts."""

    request: Request


@dataclass(frozen=True, slots=True)
class ClientsKnown:
    """After a restart, every client that is still connected has repeated its requests."""


@dataclass(frozen=True, slots=True)
class DocumentSubmitted:
    """A publisher submits a document; the broker answers with `Accepted` or `Refuse`."""

    document: Publication


Input: TypeAlias = (
    Start
    | FrameReceived[Frame[Message]]
    | TimerFired
    | ClientRequest
    | ClientsKnown
    | DocumentSubmitted
)
