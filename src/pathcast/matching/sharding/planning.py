"""Patterns -> which owner has which queries, and so where a document must be sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, isfinite

from pathcast.documents import Document
from pathcast.matching.sharding.directory import Directory
from pathcast.matching.sharding.homes import keys
from pathcast.matching.sharding.key import Key
from pathcast.matching.sharding.owners import balanced, owner
from pathcast.xpath import Pattern

__all__ = ["Placement", "place"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Which owner has which keys, and so which queries, by their place in the order they were given in."""

    length: int
    owner_of: Mapping[Key, int]
    queries: tuple[tuple[int, ...], ...]
    """For each owner, the queries that live there."""
    loads: tuple[float, ...]
    """For each owner, what its keys weigh together."""
    directory: Directory = field(compare=False, repr=False)

    def owners_for(self, document: Document) -> frozenset[int]:
        """The owners that a document must be sent to."""
        return self._owners(self.directory.activated(document))

    def owners_for_paths(self, paths: Iterable[Iterable[str]]) -> frozenset[int]:
        """The owners that a document must be sent to of which only the label paths are known."""
        return self._owners(self.directory.possible(paths))

    def _owners(self, activated: Iterable[Key]) -> frozenset[int]:
        return frozenset([self.owner_of[key] for key in activated])


def place(
    patterns: Iterable[Pattern],
    owners: int,
    length: int = 1,
    *,
    balance: bool = False,
    weights: Mapping[Key, float] | None = None,
) -> Placement:
    """Assign whole queries to owners by their keys: by hash, or with `balance` by weight.

    A key weighs as many queries as are at it, unless there are `weights`; a key that these do not have weighs
    nothing, and such keys are spread by their queries.
    """
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    homes = [keys(pattern, length) for pattern in patterns]
    directory = Directory(Counter(key for home in homes for key in home))
    counts = directory.counts()
    weighed = {key: float(count) for key, count in counts.items()}
    if weights is not None:
        weighed = {key: float(weights.get(key, 0.0)) for key in counts}
    for key, weight in weighed.items():
        if not (isfinite(weight) and weight >= 0):
            raise ValueError(f"a key weighs 0 or more, not {weight}: {key}")
    if balance:
        owner_of = balanced(weighed, counts, owners)
    else:
        owner_of = {key: owner(key, owners) for key in weighed}
    queries: list[dict[int, None]] = [{} for _ in range(owners)]
    for number, home in enumerate(homes):
        for key in home:
            queries[owner_of[key]][number] = None
    held: list[list[float]] = [[] for _ in range(owners)]
    for key, weight in weighed.items():
        held[owner_of[key]].append(weight)
    loads = tuple(map(fsum, held))  # the same in whatever order sets are walked
    return Placement(length, owner_of, tuple(map(tuple, queries)), loads, directory)
