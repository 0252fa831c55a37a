"""Requests of clients to their broker, as frozen values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.routing.advertisement import Advertisement
from pathcast.xpath import Pattern

__all__ = ["Announce", "Cancel", "Register", "Request", "RequestBatch", "Retract"]


@dataclass(frozen=True, slots=True)
class Register:
    """Add a subscription of a local subscriber."""

    id: Hashable
    pattern: Pattern
    subscriber: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Remove a subscription."""

    id: Hashable


@dataclass(frozen=True, slots=True)
class Announce:
    """Add a local publisher, or replace its advertisement.

    `widens`: the advertisement was inferred from samples, so a document outside it widens it.
    """

    publisher: str
    advertisement: Advertisement
    widens: bool = False


@dataclass(frozen=True, slots=True)
class Retract:
    """Remove a local publisher."""

    publisher: str


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """Subscriptions to add and cancel atomically; neighbours receive the net change."""

    requests: tuple[Register | Cancel, ...]


Request: TypeAlias = Register | Cancel | Announce | Retract | RequestBatch
