"""Records of row files, as name -> value with a position, or as an error. This module: CSV.

Records are read one by one with a bounded length. An error is part of the sequence (`RecordError`),
and reading continues with the next record.

CSV is parsed by Python's reader in strict mode. Lines end with LF or CRLF; empty lines are skipped.
After an error the next line starts a record, unless it lies in a quoted cell that was too long:
cell content must not be taken for rows, so reading ends there. The position of an error names the
lines that it cost. A file needs a header.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import IO, Any, Final, NamedTuple, TypeAlias

from pathcast.errors import StylesheetError
from pathcast.xslt import row_xml

__all__ = ["FieldValue", "Record", "RecordError", "RecordLines", "csv_records"]

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_READ_SIZE: Final = 1 << 16
_MAX_COLUMNS: Final = 1_000  # the limit of attributes per element

FieldValue: TypeAlias = str | bool | list[Any] | tuple[Any, ...] | None
"""A field; lists and tuples are JSON arrays and objects, which a row cannot hold."""


class RecordError(Exception):
    """Why a record cannot be read; becomes a fault of this kind."""

    def __init__(self, message: str, kind: str = "row") -> None:
        super().__init__(message)
        self.message, self.kind = message, kind

    def as_final(self) -> RecordError:
        """Return the same error with the note that reading ends here."""
        return RecordError(f"{self.message}; from here on nothing is read", self.kind)


class Record(NamedTuple):
    """`number` identifies the record in its file; `place` is its position for messages."""

    number: int
    place: str
    content: Mapping[str, FieldValue] | RecordError

    def values(self) -> Mapping[str, FieldValue]:
        """Return the fields, or raise RecordError."""
        if isinstance(self.content, RecordError):
            raise self.content
        return self.content

    def attributes(self) -> dict[str, str]:
        """Return the fields as text, without nulls; RecordError for nested values or too many
        fields.
        """
        values = self.values()
        if len(values) > _MAX_COLUMNS:
            raise RecordError(f"{len(values):,} values, and {_MAX_COLUMNS:,} are allowed")
        return {
            name: _value_text(name, value) for name, value in values.items() if value is not None
        }


def _value_text(name: str, value: FieldValue) -> str:
    match value:
        case True | False:
            return "true" if value else "false"
        case str():
            return str(value)
        case _:
            kind = "an object" if isinstance(value, tuple) else "an array"
            expected = "a text, a number, true, false or null is expected"
            raise RecordError(f"{name!r:.60} is {kind}: {expected}")


class RecordLines:
    """Lines of text; raises RecordError for a bad line and continues after it."""

    def __init__(self, stream: IO[bytes], max_bytes: int) -> None:
        self.number = 0
        self.quotes = 0
        """Quotes in the lines of this record."""
        self._stream, self._max_bytes = stream, max_bytes
        self._bytes_left = max_bytes

    def begin_record(self) -> int:
        """Start a record of at most `max_bytes`; return the number of its first line."""
        self._bytes_left = self._max_bytes
        self.quotes = 0
        return self.number + 1

    def __iter__(self) -> RecordLines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._bytes_left + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self.quotes += line.count(b'"')
        if len(line) > self._bytes_left:
            while line and not line.endswith(b"\n"):
                line = self._stream.readline(_READ_SIZE)
                self.quotes += line.count(b'"')
            raise RecordError(f"longer than {self._max_bytes:,} bytes", "size")
        self._bytes_left -= len(line)
        if self.number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            raise RecordError(
                f"byte {error.start + 1} of line {self.number} is not UTF-8"
            ) from None


def csv_records(stream: IO[bytes], max_bytes: int) -> Iterator[Record]:
    """Yield the rows of CSV, each of at most `max_bytes` as written."""
    lines = RecordLines(stream, max_bytes)
    reader = csv.reader(lines, strict=True)
    header: list[str] = []
    while True:
        first = lines.begin_record()
        is_final = False
        content: Mapping[str, FieldValue] | RecordError
        try:
            cells = next(reader, None)
        except RecordError as error:
            content, is_final = error, lines.quotes % 2 == 1
        except csv.Error as error:
            content = RecordError(f"no CSV: {error}")
            is_final = "limit" in str(error) and lines.quotes % 2 == 1
        else:
            if cells is None:
                return
            if not cells:
                continue
            content = _parse_row(header, cells) if header else _parse_header(cells)
            if not header and not isinstance(content, RecordError):
                header = cells
                continue
        is_final = is_final or not header
        if is_final and isinstance(content, RecordError):
            content = content.as_final()
        place = f"line {first}" if lines.number <= first else f"lines {first}-{lines.number}"
        yield Record(first, place, content)
        if is_final:
            return


def _parse_header(names: list[str]) -> Mapping[str, FieldValue] | RecordError:
    """Check the column names of a header."""
    if len(names) > _MAX_COLUMNS:
        return RecordError(f"{len(names):,} columns, and {_MAX_COLUMNS:,} are allowed")
    columns: dict[str, FieldValue] = {}
    for name in names:
        try:
            row_xml({name: ""})
        except StylesheetError:
            return RecordError(f"the column {name!r:.60} needs a name that XML allows")
        if name in columns:
            return RecordError(f"there are two columns {name!r:.60}")
        columns[name] = None
    return columns


def _parse_row(header: list[str], cells: list[str]) -> Mapping[str, FieldValue] | RecordError:
    if len(cells) != len(header):
        return RecordError(f"{_format_count(cells, 'value')} for {_format_count(header, 'column')}")
    return dict(zip(header, cells, strict=True))


def _format_count(items: list[str], noun: str) -> str:
    return f"{len(items):,} {noun}" + ("" if len(items) == 1 else "s")
