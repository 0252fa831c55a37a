"""What a worker does with a batch of documents: parse and match them, in Arrow's arrays on both sides.

An engine is loaded once for each version and kept; the last two are, so that a change of subscriptions does not throw
the old one away while batches of it are still under way.

The rule for long answers: a row has at most `MOST` subscriptions. A document that matches more has several rows, with
`part` counting from 0, and a batch ends when it has twice as many as that: no row, and no batch, grows with the
number of subscriptions. A document that matches nothing has one row with an empty list, one that is refused has one row with `kind`,
`place` and `message`, and a subscription that could not be decided has a row of its own: every document has a row.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark import SparkFiles

from pathcast.errors import DocumentError, EvaluationError
from pathcast.matching import Matcher
from pathcast.matching.matches import Batch

__all__ = ["MOST", "RESULT", "match_batches"]

MOST: Final = 65_536
RESULT: Final = (
    "document string, part int, subscriptions array<string>, version string, "
    "kind string, place string, message string"
)
_SCHEMA: Final = pa.schema(
    [
        ("document", pa.string()),
        ("part", pa.int32()),
        ("subscriptions", pa.list_(pa.string())),
        ("version", pa.string()),
        ("kind", pa.string()),
        ("place", pa.string()),
        ("message", pa.string()),
    ]
)
_KEPT: Final = 2


@dataclass(frozen=True, slots=True)
class _Engine:
    matcher: Matcher
    ids: pa.StringArray
    """Ids as text, in the order of their numbers."""


_engines: OrderedDict[str, _Engine] = OrderedDict()


def _engine(file: str) -> _Engine:
    """The engine of a version, loaded if this worker has not got it."""
    found = _engines.get(file)
    if found is None:
        matcher = Matcher.load(SparkFiles.get(file))
        ids = matcher.match_batch([]).ids(range(len(matcher)))
        found = _Engine(matcher, pa.array([str(id) for id in ids], pa.string()))
        _engines[file] = found
        while len(_engines) > _KEPT:
            _engines.popitem(last=False)
    _engines.move_to_end(file)
    return found


def match_batches(
    batches: Iterator[pa.RecordBatch], file: str, version: str
) -> Iterator[pa.RecordBatch]:
    """Match the documents (`id`, `body`, `fault`) of batches; rows as the module says."""
    engine = _engine(file)
    for batch in batches:
        lost = batch.filter(batch.column("fault").is_valid())
        if len(lost):
            yield _lost(lost, version)
        batch = batch.filter(batch.column("fault").is_null())
        names = batch.column("id")
        found = engine.matcher.match_batch(body.as_py() or b"" for body in batch.column("body"))
        for rows in _portions(found):
            yield _answers(engine, found, names, rows, version)
        troubles = list(_troubles(found))
        if troubles:
            yield _refusals(names, troubles, version)


def _lost(batch: pa.RecordBatch, version: str) -> pa.RecordBatch:
    """Rows for what did not become a document."""
    kinds, messages = batch.column("fault").flatten()
    return pa.RecordBatch.from_arrays(
        [
            batch.column("id"),
            pa.nulls(len(batch), pa.int32()),
            pa.nulls(len(batch), pa.list_(pa.string())),
            pa.repeat(version, len(batch)),
            kinds,
            pa.nulls(len(batch), pa.string()),
            messages,
        ],
        schema=_SCHEMA,
    )


class _Row(NamedTuple):
    """A row of matches: numbers from `start` to `end` are those of the document at `place`."""

    place: int
    part: int
    start: int
    end: int


def _portions(found: Batch) -> Iterator[list[_Row]]:
    """The rows of a batch, one after the other, in portions that are not too large."""
    rows: list[_Row] = []
    for row in _cut(found):
        if rows and row.end - rows[0].start > 2 * MOST:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _cut(found: Batch) -> Iterator[_Row]:
    for place in range(len(found)):
        if place in found.errors:
            continue
        start, end = found.offsets[place], found.offsets[place + 1]
        for part, at in enumerate(range(start, end, MOST) or (start,)):
            yield _Row(place, part, at, min(end, at + MOST))


def _answers(
    engine: _Engine, found: Batch, names: pa.Array, rows: list[_Row], version: str
) -> pa.RecordBatch:
    first, last = rows[0].start, rows[-1].end
    numbers = pa.array(found.numbers[first:last], pa.int32())
    offsets = pa.array([row.start - first for row in rows] + [last - first], pa.int32())
    nothing = pa.nulls(len(rows), pa.string())
    return pa.RecordBatch.from_arrays(
        [
            names.take(pa.array([row.place for row in rows], pa.int32())),
            pa.array([row.part for row in rows], pa.int32()),
            pa.ListArray.from_arrays(offsets, engine.ids.take(numbers)),
            pa.repeat(version, len(rows)),
            *(nothing, nothing, nothing),
        ],
        schema=_SCHEMA,
    )


def _troubles(found: Batch) -> Iterator[tuple[int, str | None, DocumentError | EvaluationError]]:
    """(document, subscription, what is wrong): documents that were refused, subscriptions that were not decided."""
    for place, error in found.errors.items():
        yield place, None, error
    for place, undecided in found.undecided.items():
        for id, failure in undecided.items():
            yield place, str(id), failure


def _refusals(
    names: pa.Array,
    troubles: Sequence[tuple[int, str | None, DocumentError | EvaluationError]],
    version: str,
) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            names.take(pa.array([place for place, _, _ in troubles], pa.int32())),
            pa.nulls(len(troubles), pa.int32()),
            pa.array([None if id is None else [id] for _, id, _ in troubles], pa.list_(pa.string())),
            pa.repeat(version, len(troubles)),
            pa.array([error.kind for _, _, error in troubles], pa.string()),
            pa.array([_place(error) for _, _, error in troubles], pa.string()),
            pa.array([error.message for _, _, error in troubles], pa.string()),
        ],
        schema=_SCHEMA,
    )


def _place(error: DocumentError | EvaluationError) -> str | None:
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    if line is None:
        return None
    return f"line {line}" + ("" if column is None else f", column {column}")
