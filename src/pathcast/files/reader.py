"""Reader of subscription files of any format, lazily.

An error of the entire file (missing, of unknown format, damaged gzip, pyarrow missing) is a
`FormatError` without a line. An error of one row is a `FormatError` with its line. It goes to
`on_error`, and reading continues with the next row. Without an `on_error` it is raised.

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
    """Return the subscriptions of a file, or of standard input if `source` is `-`, in order.

    `file_format` is required for `-` and for names without a known suffix. `namespaces` are default
    prefixes for every row; a row's own prefixes take precedence.
    """
    kind = file_format or format_of(source)
    if kind is None:
        name = "standard input" if source == "-" else f"{os.fspath(source)!r}"
        hint = "name it one of ." + ", .".join(FORMATS) + " (and perhaps .gz), or give the format"
        raise FormatError("format", f"the format of {name} is not known", hint=hint)
    if source != "-":
        try:  # now, not at the first row: callers fail before they start to work
            Path(source).stat()
        except (OSError, ValueError) as error:
            raise FormatError("file", _reason(error)) from None
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
                    for row in parquet.read_rows(stream, count):
                        count = row.line or count
                        yield row
        else:
            with Path(source).open("rb") as stream:
                yield from _stream_rows(stream, kind)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError("gzip", f"the gzip file is damaged: {error}") from None
    except OSError as error:
        raise FormatError("file", _reason(error)) from None


def _stream_rows(stream: BinaryIO, kind: Format) -> Iterator[Subscription | FormatError]:
    """Return the rows of an open stream, decompressed if it starts as gzip."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(cast(io.RawIOBase, stream))
    decompressed = buffered
    if buffered.peek(2)[:2] == _GZIP:
        decompressed = cast(BinaryIO, gzip.GzipFile(fileobj=decompressed))
    if kind == "parquet":
        # Parquet needs to seek: its metadata is at the end of the file.
        seekable = decompressed is buffered and decompressed.seekable()
        return parquet.read_rows(decompressed if seekable else io.BytesIO(decompressed.read()))
    return lines.read_rows(kind, decompressed)


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
