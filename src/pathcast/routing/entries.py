"""The entries of neighbours, and which of the neighbours a document is wanted by.

A neighbour's entries that are wanted without the same origins share a hop, the small number that the filter gives for
them; a hop that nobody uses any more is given to the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.routing.backend import Filter
from pathcast.routing.messages import Interest, Origins

__all__ = ["Entries"]


class Entries:
    """Over a filter, which answers with hops."""

    def __init__(self, entries: Filter) -> None:
        self._filter = entries
        self._hops: dict[tuple[str, Origins], int] = {}
        self._owners: dict[int, tuple[str, Origins]] = {}
        self._uses: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._filter)

    @property
    def hops(self) -> int:
        """How many hops are in use."""
        return len(self._hops)

    def add(self, neighbour: str, interest: Interest, except_origins: Origins) -> None:
        hop = self._hops.get((neighbour, except_origins))
        if hop is None:
            hop = next(
                number for number in range(len(self._hops) + 1) if number not in self._owners
            )
            self._hops[neighbour, except_origins] = hop
            self._owners[hop] = (neighbour, except_origins)
            self._uses[hop] = 0
        self._uses[hop] += 1
        self._filter.add(interest, hop)

    def remove(self, neighbour: str, interest: Interest, except_origins: Origins) -> None:
        hop = self._hops[neighbour, except_origins]
        self._filter.remove(interest, hop)
        self._uses[hop] -= 1
        if not self._uses[hop]:
            del self._hops[neighbour, except_origins], self._owners[hop], self._uses[hop]

    def wanted_by(self, body: bytes, origin: str) -> Iterator[str]:
        """The neighbours, perhaps more than once, that want a document from this origin; raises DocumentError."""
        for hop in self._filter.hops(body) if len(self._filter) else ():
            neighbour, except_origins = self._owners[hop]
            if origin not in except_origins:
                yield neighbour
