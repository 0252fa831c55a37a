"""What a worker says of documents, as rows of Arrow: which subscriptions they match, or why that is not known.

The rule for long answers: a row has at most `MOST` subscriptions. A document that matches more has several rows, told apart by
`part`, and a batch of rows ends when it has twice as many as that: no row, and no batch, grows with the number of
subscriptions. A document that matches nothing has one row with an empty list, one that is refused has one row with
`kind`, `place` and `message`, and a subscription that could not be decided on it has such a row of its own, naming it.

Of the rows of a document exactly one is its `first`: whoever counts documents counts these, and what is known of the document itself
(`source`, `time`, `bytes`, `structure`) stands there and nowhere else. No other row is empty.
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
    "error_rows",
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
"""What is known of documents before they are matched; `first` is whether their first rows are made here."""
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
"""`RESULT`, as Arrow says it."""


class _MatchRow(NamedTuple):
    """A row of matches: numbers from `start` to `end` are those of the document at `place`."""

    place: int
    part: int
    start: int
    end: int


def match_rows(
    found: Batch, facts: pa.RecordBatch, ids: pa.StringArray, version: str, parts: int = 0
) -> Iterator[pa.RecordBatch]:
    """Rows for the documents that were matched; their parts count from `parts` on."""
    for rows in _row_chunks(found, facts.column("first").to_pylist()):
        first, last = rows[0].start, rows[-1].end
        numbers = _as_int32_array(found.numbers[first:last])
        offsets = pa.array([row.start - first for row in rows] + [last - first], pa.int32())
        part = pa.array([row.part for row in rows], pa.int32())
        yield _result_batch(
            facts.take(pa.array([row.place for row in rows], pa.int32())),
            version,
            leading=pc.equal(part, 0),
            part=pc.add(part, pa.scalar(parts, pa.int32())),
            subscriptions=pa.ListArray.from_arrays(offsets, ids.take(numbers)),
        )


def _as_int32_array(found: memoryview) -> pa.Int32Array:
    """The same bytes as an array: to read them one by one would take longer than to find them."""
    return pa.Array.from_buffers(pa.int32(), len(found), [None, pa.py_buffer(found)])


def _row_chunks(found: Batch, leading: Sequence[bool]) -> Iterator[list[_MatchRow]]:
    """The rows of a batch, one after the other, in portions that are not too large."""
    rows: list[_MatchRow] = []
    for row in _split_into_rows(found, leading):
        if rows and row.end - rows[0].start > 2 * MAX_SUBSCRIPTIONS_PER_ROW:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _split_into_rows(found: Batch, leading: Sequence[bool]) -> Iterator[_MatchRow]:
    for place in range(len(found)):
        if place in found.errors:
            continue
        start, end = found.offsets[place], found.offsets[place + 1]
        empty = (start,) if leading[place] else ()
        for part, at in enumerate(range(start, end, MAX_SUBSCRIPTIONS_PER_ROW) or empty):
            yield _MatchRow(place, part, at, min(end, at + MAX_SUBSCRIPTIONS_PER_ROW))


class _ErrorRow(NamedTuple):
    """What is wrong with the document at `place`, or with one subscription on it."""

    place: int
    subscription: str | None
    error: DocumentError | EvaluationError


def error_rows(found: Batch, facts: pa.RecordBatch, version: str) -> Iterator[pa.RecordBatch]:
    """Rows for documents that were refused, and for subscriptions that were not decided."""
    troubles = list(_document_errors(found))
    if troubles:
        yield _result_batch(
            facts.take(pa.array([one.place for one in troubles], pa.int32())),
            version,
            leading=pa.array([one.subscription is None for one in troubles], pa.bool_()),
            subscriptions=pa.array(
                [None if one.subscription is None else [one.subscription] for one in troubles],
                pa.list_(pa.string()),
            ),
            kind=_string_array([one.error.kind for one in troubles]),
            place=_string_array([_format_position(one.error) for one in troubles]),
            message=_string_array([one.error.message for one in troubles]),
        )


def _document_errors(found: Batch) -> Iterator[_ErrorRow]:
    for place, error in found.errors.items():
        yield _ErrorRow(place, None, error)
    for place, undecided in found.undecided.items():
        for id, failure in undecided.items():
            yield _ErrorRow(place, str(id), failure)


def _format_position(error: DocumentError | EvaluationError) -> str | None:
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    if line is None:
        return None
    return f"line {line}" + ("" if column is None else f", column {column}")


def unreadable_rows(facts: pa.RecordBatch, faults: pa.StructArray, version: str) -> pa.RecordBatch:
    """Rows for what did not become a document."""
    kinds, messages = faults.flatten()
    leading = pa.repeat(True, len(facts))
    return _result_batch(facts, version, leading=leading, kind=kinds, message=messages)


def _result_batch(
    facts: pa.RecordBatch, version: str, leading: pa.BooleanArray, **columns: pa.Array
) -> pa.RecordBatch:
    """Rows with the facts of their documents; columns that are not given are null."""
    first = pc.and_(facts.column("first"), leading)
    known = {
        "document": facts.column("document"),
        "first": first,
        "version": pa.repeat(version, len(facts)),
        **columns,
    }
    for name in ("source", "time", "bytes", "structure"):
        column = facts.column(name)
        known[name] = pc.if_else(first, column, pa.scalar(None, column.type))
    return pa.RecordBatch.from_arrays(
        [known.get(field.name, pa.nulls(len(facts), field.type)) for field in RESULT_SCHEMA],
        schema=RESULT_SCHEMA,
    )


def _string_array(values: Sequence[str | None]) -> pa.StringArray:
    return pa.array(values, pa.string())
