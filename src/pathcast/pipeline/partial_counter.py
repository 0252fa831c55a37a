"""Partial statistics (see `partials`) counted by numbers, while a worker matches documents.

Pairs of document and subscription, or subscriber, are collected as arrays of numbers. When there
are many, those with the same hour and number are added up; names are looked up only for the sums.
Partials may have several rows with the same key, so a task keeps no sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.partials import HOUR_MICROS, SUMS
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS

__all__ = ["PartialCounter"]

Int64Array = npt.NDArray[np.int64]

_SCHEMA: Final = TABLE_SCHEMAS["partials"]
_NO_HOUR: Final = -(1 << 40)  # stands for null; no time is so old
_MAX_PENDING: Final = 1 << 19  # pairs, of some 30 bytes each
_MAX_SPARSITY: Final = 4  # numbers per pair up to which arrays over all numbers are cheaper
_MAX_SOURCES: Final = 1 << 16


class PartialCounter:
    """Counts the documents of one task; passes rows of partials to `write`."""

    def __init__(
        self, batch: int, version: str, ids: pa.StringArray, write: Callable[[pa.RecordBatch], None]
    ) -> None:
        self._batch = batch
        self._version = version
        self._ids = ids
        self._write = write
        self._matches = _PendingPairs()
        self._deliveries = _PendingPairs()
        self._subscribers: pa.StringArray | None = None
        self._sources: dict[tuple[int, bool, str | None], list[int]] = {}

    def add_documents(
        self, columns: pa.RecordBatch, match_counts: npt.NDArray[Any], refused: npt.NDArray[Any]
    ) -> None:
        """Count documents with their matches; a refused one has none, and no version."""
        hours, micros = _times(columns)
        rows = zip(
            hours.tolist(),
            micros.tolist(),
            columns.column("source").to_pylist(),
            columns.column("bytes").to_pylist(),
            match_counts.tolist(),
            refused.tolist(),
            strict=True,
        )
        for hour, micro, source, size, matches, is_refused in rows:
            sums = self._sources.get((hour, is_refused, source))
            if sums is None:
                sums = self._sources[hour, is_refused, source] = [0, 0, 0, 0, micro, micro]
            sums[0] += 1
            sums[1] += size or 0
            sums[2] += matches > 0
            sums[3] += matches
            sums[4] = min(sums[4], micro)
            sums[5] = max(sums[5], micro)
        if len(self._sources) > _MAX_SOURCES:
            self._flush_documents()

    def add_matches(
        self, columns: pa.RecordBatch, offsets: npt.NDArray[Any], numbers: npt.NDArray[Any]
    ) -> None:
        """Count matches: `numbers[offsets[i]:offsets[i + 1]]` are those of document i."""
        documents = np.repeat(np.arange(len(columns)), np.diff(offsets))
        hours, micros = _times(columns)
        self._matches.add(hours[documents], numbers, micros[documents])
        if self._matches.is_full():
            self._flush_matches()

    def add_deliveries(self, columns: pa.RecordBatch, pairs: DeliveryPairs) -> None:
        """Count deliveries; all calls have the same subscribers."""
        self._subscribers = pairs.subscriber_names
        hours, micros = _times(columns)
        sizes = columns.column("bytes").fill_null(0).to_numpy()
        documents = pairs.documents
        self._deliveries.add(
            hours[documents], pairs.subscriber_codes, micros[documents], sizes[documents]
        )
        if self._deliveries.is_full():
            self._flush_deliveries()

    def close(self) -> None:
        """Write all counts."""
        self._flush_matches()
        self._flush_deliveries()
        self._flush_documents()

    def _flush_documents(self) -> None:
        for is_refused in (False, True):
            entries = {key: sums for key, sums in self._sources.items() if key[1] == is_refused}
            if not entries:
                continue
            hours = np.array([key[0] for key in entries])
            documents, sizes, matched, matches, first, last = np.array([*entries.values()]).T
            self._write_rows(
                "document",
                None if is_refused else self._version,
                pa.array([key[2] for key in entries], pa.string()),
                (hours, first, last),
                documents=documents,
                bytes=sizes,
                read=documents * (not is_refused),
                matched=matched,
                matches=matches,
                refused=documents * is_refused,
            )
        self._sources = {}

    def _flush_matches(self) -> None:
        for sums in self._matches.take():
            names = self._ids.take(pa.array(sums.numbers))
            times = (sums.hours, sums.first, sums.last)
            self._write_rows("match", self._version, names, times, documents=sums.counts)

    def _flush_deliveries(self) -> None:
        for sums in self._deliveries.take():
            assert self._subscribers is not None
            assert sums.sizes is not None
            names = self._subscribers.take(pa.array(sums.numbers))
            times = (sums.hours, sums.first, sums.last)
            self._write_rows(
                *("delivery", None, names, times), documents=sums.counts, bytes=sums.sizes
            )

    def _write_rows(
        self,
        kind: str,
        version: str | None,
        names: pa.StringArray,
        times: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]],
        **sums: npt.NDArray[Any],
    ) -> None:
        length = len(names)
        hours, first, last = times
        untimed = hours == _NO_HOUR
        time_type = _SCHEMA.field("first").type
        columns = {
            "kind": pa.repeat(kind, length),
            "hour": pa.array(hours, pa.int64(), mask=untimed),
            "version": pa.repeat(pa.scalar(version, pa.string()), length),
            "key": names,
            "first": pa.array(first, pa.int64(), mask=untimed).cast(time_type),
            "last": pa.array(last, pa.int64(), mask=untimed).cast(time_type),
            "batch": pa.repeat(pa.scalar(self._batch, pa.int64()), length),
            **{
                name: pa.array(sums.get(name, np.zeros(length, np.int64)), pa.int64())
                for name in SUMS
            },
        }
        arrays = [columns[name] for name in _SCHEMA.names]
        self._write(pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA))


class _PendingPairs:
    """Pairs of document and number that are not counted yet."""

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []
        self._length = 0

    def add(self, *columns: npt.NDArray[Any]) -> None:
        """Add columns: hours, numbers, times, and perhaps bytes."""
        self._parts.append(columns)
        self._length += len(columns[0])

    def is_full(self) -> bool:
        return self._length > _MAX_PENDING

    def take(self) -> Iterator[_PairSums]:
        """Yield the sums, if there are any, and forget the pairs."""
        if self._length:
            hours, numbers, *others = (
                np.concatenate(arrays) for arrays in zip(*self._parts, strict=True)
            )
            first, last = hours.min(), hours.max()
            size = int(numbers.max()) + 1
            if first == last and size <= _MAX_SPARSITY * len(numbers):
                yield _sum_dense(first, numbers, size, *others)
            else:
                yield _sum_by_sort(hours, numbers, size, *others)
        self._parts, self._length = [], 0


class _PairSums(NamedTuple):
    """Sums by hour and number."""

    hours: Int64Array
    numbers: npt.NDArray[Any]
    counts: Int64Array
    first: Int64Array
    last: Int64Array
    sizes: npt.NDArray[Any] | None


def _sum_dense(
    hour: np.int64,
    numbers: npt.NDArray[Any],
    size: int,
    micros: Int64Array,
    sizes: npt.NDArray[Any] | None = None,
) -> _PairSums:
    """Add up pairs of one hour in arrays over all numbers."""
    counts = np.bincount(numbers, minlength=size)
    present = np.flatnonzero(counts)
    first = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(first, numbers, micros)
    last = np.full(size, np.iinfo(np.int64).min)
    np.maximum.at(last, numbers, micros)
    total_sizes = None
    if sizes is not None:
        total_sizes = np.bincount(numbers, sizes, size)[present].astype(np.int64)
    hours = np.full(len(present), hour)
    return _PairSums(hours, present, counts[present], first[present], last[present], total_sizes)


def _sum_by_sort(
    hours: Int64Array,
    numbers: npt.NDArray[Any],
    size: int,
    micros: Int64Array,
    sizes: npt.NDArray[Any] | None = None,
) -> _PairSums:
    """Add up pairs by sorting them: for few pairs, or several hours."""
    distinct_hours, hour_codes = np.unique(hours, return_inverse=True)
    codes = hour_codes * size + numbers
    order = np.argsort(codes)
    codes, micros = codes[order], micros[order]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    hour_positions, group_numbers = np.divmod(codes[starts], size)
    return _PairSums(
        distinct_hours[hour_positions],
        group_numbers,
        np.diff(np.append(starts, len(codes))),
        np.minimum.reduceat(micros, starts),
        np.maximum.reduceat(micros, starts),
        None if sizes is None else np.add.reduceat(sizes[order], starts),
    )


def _times(columns: pa.RecordBatch) -> tuple[Int64Array, Int64Array]:
    """Return the hour and the microseconds of each document's time."""
    times = columns.column("time").cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    micros = times.fill_null(0).to_numpy()
    hours = np.floor_divide(micros, HOUR_MICROS)
    if times.null_count:
        hours = np.where(times.is_null().to_numpy(zero_copy_only=False), _NO_HOUR, hours)
    return hours, micros
