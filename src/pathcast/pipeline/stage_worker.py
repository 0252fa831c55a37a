"""The one-pass work of a Python worker: match documents and write all tables of the batch.

A task matches its documents, builds the rows of `documents`, `matches`, `errors` and `deliveries`
as Arrow batches, writes each table to one file, and returns one row: its manifest (`task_files`).
Nothing is shuffled or read again.

Ids that publishers choose may repeat within a batch, in documents of different tasks. Every task
returns a 16-byte digest of each id; the driver compares them without any document body
(`duplicate_ids`). If ids repeat, the driver runs the pass again with the accepted position of each
repeated id, and all other documents with that id are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from pathcast.pipeline import rows
from pathcast.pipeline.coded_columns import code_names
from pathcast.pipeline.delivery_index import DeliveryPairs, GroupedDeliveries
from pathcast.pipeline.partial_counter import PartialCounter
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from pathcast.pipeline.task_files import StagedFile, TableWriter, TaskManifest
from pathcast.pipeline.worker import (
    MatchedChunk,
    MatchTask,
    cached_delivery_index,
    cached_version,
    document_columns,
    match_chunks,
    split_unreadable,
)

__all__ = [
    "ID_DIGEST_BYTES",
    "MANIFEST_DDL",
    "OutboxStaging",
    "OutboxTaskWriter",
    "Position",
    "StageTask",
    "stage_batches",
]

MANIFEST_DDL: Final = "partition int, manifest string, id_digests binary"
ID_DIGEST_BYTES: Final = 16
Position = tuple[int, int]
"""A partition, and the position of a readable document in it."""


class OutboxTaskWriter(Protocol):
    """Writes the outbox entries of one task attempt."""

    def add(
        self, documents: pa.StringArray, bodies: list[bytes], deliveries: DeliveryPairs
    ) -> None:
        """Add deliveries, whose `documents` are positions in `documents` and `bodies`."""

    def close(self) -> list[StagedFile]:
        """Complete and sync the files; return them."""


class OutboxStaging(Protocol):
    """Opens the outbox writer of a task; a picklable value."""

    def open(self, folder: Path, attempt: str, version: str) -> OutboxTaskWriter: ...


@dataclass(frozen=True, slots=True)
class StageTask:
    """What a task of the pass does."""

    match: MatchTask
    batch: int
    folder: str
    """The staging folder of the attempt, which all machines see under this path."""
    deliveries: bool = True
    """Whether to write the table of deliveries."""
    outbox: OutboxStaging | None = None
    digest_ids: bool = False
    """Whether to return digests of the ids."""
    accepted: Mapping[bytes, Position] = field(default_factory=dict)
    """The accepted document of each repeated id."""

    @property
    def skips_deliveries(self) -> bool:
        """Whether nothing needs deliveries, so that they are not even counted."""
        return not self.deliveries and self.outbox is None


def stage_batches(batches: Iterator[pa.RecordBatch], task: StageTask) -> Iterator[pa.RecordBatch]:
    """Stage the documents of a partition; yield its manifest as one row."""
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    attempt = 0 if context is None else context.taskAttemptId()
    stage = _TaskStage(task, partition, f"{partition:05}-{attempt}")
    for batch in batches:
        stage.add(batch)
    manifest = stage.close()
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([partition], pa.int32()),
            pa.array([manifest.to_json()], pa.string()),
            pa.array([b"".join(stage.id_digests)], pa.binary()),
        ],
        names=["partition", "manifest", "id_digests"],
    )


class _TaskStage:
    """The state of one task attempt."""

    def __init__(self, task: StageTask, partition: int, attempt: str) -> None:
        self._task = task
        self._partition = partition
        folder = Path(task.folder)
        self._tables = TableWriter(folder, attempt)
        self._outbox = (
            None if task.outbox is None else task.outbox.open(folder, attempt, task.match.version)
        )
        match = task.match
        self._loaded = cached_version(match.file, match.limits, match.deadline, match.hops)
        ids = self._loaded.ids
        self._coded_ids = code_names(np.arange(len(ids)), ids)
        self._matching_seconds_before = self._loaded.sizer.matching_seconds
        self._partials = PartialCounter(
            *(task.batch, match.version, self._loaded.ids),
            lambda rows: self._tables.append("partials", rows),
        )
        self._counts: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._latest: float | None = None
        self.id_digests: list[bytes] = []
        self._readable_documents = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Match and write the documents of a batch."""
        self._count_input(batch)
        if self._task.digest_ids:
            batch = self._refuse_repeated_ids(batch)
        batch, unreadable = split_unreadable(batch, self._task.match)
        for result in unreadable:
            self._write_results(result)
            nothing = np.zeros(len(result), np.int64)
            self._partials.add_documents(result, nothing, nothing == 0)
        columns = document_columns(batch, self._task.match)
        start = 0
        for chunk in match_chunks(self._loaded, batch.column("body")):
            self._write_chunk(chunk, columns.slice(start, len(chunk.bodies)))
            start += len(chunk.bodies)

    def close(self) -> TaskManifest:
        """Complete all files; return the manifest."""
        self._partials.close()
        files = self._tables.close()
        if self._outbox is not None:
            files += self._outbox.close()
        seconds = self._loaded.sizer.matching_seconds - self._matching_seconds_before
        return TaskManifest(
            files=tuple(files),
            refused=dict(self._refused),
            latest=self._latest,
            matching_seconds=round(seconds, 6),
            **self._counts,
        )

    def _count_input(self, batch: pa.RecordBatch) -> None:
        self._counts["documents"] += len(batch)
        newest = pc.max(batch.column("time")).cast(pa.timestamp("us", tz="UTC")).value
        if newest is not None:
            self._latest = max(newest / 1e6, self._latest or newest / 1e6)

    def _write_chunk(self, chunk: MatchedChunk, columns: pa.RecordBatch) -> None:
        task, version = self._task, self._task.match.version
        for result in rows.match_rows(chunk.matches, columns, self._coded_ids, version):
            self._write_results(result)
        for result in rows.error_rows(chunk.matches, columns, version):
            self._write_results(result)
        offsets = np.frombuffer(chunk.matches.offsets, np.int32)
        numbers = np.frombuffer(chunk.matches.numbers, np.int32)
        refused = np.zeros(len(columns), np.bool_)
        refused[list(chunk.matches.errors)] = True
        self._partials.add_documents(columns, np.diff(offsets), refused)
        self._partials.add_matches(columns, offsets, numbers)
        matched = int(np.count_nonzero(np.diff(offsets)))
        self._counts["matched"] += matched
        self._counts["unmatched"] += len(chunk.bodies) - matched - len(chunk.matches.errors)
        self._counts["matches"] += len(chunk.matches.numbers)
        if task.skips_deliveries:
            return
        index = cached_delivery_index(task.match, self._loaded)
        deliveries = index.group(offsets, numbers)
        self._counts["deliveries"] += len(deliveries)
        if task.deliveries:
            self._tables.append(
                "deliveries", _delivery_rows(deliveries, columns, version, task.batch)
            )
            self._partials.add_deliveries(columns, deliveries)
        if self._outbox is not None:
            self._outbox.add(columns.column("document"), chunk.bodies, deliveries)

    def _write_results(self, result: pa.RecordBatch) -> None:
        """Split result rows into the tables."""
        is_match = result.column("kind").is_null()
        errors = result if is_match.true_count == 0 else result.filter(pc.invert(is_match))
        if len(errors):
            refused = errors.filter(errors.column("first")).column("kind")
            self._refused.update(refused.to_pylist())
            self._counts["undecided"] += len(errors) - len(refused)
            self._append("errors", errors)
        if len(errors) < len(result):
            self._append("matches", result.filter(is_match) if len(errors) else result)
        first = result.filter(result.column("first"))
        self._counts["bytes"] += pc.sum(first.column("bytes")).as_py() or 0
        self._append("documents", first)

    def _append(self, table: str, result: pa.RecordBatch) -> None:
        names = TABLE_SCHEMAS[table].names
        columns = [result.column(name) for name in names if name != "batch"]
        columns.append(_repeat_batch(self._task.batch, len(result)))
        self._tables.append(table, pa.RecordBatch.from_arrays(columns, names=names))

    def _refuse_repeated_ids(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Digest the ids of readable documents; give repeated ones a fault."""
        faults = batch.column("fault").to_pylist()
        for row, id in enumerate(batch.column("id").to_pylist()):
            if faults[row] is not None:
                continue
            digest = blake2b(id.encode(), digest_size=ID_DIGEST_BYTES).digest()
            self.id_digests.append(digest)
            position = (self._partition, self._readable_documents)
            self._readable_documents += 1
            if self._task.accepted.get(digest, position) != position:
                faults[row] = {"kind": "duplicate", "message": "another document has the same id"}
        index = batch.schema.get_field_index("fault")
        return batch.set_column(index, "fault", pa.array(faults, batch.schema.field(index).type))


def _delivery_rows(
    deliveries: GroupedDeliveries, columns: pa.RecordBatch, version: str, batch: int
) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            code_names(deliveries.documents, columns.column("document")),
            code_names(deliveries.subscriber_codes, deliveries.subscriber_names),
            deliveries.coded_subscriptions,
            deliveries.counts,
            code_names(np.zeros(len(deliveries)), pa.array([version])),
            _repeat_batch(batch, len(deliveries)),
        ],
        names=TABLE_SCHEMAS["deliveries"].names,
    )


def _repeat_batch(batch: int, length: int) -> pa.Int64Array:
    return pa.repeat(pa.scalar(batch, pa.int64()), length)
