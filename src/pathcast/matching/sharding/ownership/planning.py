"""The ownership plan: the queries of each owner, and the owners that a document must visit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, isfinite

from pathcast.documents import Document
from pathcast.matching.sharding.ownership.directory import KeyDirectory
from pathcast.matching.sharding.ownership.owners import assign_by_weight, hash_owner
from pathcast.matching.sharding.ownership.query_keys import pattern_keys
from pathcast.matching.sharding.state_key import StateKey
from pathcast.xpath import Pattern

__all__ = ["OwnershipPlan", "plan_ownership"]


@dataclass(frozen=True, slots=True)
class OwnershipPlan:
    """The owner of each key, and so of the queries at it. Queries are numbered in input order."""

    length: int
    owner_of: Mapping[StateKey, int]
    queries: tuple[tuple[int, ...], ...]
    """By owner: the queries that it holds."""
    loads: tuple[float, ...]
    """By owner: the total weight of its keys."""
    directory: KeyDirectory = field(compare=False, repr=False)

    def owners_for(self, document: Document) -> frozenset[int]:
        """Return the owners that a document must visit."""
        return self._owners(self.directory.activated_keys(document))

    def owners_for_paths(self, paths: Iterable[Iterable[str]]) -> frozenset[int]:
        """Return the owners that a document with these label paths must visit."""
        return self._owners(self.directory.possible_keys(paths))

    def _owners(self, keys: Iterable[StateKey]) -> frozenset[int]:
        return frozenset([self.owner_of[key] for key in keys])


def plan_ownership(
    patterns: Iterable[Pattern],
    owners: int,
    length: int = 1,
    *,
    balance: bool = False,
    weights: Mapping[StateKey, float] | None = None,
) -> OwnershipPlan:
    """Assign whole queries to owners by their keys: by hash, or by weight with `balance`.

    By default a key weighs as much as it has queries. With `weights`, a key that is missing there
    weighs nothing, and such keys are distributed by their number of queries.
    """
    if owners < 1:
        raise ValueError(f"there must be an owner, not {owners}")
    query_keys = [pattern_keys(pattern, length) for pattern in patterns]
    directory = KeyDirectory(Counter(key for keys in query_keys for key in keys))
    counts = directory.counts()
    key_weights = {key: float(count) for key, count in counts.items()}
    if weights is not None:
        key_weights = {key: float(weights.get(key, 0.0)) for key in counts}
    for key, weight in key_weights.items():
        if not (isfinite(weight) and weight >= 0):
            raise ValueError(f"a key weighs 0 or more, not {weight}: {key}")
    if balance:
        owner_of = assign_by_weight(key_weights, counts, owners)
    else:
        owner_of = {key: hash_owner(key, owners) for key in key_weights}
    queries: list[dict[int, None]] = [{} for _ in range(owners)]
    for number, keys in enumerate(query_keys):
        for key in keys:
            queries[owner_of[key]][number] = None
    weights_of: list[list[float]] = [[] for _ in range(owners)]
    for key, weight in key_weights.items():
        weights_of[owner_of[key]].append(weight)
    loads = tuple(map(fsum, weights_of))  # exact sums: the same in any order of iteration
    return OwnershipPlan(length, owner_of, tuple(map(tuple, queries)), loads, directory)
