"""Files with nothing in them: Spark lists them and gives no row for them, so they are found by other means.

They are documents that are refused, like empty members of archives; where a file is an archive, or has rows, that decides what
nothing means (an empty CSV has no rows, which is no mistake; an empty zip is no zip).

- Once over a folder: the files that Spark has listed, less those that it has rows of. That takes a job that reads no content.
- In a stream: the files that Spark has written down for the batch, in its checkpoint, so that a batch that is run again finds
  them again. They are looked at one by one, which is done where this machine sees them: elsewhere each look is a question to a
  server, and a stream passes over them.
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
    """The paths of those that are listed and have no row, of a table of binary files."""
    listed = {_path(address) for address in files.inputFiles()}
    return sorted(listed - {row.path for row in files.select("path").toLocalIterator()})


def empty_paths_in_batch(storage: Storage, batch: int) -> list[str]:
    """The paths of the empty files of a batch of a stream, whose checkpoint is in a storage."""
    return sorted({path for path in _batch_paths(storage, batch) if _size(path) == 0})


def _batch_paths(storage: Storage, batch: int) -> Iterator[str]:
    """What Spark's records say of the first source of a stream, the one that has all files.

    A batch has a range of the source's own numbers, from the end of the batch before it; each number has a file with a line
    for each of its files, every tenth with those of all before it too.
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
    """The last number of the source that batches up to this one have."""
    record = storage.read(f"{_OFFSETS_FOLDER}/{batch}") or b""
    offset = b"".join(record.splitlines()[2:3])  # after the format and what holds for all sources
    return int(json.loads(offset)["logOffset"]) if offset.startswith(b"{") else -1


def _path(address: str) -> str:
    """The path as the tables have it.

    >>> _path("file:///feed/a%20b.xml"), _path("hdfs://head/feed/1.xml")
    ('file:/feed/a b.xml', 'hdfs://head/feed/1.xml')
    """
    return unquote(address.replace(f"{_LOCAL}///", f"{_LOCAL}/", 1))


def _size(path: str) -> int | None:
    """Bytes of a file that this machine sees."""
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
    """(id, body, source, time, fault) of empty files below a `base`; None if that is nothing."""
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
