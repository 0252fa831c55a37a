"""Empty files: Spark lists them but returns no row, so they are found separately.

An empty file is a refused document, like an empty member of an archive. For archives and row files,
their format decides: an empty CSV has no rows and is fine, an empty zip is invalid.

- Batch: the files that Spark listed, minus those with a row. This takes a job that reads no
  content.
- Stream: the files that Spark's checkpoint records for the micro-batch, so a retry finds the same
  ones. Each file's size is checked on local file systems only; elsewhere each check would be a
  request to a server, and a stream skips empty files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from pathcast.pipeline.sources.unpacking import DOCUMENTS_DDL, UnpackedDocument, UnpackFunction
from pathcast.pipeline.storage import Storage

__all__ = ["empty_documents", "empty_paths_in_batch", "empty_paths_in_folder"]

_OFFSETS_FOLDER: Final = "checkpoint/offsets"
_SOURCE_LOG_FOLDER: Final = "checkpoint/sources/0"
_LOCAL: Final = "file:"


def empty_paths_in_folder(files: DataFrame) -> list[str]:
    """Return the listed paths without a row, of a `binaryFile` table."""
    listed = {_path(address) for address in files.inputFiles()}
    return sorted(listed - {row.path for row in files.select("path").toLocalIterator()})


def empty_paths_in_batch(storage: Storage, batch: int) -> list[str]:
    """Return the paths of a micro-batch's empty files, by the checkpoint in a storage."""
    return sorted({path for path in _batch_paths(storage, batch) if _size(path) == 0})


def _batch_paths(storage: Storage, batch: int) -> Iterator[str]:
    """Yield the files of a micro-batch from the log of its first source, which has all files.

    A batch covers a range of log offsets, from the end of the previous batch. Each offset has a
    file with one line per document file; every tenth file is compacted and repeats all before it.
    """
    for number in range(
        _last_log_offset(storage, batch - 1) + 1, _last_log_offset(storage, batch) + 1
    ):
        for name in (f"{number}", f"{number}.compact"):
            record = storage.read(f"{_SOURCE_LOG_FOLDER}/{name}") or b""
            for line in record.splitlines()[1:]:
                entry = json.loads(line)
                if entry["batchId"] == number:
                    yield _path(entry["path"])


def _last_log_offset(storage: Storage, batch: int) -> int:
    """Return the last log offset of a batch, -1 if it has none."""
    record = storage.read(f"{_OFFSETS_FOLDER}/{batch}") or b""
    offset = b"".join(record.splitlines()[2:3])  # after the version and the metadata
    return int(json.loads(offset)["logOffset"]) if offset.startswith(b"{") else -1


def _path(address: str) -> str:
    """Convert a URI of the log to the path that tables contain.

    >>> _path("file:///feed/a%20b.xml"), _path("hdfs://head/feed/1.xml")
    ('file:/feed/a b.xml', 'hdfs://head/feed/1.xml')
    """
    return unquote(address.replace(f"{_LOCAL}///", f"{_LOCAL}/", 1))


def _size(path: str) -> int | None:
    """Return the size of a local file in bytes."""
    if not path.startswith(_LOCAL):
        return None
    try:
        return os.stat(path.removeprefix(_LOCAL)).st_size
    except OSError:
        return None


def empty_documents(
    session: SparkSession,
    paths: Iterable[str],
    base: str,
    source: str,
    unpack: UnpackFunction,
    suffixes: tuple[str, ...],
) -> DataFrame | None:
    """Return (id, body, source, time, fault) of empty files below `base`; None without any."""
    dotted = tuple(f".{ending}" for ending in suffixes)
    rows = []
    for path in paths:
        id = base.rpartition("/")[2] if path == base else path[len(base) + 1 :]
        documents = (
            unpack(id, b"", 0) if id.lower().endswith(dotted) else iter([UnpackedDocument(id, b"")])
        )
        rows += [
            (document.id, document.body, source, _time(path), document.fault)
            for document in documents
        ]
    return session.createDataFrame(rows, DOCUMENTS_DDL) if rows else None


def _time(path: str) -> datetime | None:
    if not path.startswith(_LOCAL):
        return None
    try:
        return datetime.fromtimestamp(os.stat(path.removeprefix(_LOCAL)).st_mtime, UTC)
    except OSError:
        return None
