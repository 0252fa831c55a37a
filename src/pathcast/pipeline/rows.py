"""Result rows of a worker, in Arrow: the matches of each document, or its error.

Bounds: a row lists at most `MAX_SUBSCRIPTIONS_PER_ROW` subscriptions. A document with more matches
has several rows, numbered by `part`, and a record batch holds at most twice that many ids. Neither
grows with the number of subscriptions. A document without matches has one row with an empty list. A
refused document has one row with `kind`, `place` and `message`; so has each subscription that could
not be decided on a document, with its id.

Exactly one row of a document is its `first`: counting these rows counts documents. Only this row
carries the document's columns (`source`, `time`, `bytes`, `structure`). No other row is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import DocumentError, EvaluationError
from pathcast.matching.matches import Batch

__all__ = [
    "DOCUMENT_SCHEMA",
    "MAX_SUBSCRIPTIONS_PER_ROW",
    "RESULT_DDL",
    "RESULT_SCHEMA",
    "as_int32_array",
    "error_rows",
    "format_position",
    "match_rows",
    "unreadable_rows",
]

MAX_SUBSCRIPTIONS_PER_ROW: Final = 65_536
RESULT_DDL: Final = (
    "document string, first boolean, part int, subscriptions array<string>, version string, "
    "kind string, place string, message string, "
    "source string, time timestamp, bytes bigint, structure string"
)
_TIME: Final = pa.timestamp("us", tz="UTC")
DOCUMENT_SCHEMA: Final = pa.schema(
    [
        ("document", pa.string()),
        ("first", pa.bool_()),
        ("source", pa.string()),
        ("time", _TIME),
        ("bytes", pa.int64()),
        ("structure", pa.string()),
    ]
)
"""Document columns before matching; `first` says whether this worker emits the first row."""
RESULT_SCHEMA: Final = pa.schema(
    [
        ("document", pa.string()),
        ("first", pa.bool_()),
        ("part", pa.int32()),
        ("subscriptions", pa.list_(pa.string())),
        ("version", pa.string()),
        ("kind", pa.string()),
        ("place", pa.string()),
        ("message", pa.string()),
        ("source", pa.string()),
        ("time", _TIME),
        ("bytes", pa.int64()),
        ("structure", pa.string()),
    ]
)
"""`RESULT_DDL` as an Arrow schema."""


class _MatchRow(NamedTuple):
    """A row of matches: the ids from `start` to `end` belong to this `document`."""

    document: int
    part: int
    start: int
    end: int


def match_rows(
    matches: Batch,
    columns: pa.RecordBatch,
    ids: pa.StringArray | pa.DictionaryArray,
    version: str,
    first_part: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of matched documents; their parts begin at `first_part`.

    The lists of subscriptions have the type of `ids`.
    """
    for chunk in _row_chunks(matches, columns.column("first").to_pylist()):
        start, end = chunk[0].start, chunk[-1].end
        numbers = as_int32_array(matches.numbers[start:end])
        offsets = pa.array([row.start - start for row in chunk] + [end - start], pa.int32())
        part = pa.array([row.part for row in chunk], pa.int32())
        yield _result_batch(
            columns.take(pa.array([row.document for row in chunk], pa.int32())),
            version,
            is_leading=pc.equal(part, 0),
            part=pc.add(part, pa.scalar(first_part, pa.int32())),
            subscriptions=pa.ListArray.from_arrays(offsets, ids.take(numbers)),
        )


def as_int32_array(numbers: memoryview) -> pa.Int32Array:
    """Wrap the buffer as an Arrow array without copying: reading each number would dominate."""
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])


def _row_chunks(matches: Batch, is_first: Sequence[bool]) -> Iterator[list[_MatchRow]]:
    """Group the rows of a batch into chunks of bounded size."""
    chunk: list[_MatchRow] = []
    for row in _split_into_rows(matches, is_first):
        if chunk and row.end - chunk[0].start > 2 * MAX_SUBSCRIPTIONS_PER_ROW:
            yield chunk
            chunk = []
        chunk.append(row)
    if chunk:
        yield chunk


def _split_into_rows(matches: Batch, is_first: Sequence[bool]) -> Iterator[_MatchRow]:
    for document in range(len(matches)):
        if document in matches.errors:
            continue
        start, end = matches.offsets[document], matches.offsets[document + 1]
        empty = (start,) if is_first[document] else ()
        for part, row_start in enumerate(range(start, end, MAX_SUBSCRIPTIONS_PER_ROW) or empty):
            yield _MatchRow(
                document, part, row_start, min(end, row_start + MAX_SUBSCRIPTIONS_PER_ROW)
            )


class _ErrorRow(NamedTuple):
    """An error of a document, or of one subscription on it."""

    document: int
    subscription: str | None
    error: DocumentError | EvaluationError


def error_rows(matches: Batch, columns: pa.RecordBatch, version: str) -> Iterator[pa.RecordBatch]:
    """Yield rows for refused documents and for undecided subscriptions."""
    failures = list(_document_errors(matches))
    if failures:
        yield _result_batch(
            columns.take(pa.array([failure.document for failure in failures], pa.int32())),
            version,
            is_leading=pa.array([failure.subscription is None for failure in failures], pa.bool_()),
            subscriptions=pa.array(
                [
                    None if failure.subscription is None else [failure.subscription]
                    for failure in failures
                ],
                pa.list_(pa.string()),
            ),
            kind=_string_array([failure.error.kind for failure in failures]),
            place=_string_array([format_position(failure.error) for failure in failures]),
            message=_string_array([failure.error.message for failure in failures]),
        )


def _document_errors(matches: Batch) -> Iterator[_ErrorRow]:
    for document, error in matches.errors.items():
        yield _ErrorRow(document, None, error)
    for document, undecided in matches.undecided.items():
        for id, failure in undecided.items():
            yield _ErrorRow(document, str(id), failure)


def format_position(error: DocumentError | EvaluationError) -> str | None:
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    if line is None:
        return None
    return f"line {line}" + ("" if column is None else f", column {column}")


def unreadable_rows(
    columns: pa.RecordBatch, faults: pa.StructArray, version: str
) -> pa.RecordBatch:
    """Return rows for input that did not become a document."""
    kinds, messages = faults.flatten()
    is_leading = pa.repeat(True, len(columns))
    return _result_batch(columns, version, is_leading=is_leading, kind=kinds, message=messages)


def _result_batch(
    document_columns: pa.RecordBatch, version: str, is_leading: pa.BooleanArray, **columns: pa.Array
) -> pa.RecordBatch:
    """Build result rows from document columns; missing columns are null."""
    first = pc.and_(document_columns.column("first"), is_leading)
    arrays = {
        "document": document_columns.column("document"),
        "first": first,
        "version": pa.repeat(version, len(document_columns)),
        **columns,
    }
    for name in ("source", "time", "bytes", "structure"):
        column = document_columns.column(name)
        arrays[name] = pc.if_else(first, column, pa.scalar(None, column.type))
    return pa.RecordBatch.from_arrays(
        [
            arrays.get(field.name, pa.nulls(len(document_columns), field.type))
            for field in RESULT_SCHEMA
        ],
        names=RESULT_SCHEMA.names,
    )


def _string_array(values: Sequence[str | None]) -> pa.StringArray:
    return pa.array(values, pa.string())
