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


def unpack(name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
    """The documents of an archive, each of `most` bytes at most.

    >>> list(unpack("a.xml.gz", gzip.compress(b"<a/>"), 100))
    [UnpackedDocument(id='a.xml.gz', body=b'<a/>', fault=None, time=None)]
    >>> [(one.id, one.fault) for one in unpack("a.zip", b"PK?", 100)]
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


def _unzip(name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
    ids = _MemberIds(name)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            if not member.is_dir() and not _is_hidden(member.filename):
                id = ids.of(member.filename)
                try:
                    with archive.open(member) as file:
                        yield _read_member(id, file, max_bytes)
                except _UNPACKING_ERRORS as error:
                    yield UnpackedDocument(
                        id, None, ("archive", str(error) or type(error).__name__)
                    )


def _untar(name: str, content: bytes, max_bytes: int) -> Iterator[UnpackedDocument]:
    ids = _MemberIds(name)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
        for member in archive:
            is_document = member.isfile() and not _is_hidden(member.name)
            file = archive.extractfile(member) if is_document else None
            if file is not None:
                yield _read_member(ids.of(member.name), file, max_bytes)


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
        count = self._seen[member]
        return f"{self._archive}!{member}" + (f"#{count}" if count > 1 else "")


def _read_member(name: str, file: IO[bytes], max_bytes: int) -> UnpackedDocument:
    body = file.read(max_bytes + 1)
    if len(body) > max_bytes:
        return UnpackedDocument(name, None, ("size", f"more than {max_bytes:,} bytes"))
    return UnpackedDocument(name, body)


UnpackFunction = Callable[[str, bytes, int], Iterator[UnpackedDocument]]
"""The name and the bytes of a file, and the most bytes of a document -> its documents."""


def unpack_batches(
    batches: Iterator[pa.RecordBatch], unpack: UnpackFunction, max_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Rows of packed files (id, body, source, time) -> rows of their documents, a few megabytes at a time."""
    for batch in batches:
        for row in batch.to_pylist():
            documents: list[UnpackedDocument] = []
            size = 0
            for document in unpack(row["id"], row["body"], max_bytes):
                documents.append(document)
                size += _ROW_OVERHEAD_BYTES + len(document.body or b"")
                if size > _BATCH_BYTES:
                    yield _document_batch(documents, row)
                    documents, size = [], 0
            if documents:
                yield _document_batch(documents, row)


def _document_batch(documents: list[UnpackedDocument], row: dict[str, object]) -> pa.RecordBatch:
    faults = [
        None
        if document.fault is None
        else dict(zip(("kind", "message"), document.fault, strict=True))
        for document in documents
    ]
    return pa.RecordBatch.from_arrays(
        [
            pa.array([document.id for document in documents], pa.string()),
            pa.array([document.body for document in documents], pa.binary()),
            pa.array([row["source"]] * len(documents), pa.string()),
            pa.array(
                [document.time or row["time"] for document in documents],
                pa.timestamp("us", tz="UTC"),
            ),
            pa.array(faults, FAULT_TYPE),
        ],
        names=["id", "body", "source", "time", "fault"],
    )
