"""Protocols of the engines behind a router's tables: filters, selectors, summaries and overlap.

The router decides which interests a table holds; the backend decides how the table is searched.
`MatcherBackend` serves one broker. `SharedBackend` serves all routers of one process, which then
share every pattern and every covering relation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol

from pathcast.covering import Change
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.messages import Interest
from pathcast.xpath import Pattern

__all__ = ["Backend", "Filter", "InterestSummary", "Selector"]


class InterestSummary(Protocol):
    """A set of interests and its reduction to the *exposed* interests, which represent all."""

    def add(self, interest: Interest) -> None: ...
    def remove(self, interest: Interest) -> None: ...
    def take_changes(self) -> Change[Interest]:
        """Return the net change of the exposed interests since the last call."""
        ...

    def represented_by(self, interest: Interest) -> list[Interest]:
        """Return the interests that an exposed one represents; for inspection, may be slow."""
        ...

    def __len__(self) -> int: ...


class Filter(Protocol):
    """The table of (interest, hop) entries, searched for the hops of a document."""

    def add(self, interest: Interest, hop: int) -> None: ...
    def remove(self, interest: Interest, hop: int) -> None: ...
    def hops(self, body: bytes) -> Iterable[int]:
        """Return the hops with a matching entry; raise DocumentError."""
        ...

    def __len__(self) -> int: ...


class Selector(Protocol):
    """The table of local subscriptions, searched for the subscriptions of a document."""

    def add(self, id: Hashable, interest: Interest) -> None: ...
    def remove(self, id: Hashable) -> None: ...
    def match(self, body: bytes) -> Iterable[Hashable]:
        """Return the ids of the matching subscriptions; raise DocumentError."""
        ...

    def __len__(self) -> int: ...


class Backend(Protocol):
    """A factory of tables that also interns patterns and decides overlap."""

    def interest(self, pattern: Pattern) -> Interest: ...
    def filter(self) -> Filter: ...
    def selector(self) -> Selector: ...
    def summary(self) -> InterestSummary: ...
    def overlaps(self, advertisement: Advertisement, interest: Interest) -> bool: ...
