"""What can happen to a broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pathcast.routing.messages import Message, Publication
from pathcast.routing.requests import Request
from pathcast.transport import Frame

__all__ = ["Alarm", "Ask", "ClientsKnown", "FrameIn", "Input", "Start", "Submit"]


@dataclass(frozen=True, slots=True)
class Start:
    """It lives."""


@dataclass(frozen=True, slots=True)
class FrameIn:
    neighbour: str
    frame: Frame[Message]


@dataclass(frozen=True, slots=True)
class Ask:
    """A client subscribes, cancels, announces or retracts."""

    request: Request


@dataclass(frozen=True, slots=True)
class ClientsKnown:
    """After a restart: all clients that are still there have asked again for what they had asked for."""


@dataclass(frozen=True, slots=True)
class Submit:
    """A publisher sends a document."""

    document: Publication


@dataclass(frozen=True, slots=True)
class Alarm:
    """The time that `Wake` named has come."""


Input: TypeAlias = Start | FrameIn | Ask | ClientsKnown | Submit | Alarm
