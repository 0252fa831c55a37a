"""The publication routing table (PRT): entries of neighbours, with a filter over them.

The filter knows hops, which are small integers. Entries of one neighbour with the same excepted
origins share a hop; a hop without entries is reused.
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.routing.backend import Filter
from pathcast.routing.messages import Interest, Origins

__all__ = ["NeighbourEntries"]


class NeighbourEntries:
    """Assigns hops to (neighbour, excepted origins) pairs and delegates matching to a filter."""

    def __init__(self, filter: Filter) -> None:
        self._filter = filter
        self._hops: dict[tuple[str, Origins], int] = {}
        self._owners: dict[int, tuple[str, Origins]] = {}
        self._entry_counts: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._filter)

    @property
    def hop_count(self) -> int:
        return len(self._hops)

    def add(self, neighbour: str, interest: Interest, except_origins: Origins) -> None:
        hop = self._hops.get((neighbour, except_origins))
        if hop is None:
            hop = next(
                number for number in range(len(self._hops) + 1) if number not in self._owners
            )
            self._hops[neighbour, except_origins] = hop
            self._owners[hop] = (neighbour, except_origins)
            self._entry_counts[hop] = 0
        self._entry_counts[hop] += 1
        self._filter.add(interest, hop)

    def remove(self, neighbour: str, interest: Interest, except_origins: Origins) -> None:
        hop = self._hops[neighbour, except_origins]
        self._filter.remove(interest, hop)
        self._entry_counts[hop] -= 1
        if not self._entry_counts[hop]:
            del self._hops[neighbour, except_origins], self._owners[hop], self._entry_counts[hop]

    def matching_neighbours(self, body: bytes, origin: str) -> Iterator[str]:
        """Yield the neighbours with a matching entry for the origin; raise DocumentError.

        A neighbour may occur more than once.
        """
        for hop in self._filter.hops(body) if len(self._filter) else ():
            neighbour, except_origins = self._owners[hop]
            if origin not in except_origins:
                yield neighbour
