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

>>> for one in read_rows("a.csv", b"a,b\\n1,x\\n2\\n3,z\\n", 1000, RowsToXml()):
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
from pathcast.pipeline.sources.records import FieldValue, Record, RecordError, csv_records
from pathcast.pipeline.sources.unpacking import UnpackedDocument
from pathcast.xslt import row_xml

__all__ = ["MAX_GROUP_ROWS", "SUFFIXES", "BodyField", "RecordMapping", "RowsToXml", "read_rows"]

_READERS: Final[Mapping[str, Callable[[IO[bytes], int], Iterator[Record]]]] = {
    "csv": csv_records,
    "jsonl": line_records,
    "ndjson": line_records,
    "json": array_records,
}
SUFFIXES: Final = (*_READERS, *(f"{kind}.gz" for kind in _READERS))
"""How the names of files of rows end, without the dot."""
MAX_GROUP_ROWS: Final = 100_000
_MAX_ROW_BYTES: Final = 16 << 20  # bytes: cut into values they may take thirty times that
_DOCUMENT_TEMPLATE: Final = b"<rows>%s</rows>"
_DECLARED_ENCODING: Final = re.compile(
    r"<\?xml\s[^>]{,200}?\sencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]*)"
)
# Of all that Python can encode, what an XML parser may know.
_XML_ENCODINGS: Final = re.compile(
    r"(?i)utf|iso|us-ascii|ascii|latin|windows-|cp|koi8|big5|gb|shift|euc"
)


@dataclass(frozen=True, slots=True)
class RowsToXml:
    """Each row is a document, or the rows that have the same value in a column `group` are."""

    group: str | None = None


@dataclass(frozen=True, slots=True)
class BodyField:
    """Each object has a document in `body`."""


RecordMapping = RowsToXml | BodyField


def read_rows(
    name: str, content: bytes, max_bytes: int, mapping: RecordMapping
) -> Iterator[UnpackedDocument]:
    """The documents of a file whose name has one of `ENDINGS`, each of `most` bytes at most."""
    stem, _, suffix = name.lower().rpartition(".")
    stream: IO[bytes] = io.BytesIO(content)
    if suffix == "gz":
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=stream))
        suffix = stem.rpartition(".")[2]
    try:
        max_record_bytes = 2 * max_bytes + (1 << 16)
        if isinstance(mapping, RowsToXml):
            max_record_bytes = min(max_record_bytes, _MAX_ROW_BYTES)
        records = _READERS[suffix](stream, max_record_bytes)
        match mapping:
            case RowsToXml(None):
                yield from _row_documents(name, records, max_bytes)
            case RowsToXml(str(group)):
                yield from _group_documents(name, records, max_bytes, group)
            case BodyField():
                yield from _body_documents(name, records, max_bytes)
    except (OSError, EOFError, zlib.error) as error:  # of gzip: what came before it was whole
        yield UnpackedDocument(name, None, ("archive", str(error) or type(error).__name__))


def _faulty(name: str, record: Record, error: RecordError) -> UnpackedDocument:
    message = f"{record.place}: {error.message}"
    return UnpackedDocument(f"{name}:{record.number}", None, (error.kind, message))


def _row_documents(
    name: str, records: Iterator[Record], max_bytes: int
) -> Iterator[UnpackedDocument]:
    for record in records:
        try:
            body = _DOCUMENT_TEMPLATE % _row_xml(record.attributes())
            if len(body) > max_bytes:
                raise RecordError(
                    f"the document has {len(body):,} bytes, more than {max_bytes:,}", "size"
                )
            yield UnpackedDocument(f"{name}:{record.number}", body)
        except RecordError as error:
            yield _faulty(name, record, error)


def _row_xml(values: dict[str, str]) -> bytes:
    try:
        return row_xml(values)
    except StylesheetError as error:
        raise RecordError(error.message) from None


@dataclass(slots=True)
class _RowGroup:
    """Rows with the same value, of which no more is held than may be."""

    value: str
    first: int
    last: int
    count: int = 0
    size: int = len(_DOCUMENT_TEMPLATE % b"")
    rows: list[bytes] = field(default_factory=list)

    def add(self, row: bytes, number: int, max_bytes: int) -> None:
        self.last = number
        self.count += 1
        self.size += len(row)
        if self.size > max_bytes or self.count > MAX_GROUP_ROWS:
            self.rows.clear()
        else:
            self.rows.append(row)

    def document(self, name: str, max_bytes: int) -> UnpackedDocument:
        id = f"{name}:{self.first}-{self.last}"
        if self.count > MAX_GROUP_ROWS:
            return UnpackedDocument(
                id, None, ("size", f"{self.count:,} rows, more than {MAX_GROUP_ROWS:,}")
            )
        if self.size > max_bytes:
            return UnpackedDocument(
                id, None, ("size", f"{self.size:,} bytes, more than {max_bytes:,}")
            )
        return UnpackedDocument(id, _DOCUMENT_TEMPLATE % b"".join(self.rows))


def _group_documents(
    name: str, records: Iterator[Record], max_bytes: int, column: str
) -> Iterator[UnpackedDocument]:
    group: _RowGroup | None = None
    for record in records:
        try:
            values = record.attributes()
            row = _row_xml(values)
            if column not in values:
                raise RecordError(f"no {column!r}, by which rows are to be grouped")
        except RecordError as error:
            yield _faulty(name, record, error)
            continue
        if group is None or group.value != values[column]:
            if group is not None:
                yield group.document(name, max_bytes)
            group = _RowGroup(values[column], record.number, record.number)
        group.add(row, record.number, max_bytes)
    if group is not None:
        yield group.document(name, max_bytes)


def _body_documents(
    name: str, records: Iterator[Record], max_bytes: int
) -> Iterator[UnpackedDocument]:
    for record in records:
        try:
            values = record.values()
            body = _encode_body(values.get("body"))
            if len(body) > max_bytes:
                raise RecordError(
                    f"the body has {len(body):,} bytes, more than {max_bytes:,}", "size"
                )
            id = _parse_id(values.get("id"), f"{name}:{record.number}")
            yield UnpackedDocument(id, body, time=_parse_time(values.get("time")))
        except RecordError as error:
            yield _faulty(name, record, error)


def _encode_body(value: FieldValue) -> bytes:
    """A document as the bytes that its declaration says it has."""
    if type(value) is not str:
        raise RecordError("no 'body', the text of an XML document")
    declared = _DECLARED_ENCODING.match(value)
    encoding = declared[1] if declared else "utf-8"
    try:
        if not _XML_ENCODINGS.match(encoding):
            raise LookupError("no encoding of XML")
        return value.encode(encoding)
    except (LookupError, ValueError) as error:
        raise RecordError(
            f"the body cannot be written in its encoding, {encoding}: {error}"
        ) from None


def _parse_id(value: FieldValue, default: str) -> str:
    if value is None:
        return default
    try:
        if isinstance(value, str) and value.encode():
            return str(value)
    except UnicodeEncodeError:
        pass
    raise RecordError(f"the 'id' is a text or a number, not {value!r:.60}")


def _parse_time(value: FieldValue) -> datetime | None:
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value if type(value) is str else "")
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"the 'time' is a text like 2011-08-03T09:30:00Z, not {value!r:.60}"
        raise RecordError(message) from None
