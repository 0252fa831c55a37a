"""Outboxes as folders: a file for each delivery, `FOLDER/subscriber/document`.

Workers write the files of a batch into its staging folder, the driver moves them into the outboxes when all are there. A move is
one step, so a reader sees whole files only; a file that was moved is not in the staging folder any more, so moving again
after a crash brings no file a second time, not even one that its reader has taken away in the meantime.

All machines must see the folder under the same name: a local disk for one machine, a mounted one for a cluster. What workers say they
wrote is counted again by the driver before anything is moved.
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
    """A folder with an outbox for each subscriber."""

    folder: Path

    def stage(self, rows: DataFrame, staging: str) -> None:
        """Write the files of a batch."""
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

    def publish(self, session: SparkSession, staging: str) -> None:  # noqa: ARG002 - other outboxes need it
        """Move what is staged into the outboxes."""
        for file in _staged_files(local_path(staging)):
            outbox = self.folder / file.parent.name
            target = outbox / file.name
            try:
                os.replace(file, target)
            except FileNotFoundError:
                outbox.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)

    def undeliverable(self, session: SparkSession, staging: str) -> None:
        """A file can always be written, or the batch is not published."""


def _staged_files(staging: Path) -> Iterator[Path]:
    """The files of a batch that are complete and still there."""
    if not staging.is_dir():
        return
    for outbox in sorted(staging.iterdir()):
        for name in sorted(os.listdir(outbox)):  # all at once: files are moved while we go on
            if not name.startswith("."):  # a draft of somebody who was stopped
                yield outbox / name


def _write(batches: Iterator[pa.RecordBatch], folder: str) -> Iterator[pa.RecordBatch]:
    """In a worker: the files of rows of mail."""
    count = 0
    for batch in batches:
        for row in batch.to_pylist():
            name = file_name(row["document"])
            for subscriber in row["subscribers"]:
                _write_file(Path(folder, file_name(subscriber)), name, row["body"])
                count += 1
    yield pa.RecordBatch.from_arrays([pa.array([count], pa.int64())], names=["files"])


def _write_file(outbox: Path, name: str, body: bytes) -> None:
    """A whole file, or none: another attempt at the same task may be writing it at this moment."""
    draft = outbox / f".{secrets.token_hex(8)}"
    try:
        handle = draft.open("xb")
    except FileNotFoundError:
        outbox.mkdir(parents=True, exist_ok=True)
        handle = draft.open("xb")
    with handle:
        handle.write(body)
    draft.replace(outbox / name)
