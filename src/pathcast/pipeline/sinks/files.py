"""File outboxes: one file per delivery, `FOLDER/subscriber/batch#document`.

Every task attempt writes its files into a folder of its own. When all tasks have succeeded, the
driver moves the files of the successful attempts into the outboxes, under names that carry the
batch: an id that comes again later overwrites nothing. A move is atomic, so readers see complete
files only. A moved file is no longer in the staging folder, so a retry after a crash never delivers
a file twice, even if its reader removed it in the meantime.

With `links`, a document is written once per task, and the files of its subscribers are hard links
to it: a subscriber that changes its file changes all of them.

All machines must see the folder under the same name: a local disk for one machine, a shared mount
for a cluster.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pathcast.files.file_names import file_name
from pathcast.files.outboxes import outbox_name
from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.sinks import OUTBOX_FOLDER
from pathcast.pipeline.sinks.outbox_rows import stage_outbox_rows
from pathcast.pipeline.storage import local_path
from pathcast.pipeline.task_files import TASK_FOLDER, StagedFile

__all__ = ["FileOutboxes", "FileStaging"]


@dataclass(frozen=True, slots=True)
class FileOutboxes:
    """A folder with one outbox per subscriber."""

    folder: Path
    links: bool = False
    name = "files"
    writes_file_per_delivery = True

    def prepare(self) -> None:
        """Create the folder, which tells readers that the run delivers to files."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def staging(self) -> FileStaging:
        return FileStaging(self.links)

    def stage(self, rows: DataFrame, staging: str) -> None:
        stage_outbox_rows(rows, self.staging(), staging)

    def publish(self, session: SparkSession, staging: str, batch: int) -> None:  # noqa: ARG002
        """Move the staged files into the outboxes."""
        for file in _staged_files(local_path(staging)):
            outbox = self.folder / file.parent.name
            target = outbox / outbox_name(batch, file.name)
            try:
                os.replace(file, target)
            except FileNotFoundError:
                outbox.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)

    def undeliverable(self, session: SparkSession, staging: str) -> None:
        """Return None: any file can be written, or the batch is not published."""


@dataclass(frozen=True, slots=True)
class FileStaging:
    """Writes one file per delivery in the workers."""

    links: bool = False

    def open(self, folder: Path, attempt: str, version: str) -> _FileWriter:  # noqa: ARG002
        return _FileWriter(folder, attempt, links=self.links)


class _FileWriter:
    """Writes the files of a task attempt to a folder of its own, `subscriber/document` in it."""

    def __init__(self, folder: Path, attempt: str, *, links: bool) -> None:
        self._name = f"{OUTBOX_FOLDER}-{attempt}"
        self._folder = folder / TASK_FOLDER / self._name
        self._links = links
        self._outboxes: dict[str, Path] = {}
        self._files = 0

    def add(
        self, documents: pa.StringArray, bodies: Sequence[bytes], deliveries: DeliveryPairs
    ) -> None:
        names = [file_name(id) for id in documents.to_pylist()]
        first_files: dict[int, Path] = {}
        subscribers = deliveries.subscribers.to_pylist()
        for document, subscriber in zip(deliveries.documents.tolist(), subscribers, strict=True):
            file = self._outbox(subscriber) / names[document]
            first_file = first_files.get(document) if self._links else None
            if first_file is None or not _link(first_file, file):
                file.write_bytes(bodies[document])
                first_files[document] = file
            self._files += 1

    def close(self) -> list[StagedFile]:
        """Sync all files at once: one by one would take milliseconds per delivery."""
        if not self._files:
            return []
        os.sync()
        return [StagedFile(OUTBOX_FOLDER, self._name, self._files)]

    def _outbox(self, subscriber: str) -> Path:
        outbox = self._outboxes.get(subscriber)
        if outbox is None:
            if not self._outboxes:
                self._folder.mkdir()
            outbox = self._outboxes[subscriber] = self._folder / file_name(subscriber)
            outbox.mkdir()
        return outbox


def _link(file: Path, link: Path) -> bool:
    """Link a file; return False if it has as many links as the file system allows."""
    try:
        os.link(file, link)
    except OSError as error:
        if error.errno != errno.EMLINK:
            raise
        return False
    return True


def _staged_files(staging: Path) -> Iterator[Path]:
    """Yield the files of a batch that are still staged, in folders named by their subscribers."""
    for folder, _, names in os.walk(staging):
        yield from (Path(folder, name) for name in sorted(names) if not name.startswith("."))
