"""Deliveries from subscription numbers: one sort, no strings compared.

The index renumbers the subscriptions in *delivery order*: by subscriber, then by id. In this order
the deliveries of a document are the runs of its sorted matches that share a subscriber. A batch is
one sort of integer keys (document, position), and every column of the result is gathered from it.

>>> index = DeliveryIndex.build(pa.array(["x", "a", "y"]), pa.array(["ann", "bob", "ann"]))
>>> grouped = index.group(np.array([0, 3, 4]), np.array([0, 1, 2, 1], np.int32))
>>> for row in zip(grouped.documents, grouped.subscribers, grouped.subscriptions, grouped.counts):
...     print(*row)
0 ann ['x', 'y'] 2
0 bob ['a'] 1
1 bob ['a'] 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pathcast.pipeline.coded_columns import code_names

__all__ = [
    "MAX_LISTED_SUBSCRIPTIONS",
    "DeliveryIndex",
    "DeliveryPairs",
    "GroupedDeliveries",
    "read_subscribers",
]

MAX_LISTED_SUBSCRIPTIONS: Final = 1_000
"""A delivery lists at most this many of its subscriptions, the first by id."""

Int32Array = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class DeliveryPairs:
    """Pairs of document and subscriber in columns, ordered by document."""

    documents: Int32Array
    """Positions of the documents in their batch."""
    subscriber_codes: Int32Array
    """Positions of the subscribers in `subscriber_names`."""
    subscriber_names: pa.StringArray
    """Distinct names in ascending order."""

    @property
    def subscribers(self) -> pa.StringArray:
        """The name of each pair's subscriber."""
        return self.subscriber_names.take(pa.array(self.subscriber_codes))

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True, slots=True)
class GroupedDeliveries(DeliveryPairs):
    """Deliveries in columns, ordered by document and subscriber."""

    offsets: Int32Array
    """Delivery i lists the subscriptions at `positions[offsets[i]:offsets[i + 1]]`."""
    positions: npt.NDArray[Any]
    """Positions in `ids`."""
    ids: pa.StringArray
    counts: pa.Int32Array
    """How many subscriptions match, listed or not."""

    @property
    def subscriptions(self) -> pa.ListArray:
        """The ids that each delivery lists."""
        ids = self.ids.take(pa.array(self.positions))
        return pa.ListArray.from_arrays(pa.array(self.offsets), ids)

    @property
    def coded_subscriptions(self) -> pa.ListArray:
        """The same as codes."""
        codes = code_names(self.positions, self.ids)
        return pa.ListArray.from_arrays(pa.array(self.offsets), codes)


@dataclass(frozen=True, slots=True)
class DeliveryIndex:
    """The subscriptions of a version in delivery order."""

    position_of: Int32Array
    """Subscription number -> position."""
    subscriber_at: Int32Array
    """Position -> index into `subscribers`."""
    subscribers: pa.StringArray
    """The names of the subscribers, in ascending order."""
    ids: pa.StringArray
    """Subscription ids by position."""

    @classmethod
    def build(cls, ids: pa.StringArray, subscribers: pa.StringArray | None = None) -> DeliveryIndex:
        """Build the index of subscriptions, given their ids and their subscribers by number.

        Without `subscribers`, every subscription is its own subscriber.
        """
        names = (ids if subscribers is None else subscribers).dictionary_encode()
        rank = pc.rank(names.dictionary, tiebreaker="first")
        code = pc.subtract(rank.take(names.indices), 1)
        columns = pa.table({"subscriber": code, "id": ids})
        order = pc.sort_indices(columns, [("subscriber", "ascending"), ("id", "ascending")])
        position_of = np.empty(len(ids), np.int32)
        position_of[order.to_numpy()] = np.arange(len(ids), dtype=np.int32)
        return cls(
            position_of,
            code.take(order).to_numpy().astype(np.int32),
            names.dictionary.take(pc.sort_indices(names.dictionary)),
            ids.take(order),
        )

    def group(self, offsets: npt.NDArray[Any], numbers: Int32Array) -> GroupedDeliveries:
        """Group the matches of documents into deliveries.

        `numbers[offsets[i]:offsets[i + 1]]` are the subscriptions that document i matches.
        """
        size = max(1, len(self.position_of))
        key_type = np.min_scalar_type((len(offsets) - 1) * size)  # small keys sort twice as fast
        documents = np.repeat(np.arange(len(offsets) - 1, dtype=key_type), np.diff(offsets))
        keys = documents * key_type.type(size) + self.position_of[numbers].astype(key_type)
        keys.sort()
        documents, positions = np.divmod(keys, key_type.type(size))
        subscribers = self.subscriber_at[positions]
        is_start = np.ones(len(keys), np.bool_)
        is_start[1:] = (documents[1:] != documents[:-1]) | (subscribers[1:] != subscribers[:-1])
        starts = np.flatnonzero(is_start)
        counts = np.diff(np.append(starts, len(keys)))
        listed = np.minimum(counts, MAX_LISTED_SUBSCRIPTIONS)
        if counts.max(initial=0) > MAX_LISTED_SUBSCRIPTIONS:
            rank_in_delivery = np.arange(len(positions)) - np.repeat(starts, counts)
            positions = positions[rank_in_delivery < MAX_LISTED_SUBSCRIPTIONS]
        return GroupedDeliveries(
            documents[starts].astype(np.int32),
            subscribers[starts],
            self.subscribers,
            np.concatenate(([0], np.cumsum(listed))).astype(np.int32),
            positions,
            self.ids,
            pa.array(counts.astype(np.int32)),
        )


def read_subscribers(file: str | BinaryIO, ids: pa.StringArray) -> pa.StringArray:
    """Return the subscribers of subscriptions, by number, from a file of routes."""
    routes = pq.read_table(file, columns=["subscription", "subscriber"])
    row = pc.index_in(ids, routes.column("subscription").combine_chunks())
    return routes.column("subscriber").combine_chunks().take(row)
