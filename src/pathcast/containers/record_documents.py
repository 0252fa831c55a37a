"""Documents from the records of large XML files (`--record`), in a worker with bounded memory.

The id of a record is `FILE#N`, with N from 1. A fault takes the number of the record in whose place
it stands, so all ids of a folder stay distinct: each ends with one number that no path has.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import BytesIO
from typing import IO, cast

from pathcast.containers.unpacking import UnpackedDocument
from pathcast.documents import Limits, split_records
from pathcast.errors import DocumentError

__all__ = ["read_records", "split_documents"]


def read_records(
    id: str, file: IO[bytes], record: str, max_bytes: int, time: datetime | None = None
) -> Iterator[UnpackedDocument]:
    """Yield the records of a file, which is unpacked if its name ends with `.gz`."""
    is_packed = id.lower().endswith(".gz")
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if is_packed else file
    number = 0
    try:
        for number, item in enumerate(split_records(stream, record, Limits(size=max_bytes)), 1):
            yield _document(f"{id}#{number}", item, time)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        fault = ("archive", str(error) or type(error).__name__)
        yield UnpackedDocument(f"{id}#{number + 1}", None, fault, time)


def split_documents(
    documents: Iterable[UnpackedDocument], record: str, max_bytes: int
) -> Iterator[UnpackedDocument]:
    """Replace documents, such as the members of an archive, by their records."""
    for document in documents:
        if document.body is None:
            yield document._replace(id=f"{document.id}#1")
            continue
        items = split_records(BytesIO(document.body), record, Limits(size=max_bytes))
        for number, item in enumerate(items, 1):
            yield _document(f"{document.id}#{number}", item, document.time)


def _document(id: str, item: bytes | DocumentError, time: datetime | None) -> UnpackedDocument:
    if isinstance(item, bytes):
        return UnpackedDocument(id, item, None, time)
    place = "" if item.line is None else f" (line {item.line})"
    return UnpackedDocument(id, None, (item.kind, f"{item.message}{place}"), time)
