"""Partial statistics of a batch: counts that `pathcast report` adds up.

    kind       a row per                              documents are those that
    document   hour, version, source                  came in
    match      hour, version, subscription            match the subscription
    delivery   hour, subscriber                       are delivered to the subscriber

The hour is that of the document's own time, null without one. All numbers are sums, `first` and
`last` are the minimum and the maximum of times. So rows with equal keys can be merged in any order,
and the rows of a union are the merged rows of its parts. Statistics over windows of whole hours are
then those of the tables, for one pass over the partials instead of joins of all tables.

Workers count them by numbers while they match (`partial_counter`). Where Spark's own writers stage
a batch, the driver computes them here from the staged files, with memory for its documents and one
read of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from pathcast.pipeline.task_files import sync_file

__all__ = [
    "HOUR_MICROS",
    "MAX_DOCUMENTS",
    "SUMS",
    "merge_partials",
    "partial_rows",
    "write_partials",
]

HOUR_MICROS: Final = 3_600_000_000
MAX_DOCUMENTS: Final = 1_000_000
"""Documents of a batch with partials; the statistics of larger ones come from the tables."""
_SCHEMA: Final = TABLE_SCHEMAS["partials"]
_KEYS: Final = ["kind", "hour", "version", "key"]
SUMS: Final = ["documents", "bytes", "read", "matched", "matches", "refused"]
_ROWS_PER_READ: Final = 1_024


def write_partials(folder: Path, batch: int, version: str) -> None:
    """Write the partials of a batch whose tables are staged in a folder; they are on disk."""
    rows = partial_rows(folder, version)
    numbered = rows.append_column("batch", pa.repeat(pa.scalar(batch, pa.int64()), len(rows)))
    target = folder / "partials"
    target.mkdir(exist_ok=True)
    pq.write_table(numbered.select(_SCHEMA.names).cast(_SCHEMA), target / "part-0.parquet")
    sync_file(target / "part-0.parquet")
    sync_file(target)


def partial_rows(folder: Path, version: str) -> pa.Table:
    """Return the partials of the tables in a folder, without the column `batch`."""
    documents = pa.Table.from_batches(
        list(_read(folder, "documents", ["document", "source", "time", "bytes"])),
        _fields("documents", ["document", "source", "time", "bytes"]),
    ).combine_chunks()
    ids = documents["document"].combine_chunks()
    times = documents["time"].combine_chunks().cast(pa.timestamp("us", tz="UTC"))
    hours = _hours(times)
    sizes = pc.fill_null(documents["bytes"].combine_chunks(), 0)
    counts = {name: np.zeros(len(ids), np.int64) for name in ("read", "matches", "refused")}
    parts = []
    for rows in _read(folder, "matches", ["document", "subscriptions"]):
        positions = pc.index_in(rows.column("document"), value_set=ids)
        lengths = pc.fill_null(pc.list_value_length(rows.column("subscriptions")), 0)
        counts["read"][positions.to_numpy(zero_copy_only=False)] = 1
        np.add.at(
            counts["matches"],
            positions.to_numpy(zero_copy_only=False),
            lengths.to_numpy(zero_copy_only=False),
        )
        matched = positions.take(pc.list_parent_indices(rows.column("subscriptions")))
        keys = pc.list_flatten(rows.column("subscriptions"))
        parts.append(_group("match", keys, hours, times, matched, version))
    for rows in _read(folder, "errors", ["document", "subscriptions"]):
        refused = rows.filter(rows.column("subscriptions").is_null()).column("document")
        positions = pc.index_in(refused, value_set=ids)
        np.add.at(counts["refused"], positions.to_numpy(zero_copy_only=False), 1)
    for rows in _read(folder, "deliveries", ["document", "subscriber"]):
        positions = pc.index_in(rows.column("document"), value_set=ids)
        parts.append(
            _group(
                *("delivery", rows.column("subscriber"), hours, times, positions, None),
                bytes=sizes.take(positions),
            )
        )
    everything = pa.array(np.arange(len(ids), dtype=np.int32))
    parts.append(
        _group(
            *("document", documents["source"].combine_chunks(), hours, times, everything, version),
            bytes=sizes,
            matched=pa.array((counts["matches"] > 0).astype(np.int64)),
            **{name: pa.array(values) for name, values in counts.items()},
        )
    )
    return merge_partials(pa.concat_tables(parts))


def merge_partials(rows: pa.Table) -> pa.Table:
    """Merge rows with equal keys; the batch of merged rows is the last one."""
    extremes = [("first", "min"), ("last", "max")]
    if "batch" in rows.column_names:
        extremes.append(("batch", "max"))
    aggregates = [*((name, "sum") for name in SUMS), *extremes]
    merged = rows.group_by(_KEYS).aggregate(aggregates)
    names = {f"{name}_{function}": name for name, function in aggregates}
    merged = merged.rename_columns([names.get(name, name) for name in merged.column_names])
    return merged.select(rows.column_names).cast(rows.schema)


def _group(
    kind: str,
    keys: pa.Array,
    hours: pa.Array,
    times: pa.Array,
    positions: pa.Array,
    version: str | None,
    **sums: pa.Array,
) -> pa.Table:
    """Return the partials of rows, each about the document at a position."""
    length = len(keys)
    zeros = pa.repeat(pa.scalar(0, pa.int64()), length)
    versions = pa.repeat(pa.scalar(version, pa.string()), length)
    if "read" in sums:  # a refused document was not matched under a version
        versions = pc.if_else(pc.greater(sums["read"], 0), versions, pa.scalar(None, pa.string()))
    at = times.take(positions)
    columns: dict[str, pa.Array] = {
        "kind": pa.repeat(kind, length),
        "hour": hours.take(positions),
        "version": versions,
        "key": keys,
        "first": at,
        "last": at,
        **dict.fromkeys(SUMS, zeros),
        "documents": pa.repeat(pa.scalar(1, pa.int64()), length),
        **sums,
    }
    schema = pa.schema([_SCHEMA.field(name) for name in _SCHEMA.names if name != "batch"])
    return merge_partials(pa.table({name: columns[name] for name in schema.names}, schema))


def _hours(times: pa.Array) -> pa.Array:
    micros = times.cast(pa.int64())
    values = np.floor_divide(pc.fill_null(micros, 0).to_numpy(), HOUR_MICROS)
    return pa.array(values, mask=micros.is_null().to_numpy(zero_copy_only=False))


def _read(folder: Path, table: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a staged table, some at a time."""
    schema = _fields(table, columns)
    for path in sorted((folder / table).glob("*.parquet")):
        with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
            for rows in file.iter_batches(_ROWS_PER_READ, columns=columns):
                yield rows.select(columns).cast(schema)


def _fields(table: str, columns: list[str]) -> pa.Schema:
    return pa.schema([TABLE_SCHEMAS[table].field(name) for name in columns])
