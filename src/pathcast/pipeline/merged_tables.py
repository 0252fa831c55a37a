"""Merging of parquet files: rows of many small files are written to few large ones, as a stream.

One file per table is open at a time. It is completed when it has `file_bytes`. The memory is a row
group per table, however large the files are. Rows of partial statistics with the same key become
one row. Files of format 1 get their column `batch` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.pipeline.partials import merge_partials
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from pathcast.pipeline.task_files import sync_file

__all__ = ["MergedTables"]

_ROW_GROUP_BYTES: Final = 8 << 20
_ROWS_PER_READ: Final = 256  # a row of matches has up to 65,536 ids


class MergedTables:
    """Writes tables below a folder as `TABLE/NUMBER.parquet`."""

    def __init__(self, folder: Path, file_bytes: int) -> None:
        self._folder = folder
        self._file_bytes = file_bytes
        self._tables: dict[str, _MergedTable] = {}

    def append(self, table: str, file: Path, batch: int) -> None:
        """Append the rows of a file; rows without a batch are of this one."""
        with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as source:
            if table not in self._tables:
                schema = TABLE_SCHEMAS.get(table, source.schema_arrow)
                self._tables[table] = _MergedTable(
                    self._folder / table,
                    schema,
                    self._file_bytes,
                    merge_partials if table == "partials" else lambda rows: rows,
                )
            merged = self._tables[table]
            for rows in source.iter_batches(_ROWS_PER_READ):
                merged.append(_conform(rows, merged.schema, batch))

    def written_bytes(self) -> int:
        """Return the size of the largest table so far."""
        return max((table.written_bytes for table in self._tables.values()), default=0)

    def close(self) -> dict[str, list[Path]]:
        """Complete all files and return them by table; they are on disk."""
        files = {name: list(table.close()) for name, table in self._tables.items()}
        for name in self._tables:
            sync_file(self._folder / name)
        return files


@dataclass(slots=True)
class _MergedTable:
    folder: Path
    schema: pa.Schema
    file_bytes: int
    combine: Callable[[pa.Table], pa.Table]
    written_bytes: int = 0
    _files: list[Path] = field(default_factory=list)
    _writer: pq.ParquetWriter | None = None
    _sink: pa.NativeFile | None = None
    _pending: list[pa.RecordBatch] = field(default_factory=list)
    _pending_bytes: int = 0

    def append(self, rows: pa.RecordBatch) -> None:
        self._pending.append(rows)
        self._pending_bytes += rows.nbytes
        if self._pending_bytes >= min(_ROW_GROUP_BYTES, self.file_bytes):
            self._flush()

    def close(self) -> Iterator[Path]:
        if self._pending or not self._files:
            self._flush()  # a table without rows is a file without rows
        self._complete()
        yield from self._files

    def _flush(self) -> None:
        if self._writer is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._files.append(self.folder / f"{len(self._files)}.parquet")
            self._sink = pa.OSFile(str(self._files[-1]), "wb")
            self._writer = pq.ParquetWriter(self._sink, self.schema)
        rows = self.combine(pa.Table.from_batches(self._pending, self.schema))
        self._writer.write_table(rows, row_group_size=max(1, len(rows)))
        self._pending, self._pending_bytes = [], 0
        assert self._sink is not None
        size = self._sink.tell()
        if size >= self.file_bytes:
            self._complete()

    def _complete(self) -> None:
        if self._writer is not None and self._sink is not None:
            self._writer.close()
            self.written_bytes += self._sink.tell()
            self._sink.close()
            self._writer = self._sink = None
            sync_file(self._files[-1])


def _conform(rows: pa.RecordBatch, schema: pa.Schema, batch: int) -> pa.RecordBatch:
    """Return rows in the columns and types of a schema."""
    columns = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name in rows.schema.names:
            columns.append(rows.column(name).cast(kind))
        elif name == "batch":
            columns.append(pa.repeat(pa.scalar(batch, kind), len(rows)))
        else:
            columns.append(pa.nulls(len(rows), kind))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
