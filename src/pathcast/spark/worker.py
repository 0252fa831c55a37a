"""The work of this package in Python workers: columns of matches, errors and deliveries.

A record batch of results has at most `MAX_IDS_PER_BATCH` ids, unless one document has more: an
Arrow list of strings cannot exceed two gigabytes, and a batch of input may hold ten thousand
documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathcast.errors import DocumentError, EvaluationError
from pathcast.matching.matches import Batch, Id
from pathcast.pipeline.rows import as_int32_array, format_position
from pathcast.pipeline.worker import (
    LoadedVersion,
    MatchTask,
    cached_delivery_index,
    cached_version,
    match_chunks,
)

__all__ = [
    "MAX_IDS_PER_BATCH",
    "MatchColumns",
    "deliver_documents",
    "load",
    "match_columns",
    "match_documents",
    "match_table",
]

MAX_IDS_PER_BATCH: Final = 1 << 17
_MAX_NAMED: Final = 3  # undecided subscriptions that a message names
_ERROR: Final = pa.struct([("kind", pa.string()), ("place", pa.string()), ("message", pa.string())])


class MatchColumns(NamedTuple):
    """The results of consecutive documents, one row each."""

    subscriptions: pa.ListArray
    """Ids, or hops by name; null for a refused document."""
    errors: pa.StructArray
    """Why a document was refused, or subscriptions could not be decided; usually null."""

    def __len__(self) -> int:
        return len(self.subscriptions)


def load(task: MatchTask) -> LoadedVersion:
    """Return the version of a task, which this worker keeps."""
    return cached_version(task.file, task.limits, task.deadline, task.hops)


def match_columns(loaded: LoadedVersion, bodies: pa.Array) -> Iterator[MatchColumns]:
    """Match a column of documents, binary or text; yield results in the order of its rows."""
    if not _is_body_type(bodies.type):
        raise TypeError(f"a column of documents is binary or string, not {bodies.type}")
    for chunk in match_chunks(loaded, bodies):
        offsets = np.frombuffer(chunk.matches.offsets, np.int32)
        for first, end in _bounded_runs(offsets):
            yield MatchColumns(
                _id_lists(chunk.matches, offsets, first, end, loaded.ids),
                _errors(chunk.matches, first, end),
            )


def match_table(documents: pa.RecordBatch, task: MatchTask) -> Iterator[pa.RecordBatch]:
    """Yield (id, subscriptions, error) of documents with the columns `id` and `body`."""
    missing = [name for name in ("id", "body") if name not in documents.schema.names]
    if missing:
        raise ValueError(
            f"the table has no column {missing[0]!r}: select the columns id and body for it"
        )
    ids = documents.column("id").cast(pa.string())
    start = 0
    for results in match_columns(load(task), documents.column("body")):
        columns = [ids.slice(start, len(results)), *results]
        yield pa.RecordBatch.from_arrays(columns, names=["id", "subscriptions", "error"])
        start += len(results)


def match_documents(
    batches: Iterator[pa.RecordBatch], task: MatchTask, body: int, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the first columns of documents with their matches and errors, under these names.

    `body` is the position of the documents' column, which may be one of the first or the last.
    """
    loaded, kept = load(task), len(names) - 2
    for batch in batches:
        start = 0
        for results in match_columns(loaded, batch.column(body)):
            columns = batch.slice(start, len(results)).columns[:kept]
            yield pa.RecordBatch.from_arrays([*columns, *results], names=names)
            start += len(results)


def deliver_documents(
    batches: Iterator[pa.RecordBatch], task: MatchTask
) -> Iterator[pa.RecordBatch]:
    """Yield the deliveries of documents (`document`, `body`), ordered within a document."""
    loaded = load(task)
    index = cached_delivery_index(task, loaded)
    for batch in batches:
        start = 0
        for chunk in match_chunks(loaded, batch.column("body")):
            documents = batch.column("document").slice(start, len(chunk.bodies))
            start += len(chunk.bodies)
            offsets = np.frombuffer(chunk.matches.offsets, np.int32)
            numbers = np.frombuffer(chunk.matches.numbers, np.int32)
            for first, end in _bounded_runs(offsets):
                run = offsets[first : end + 1]
                grouped = index.group(run - run[0], numbers[run[0] : run[-1]])
                yield pa.RecordBatch.from_arrays(
                    [
                        documents.take(pa.array(grouped.documents + np.int32(first))),
                        grouped.subscribers,
                        grouped.subscriptions,
                        grouped.counts,
                    ],
                    names=["document", "subscriber", "subscriptions", "count"],
                )


def _is_body_type(column_type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_binary(column_type)
        or types.is_large_binary(column_type)
        or types.is_string(column_type)
        or types.is_large_string(column_type)
        or types.is_null(column_type)
    )


def _bounded_runs(offsets: npt.NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Split documents into runs (first, end) with a bounded number of ids."""
    first, documents = 0, len(offsets) - 1
    while first < documents:
        limit = int(offsets[first]) + MAX_IDS_PER_BATCH
        end = max(first + 1, int(np.searchsorted(offsets, limit, side="right")) - 1)
        yield first, end
        first = end


def _id_lists(
    matches: Batch, offsets: npt.NDArray[np.int32], first: int, end: int, ids: pa.StringArray
) -> pa.ListArray:
    """Return the ids of some documents; null for those that were refused."""
    run = offsets[first : end + 1]
    values = ids.take(as_int32_array(matches.numbers[run[0] : run[-1]]))
    refused = [document - first for document in matches.errors if first <= document < end]
    mask = None
    if refused:
        is_refused = np.zeros(end - first, np.bool_)
        is_refused[refused] = True
        mask = pa.array(is_refused)
    return pa.ListArray.from_arrays(pa.array(run - run[0]), values, mask=mask)


def _errors(matches: Batch, first: int, end: int) -> pa.StructArray:
    if not matches.errors and not matches.undecided:
        return pa.nulls(end - first, _ERROR)
    return pa.array([_error_fields(matches, document) for document in range(first, end)], _ERROR)


def _error_fields(matches: Batch, document: int) -> dict[str, str | None] | None:
    if (error := matches.errors.get(document)) is not None:
        return _fields(error, error.message)
    if undecided := matches.undecided.get(document):
        first = next(iter(undecided.values()))
        return _fields(first, f"undecided: {_name_some(undecided)}: {first.message}")
    return None


def _fields(error: DocumentError | EvaluationError, message: str) -> dict[str, str | None]:
    return {"kind": error.kind, "place": format_position(error), "message": message}


def _name_some(undecided: Mapping[Id, EvaluationError]) -> str:
    names = [str(id) for id in undecided]
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
