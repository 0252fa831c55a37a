"""A regular file as documents: itself, or the documents that it holds (`contents`).

A document's time is that of its file, unless it has its own. A file that cannot be read is a
document with a fault:

    gone        the file disappeared after it was listed
    unreadable  the file system refuses to read it, or it is no regular file
    size        it exceeds the limit, of which nothing is read

Other errors (a file server that does not answer, too many open files) are not the file's: OSError.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import IO, Final, cast

from pathcast.containers.contents import MAX_CONTAINER_BYTES, FileContents
from pathcast.containers.record_documents import read_records
from pathcast.containers.unpacking import UnpackedDocument

__all__ = ["read_file"]

_SYSTEM_ERRORS: Final = (
    *(errno.EINTR, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    *(errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH),
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_file(path: str, id: str, contents: FileContents) -> Iterator[UnpackedDocument]:
    """Yield the documents of a file, whose own id is `id`."""
    if contents.is_stream(id):
        yield from _read_records(path, id, contents)
        return
    is_container = contents.is_container(id)
    limit = MAX_CONTAINER_BYTES if is_container else contents.max_bytes
    try:
        content, time = _read_regular_file(path, limit)
    except _FileFault as fault:
        fault_id = id if contents.record is None else f"{id}#1"
        yield UnpackedDocument(fault_id, None, (fault.kind, fault.message), fault.time)
        return
    if not is_container:
        yield UnpackedDocument(id, content, None, time)
        return
    for document in contents.unpack(id, content, contents.max_bytes):
        yield document if document.time else document._replace(time=time)


def _read_records(path: str, id: str, contents: FileContents) -> Iterator[UnpackedDocument]:
    assert contents.record is not None
    count = 0
    try:
        with _open_regular_file(path) as (file, time, _):
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
        if error.errno in _SYSTEM_ERRORS:
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
