"""Documents from archives, unpacked with bounded memory.

`.zip`, `.tar`, `.tar.gz` and `.tgz` hold documents; `.gz` is one document. Members keep the order
of the archive. Their ids are `archive!member`, and `archive!member#2` for a second one of that
name (see `ids`). Members whose path has a part that begins with `.` or `_` are skipped, as in
folders. Every error is a row with a fault: a member that is too large (no more than the limit is
read), a member that is damaged or encrypted, an invalid archive. Members before the error are kept.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Final, NamedTuple, cast

from pathcast.containers.ids import MemberIds

__all__ = ["SUFFIXES", "UnpackedDocument", "is_single", "unpack"]

SUFFIXES: Final = ("zip", "tar", "tgz", "gz")
_UNPACKING_ERRORS: Final = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)


class UnpackedDocument(NamedTuple):
    """A document, or the fault that replaced it."""

    id: str
    body: bytes | None
    fault: tuple[str, str] | None = None
    time: datetime | None = None
    """The document's own time; None for that of its file."""


def unpack(name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
    """Yield the documents of an archive, each of at most `max_bytes`.

    >>> list(unpack("a.xml.gz", gzip.compress(b"<a/>"), 100))
    [UnpackedDocument(id='a.xml.gz', body=b'<a/>', fault=None, time=None)]
    >>> [(document.id, document.fault) for document in unpack("a.zip", b"PK?", 100)]
    [('a.zip', ('archive', 'File is not a zip file'))]
    """
    lower_name = name.lower()
    try:
        if lower_name.endswith(".zip"):
            yield from _unzip(name, content, max_bytes)
        elif lower_name.endswith((".tar", ".tar.gz", ".tgz")):
            yield from _untar(name, content, max_bytes)
        else:
            stream = gzip.GzipFile(fileobj=io.BytesIO(content))
            yield _read_member(name, cast(IO[bytes], stream), max_bytes)
    except _UNPACKING_ERRORS as error:
        yield UnpackedDocument(name, None, ("archive", str(error) or type(error).__name__))


def is_single(name: str) -> bool:
    """Return whether a packed file holds one document.

    >>> is_single("a.xml.gz"), is_single("a.tar.gz"), is_single("rows.csv.gz"), is_single("a.zip")
    (True, False, False, False)
    """
    lower_name = name.lower()
    return lower_name.endswith(".gz") and not lower_name.endswith(
        (".tar.gz", ".csv.gz", ".json.gz", ".jsonl.gz", ".ndjson.gz")
    )


def _unzip(name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
    ids = MemberIds(name)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if not member.is_dir() and not _is_hidden(member.filename):
                id = ids.add(member.filename)
                try:
                    with archive.open(member) as file:
                        yield _read_member(id, file, max_bytes)
                except _UNPACKING_ERRORS as error:
                    yield UnpackedDocument(
                        id, None, ("archive", str(error) or type(error).__name__)
                    )


def _untar(name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
    ids = MemberIds(name)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
        for member in archive:
            is_document = member.isfile() and not _is_hidden(member.name)
            file = archive.extractfile(member) if is_document else None
            if file is not None:
                yield _read_member(ids.add(member.name), file, max_bytes)


def _is_hidden(member: str) -> bool:
    """Return whether a member is skipped, as in folders; `__MACOSX/._a.xml` for example."""
    return any(part[:1] in ("_", ".") for part in member.split("/") if part not in (".", ".."))


def _read_member(name: str, file: IO[bytes], max_bytes: int) -> UnpackedDocument:
    body = file.read(max_bytes + 1)
    if len(body) > max_bytes:
        return UnpackedDocument(name, None, ("size", f"more than {max_bytes:,} bytes"))
    return UnpackedDocument(name, body)
