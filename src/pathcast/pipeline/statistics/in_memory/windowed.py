"""Windows and weights of documents in memory, and aggregates by group; see `windows`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathcast.pipeline.statistics.in_memory.columns import Floats, Integers
from pathcast.pipeline.statistics.in_memory.small_run import NO_TIME, DocumentColumns
from pathcast.pipeline.statistics.settings import StatisticsSettings
from pathcast.pipeline.statistics.windows import DocumentBounds, WindowAxis, choose_axis

__all__ = [
    "WindowedDocuments",
    "assign_windows",
    "divide",
    "extreme",
    "ratio",
    "start_times",
    "sum_by",
    "times",
    "weigh_by",
    "weights",
]


@dataclass(frozen=True, slots=True)
class WindowedDocuments:
    """The windows of the documents of a run, in their order."""

    axis: WindowAxis
    at: Integers
    """The document's time, or the nearest one if windows are of time; microseconds or `NO_TIME`."""
    window: Integers
    numbers: Integers
    """The windows that have documents, in order."""
    index: Integers
    """The position of the document's window in `numbers`."""
    weight: Floats


def assign_windows(documents: DocumentColumns, settings: StatisticsSettings) -> WindowedDocuments:
    """Choose the windows, and put every document into its own."""
    timed = documents.time[documents.time != NO_TIME]
    bounds = DocumentBounds(
        len(documents),
        *_bounds(timed),
        *_bounds(documents.batch),
    )
    axis = choose_axis(bounds, settings)
    at = _nearest_times(documents) if axis.by == "time" else documents.time
    window = (at if axis.by == "time" else documents.batch) // axis.length
    numbers, index = np.unique(window, return_inverse=True)
    return WindowedDocuments(axis, at, window, numbers, index, weights(axis, window))


def _bounds(values: Integers) -> tuple[int | None, int | None]:
    return (int(values.min()), int(values.max())) if len(values) else (None, None)


def _nearest_times(documents: DocumentColumns) -> Integers:
    """Return times, with that of the nearest batch (`windows`) where there is none."""
    batches, index = np.unique(documents.batch, return_inverse=True)
    latest = np.full(len(batches), NO_TIME)
    np.maximum.at(latest, index, documents.time)
    timed = np.flatnonzero(latest != NO_TIME)
    before = np.searchsorted(timed, np.arange(len(batches)), side="right") - 1
    nearest = latest[timed[np.maximum(before, 0)]]
    return np.where(documents.time == NO_TIME, nearest[index], documents.time)


def weights(axis: WindowAxis, window: Integers) -> Floats:
    """Return the weights of documents in windows."""
    age = axis.newest - window
    weight: Floats = np.power(axis.decay, age.astype(np.float64))
    return weight if axis.kept is None else np.where(age < axis.kept, weight, 0.0)


def start_times(axis: WindowAxis, window: Integers) -> pa.Array:
    """Return when windows begin; null if they consist of batches."""
    if axis.by == "batch":
        return pa.nulls(len(window), pa.timestamp("us", tz="UTC"))
    return times(window * axis.length)


def times(micros: Integers) -> pa.Array:
    """Return timestamps; null for `NO_TIME`."""
    return pa.array(micros, pa.int64(), mask=micros == NO_TIME).cast(pa.timestamp("us", tz="UTC"))


def sum_by(groups: Integers, values: npt.NDArray[Any], count: int) -> Integers:
    """Return the sums of integers by group; exact up to 2^53."""
    return np.bincount(groups, weights=values, minlength=count).astype(np.int64)


def weigh_by(groups: Integers, values: Floats, count: int) -> Floats:
    """Return the sums of weights by group."""
    return np.bincount(groups, weights=values, minlength=count).astype(np.float64)


def extreme(
    which: Literal["first", "last"], groups: Integers, micros: Integers, count: int
) -> Integers:
    """Return the first or the last time of each group; `NO_TIME` if it has none."""
    timed = micros != NO_TIME
    if which == "last":
        last = np.full(count, NO_TIME)
        np.maximum.at(last, groups[timed], micros[timed])
        return last
    none = np.iinfo(np.int64).max
    first = np.full(count, none)
    np.minimum.at(first, groups[timed], micros[timed])
    return np.where(first == none, NO_TIME, first)


def divide(part: npt.NDArray[Any], total: npt.NDArray[Any]) -> pa.Array:
    """Return quotients; null where the total is 0."""
    is_zero = total == 0
    return pa.array(part / np.where(is_zero, 1, total), mask=is_zero)


def ratio(part: Floats, total: Floats) -> pa.Array:
    """Return shares of weights; null where the total is 0, at most 1 despite rounding of sums."""
    is_zero = total == 0
    return pa.array(np.minimum(part / np.where(is_zero, 1, total), 1.0), mask=is_zero)
