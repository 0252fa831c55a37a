"""Segment outboxes: per task one file of bodies, each body once, and an index by subscriber.

`pathcast.files.outboxes` describes the files and reads them. A delivery costs one row of an index,
instead of a file. A batch is one folder, which one rename publishes. After a crash the folder is
either staged or published, and a reader that took it away does not get it again.

A task keeps up to `_RUN_ROWS` rows of its index and then writes them as a sorted run, so its memory
does not grow with its output. An index of several runs has several ranges of rows per subscriber.

All machines must see OUT under the same name: a local disk for one machine, a shared mount for a
cluster.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from pathcast.files.outboxes import bodies_name
from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.sinks import OUTBOX_FOLDER
from pathcast.pipeline.sinks.outbox_rows import stage_outbox_rows
from pathcast.pipeline.storage import local_path
from pathcast.pipeline.task_files import TASK_FOLDER, StagedFile, sync_file

__all__ = ["SegmentOutboxes", "SegmentStaging"]

_INDEX_SCHEMA: Final = pa.schema(
    [
        ("subscriber", pa.string()),
        ("document", pa.string()),
        ("segment", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
    ]
)
_RUN_ROWS: Final = 1 << 20
_ROW_GROUP_ROWS: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class SegmentOutboxes:
    """A folder with the segments of each batch."""

    folder: Path
    name = "segments"
    writes_file_per_delivery = False

    def prepare(self) -> None:
        """Create the folder, which tells readers that the run delivers to segments."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def staging(self) -> SegmentStaging:
        return SegmentStaging()

    def stage(self, rows: DataFrame, staging: str) -> None:
        stage_outbox_rows(rows, self.staging(), staging)

    def publish(self, session: SparkSession, staging: str, batch: int) -> None:  # noqa: ARG002
        """Move the segments of a batch to their place."""
        self.prepare()
        try:
            os.rename(local_path(staging), self.folder / f"batch={batch}")
        except FileNotFoundError:
            return  # the batch has no deliveries, or an earlier attempt moved them
        sync_file(self.folder)

    def undeliverable(self, session: SparkSession, staging: str) -> None:
        """Return None: any body can be written, or the batch is not published."""


@dataclass(frozen=True, slots=True)
class SegmentStaging:
    """Writes segments in the workers."""

    def open(self, folder: Path, attempt: str, version: str) -> _SegmentWriter:  # noqa: ARG002
        return _SegmentWriter(folder / TASK_FOLDER, attempt)


class _SegmentWriter:
    """Writes the bodies and the index of a task attempt; no files without deliveries."""

    def __init__(self, folder: Path, attempt: str) -> None:
        self._segment = attempt
        self._bodies_path = folder / bodies_name(attempt)
        self._index_path = folder / f"{attempt}.parquet"
        self._bodies: BinaryIO | None = None
        self._index: pq.ParquetWriter | None = None
        self._size = 0
        self._rows = 0
        self._run = _IndexRun()

    def add(
        self, documents: pa.StringArray, bodies: Sequence[bytes], deliveries: DeliveryPairs
    ) -> None:
        if not len(deliveries):
            return
        if self._run.rows and self._run.subscriber_names is not deliveries.subscriber_names:
            self._flush()
        positions, numbers = np.unique(deliveries.documents, return_inverse=True)
        offsets = self._append_bodies([bodies[position] for position in positions])
        self._run.append(documents.take(pa.array(positions)), offsets, numbers, deliveries)
        self._rows += len(deliveries)
        if self._run.rows >= _RUN_ROWS:
            self._flush()

    def close(self) -> list[StagedFile]:
        self._flush()
        if self._bodies is None or self._index is None:
            return []
        self._bodies.close()
        self._index.close()
        for path in (self._bodies_path, self._index_path):
            sync_file(path)
        return [
            StagedFile(OUTBOX_FOLDER, self._bodies_path.name, 0),
            StagedFile(OUTBOX_FOLDER, self._index_path.name, self._rows),
        ]

    def _append_bodies(self, bodies: list[bytes]) -> npt.NDArray[np.int64]:
        """Append bodies; return where each begins, and where the last ends."""
        if self._bodies is None:
            self._bodies = self._bodies_path.open("xb")
        self._bodies.writelines(bodies)
        offsets = np.cumsum([self._size, *map(len, bodies)], dtype=np.int64)
        self._size = int(offsets[-1])
        return offsets

    def _flush(self) -> None:
        if not self._run.rows:
            return
        if self._index is None:
            self._index = pq.ParquetWriter(self._index_path, _INDEX_SCHEMA)
        self._index.write_table(self._run.sort(self._segment), row_group_size=_ROW_GROUP_ROWS)
        self._run = _IndexRun()


class _IndexRun:
    """Rows of an index, as numbers until the run is complete."""

    def __init__(self) -> None:
        self.rows = 0
        self.subscriber_names: pa.StringArray | None = None
        self._documents: list[pa.StringArray] = []
        self._document_count = 0
        self._offsets: list[npt.NDArray[np.int64]] = []
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._codes: list[npt.NDArray[np.int32]] = []
        self._numbers: list[npt.NDArray[np.int64]] = []

    def append(
        self,
        documents: pa.StringArray,
        offsets: npt.NDArray[np.int64],
        numbers: npt.NDArray[np.int64],
        deliveries: DeliveryPairs,
    ) -> None:
        """Append deliveries; `numbers` are positions in `documents`."""
        self.subscriber_names = deliveries.subscriber_names
        self._numbers.append(numbers + self._document_count)
        self._codes.append(deliveries.subscriber_codes)
        self._documents.append(documents)
        self._offsets.append(offsets[:-1])
        self._lengths.append(np.diff(offsets))
        self._document_count += len(documents)
        self.rows += len(deliveries)

    def sort(self, segment: str) -> pa.Table:
        """Return the rows by subscriber; those of a subscriber keep their order."""
        assert self.subscriber_names is not None
        codes = np.concatenate(self._codes)
        order = np.argsort(codes, kind="stable")
        numbers = np.concatenate(self._numbers)[order]
        return pa.Table.from_arrays(
            [
                self.subscriber_names.take(pa.array(codes[order])),
                pa.concat_arrays(self._documents).take(pa.array(numbers)),
                pa.repeat(segment, self.rows),
                pa.array(np.concatenate(self._offsets)[numbers]),
                pa.array(np.concatenate(self._lengths)[numbers]),
            ],
            schema=_INDEX_SCHEMA,
        )
