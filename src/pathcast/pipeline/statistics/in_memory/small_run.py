"""The tables of a small run in memory: rows refer to documents by position, strings are numbers.

A run is small if its tables are on a local disk and have at most `MAX_VALUES` values, `MAX_BYTES`
bytes and `MAX_FILES` files. A value is a field of a row or an id in a list, so the limit bounds the
pairs of documents and subscriptions. The metadata of the files decides, before any row is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pathcast.errors import PipelineError
from pathcast.pipeline.checks import visible_path
from pathcast.pipeline.statistics.in_memory.columns import (
    Integers,
    NumberedStrings,
    measure_file,
    number,
    read_files,
)
from pathcast.pipeline.statistics.run_files import list_tables, route_files
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS

__all__ = ["SmallRun", "VersionRoutes", "is_small_run", "read_run"]

MAX_VALUES: Final = 8_000_000
MAX_BYTES: Final = 256 << 20
MAX_FILES: Final = 4_000
NO_TIME: Final = np.iinfo(np.int64).min
_COLUMNS: Final = {
    "documents": ("document", "source", "time", "bytes", "structure", "batch"),
    "matches": ("document", "subscriptions", "version", "batch"),
    "errors": ("document", "subscriptions", "kind", "place", "message", "batch"),
    "deliveries": ("document", "subscriber", "batch"),
}
_SCHEMAS: Final = {
    table: pa.schema([TABLE_SCHEMAS[table].field(name) for name in names])
    for table, names in _COLUMNS.items()
}
_ROUTES: Final = pa.schema(
    [(name, pa.string()) for name in ("subscription", "subscriber", "xpath", "version")]
)


@dataclass(frozen=True, slots=True)
class VersionRoutes:
    """A row per subscription and version, all as numbers."""

    subscription: Integers
    version: Integers
    subscriber: Integers
    xpath: Integers


@dataclass(frozen=True, slots=True)
class DocumentColumns:
    """A row per document. The key of a document is (batch, document)."""

    batch: Integers
    document: Integers
    source: Integers
    time: Integers
    """Microseconds since 1970, or `NO_TIME`."""
    bytes: Integers
    structure: Integers
    version: Integers
    """The version that matched it; -1 if it was refused."""
    read: npt.NDArray[np.bool_]
    """Whether it was matched against a version."""
    matches: Integers
    """The subscriptions that it matches."""
    refused: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.batch)


@dataclass(frozen=True, slots=True)
class ErrorColumns:
    """A row per error."""

    batch: Integers
    document: Integers
    kind: Integers
    place: Integers
    message: Integers
    undecided: Integers
    """Subscriptions that could not be decided; 0 if the document was refused."""


@dataclass(frozen=True, slots=True)
class SmallRun:
    """The input of the statistics. Pairs and deliveries name documents by their row."""

    documents: DocumentColumns
    pair_document: Integers
    pair_subscription: Integers
    errors: ErrorColumns
    deliveries: int
    delivery_document: Integers
    delivery_subscriber: Integers
    routes: VersionRoutes | None
    """Those of every version; None without route files."""
    strings: Mapping[str, NumberedStrings]
    """By name: document, source, structure, subscription, version, subscriber, xpath, kind, place,
    message."""


def is_small_run(out: str, settings: Mapping[str, str]) -> bool:
    """Return whether statistics of `out` need no Spark: it is on a local disk, and small.

    `settings` are those of the session that would start. A local folder that does not exist or
    holds no run counts as small, because reading it gives the error.
    """
    folder = visible_path(out, settings)
    if folder is None or "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has settings as well
        return False
    if not folder.is_dir():
        return True
    try:
        files = _input_files(LocalStorage(folder.resolve()))
    except OSError as error:
        raise PipelineError("output", f"{out}: {error.strerror or error}") from error
    if len(files) > MAX_FILES:
        return False
    values = size = 0
    for path, columns in files:
        part = measure_file(path, columns)
        values += part.values
        size += part.bytes
        if values > MAX_VALUES or size > MAX_BYTES:
            return False
    return True


def _input_files(storage: LocalStorage) -> list[tuple[Path, Sequence[str]]]:
    """Return the files of a run, each with the columns that are read."""
    files: list[tuple[Path, Sequence[str]]] = [
        (file.path, _COLUMNS[table])
        for table, table_files in list_tables(storage, tuple(_COLUMNS)).items()
        for file in table_files
    ]
    return files + [(path, _ROUTES.names) for path in route_files(storage).values()]


def read_run(storage: LocalStorage) -> SmallRun:
    """Read the tables of the batches that are done."""
    files = list_tables(storage, tuple(_COLUMNS))
    tables = {
        table: read_files([(file.path, {"batch": file.batch}) for file in files[table]], schema)
        for table, schema in _SCHEMAS.items()
    }
    documents, matches, errors, deliveries = (tables[table] for table in _COLUMNS)
    route_paths = route_files(storage)
    routes = read_files(
        [(path, {"version": version}) for version, path in route_paths.items()], _ROUTES
    )

    match_sizes, match_ids = _explode(matches["subscriptions"])
    error_sizes, _ = _explode(errors["subscriptions"])
    strings: dict[str, NumberedStrings] = {}

    def number_as(name: str, *columns: pa.ChunkedArray) -> list[Integers]:
        strings[name], numbers = number(*columns)
        return numbers

    document_ids = number_as(
        "document", *(table["document"] for table in (documents, matches, errors, deliveries))
    )
    subscription, route_subscription = number_as("subscription", match_ids, routes["subscription"])
    version, route_version = number_as("version", matches["version"], routes["version"])
    subscriber, route_subscriber = number_as(
        "subscriber", deliveries["subscriber"], routes["subscriber"]
    )
    (xpath,) = number_as("xpath", routes["xpath"])
    (source,) = number_as("source", documents["source"])
    (structure,) = number_as("structure", documents["structure"])
    (kind,) = number_as("kind", errors["kind"])
    (place,) = number_as("place", errors["place"])
    (message,) = number_as("message", errors["message"])

    batches = [_integers(tables[table]["batch"]) for table in _COLUMNS]
    index = _DocumentIndex(batches[0], document_ids[0])
    match_rows = index.find(batches[1], document_ids[1])
    is_refusal = errors["subscriptions"].is_null().to_numpy()
    refusal_rows = index.find(batches[2][is_refusal], document_ids[2][is_refusal])
    delivery_rows = index.find(batches[3], document_ids[3])
    pair_rows = np.repeat(match_rows, match_sizes)
    in_run = pair_rows >= 0
    count = len(documents)
    return SmallRun(
        documents=DocumentColumns(
            batch=batches[0],
            document=document_ids[0],
            source=source,
            time=_micros(documents["time"]),
            bytes=_integers(documents["bytes"]),
            structure=structure,
            version=_scatter(match_rows, version, count),
            read=_mark(match_rows, count),
            matches=np.bincount(pair_rows[in_run], minlength=count),
            refused=_mark(refusal_rows, count),
        ),
        pair_document=pair_rows[in_run],
        pair_subscription=subscription[in_run],
        errors=ErrorColumns(batches[2], document_ids[2], kind, place, message, error_sizes),
        deliveries=len(deliveries),
        delivery_document=delivery_rows[delivery_rows >= 0],
        delivery_subscriber=subscriber[delivery_rows >= 0],
        routes=VersionRoutes(route_subscription, route_version, route_subscriber, xpath)
        if route_paths
        else None,
        strings=strings,
    )


class _DocumentIndex:
    """Finds the row of a document by its key."""

    def __init__(self, batches: Integers, ids: Integers) -> None:
        self._batches = np.unique(batches)
        self._ids = int(ids.max(initial=-1)) + 1
        keys = self._keys(batches, ids)
        self._order = np.argsort(keys, kind="stable")
        self._sorted_keys = keys[self._order]

    def find(self, batches: Integers, ids: Integers) -> Integers:
        """Return the rows of documents; -1 for those that are not in the run."""
        if not len(self._sorted_keys):
            return np.full(len(batches), -1)
        keys = self._keys(batches, ids)
        positions = np.searchsorted(self._sorted_keys, keys)
        positions[positions == len(self._sorted_keys)] = 0
        is_here = (keys >= 0) & (self._sorted_keys[positions] == keys)
        return np.where(is_here, self._order[positions], -1)

    def _keys(self, batches: Integers, ids: Integers) -> Integers:
        """Return one number per key; -1 if the batch or the id is in no document."""
        positions = np.searchsorted(self._batches, batches)
        positions[positions == len(self._batches)] = 0
        is_here = np.isin(batches, self._batches) & (ids >= 0) & (ids < self._ids)
        return np.where(is_here, positions * self._ids + ids, -1)


def _explode(lists: pa.ChunkedArray) -> tuple[Integers, pa.ChunkedArray]:
    """Return the lengths of lists (0 for null), and their values."""
    sizes = _integers(pc.list_value_length(lists))
    return sizes, pc.list_flatten(lists)


def _integers(column: Any) -> Integers:
    """Return numbers; 0 for null."""
    integers: Integers = pc.fill_null(column, 0).to_numpy().astype(np.int64)
    return integers


def _micros(times: pa.ChunkedArray) -> Integers:
    micros: Integers = pc.fill_null(times.cast(pa.int64()), NO_TIME).to_numpy()
    return micros


def _mark(rows: Integers, count: int) -> npt.NDArray[np.bool_]:
    marks = np.zeros(count, np.bool_)
    marks[rows[rows >= 0]] = True
    return marks


def _scatter(rows: Integers, values: Integers, count: int) -> Integers:
    scattered = np.full(count, -1)
    scattered[rows[rows >= 0]] = values[rows >= 0]
    return scattered
