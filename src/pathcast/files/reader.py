"""Subscription files -> `Subscription` values, lazily and whatever the format.

What is wrong with the whole file (not there, of no known format, damaged gzip, pyarrow missing) is
raised as `FormatError` without a line. What is wrong with one row is a `FormatError` with its line: it
goes to `on_error` and reading goes on with the next row, or, without an `on_error`, it is raised.

>>> import io
>>> bad = []
>>> stream = io.BytesIO(b'{"id": 1, "xpath": "//p"}\\n{"id": true, "xpath": "//p"}\\n')
>>> rows = read_subscriptions("-", file_format="jsonl", on_error=bad.append, stdin=stream)
>>> [row.id for row in rows]
[1]
>>> [(error.line, error.message) for error in bad]
[(2, 'the id is true or false')]
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from pathcast.errors import FormatError
from pathcast.files import lines, parquet
from pathcast.files.subscription import FORMATS, Format, Subscription, format_of

__all__ = ["read_subscriptions"]

_GZIP = b"\x1f\x8b"


def read_subscriptions(
    source: str | os.PathLike[str],
    *,
    file_format: Format | None = None,
    namespaces: Mapping[str, str] | None = None,
    on_error: Callable[[FormatError], None] | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[Subscription]:
    """The subscriptions of a file (or of standard input, if `source` is `-`), in its order.

    `file_format` is needed for `-` and for names that say nothing. `namespaces` are prefixes for every
    row; a row's own come before them.
    """
    kind = file_format or format_of(source)
    if kind is None:
        found = "standard input" if source == "-" else f"{os.fspath(source)!r}"
        hint = "name it one of ." + ", .".join(FORMATS) + " (and perhaps .gz), or give the format"
        raise FormatError("format", f"the format of {found} is not known", hint=hint)
    if source != "-":
        try:  # now, not at the first row: a caller wants to know before it starts to work
            Path(source).stat()
        except (OSError, ValueError) as error:
            raise FormatError("file", _said(error)) from None
    return _read(source, kind, dict(namespaces or {}), on_error, stdin)


def _read(
    source: str | os.PathLike[str],
    kind: Format,
    namespaces: dict[str, str],
    on_error: Callable[[FormatError], None] | None,
    stdin: BinaryIO | None,
) -> Iterator[Subscription]:
    for row in _rows(source, kind, stdin):
        if isinstance(row, FormatError):
            if on_error is None:
                raise row
            on_error(row)
        elif namespaces:
            yield replace(row, namespaces={**namespaces, **(row.namespaces or {})})
        else:
            yield row


def _rows(
    source: str | os.PathLike[str], kind: Format, stdin: BinaryIO | None
) -> Iterator[Subscription | FormatError]:
    try:
        if source == "-":
            if stdin is None and sys.stdin is None:  # `pathcast ... <&-`
                raise FormatError("file", "standard input is closed")
            yield from _stream_rows(stdin or sys.stdin.buffer, kind)
        elif kind == "parquet" and (folder := Path(source)).is_dir():
            count = 0
            for path in parquet.part_files(folder):
                with path.open("rb") as stream:
                    for row in parquet.rows(stream, count):
                        count = row.line or count
                        yield row
        else:
            with Path(source).open("rb") as stream:
                yield from _stream_rows(stream, kind)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError("gzip", f"the gzip file is damaged: {error}") from None
    except OSError as error:
        raise FormatError("file", _said(error)) from None


def _stream_rows(stream: BinaryIO, kind: Format) -> Iterator[Subscription | FormatError]:
    """The rows of an open stream, which is gunzipped if it starts as gzip does."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(cast(io.RawIOBase, stream))
    plain = buffered
    if buffered.peek(2)[:2] == _GZIP:
        plain = cast(BinaryIO, gzip.GzipFile(fileobj=plain))
    if kind == "parquet":
        seekable = plain is buffered and plain.seekable()  # its directory is at the file's end
        return parquet.rows(plain if seekable else io.BytesIO(plain.read()))
    return lines.rows(kind, plain)


def _said(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
