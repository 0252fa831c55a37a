"""Documents from files of a folder that the driver and the workers see: local or mounted.

The driver lists the files (`listing`) and groups them into tasks of about equal work. A worker
reads them: every file becomes a document, or the documents that it holds (`contents`). A document's
id is its location (`ids`), its time that of its file.

A file that cannot be read is a document with a fault:

    gone        the file disappeared after it was listed
    unreadable  the file system refuses to read it, or it is no regular file
    size        it exceeds the limit, of which nothing is read

Other errors (a file server that does not answer, too many open files) are not the file's. They fail
the task, and Spark repeats it. So does a folder that a worker does not see at all.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import IO, Final, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.contents import MAX_CONTAINER_BYTES, FileContents
from pathcast.pipeline.sources.ids import path_id
from pathcast.pipeline.sources.listing import FileLocation, ListedFile, list_files
from pathcast.pipeline.sources.record_documents import read_records
from pathcast.pipeline.sources.unpacking import (
    DOCUMENTS_DDL,
    UnpackedDocument,
    document_batches,
)
from pathcast.pipeline.storage import local_path

__all__ = ["FileReader", "folder_documents", "group_files"]

_OPEN_COST: Final = 64 << 10  # bytes that can be read while a file is opened
_MAX_TASK_BYTES: Final = 128 << 20
_TASK_ERRORS: Final = (
    *(errno.EINTR, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    *(errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH),
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def group_files(files: Sequence[ListedFile], parallelism: int) -> list[tuple[str, ...]]:
    """Return the paths of files as groups of about equal work, at least one per core if possible.

    >>> files = [ListedFile(name, size, 0) for name, size in (("a", 9), ("b", 9), ("c", 1 << 20))]
    >>> group_files(files, 2)
    [('a', 'b'), ('c',)]
    """
    costs = [file.size + _OPEN_COST for file in files]
    limit = min(_MAX_TASK_BYTES, max(_OPEN_COST, -(-sum(costs) // max(parallelism, 1))))
    groups: list[tuple[str, ...]] = []
    group: list[str] = []
    group_cost = 0
    for file, cost in zip(files, costs, strict=True):
        if group and group_cost + cost > limit:
            groups.append(tuple(group))
            group, group_cost = [], 0
        group.append(file.path)
        group_cost += cost
    return [*groups, tuple(group)] if group else groups


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files below `folder` in a worker; `source` is what the table `documents` names."""

    folder: str
    source: str
    contents: FileContents

    def read(self, paths: Iterable[str]) -> Iterator[pa.RecordBatch]:
        """Yield the documents of files as record batches of a few megabytes."""
        if not os.path.isdir(self.folder):
            raise PipelineError(
                "source",
                f"a worker does not see {self.folder}",
                hint="all machines must see the folder under the same name",
            )
        documents = (document for path in paths for document in self._read_file(path))
        return document_batches(documents, self.source)

    def _read_file(self, path: str) -> Iterator[UnpackedDocument]:
        id = path_id(path)
        if self.contents.is_stream(id):
            yield from self._read_records(path, id)
            return
        is_container = self.contents.is_container(id)
        limit = MAX_CONTAINER_BYTES if is_container else self.contents.max_bytes
        try:
            content, time = _read_regular_file(os.path.join(self.folder, path), limit)
        except _FileFault as fault:
            fault_id = id if self.contents.record is None else f"{id}#1"
            yield UnpackedDocument(fault_id, None, (fault.kind, fault.message), fault.time)
            return
        if not is_container:
            yield UnpackedDocument(id, content, None, time)
            return
        for document in self.contents.unpack(id, content, self.contents.max_bytes):
            yield document if document.time else document._replace(time=time)

    def _read_records(self, path: str, id: str) -> Iterator[UnpackedDocument]:
        contents = self.contents
        assert contents.record is not None
        count = 0
        try:
            with _open_regular_file(os.path.join(self.folder, path)) as (file, time, _):
                for document in read_records(id, file, contents.record, contents.max_bytes, time):
                    count += 1
                    yield document
        except _FileFault as fault:
            yield UnpackedDocument(f"{id}#{count + 1}", None, (fault.kind, fault.message))


class _FileFault(Exception):
    """Why a file is no document."""

    def __init__(self, kind: str, message: str, time: datetime | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.time = kind, message, time


@contextmanager
def _open_regular_file(path: str) -> Iterator[tuple[IO[bytes], datetime, int]]:
    """Open a file; yield it with its time and size. _FileFault if it is unreadable."""
    try:
        # A pipe without a writer would block without this flag.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _FileFault("unreadable", "not a regular file")
            time = _EPOCH + timedelta(microseconds=status.st_mtime_ns // 1000)
            yield cast(IO[bytes], file), time, status.st_size
    except (FileNotFoundError, NotADirectoryError):
        raise _FileFault("gone", "the file disappeared before it was read") from None
    except OSError as error:
        if error.errno in _TASK_ERRORS:
            raise
        raise _FileFault("unreadable", error.strerror or str(error)) from None


def _read_regular_file(path: str, limit: int) -> tuple[bytes, datetime]:
    """Return the content and the time of a file; _FileFault if it is unreadable or too large."""
    with _open_regular_file(path) as (file, time, size):
        content = b"" if size > limit else _read_up_to(file.fileno(), size, limit)
        size = max(size, len(content))  # it may grow meanwhile
    if size > limit:
        raise _FileFault("size", f"{size:,} bytes, more than {limit:,}", time)
    return content, time


def _read_up_to(handle: int, size: int, limit: int) -> bytes:
    """Read a file to its end, or until it exceeds the limit."""
    content = os.read(handle, size + 1)  # one more than expected, to see the end
    if len(content) == size:
        return content
    chunks, total = [content], len(content)
    while total <= limit and (chunk := os.read(handle, 1 << 20)):
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)


def folder_documents(session: SparkSession, path: str, contents: FileContents) -> DataFrame:
    """Return the documents of the files that are present now: (id, body, source, time, fault)."""
    location = FileLocation.find(str(local_path(path)))
    groups = group_files(list_files(location), session.sparkContext.defaultParallelism)
    reader = FileReader(location.folder, path, contents)
    tasks = session.range(0, len(groups), 1, max(len(groups), 1))
    # Every task receives all groups, so they are packed.
    read = partial(_read_groups, reader=reader, groups=[_pack(group) for group in groups])
    return tasks.mapInArrow(read, DOCUMENTS_DDL)


def _read_groups(
    batches: Iterator[pa.RecordBatch], reader: FileReader, groups: Sequence[bytes]
) -> Iterator[pa.RecordBatch]:
    """Read the groups of files that a task's rows number."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            yield from reader.read(_unpack(groups[number]))


def _pack(paths: Iterable[str]) -> bytes:
    return zlib.compress(os.fsencode("\0".join(paths)))


def _unpack(packed: bytes) -> list[str]:
    return os.fsdecode(zlib.decompress(packed)).split("\0")
