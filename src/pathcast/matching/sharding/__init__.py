"""Sharding: range partitioning of a snapshot's subscriptions, and routes from documents to shards.

    Snapshot -> shard keys -> ranges of keys and routes to them -> a Snapshot for each shard

A shard is a part of the subscriptions with an automaton of its own. A subscription's shard key is a
path that every matching document must contain; sorting by shard key keeps similar subscriptions
together. Invariant: a document that matches a subscription (or, with a residual, its skeleton)
contains a route to its shard, so no match and no error is missed. A subscription is in exactly one
shard, so no two shards report the same match.

- `state_key`: the key of an NFA state and its text form (Miliaraki 2008, section 3).
- `shard_keys`: the choice of a shard key among the required paths of an alternative.
- `snapshot_keys`: the shard keys of all subscriptions of a snapshot.
- `range_partition`: ranges of shard keys of equal weight, and the routes to them.
- `shard_snapshots`: the snapshot of a shard, and the snapshot of the router.
- `ownership`: key ownership for a future distributed automaton; the pipeline does not use it.
"""

from __future__ import annotations

from pathcast.matching.sharding.range_partition import RangePartition, partition_by_range
from pathcast.matching.sharding.shard_snapshots import router_snapshot, snapshot_subset
from pathcast.matching.sharding.snapshot_keys import SnapshotKeys, shard_keys_of
from pathcast.matching.sharding.state_key import START, StateKey

__all__ = [
    "START",
    "RangePartition",
    "SnapshotKeys",
    "StateKey",
    "partition_by_range",
    "router_snapshot",
    "shard_keys_of",
    "snapshot_subset",
]
