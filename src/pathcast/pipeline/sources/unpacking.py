"""Archives -> the documents in them, in a worker, without ever holding more than is allowed.

`.zip`, `.tar`, `.tar.gz` and `.tgz` hold documents, `.gz` is one. Members come in the order in which they lie in the archive, and are called
`archive!member`, a second of the same name `archive!member#2`; those whose names begin with `.` or `_`, or lie in such a folder, are none, as in folders. Whatever goes wrong is a row that says so: a member that is too large (no more of it is read than that), a
member that cannot be read (damaged, encrypted), an archive that is none. What came before it in the archive is kept.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import IO, Final, NamedTuple, cast

import pyarrow as pa

__all__ = [
    "DOCUMENTS_DDL",
    "FAULT_TYPE",
    "SUFFIXES",
    "UnpackFunction",
    "UnpackedDocument",
    "unpack",
    "unpack_batches",
]

SUFFIXES: Final = ("zip", "tar", "tgz", "gz")

FAULT_TYPE: Final = pa.struct([("kind", pa.string()), ("message", pa.string())])
DOCUMENTS_DDL: Final = "id string, body binary, source string, time timestamp, fault struct<kind:string,message:string>"
_BATCH_BYTES: Final = 2 << 20  # bytes in a batch
_ROW_OVERHEAD_BYTES: Final = 256  # bytes that a row counts for, if it has nothing else
_UNPACKING_ERRORS: Final = (
    OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError, NotImplementedError, ValueError
)  # fmt: skip


class UnpackedDocument(NamedTuple):
    """A document, or why there is none."""

    id: str
    body: bytes | None
    fault: tuple[str, str] | None = None
    time: datetime | None = None
    """Its own, where it has one: that of its file counts for all others."""


def unpack(name: str, packed: bytes, most: int) -> Iterator[UnpackedDocument]:
    """The documents of an archive, each of `most` bytes at most.

    >>> list(unpack("a.xml.gz", gzip.compress(b"<a/>"), 100))
    [UnpackedDocument(id='a.xml.gz', body=b'<a/>', fault=None, time=None)]
    >>> [(one.id, one.fault) for one in unpack("a.zip", b"PK?", 100)]
    [('a.zip', ('archive', 'File is not a zip file'))]
    """
    lowered = name.lower()
    try:
        if lowered.endswith(".zip"):
            yield from _unzip(name, packed, most)
        elif lowered.endswith((".tar", ".tar.gz", ".tgz")):
            yield from _untar(name, packed, most)
        else:
            packing = gzip.GzipFile(fileobj=io.BytesIO(packed))
            yield _read_member(name, cast(IO[bytes], packing), most)
    except _UNPACKING_ERRORS as error:
        yield UnpackedDocument(name, None, ("archive", str(error) or type(error).__name__))


def _unzip(name: str, packed: bytes, most: int) -> Iterator[UnpackedDocument]:
    names = _MemberIds(name)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for member in archive.infolist():
            if not member.is_dir() and not _is_hidden(member.filename):
                inner = names.of(member.filename)
                try:
                    with archive.open(member) as file:
                        yield _read_member(inner, file, most)
                except _UNPACKING_ERRORS as error:
                    yield UnpackedDocument(
                        inner, None, ("archive", str(error) or type(error).__name__)
                    )


def _untar(name: str, packed: bytes, most: int) -> Iterator[UnpackedDocument]:
    names = _MemberIds(name)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:*") as archive:
        for member in archive:
            wanted = member.isfile() and not _is_hidden(member.name)
            file = archive.extractfile(member) if wanted else None
            if file is not None:
                yield _read_member(names.of(member.name), file, most)


def _is_hidden(member: str) -> bool:
    """Whether it is no document, as in folders: the __MACOSX/._a.xml of some programs, say."""
    return any(part[:1] in ("_", ".") for part in member.split("/") if part not in (".", ".."))


class _MemberIds:
    """The ids of members: an archive may have two of the same name."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._seen: Counter[str] = Counter()

    def of(self, member: str) -> str:
        self._seen[member] += 1
        again = self._seen[member]
        return f"{self._archive}!{member}" + (f"#{again}" if again > 1 else "")


def _read_member(name: str, file: IO[bytes], most: int) -> UnpackedDocument:
    body = file.read(most + 1)
    if len(body) > most:
        return UnpackedDocument(name, None, ("size", f"more than {most:,} bytes"))
    return UnpackedDocument(name, body)


UnpackFunction = Callable[[str, bytes, int], Iterator[UnpackedDocument]]
"""The name and the bytes of a file, and the most bytes of a document -> its documents."""


def unpack_batches(
    batches: Iterator[pa.RecordBatch], unpack: UnpackFunction, most: int
) -> Iterator[pa.RecordBatch]:
    """Rows of packed files (id, body, source, time) -> rows of their documents, a few megabytes at a time."""
    for batch in batches:
        for row in batch.to_pylist():
            held: list[UnpackedDocument] = []
            size = 0
            for one in unpack(row["id"], row["body"], most):
                held.append(one)
                size += _ROW_OVERHEAD_BYTES + len(one.body or b"")
                if size > _BATCH_BYTES:
                    yield _document_batch(held, row)
                    held, size = [], 0
            if held:
                yield _document_batch(held, row)


def _document_batch(held: list[UnpackedDocument], row: dict[str, object]) -> pa.RecordBatch:
    faults = [
        None if one.fault is None else dict(zip(("kind", "message"), one.fault, strict=True))
        for one in held
    ]
    return pa.RecordBatch.from_arrays(
        [
            pa.array([one.id for one in held], pa.string()),
            pa.array([one.body for one in held], pa.binary()),
            pa.array([row["source"]] * len(held), pa.string()),
            pa.array([one.time or row["time"] for one in held], pa.timestamp("us", tz="UTC")),
            pa.array(faults, FAULT_TYPE),
        ],
        names=["id", "body", "source", "time", "fault"],
    )
