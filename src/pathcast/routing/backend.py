"""The engines behind a router's tables: filters, summaries and overlap, as protocols.

A router decides what goes into which table; how a table is searched is the kit's affair. `engine_kit` has what a broker uses;
`shared_kit` is for many routers in one process, which know every pattern and every relation between two of them once for all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol

from pathcast.covering import Change
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.messages import Interest
from pathcast.xpath import Pattern

__all__ = ["Backend", "Filter", "Selector", "Summary"]


class Summary(Protocol):
    """Interests of one sort for one neighbour, and the fewer that stand for them."""

    def add(self, interest: Interest) -> None: ...
    def remove(self, interest: Interest) -> None: ...
    def changes(self) -> Change[Interest]:
        """What has changed since it was last asked."""
        ...

    def standing_for(self, interest: Interest) -> list[Interest]:
        """The interests that one of the told ones stands for; for people, it may take its time."""
        ...

    def __len__(self) -> int: ...


class Filter(Protocol):
    """Which hops does a document take? An interest may have several."""

    def add(self, interest: Interest, hop: int) -> None: ...
    def remove(self, interest: Interest, hop: int) -> None: ...
    def hops(self, body: bytes) -> Iterable[int]:
        """Raises DocumentError."""
        ...

    def __len__(self) -> int: ...


class Selector(Protocol):
    """Which subscriptions does a document match?"""

    def add(self, id: Hashable, interest: Interest) -> None: ...
    def remove(self, id: Hashable) -> None: ...
    def match(self, body: bytes) -> Iterable[Hashable]:
        """Raises DocumentError."""
        ...

    def __len__(self) -> int: ...


class Backend(Protocol):
    """Makes the parts, and knows how a pattern relates to an advertisement."""

    def interest(self, pattern: Pattern) -> Interest: ...
    def filter(self) -> Filter: ...
    def selector(self) -> Selector: ...
    def summary(self) -> Summary: ...
    def overlaps(self, advertisement: Advertisement, interest: Interest) -> bool: ...
