"""Files of rows -> documents, in a worker, one after the other and never more of them than is asked for.

A file is `.csv` (a header, then rows), `.jsonl` or `.ndjson` (an object a line) or `.json` (an array of objects), each perhaps
with `.gz` and all of them in UTF-8. What the rows are is said, not guessed:

- `Rows()`: each row is a document `<rows><row a="1" b="x"/></rows>`, which a style sheet may make a message of (see `sheets`).
  With `Rows(group="time")` rows that follow one another and have the same `time` are one document, in spite of rows among
  them that cannot be read. Values of JSON are texts, numbers (as they are written), true and false; null is no attribute;
- `Bodies()`: each object is a document: its `body`, with its `id` and its `time` (ISO 8601, of UTC if it names no zone) if it has these.

The id is the place: `file.csv:LINE`, the line that a row begins at, from 1 and with the header; `file.csv:FIRST-LAST` for a group,
where the first and the last row begin; `file.json:NUMBER` for an object of an array, from 1: they may all be on one line.

A row that cannot be read is a row with a fault (kind `row`), and reading goes on with the next. Where that is not possible (an open
quote, a bad header, a mistake in an array) the message says that nothing more was read. No document has more than `most` bytes, no group
more than `LARGEST` rows (kind `size`). As it is written no row has more than 16 MB, and neither rows nor bodies have more than
twice `most` and 64 KB: JSON may need two bytes where XML needs one. No cell of CSV has more than 131,072 characters, which
is where Python's reader gives up.

>>> for one in read_rows("a.csv", b"a,b\\n1,x\\n2\\n3,z\\n", 1000, Rows()):
...     print(one.id, one.body or one.fault)
a.csv:2 b'<rows><row a="1" b="x"/></rows>'
a.csv:3 ('row', 'line 3: 1 value for 2 columns')
a.csv:4 b'<rows><row a="3" b="z"/></rows>'
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Final, cast

from pathcast.errors import StylesheetError
from pathcast.pipeline.sources.json_records import array_records, line_records
from pathcast.pipeline.sources.records import Record, Refusal, Value, csv_records
from pathcast.pipeline.sources.unpacking import Unpacked
from pathcast.xslt import row_xml

__all__ = ["ENDINGS", "LARGEST", "Bodies", "Form", "Rows", "read_rows"]

_READERS: Final[Mapping[str, Callable[[IO[bytes], int], Iterator[Record]]]] = {
    "csv": csv_records,
    "jsonl": line_records,
    "ndjson": line_records,
    "json": array_records,
}
ENDINGS: Final = (*_READERS, *(f"{kind}.gz" for kind in _READERS))
"""How the names of files of rows end, without the dot."""
LARGEST: Final = 100_000
_LONGEST_ROW: Final = 16 << 20  # bytes: cut into values they may take thirty times that
_FRAME: Final = b"<rows>%s</rows>"
_DECLARED: Final = re.compile(r"<\?xml\s[^>]{,200}?\sencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]*)")
# Of all that Python can encode, what an XML parser may know.
_ENCODINGS: Final = re.compile(
    r"(?i)utf|iso|us-ascii|ascii|latin|windows-|cp|koi8|big5|gb|shift|euc"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """Each row is a document, or the rows that have the same value in a column `group` are."""

    group: str | None = None


@dataclass(frozen=True, slots=True)
class Bodies:
    """Each object has a document in `body`."""


Form = Rows | Bodies


def read_rows(name: str, packed: bytes, most: int, form: Form) -> Iterator[Unpacked]:
    """The documents of a file whose name has one of `ENDINGS`, each of `most` bytes at most."""
    kind, _, ending = name.lower().rpartition(".")
    stream: IO[bytes] = io.BytesIO(packed)
    if ending == "gz":
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=stream))
        ending = kind.rpartition(".")[2]
    try:
        longest = 2 * most + (1 << 16)
        if isinstance(form, Rows):
            longest = min(longest, _LONGEST_ROW)
        found = _READERS[ending](stream, longest)
        match form:
            case Rows(None):
                yield from _singly(name, found, most)
            case Rows(str(group)):
                yield from _grouped(name, found, most, group)
            case Bodies():
                yield from _bodies(name, found, most)
    except (OSError, EOFError, zlib.error) as error:  # of gzip: what came before it was whole
        yield Unpacked(name, None, ("archive", str(error) or type(error).__name__))


def _refused(name: str, record: Record, refusal: Refusal) -> Unpacked:
    said = f"{record.place}: {refusal.message}"
    return Unpacked(f"{name}:{record.number}", None, (refusal.kind, said))


def _singly(name: str, found: Iterator[Record], most: int) -> Iterator[Unpacked]:
    for record in found:
        try:
            body = _FRAME % _xml(record.texts())
            if len(body) > most:
                raise Refusal(f"the document has {len(body):,} bytes, more than {most:,}", "size")
            yield Unpacked(f"{name}:{record.number}", body)
        except Refusal as refusal:
            yield _refused(name, record, refusal)


def _xml(values: dict[str, str]) -> bytes:
    try:
        return row_xml(values)
    except StylesheetError as error:
        raise Refusal(error.message) from None


@dataclass(slots=True)
class _Group:
    """Rows with the same value, of which no more is held than may be."""

    value: str
    first: int
    last: int
    count: int = 0
    size: int = len(_FRAME % b"")
    rows: list[bytes] = field(default_factory=list)

    def add(self, row: bytes, number: int, most: int) -> None:
        self.last = number
        self.count += 1
        self.size += len(row)
        if self.size > most or self.count > LARGEST:
            self.rows.clear()
        else:
            self.rows.append(row)

    def document(self, name: str, most: int) -> Unpacked:
        id = f"{name}:{self.first}-{self.last}"
        if self.count > LARGEST:
            return Unpacked(id, None, ("size", f"{self.count:,} rows, more than {LARGEST:,}"))
        if self.size > most:
            return Unpacked(id, None, ("size", f"{self.size:,} bytes, more than {most:,}"))
        return Unpacked(id, _FRAME % b"".join(self.rows))


def _grouped(name: str, found: Iterator[Record], most: int, column: str) -> Iterator[Unpacked]:
    group: _Group | None = None
    for record in found:
        try:
            values = record.texts()
            row = _xml(values)
            if column not in values:
                raise Refusal(f"no {column!r}, by which rows are to be grouped")
        except Refusal as refusal:
            yield _refused(name, record, refusal)
            continue
        if group is None or group.value != values[column]:
            if group is not None:
                yield group.document(name, most)
            group = _Group(values[column], record.number, record.number)
        group.add(row, record.number, most)
    if group is not None:
        yield group.document(name, most)


def _bodies(name: str, found: Iterator[Record], most: int) -> Iterator[Unpacked]:
    for record in found:
        try:
            values = record.values()
            body = _body(values.get("body"))
            if len(body) > most:
                raise Refusal(f"the body has {len(body):,} bytes, more than {most:,}", "size")
            id = _id(values.get("id"), f"{name}:{record.number}")
            yield Unpacked(id, body, time=_time(values.get("time")))
        except Refusal as refusal:
            yield _refused(name, record, refusal)


def _body(value: Value) -> bytes:
    """A document as the bytes that its declaration says it has."""
    if type(value) is not str:
        raise Refusal("no 'body', the text of an XML document")
    declared = _DECLARED.match(value)
    encoding = declared[1] if declared else "utf-8"
    try:
        if not _ENCODINGS.match(encoding):
            raise LookupError("no encoding of XML")
        return value.encode(encoding)
    except (LookupError, ValueError) as error:
        raise Refusal(f"the body cannot be written in its encoding, {encoding}: {error}") from None


def _id(value: Value, place: str) -> str:
    if value is None:
        return place
    try:
        if isinstance(value, str) and value.encode():
            return str(value)
    except UnicodeEncodeError:
        pass
    raise Refusal(f"the 'id' is a text or a number, not {value!r:.60}")


def _time(value: Value) -> datetime | None:
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value if type(value) is str else "")
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        said = f"the 'time' is a text like 2011-08-03T09:30:00Z, not {value!r:.60}"
        raise Refusal(said) from None
