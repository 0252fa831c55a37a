"""Writer of documents to a folder, a `.jsonl` file or a parquet file, one at a time.

| format | a document | bodies |
|---|---|---|
| folder | a file `ID.xml` | any bytes |
| `.jsonl` | a line `{"id": "7", "body": "<a/>"}` | UTF-8 |
| parquet | a row of `id` (text) and `body` (binary) | any bytes |

A name without a suffix is a folder. Files may be gzipped (`.jsonl.gz`). The output is a function of
the documents alone, and is written atomically (`atomic_write`): a file replaces an existing one, a
folder must be new or empty. Memory does not grow with the number of documents.

>>> document_line("7", b"<a/>")
'{"id": "7", "body": "<a/>"}'
>>> [document_format_of(name) for name in ("all/documents", "all.jsonl.gz", "all.doc")]
['folder', 'jsonl', None]
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pathcast.errors import FormatError
from pathcast.files import parquet_writer
from pathcast.files.atomic_write import atomic_file, atomic_folder
from pathcast.files.documents import is_hidden
from pathcast.files.subscription import format_of

__all__ = [
    "DOCUMENT_FORMATS",
    "DocumentFormat",
    "document_format_of",
    "document_line",
    "write_documents",
]

DocumentFormat = Literal["folder", "jsonl", "parquet"]
DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = ("folder", "jsonl", "parquet")


def write_documents(
    path: str | os.PathLike[str],
    items: Iterable[tuple[str, bytes]],
    format: DocumentFormat | None = None,
) -> int:
    """Write (id, body) pairs in the format of the name, or in `format`; return their number."""
    file_format = format or document_format_of(path)
    target = Path(path)
    match file_format:
        case None:
            hint = "name it .jsonl or .parquet, or give it no suffix to make a folder"
            message = f"the format of {os.fspath(path)!r} is not known"
            raise FormatError("format", message, hint=hint)
        case "folder":
            return _write_folder(target, _validate(items))
        case "jsonl":
            with atomic_file(target) as stream:
                count = 0
                for document_id, body in _validate(items):
                    stream.write(document_line(document_id, body).encode() + b"\n")
                    count += 1
                return count
        case "parquet":
            with atomic_file(target) as stream:
                return parquet_writer.write_bodies(stream, _validate(items))


def document_format_of(target: str | os.PathLike[str]) -> DocumentFormat | None:
    """Return the format of a name; None if its suffix is of no format."""
    name = os.fspath(target)
    path = Path(name)
    file_format = format_of(path)
    if file_format == "jsonl" or file_format == "parquet":
        return file_format
    return "folder" if not path.suffix or name.endswith(os.sep) or path.is_dir() else None


def document_line(document_id: str, body: bytes) -> str:
    """Return a line of a `.jsonl` file without its end; FormatError if the body is not UTF-8."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        message = f"document {document_id!r}: byte {error.start + 1} is not UTF-8"
        raise FormatError("encoding", message, hint="write a folder or parquet") from None
    return json.dumps({"id": document_id, "body": text}, ensure_ascii=False)


def _validate(items: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for document_id, body in items:
        try:
            if not document_id:
                raise FormatError("value", "the id of a document is empty")
            document_id.encode()
        except UnicodeEncodeError:
            raise FormatError(
                "encoding", f"the id {document_id!r} has half a surrogate pair"
            ) from None
        yield document_id, body


def _write_folder(target: Path, items: Iterable[tuple[str, bytes]]) -> int:
    count = 0
    with atomic_folder(target) as folder:
        for document_id, body in items:
            if "/" in document_id or "\0" in document_id or is_hidden(document_id):
                hint = (
                    "a file's name has no / and no null, and readers skip names that begin with . "
                    "or _; write .jsonl or parquet"
                )
                raise FormatError("value", f"the id {document_id!r} cannot name a file", hint=hint)
            try:
                with (folder / f"{document_id}.xml").open("xb") as stream:
                    stream.write(body)
            except FileExistsError:
                hint = "every document of a folder needs an id of its own"
                raise FormatError(
                    "value", f"the id {document_id!r} comes twice", hint=hint
                ) from None
            count += 1
    return count
