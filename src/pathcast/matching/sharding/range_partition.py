"""Range partitioning: each shard gets a contiguous range of shard keys.

For a few shards with many subscriptions each. Unlike hashing a key to an owner (`ownership`), a
table of routes allows more:

- Shards have equal weight even if one key holds most subscriptions. A million subscriptions may
  test a million values at one path.
- Keys with a common prefix stay together, so that a document of one type visits few shards.
- A subscription is in one shard, so no two shards report the same match.

Routes: a document visits a shard if it contains one of the shard's routes. These are the keys of
its subscriptions, cut to the largest length (at most `_MAX_ROUTE_LABELS`) that keeps them few.
Every document contains the empty route. A document that matches a subscription contains all paths
of one alternative, hence one of the subscription's keys and its prefixes: no match is missed.

Cost: a sort, and a few look-ups per subscription.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from pathcast.matching.sharding.snapshot_keys import LABEL_BYTES, SnapshotKeys

__all__ = ["RangePartition", "partition_by_range"]

_MAX_ROUTE_LABELS: Final = 4
_CHEAP_ROUTES: Final = 4_096  # up to this number, the router's cost does not matter
_SUBSCRIPTIONS_PER_ROUTE: Final = 128  # above that, at most one route per 128
_SLACK: Final = 8  # a bound may move by 1/8 of a shard's weight to either side

Route = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class RangePartition:
    """The subscriptions of each shard, and the routes of documents to shards."""

    numbers: tuple[array[int], ...]
    """By shard: the numbers of its subscriptions, in ascending order."""
    routes: tuple[Route, ...]
    """A prefix of a shard key, and the shard that documents with this path visit."""


def partition_by_range(keys: SnapshotKeys, weights: Sequence[int], shards: int) -> RangePartition:
    """Cut the subscriptions into ranges of keys of about equal weight.

    `weights` are those of the subscriptions, by number.
    """
    if shards < 1:
        raise ValueError(f"there must be a shard, not {shards}")
    primary = keys.primary
    order = sorted(range(len(primary)), key=primary.__getitem__)
    bounds = _bounds(
        [primary[number] for number in order], [weights[number] for number in order], shards
    )
    numbers = tuple(array("i", sorted(order[start:end])) for start, end in pairwise(bounds))
    return RangePartition(numbers, _routes(keys, numbers))


def _bounds(ordered: Sequence[bytes], weights: Sequence[int], shards: int) -> list[int]:
    """Return the bounds of the ranges.

    Within the slack around equal weights, a bound goes where the keys on both sides share the
    shortest prefix.
    """
    cumulative = list(accumulate(weights, initial=0))
    share = cumulative[-1] / shards
    bounds = [0]
    for shard in range(1, shards):
        ideal = shard * share
        first = max(bisect_left(cumulative, ideal - share / _SLACK), bounds[-1], 1)
        last = min(bisect_left(cumulative, ideal + share / _SLACK), len(ordered) - 1)
        cuts = [
            (_common_bytes(ordered[cut - 1], ordered[cut]), abs(cumulative[cut] - ideal), cut)
            for cut in range(first, last + 1)
        ]
        bounds.append(min(cuts)[2] if cuts else max(bounds[-1], min(first, len(ordered))))
    return [*bounds, len(ordered)]


def _common_bytes(left: bytes, right: bytes) -> int:
    """Return the length of the common prefix in whole labels; more than any for equal keys."""
    if left == right:
        return len(left) + 1
    end = 0
    while left[end : end + LABEL_BYTES] == right[end : end + LABEL_BYTES]:
        end += LABEL_BYTES
    return end


def _routes(keys: SnapshotKeys, numbers: Sequence[Sequence[int]]) -> tuple[Route, ...]:
    max_routes = max(_CHEAP_ROUTES, len(keys.primary) // _SUBSCRIPTIONS_PER_ROUTE)
    routes = {
        (key[: _MAX_ROUTE_LABELS * LABEL_BYTES], shard)
        for shard, members in enumerate(numbers)
        for key in _keys_of(keys, members)
    }
    for length in reversed(range(_MAX_ROUTE_LABELS)):
        if len(routes) <= max_routes:
            break
        routes = {(key[: length * LABEL_BYTES], shard) for key, shard in routes}
    return tuple(sorted(routes))


def _keys_of(keys: SnapshotKeys, numbers: Sequence[int]) -> Iterator[bytes]:
    for number in numbers:
        yield keys.primary[number]
        yield from keys.secondary.get(number, ())
