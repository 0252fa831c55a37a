"""What clients ask of their broker, as frozen values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.routing.advertisement import Advertisement
from pathcast.xpath import Pattern

__all__ = ["Announce", "Cancel", "Register", "Request", "RequestBatch", "Retract"]


@dataclass(frozen=True, slots=True)
class Register:
    """A subscription of one of our subscribers."""

    id: Hashable
    pattern: Pattern
    subscriber: str


@dataclass(frozen=True, slots=True)
class Cancel:
    id: Hashable


@dataclass(frozen=True, slots=True)
class Announce:
    """A publisher of ours, and what it will send; again, with something else, when that changes.

    `widens`: the advertisement was inferred from samples, and is widened when a document falls outside it.
    """

    publisher: str
    advertisement: Advertisement
    widens: bool = False


@dataclass(frozen=True, slots=True)
class Retract:
    publisher: str


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """Subscriptions that come or go together: neighbours are told what it comes to."""

    requests: tuple[Register | Cancel, ...]


Request: TypeAlias = Register | Cancel | Announce | Retract | RequestBatch
