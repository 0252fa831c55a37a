"""File outboxes: one file per delivery, `FOLDER/subscriber/document`.

Workers write the files of a batch into its staging folder. When all exist, the driver moves them
into the outboxes. A move is atomic, so readers see complete files only. A moved file is no longer
in the staging folder, so a retry after a crash never delivers a file twice, even if its reader
removed it in the meantime.

All machines must see the folder under the same name: a local disk for one machine, a shared mount
for a cluster. The driver counts the workers' files again before it moves any.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.sinks.file_names import file_name
from pathcast.pipeline.storage import local_path

__all__ = ["FileOutboxes"]


@dataclass(frozen=True, slots=True)
class FileOutboxes:
    """A folder with one outbox per subscriber."""

    folder: Path

    def stage(self, rows: DataFrame, staging: str) -> None:
        """Write the files of a batch, and check that this machine sees them."""
        folder = local_path(staging)
        folder.mkdir(parents=True, exist_ok=True)
        counts = rows.mapInArrow(partial(_write, folder=str(folder)), "files bigint")
        written = sum(row.files for row in counts.collect())
        staged = sum(1 for _ in _staged_files(folder))
        if staged != written:
            raise PipelineError(
                "outbox",
                f"workers wrote {written:,} files to {folder}, and {staged:,} are there",
                hint="all machines must see the folder of results under the same name",
            )

    def publish(self, session: SparkSession, staging: str) -> None:  # noqa: ARG002 - protocol
        """Move the staged files into the outboxes."""
        for file in _staged_files(local_path(staging)):
            outbox = self.folder / file.parent.name
            target = outbox / file.name
            try:
                os.replace(file, target)
            except FileNotFoundError:
                outbox.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)

    def undeliverable(self, session: SparkSession, staging: str) -> None:
        """Return None: any file can be written, or the batch is not published."""


def _staged_files(staging: Path) -> Iterator[Path]:
    """Yield the complete files of a batch that are still staged."""
    if not staging.is_dir():
        return
    for outbox in sorted(staging.iterdir()):
        for name in sorted(os.listdir(outbox)):  # a list, because publishing moves the files
            if not name.startswith("."):  # a draft of a task that was killed
                yield outbox / name


def _write(batches: Iterator[pa.RecordBatch], folder: str) -> Iterator[pa.RecordBatch]:
    """Write the files of outbox rows; runs in a worker."""
    count = 0
    for batch in batches:
        for row in batch.to_pylist():
            name = file_name(row["document"])
            for subscriber in row["subscribers"]:
                _write_file(Path(folder, file_name(subscriber)), name, row["body"])
                count += 1
    yield pa.RecordBatch.from_arrays([pa.array([count], pa.int64())], names=["files"])


def _write_file(outbox: Path, name: str, body: bytes) -> None:
    """Write a file atomically: another attempt at the same task may write it concurrently."""
    draft = outbox / f".{secrets.token_hex(8)}"
    try:
        handle = draft.open("xb")
    except FileNotFoundError:
        outbox.mkdir(parents=True, exist_ok=True)
        handle = draft.open("xb")
    with handle:
        handle.write(body)
    draft.replace(outbox / name)
