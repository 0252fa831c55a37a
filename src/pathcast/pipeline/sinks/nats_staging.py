"""Staging of NATS messages in a worker: outbox rows in a parquet file, published later.

A row holds a document, its body once, and at most `SUBSCRIBERS_PER_ROW` of its subscribers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.routes import SUBSCRIBERS_PER_ROW
from pathcast.pipeline.task_files import TASK_FOLDER, StagedFile, sync_file

__all__ = ["MessageStaging"]

_OUTBOX_SCHEMA: Final = pa.schema(
    [
        ("document", pa.string()),
        ("body", pa.binary()),
        ("version", pa.string()),
        ("subscribers", pa.list_(pa.string())),
    ]
)


@dataclass(frozen=True, slots=True)
class MessageStaging:
    """Writes outbox rows in the workers, as files of `table`."""

    table: str

    def open(self, folder: Path, attempt: str, version: str) -> _MessageWriter:
        return _MessageWriter(folder / TASK_FOLDER, attempt, version, self.table)


class _MessageWriter:
    """Writes the outbox rows of a task attempt to one file, which exists even without rows."""

    def __init__(self, folder: Path, attempt: str, version: str, table: str) -> None:
        self._path = folder / f"messages-{attempt}.parquet"
        self._version = version
        self._table = table
        self._rows = 0
        self._writer = pq.ParquetWriter(self._path, _OUTBOX_SCHEMA)

    def add(
        self, documents: pa.StringArray, bodies: Sequence[bytes], deliveries: DeliveryPairs
    ) -> None:
        if not len(deliveries):
            return
        positions, starts, counts = np.unique(
            deliveries.documents, return_index=True, return_counts=True
        )
        rows: list[tuple[int, int]] = []  # (document, first delivery)
        for position, start, count in zip(positions, starts, counts, strict=True):
            rows += (
                (int(position), first) for first in range(start, start + count, SUBSCRIBERS_PER_ROW)
            )
        offsets = [first for _, first in rows] + [len(deliveries)]
        batch = pa.RecordBatch.from_arrays(
            [
                documents.take(pa.array([position for position, _ in rows])),
                pa.array([bodies[position] for position, _ in rows], pa.binary()),
                pa.repeat(self._version, len(rows)),
                pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), deliveries.subscribers),
            ],
            schema=_OUTBOX_SCHEMA,
        )
        self._writer.write_batch(batch)
        self._rows += len(rows)

    def close(self) -> list[StagedFile]:
        self._writer.close()
        sync_file(self._path)
        return [StagedFile(self._table, self._path.name, self._rows)]
