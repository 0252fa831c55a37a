"""The saved statistics: their tables, their folder, and how new ones replace the old.

New tables are written beside the old ones and moved into place together when all are complete. A
reader finds the tables of one job, except between the two moves.

`reduce_table` reads a saved table without Spark, some rows at a time: the memory does not grow with
the table. Files on other file systems are copied one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.errors import PipelineError
from pathcast.pipeline.statistics.summary import StatisticsSummary, dump_summary, load_summary
from pathcast.pipeline.storage import Storage

__all__ = [
    "NEW_FOLDER",
    "SAVED_SCHEMAS",
    "TABLES",
    "read_summary",
    "reduce_table",
    "save_summary",
    "saved_path",
    "start_saving",
    "swap_in",
]

_FOLDER: Final = "statistics"
NEW_FOLDER: Final = "_statistics.new"
_OLD_FOLDER: Final = "_statistics.old"
_SUMMARY: Final = "summary.json"
_ROWS_PER_READ: Final = 65_536

_TIME: Final = pa.timestamp("us", tz="UTC")
_COUNTS: Final = [
    (name, pa.int64()) for name in ("documents", "bytes", "read", "matched", "matches", "refused")
]
SAVED_SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "selectivity": pa.schema(
        [
            ("subscription", pa.string()),
            ("matched", pa.int64()),
            ("documents", pa.int64()),
            ("share", pa.float64()),
            ("selectivity", pa.float64()),
            ("windows", pa.int32()),
            ("since", _TIME),
            ("first", _TIME),
            ("last", _TIME),
            ("xpath", pa.string()),
        ]
    ),
    "rates": pa.schema(
        [
            ("group", pa.string()),
            ("documents", pa.int64()),
            ("bytes", pa.int64()),
            ("windows", pa.int64()),
            ("documents_rate", pa.float64()),
            ("bytes_rate", pa.float64()),
            ("recent_documents_rate", pa.float64()),
            ("recent_bytes_rate", pa.float64()),
            ("peak_window", pa.int64()),
            ("peak_start", _TIME),
            ("peak_documents", pa.int64()),
            ("peak_documents_rate", pa.float64()),
            ("peak_bytes_rate", pa.float64()),
        ]
    ),
    "overlap": pa.schema(
        [
            ("a", pa.string()),
            ("b", pa.string()),
            ("both", pa.int64()),
            ("documents_a", pa.int64()),
            ("documents_b", pa.int64()),
            ("jaccard", pa.float64()),
            ("given_a", pa.float64()),
            ("given_b", pa.float64()),
        ]
    ),
    "chosen": pa.schema(
        [("subscription", pa.string()), ("documents", pa.int64()), ("xpath", pa.string())]
    ),
    "structures": pa.schema(
        [
            ("rank", pa.int32()),
            ("structure", pa.string()),
            ("documents", pa.int64()),
            ("share", pa.float64()),
            ("cumulative", pa.float64()),
            ("first", pa.string()),
        ]
    ),
    "cache": pa.schema([("entries", pa.int64()), ("warm", pa.float64()), ("cold", pa.float64())]),
    "traffic": pa.schema(
        [
            ("window", pa.int64()),
            ("start", _TIME),
            *_COUNTS,
            ("documents_rate", pa.float64()),
            ("bytes_rate", pa.float64()),
        ]
    ),
    "sources": pa.schema([("source", pa.string()), *_COUNTS]),
    "errors": pa.schema(
        [
            ("kind", pa.string()),
            ("errors", pa.int64()),
            ("documents", pa.int64()),
            ("undecided", pa.int64()),
            (
                "example",
                pa.struct(
                    [("document", pa.string()), ("place", pa.string()), ("message", pa.string())]
                ),
            ),
        ]
    ),
}
"""The columns of every saved table."""
TABLES: Final = tuple(SAVED_SCHEMAS)


def start_saving(storage: Storage) -> None:
    """Remove what an interrupted job left in `NEW_FOLDER`."""
    storage.remove(NEW_FOLDER)


def save_summary(storage: Storage, summary: StatisticsSummary) -> None:
    """Write the summary beside the new tables."""
    storage.write(f"{NEW_FOLDER}/{_SUMMARY}", dump_summary(summary))


def swap_in(storage: Storage) -> None:
    """Replace the old tables by the new ones."""
    storage.remove(_OLD_FOLDER)
    if _FOLDER in storage.names(""):
        storage.move(_FOLDER, _OLD_FOLDER)
    storage.move(NEW_FOLDER, _FOLDER)
    storage.remove(_OLD_FOLDER)


def saved_path(storage: Storage, name: str) -> str:
    """Return the path of one of `TABLES`, for Spark."""
    return storage.path(f"{_FOLDER}/{name}")


def read_summary(storage: Storage, out: str) -> StatisticsSummary:
    """Return the saved summary; PipelineError if there is none."""
    record = storage.read(f"{_FOLDER}/{_SUMMARY}")
    if record is None:
        raise PipelineError(
            "statistics", f"there are no statistics in {out}", hint="compute them first"
        )
    return load_summary(record)


def reduce_table(
    storage: Storage,
    name: str,
    merge: Callable[[pa.Table], pa.Table],
    select: Callable[[pa.Table], pa.Table] = lambda rows: rows,
) -> pa.Table:
    """Return `merge(select(rows))` of all rows of a saved table, computed of some rows at a time.

    `merge` must give the same result whether or not parts of its input were merged before, as the
    first rows of an order and sums by a key do.
    """
    schema = SAVED_SCHEMAS[name]
    merged = merge(select(schema.empty_table()))
    for rows in _read(storage, name, schema):
        merged = merge(pa.concat_tables([merged, select(rows)]))
    return merged


def _read(storage: Storage, name: str, schema: pa.Schema) -> Iterator[pa.Table]:
    folder = f"{_FOLDER}/{name}"
    for file_name in storage.names(folder):
        path = None if file_name[0] in "._" else storage.get_file(f"{folder}/{file_name}")
        if path is None:
            continue
        try:
            with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
                for rows in file.iter_batches(_ROWS_PER_READ):
                    yield pa.Table.from_batches([rows]).select(schema.names).cast(schema)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise PipelineError(
                "statistics", f"the table {name} cannot be read: {error}", hint="compute them again"
            ) from None
