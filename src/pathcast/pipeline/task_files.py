"""The files that a Spark task writes into the staging folder of an attempt, and their manifest.

Spark may run a task several times: after a failure, or as a speculative copy. The name of a file
therefore carries the id of the task attempt, and the manifest that an attempt returns lists its
files. The driver receives one manifest per task, moves exactly the files that it lists to the
staged tables, and ignores all others.

The driver creates the tasks' folder and removes it with the attempt. A task never creates it: the
task of a driver that was killed may still run, and must not write into an attempt that is over.

A file is on disk when its manifest exists: the writer syncs it before it is listed. Rows are
collected into row groups of a few megabytes, so the memory of a task does not grow with its output.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.pipeline.coded_columns import data_bytes, merge_chunks

__all__ = ["TASK_FOLDER", "StagedFile", "TableWriter", "TaskManifest", "sync_file"]

TASK_FOLDER: Final = "tasks"
"""The folder below the staging folder that tasks write to."""
_ROW_GROUP_BYTES: Final = 8 << 20
_MAX_DICTIONARY_BYTES: Final = 64 << 20  # of a row group; beyond that, names are written in full


class StagedFile(NamedTuple):
    """A file, or a folder of files, in the tasks' folder that belongs to a table or an outbox."""

    table: str
    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class TaskManifest:
    """The files that a task attempt wrote, and the counts of its documents."""

    files: tuple[StagedFile, ...] = ()
    documents: int = 0
    matched: int = 0
    unmatched: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    """Refused documents by the kind of their error."""
    undecided: int = 0
    bytes: int = 0
    matches: int = 0
    deliveries: int = 0
    latest: float | None = None
    """The time of the newest document, in seconds since 1970."""
    matching_seconds: float = 0.0

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> TaskManifest:
        fields = json.loads(text)
        files = tuple(StagedFile(*entry) for entry in fields.pop("files"))
        return cls(files, **fields)

    def __add__(self, other: TaskManifest) -> TaskManifest:
        times = [time for time in (self.latest, other.latest) if time is not None]
        return TaskManifest(
            self.files + other.files,
            self.documents + other.documents,
            self.matched + other.matched,
            self.unmatched + other.unmatched,
            Counter(self.refused) + Counter(other.refused),
            self.undecided + other.undecided,
            self.bytes + other.bytes,
            self.matches + other.matches,
            self.deliveries + other.deliveries,
            max(times, default=None),
            self.matching_seconds + other.matching_seconds,
        )


class TableWriter:
    """Writes the rows of one task to one parquet file per table.

    Names may be coded (`coded_columns`); files have them as strings.
    """

    def __init__(self, folder: Path, attempt: str) -> None:
        self._folder = folder / TASK_FOLDER
        self._attempt = attempt
        self._pending: dict[str, list[pa.RecordBatch]] = {}
        self._pending_bytes: Counter[str] = Counter()
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._rows: Counter[str] = Counter()

    def append(self, table: str, batch: pa.RecordBatch) -> None:
        """Append rows to a table."""
        if not len(batch):
            return
        self._rows[table] += len(batch)
        self._pending.setdefault(table, []).append(batch)
        self._pending_bytes[table] += sum(map(data_bytes, batch.columns))
        if self._pending_bytes[table] >= _ROW_GROUP_BYTES:
            self._flush(table)

    def close(self) -> list[StagedFile]:
        """Complete and sync the files; return them."""
        for table in list(self._pending):
            self._flush(table)
        staged = []
        for table, writer in self._writers.items():
            writer.close()
            name = self._name(table)
            sync_file(self._folder / name)
            staged.append(StagedFile(table, name, self._rows[table]))
        return staged

    def _flush(self, table: str) -> None:
        batches = self._pending.pop(table)
        self._pending_bytes[table] = 0
        columns = zip(*(batch.columns for batch in batches), strict=True)
        names = batches[0].schema.names
        rows = pa.Table.from_arrays([merge_chunks(chunks) for chunks in columns], names=names)
        if table not in self._writers:
            self._writers[table] = pq.ParquetWriter(
                self._folder / self._name(table),
                rows.schema,
                write_statistics=_numeric_columns(rows.schema),
                dictionary_pagesize_limit=_MAX_DICTIONARY_BYTES,
                store_schema=False,  # readers see strings, not codes
            )
        self._writers[table].write_table(rows, row_group_size=max(1, len(rows)))

    def _name(self, table: str) -> str:
        return f"{table}-{self._attempt}.parquet"


def _numeric_columns(schema: pa.Schema) -> list[str]:
    """Return the columns with statistics in files.

    The minimum of unordered names skips no row group, and costs a third of the writing.
    """
    return [
        field.name
        for field in schema
        if pa.types.is_integer(field.type) or pa.types.is_timestamp(field.type)
    ]


def sync_file(path: Path) -> None:
    """Return when a file, or the entries of a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
