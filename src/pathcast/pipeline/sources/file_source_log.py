"""A stream whose checkpoint Spark's own file source wrote, continued by the journal.

That source recorded the files of each batch in `checkpoint/sources/0`, as JSON lines in files that
are numbered by its offsets; every tenth file repeats all before it. `checkpoint/offsets/N` has the
last offset of batch N, and `checkpoint/commits/N` exists if Spark knows that the batch ended.

The files of these batches become the beginning of the journal, so that none is read again. The last
batch may have been planned without being finished: then it is the first of the new stream, with the
same number and the same files. Otherwise the new stream begins with the next number.

The steps can be repeated after a crash: the journal is written, then its start record, and then the
old checkpoint moves aside, to `checkpoint-1`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.hadoop_files import plain_path
from pathcast.pipeline.sources.journal import Journal, JournalReader, JournalStart
from pathcast.pipeline.sources.listing import FileLocation, ListedFile
from pathcast.pipeline.sources.spark_checkpoint import CHECKPOINT, last_offset
from pathcast.pipeline.storage import Storage

__all__ = ["adopt_file_source_log"]

_OLD_CHECKPOINT: Final = "checkpoint-1"
_SOURCE_LOG: Final = f"{CHECKPOINT}/sources/0"
_COMPACT: Final = ".compact"


def adopt_file_source_log(
    storage: Storage, root: Path, location: FileLocation, is_done: Callable[[int], bool]
) -> None:
    """Continue a stream of Spark's file source in the journal at `root`, if there is one."""
    if not _log_names(storage):
        return
    if not JournalReader(root).has_start():
        storage.remove(root.name)  # of an attempt that crashed
        try:
            files, start = _read_log(storage, location, is_done)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise PipelineError(
                "checkpoint",
                f"{storage.path(CHECKPOINT)} is of an earlier version, and cannot be read: {error}",
                hint="begin with a new folder for results",
            ) from None
        with closing(Journal(root)) as writer:
            writer.append(files)
            writer.begin(start)
    storage.move(CHECKPOINT, _OLD_CHECKPOINT)


def _read_log(
    storage: Storage, location: FileLocation, is_done: Callable[[int], bool]
) -> tuple[list[ListedFile], JournalStart]:
    """Return the files of all planned batches, and where the new stream begins."""
    batch = max(_numbers(storage.names(f"{CHECKPOINT}/offsets")), default=-1)
    entries = sorted(_log_entries(storage), key=lambda entry: entry.offset)
    planned = _count_until(entries, last_offset(storage, batch, "logOffset"))
    is_finished = batch in _numbers(storage.names(f"{CHECKPOINT}/commits")) or is_done(batch)
    if is_finished or batch < 0:
        start = JournalStart(batch + 1, planned)
    else:
        finished = _count_until(entries, last_offset(storage, batch - 1, "logOffset"))
        start = JournalStart(batch, finished, planned if planned > finished else None)
    paths = [_relative_path(entry.address, location) for entry in entries[:planned]]
    return [
        ListedFile(path, *(_size_and_time(location, path) if number >= start.position else (0, 0)))
        for number, path in enumerate(paths)
    ], start


class _LogEntry(NamedTuple):
    offset: int
    address: str


def _log_entries(storage: Storage) -> Iterator[_LogEntry]:
    """Yield every file of the log once."""
    names = _log_names(storage)
    compacted = max((number for number, name in names if name.endswith(_COMPACT)), default=-1)
    for number, name in names:
        if number > compacted or (number == compacted and name.endswith(_COMPACT)):
            for line in (storage.read(f"{_SOURCE_LOG}/{name}") or b"").splitlines()[1:]:
                record = json.loads(line)
                yield _LogEntry(int(record["batchId"]), str(record["path"]))


def _log_names(storage: Storage) -> list[tuple[int, str]]:
    names = [(name.removesuffix(_COMPACT), name) for name in storage.names(_SOURCE_LOG)]
    return sorted((int(number), name) for number, name in names if number.isdecimal())


def _numbers(names: list[str]) -> set[int]:
    return {int(name) for name in names if name.isdecimal()}


def _count_until(entries: list[_LogEntry], offset: int | None) -> int:
    return 0 if offset is None else sum(entry.offset <= offset for entry in entries)


def _relative_path(address: str, location: FileLocation) -> str:
    path = plain_path(address).removeprefix("file:")
    if not path.startswith(f"{location.folder.rstrip('/')}/"):
        raise ValueError(f"{path} is not in {location.folder}")
    return os.path.relpath(path, location.folder)


def _size_and_time(location: FileLocation, path: str) -> tuple[int, int]:
    try:
        status = os.stat(os.path.join(location.folder, path))
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns
