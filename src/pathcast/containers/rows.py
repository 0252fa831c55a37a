"""Documents from row files, produced lazily in a worker.

A file is `.csv` (with a header), `.jsonl` or `.ndjson` (one object per line) or `.json` (an array
of objects), optionally with `.gz`, in UTF-8. The caller says how records map to documents:

- `RowsToXml()`: each row is a document `<rows><row a="1" b="x"/></rows>`, which a style sheet can
  transform (see `xslt`). With `RowsToXml(group="time")`, consecutive rows with equal `time` form
  one document; unreadable rows among them do not split it. JSON values are text, numbers (as
  written), true and false; null is no attribute.
- `BodyField()`: each object has a document in `body`, and optionally `id` and `time` (ISO 8601, UTC
  by default). `BodyField("text", "number")` names the fields of document and id.

The id is the location: `file.csv:LINE`, the line where a row begins (from 1, the header included);
`file.csv:FIRST-LAST` for a group; `file.json:NUMBER` for an element of an array, from 1, since all
may be on one line.

An unreadable row becomes a row with a fault (kind `row`), and reading continues. Where it cannot
continue (an open quote, a bad header, an error in an array), the message says that nothing more was
read. A document has at most `max_bytes` bytes and a group at most `MAX_GROUP_ROWS` rows (kind
`size`). As written, a row has at most 16 MB, and no record exceeds twice `max_bytes` plus 64 KB,
because JSON may need two bytes where XML needs one. A CSV cell has at most 131,072 characters, the
limit of Python's reader.

>>> for document in read_rows("a.csv", b"a,b\\n1,x\\n2\\n3,z\\n", 1000, RowsToXml()):
...     print(document.id, document.body or document.fault)
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

from pathcast.containers.json_records import array_records, line_records
from pathcast.containers.records import FieldValue, Record, RecordError, csv_records
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.errors import StylesheetError
from pathcast.xslt import row_xml

__all__ = [
    "MAX_GROUP_ROWS",
    "SUFFIXES",
    "BodyField",
    "RecordMapping",
    "RowsToXml",
    "read_records",
    "read_rows",
]

_READERS: Final[Mapping[str, Callable[[IO[bytes], int], Iterator[Record]]]] = {
    "csv": csv_records,
    "jsonl": line_records,
    "ndjson": line_records,
    "json": array_records,
}
SUFFIXES: Final = (*_READERS, *(f"{kind}.gz" for kind in _READERS))
"""The suffixes of row files, without the dot."""
MAX_GROUP_ROWS: Final = 100_000
_MAX_ROW_BYTES: Final = 16 << 20  # bytes; parsed fields may take thirty times as much
_DOCUMENT_TEMPLATE: Final = b"<rows>%s</rows>"
_DECLARED_ENCODING: Final = re.compile(
    r"<\?xml\s[^>]{,200}?\sencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]*)"
)
# The codecs of Python that an XML parser may know.
_XML_ENCODINGS: Final = re.compile(
    r"(?i)utf|iso|us-ascii|ascii|latin|windows-|cp|koi8|big5|gb|shift|euc"
)


@dataclass(frozen=True, slots=True)
class RowsToXml:
    """Each row is a document, or each run of rows with equal values in the column `group`."""

    group: str | None = None


@dataclass(frozen=True, slots=True)
class BodyField:
    """Each object has a document in one of its fields, and perhaps its id in another."""

    body: str = "body"
    id: str = "id"


RecordMapping = RowsToXml | BodyField


def read_rows(
    name: str, content: bytes, max_bytes: int, mapping: RecordMapping
) -> Iterator[UnpackedDocument]:
    """Yield the documents of a row file, each of at most `max_bytes`."""
    try:
        max_record_bytes = 2 * max_bytes + (1 << 16)
        if isinstance(mapping, RowsToXml):
            max_record_bytes = min(max_record_bytes, _MAX_ROW_BYTES)
        records = read_records(name, io.BytesIO(content), max_record_bytes)
        match mapping:
            case RowsToXml(None):
                yield from _row_documents(name, records, max_bytes)
            case RowsToXml(str(group)):
                yield from _group_documents(name, records, max_bytes, group)
            case BodyField():
                yield from _body_documents(name, records, max_bytes, mapping)
    except (OSError, EOFError, zlib.error) as error:  # gzip; earlier records are complete
        yield UnpackedDocument(name, None, ("archive", str(error) or type(error).__name__))


def read_records(name: str, stream: IO[bytes], max_record_bytes: int) -> Iterator[Record]:
    """Yield the records of a row file by its suffix; errors of gzip pass through."""
    stem, _, suffix = name.lower().rpartition(".")
    if suffix == "gz":
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=stream))
        suffix = stem.rpartition(".")[2]
    return _READERS[suffix](stream, max_record_bytes)


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
    """Rows with equal values; drops them once a limit is exceeded."""

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
    name: str, records: Iterator[Record], max_bytes: int, fields: BodyField
) -> Iterator[UnpackedDocument]:
    for record in records:
        try:
            values = record.values()
            body = _encode_body(values.get(fields.body), fields.body)
            if len(body) > max_bytes:
                raise RecordError(
                    f"the body has {len(body):,} bytes, more than {max_bytes:,}", "size"
                )
            id = _parse_id(values.get(fields.id), f"{name}:{record.number}", fields.id)
            yield UnpackedDocument(id, body, time=_parse_time(values.get("time")))
        except RecordError as error:
            yield _faulty(name, record, error)


def _encode_body(value: FieldValue, field: str) -> bytes:
    """Encode a document as its XML declaration says."""
    if type(value) is not str:
        raise RecordError(f"no {field!r}, the text of an XML document")
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


def _parse_id(value: FieldValue, default: str, field: str) -> str:
    if value is None:
        return default
    try:
        if isinstance(value, str) and value.encode():
            return str(value)
    except UnicodeEncodeError:
        pass
    raise RecordError(f"the {field!r} is a text or a number, not {value!r:.60}")


def _parse_time(value: FieldValue) -> datetime | None:
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value if type(value) is str else "")
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        message = f"the 'time' is a text like 2011-08-03T09:30:00Z, not {value!r:.60}"
        raise RecordError(message) from None
