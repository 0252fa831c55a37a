"""Documents -> a folder, a `.jsonl` file or a parquet file, as they come: a million need no memory.

| format | a document | bodies |
|---|---|---|
| folder | a file `ID.xml` | any bytes |
| `.jsonl` | a line `{"id": "7", "body": "<a/>"}` | UTF-8 |
| parquet | a row of `id` (text) and `body` (binary) | any bytes |

A name without a suffix means a folder; files may be gzipped (`.jsonl.gz`). The bytes depend on the documents
alone. All is written or nothing (`draft.py`): a file that was there is replaced, a folder must be new or empty.

>>> document_line("7", b"<a/>")
'{"id": "7", "body": "<a/>"}'
>>> document_format_of("all/documents"), document_format_of("all.jsonl.gz"), document_format_of("all.doc")
('folder', 'jsonl', None)
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
    """Write pairs of an id and a body in the format that the name (or `format`) says; how many."""
    kind = format or document_format_of(path)
    place = Path(path)
    match kind:
        case None:
            hint = "name it .jsonl or .parquet, or give it no suffix to make a folder"
            message = f"the format of {os.fspath(path)!r} is not known"
            raise FormatError("format", message, hint=hint)
        case "folder":
            return _write_folder(place, _sound(items))
        case "jsonl":
            with atomic_file(place) as stream:
                count = 0
                for key, body in _sound(items):
                    stream.write(document_line(key, body).encode() + b"\n")
                    count += 1
                return count
        case "parquet":
            with atomic_file(place) as stream:
                return parquet_writer.write_bodies(stream, _sound(items))


def document_format_of(path: str | os.PathLike[str]) -> DocumentFormat | None:
    """The format that a name means; None if it has a suffix that means none of them."""
    name = os.fspath(path)
    place = Path(name)
    known = format_of(place)
    if known == "jsonl" or known == "parquet":
        return known
    return "folder" if not place.suffix or name.endswith(os.sep) or place.is_dir() else None


def document_line(key: str, body: bytes) -> str:
    """The line of a `.jsonl` file, without its end; FormatError if the body is not UTF-8."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        message = f"document {key!r}: byte {error.start + 1} is not UTF-8"
        raise FormatError("encoding", message, hint="write a folder or parquet") from None
    return json.dumps({"id": key, "body": text}, ensure_ascii=False)


def _sound(items: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for key, body in items:
        try:
            if not key:
                raise FormatError("value", "the id of a document is empty")
            key.encode()
        except UnicodeEncodeError:
            raise FormatError("encoding", f"the id {key!r} has half a surrogate pair") from None
        yield key, body


def _write_folder(place: Path, items: Iterable[tuple[str, bytes]]) -> int:
    count = 0
    with atomic_folder(place) as folder:
        for key, body in items:
            if "/" in key or "\0" in key:
                hint = "a file's name has no / and no null; write .jsonl or parquet"
                raise FormatError("value", f"the id {key!r} cannot name a file", hint=hint)
            try:
                with (folder / f"{key}.xml").open("xb") as stream:
                    stream.write(body)
            except FileExistsError:
                hint = "every document of a folder needs an id of its own"
                raise FormatError("value", f"the id {key!r} comes twice", hint=hint) from None
            count += 1
    return count
