"""Windows of documents, and weights that decay with age.

Windows are numbered from the epoch, so later jobs find the same ones. Window k of length L has the
documents with floor(time / L) = k, or floor(batch / L) = k where no document has a time. Among
documents with times, one without gets the latest time of its batch, or of the nearest earlier batch
that has one, else of the nearest later batch.

A document in window k weighs decay^(K - k), where K is the newest window with a document, and 0 if
K - k >= kept. Age is measured in time: empty windows age the documents before them too.

>>> axis = WindowAxis("time", 60_000_000, oldest=10, newest=12, decay=0.5)
>>> axis.windows, axis.total_length, axis.total_weight  # 3 windows of 60 s: 1 + 1/2 + 1/4
(3, 180.0, 1.75)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.statistics.settings import StatisticsSettings

__all__ = [
    "DocumentBounds",
    "WindowAxis",
    "assign_windows",
    "choose_axis",
    "join_windows",
    "nearest_times",
    "ratio",
    "window_axis",
]

_MICROS_PER_SECOND: Final = 1_000_000
_TARGET_WINDOWS: Final = 50  # by default
_ROUND_LENGTHS: Final = (
    *(0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200),
    *(86_400, 604_800, 2_592_000, 31_536_000),
)


@dataclass(frozen=True, slots=True)
class WindowAxis:
    """The windows of a run; none without documents. `length` is in microseconds or batches."""

    by: Literal["time", "batch"]
    length: int
    oldest: int = 0
    newest: int = -1
    decay: float = 1.0
    kept: int | None = None
    documents: int = 0

    @property
    def windows(self) -> int:
        """The number of windows from the oldest to the newest, empty ones included."""
        return self.newest - self.oldest + 1

    @property
    def unit(self) -> str:
        """The unit of time of rates."""
        return "second" if self.by == "time" else "batch"

    @property
    def window_length(self) -> float:
        """The length of a window, in units."""
        return self.length / _MICROS_PER_SECOND if self.by == "time" else float(self.length)

    @property
    def total_length(self) -> float:
        """The length of all windows, in units."""
        return self.windows * self.window_length

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all windows, empty ones included: divides recent rates."""
        counted = self.windows if self.kept is None else min(self.windows, self.kept)
        if self.decay == 1:
            return float(counted)
        return (1 - self.decay**counted) / (1 - self.decay)

    def window(self, at: Column, batch: Column) -> Column:
        """Return the window number of a document."""
        position = F.unix_micros(at) if self.by == "time" else batch.cast("bigint")
        length = F.lit(self.length).cast("bigint")
        # Integer arithmetic: a double could round across a window's boundary.
        return ((position - F.pmod(position, length)) / length).cast("bigint")

    def weight(self, window: Column) -> Column:
        """Return the weight of a document in that window."""
        age = F.lit(self.newest) - window
        weight = F.pow(F.lit(self.decay), age.cast("double"))
        return weight if self.kept is None else F.when(age < self.kept, weight).otherwise(0.0)

    def start(self, window: Column) -> Column:
        """Return when a window begins; null if windows consist of batches."""
        if self.by == "batch":
            return F.lit(None).cast("timestamp")
        return F.timestamp_micros(window * F.lit(self.length))


def window_axis(documents: DataFrame, settings: StatisticsSettings) -> WindowAxis:
    """Return the windows of documents, from one pass over their times."""
    micros = F.unix_micros("time")
    batch = F.col("batch").cast("bigint")
    bounds = documents.agg(
        F.count("*").alias("documents"),
        F.min(micros).alias("first"),
        F.max(micros).alias("last"),
        F.min(batch).alias("first_batch"),
        F.max(batch).alias("last_batch"),
    ).first()
    assert bounds is not None
    return choose_axis(DocumentBounds(**bounds.asDict()), settings)


class DocumentBounds(NamedTuple):
    """The number of documents, and the extremes of their times (in microseconds) and batches."""

    documents: int
    first: int | None
    last: int | None
    first_batch: int | None
    last_batch: int | None


def choose_axis(bounds: DocumentBounds, settings: StatisticsSettings) -> WindowAxis:
    """Return the windows of documents with these bounds."""
    timed = bounds.first is not None
    if settings.by == "time" and bounds.documents and not timed:
        raise PipelineError(
            "settings", "no document has a time", hint="make windows of batches instead"
        )
    by: Literal["time", "batch"] = "time" if settings.by != "batch" and timed else "batch"
    first, last = (
        (bounds.first, bounds.last) if by == "time" else (bounds.first_batch, bounds.last_batch)
    )
    if first is None or last is None:
        length = _length(by, settings.window, 0)
        return WindowAxis(by, length, decay=settings.decay, kept=settings.kept)
    length = _length(by, settings.window, last - first)
    return WindowAxis(
        by,
        length,
        first // length,
        last // length,
        settings.decay,
        settings.kept,
        bounds.documents,
    )


def _length(by: str, window: float | None, span: int) -> int:
    if by == "batch":
        return math.ceil((span + 1) / _TARGET_WINDOWS if window is None else window)
    if window is None:
        seconds = span / _MICROS_PER_SECOND / _TARGET_WINDOWS if span else 1.0
        window = next((nice for nice in _ROUND_LENGTHS if nice >= seconds), math.ceil(seconds))
    return max(1, round(window * _MICROS_PER_SECOND))


def assign_windows(documents: DataFrame, axis: WindowAxis) -> DataFrame:
    """Add `at` (the document's time, or the nearest known one), `window` and `weight`."""
    timed = documents.withColumn("at", F.col("time"))
    if axis.by == "time":
        latest = documents.groupBy("batch").agg(F.max("time").alias("latest"))
        timed = timed.join(F.broadcast(nearest_times(latest)), "batch")
        timed = timed.withColumn("at", F.coalesce("time", "near")).drop("near")
    return timed.withColumn("window", axis.window(F.col("at"), F.col("batch"))).withColumn(
        "weight", axis.weight(F.col("window"))
    )


def nearest_times(latest: DataFrame) -> DataFrame:
    """Return (batch, near): the latest time of a batch, or of the nearest one that has one.

    `latest` is (batch, latest).
    """
    order = Window.orderBy("batch")  # in one task, with one row per batch
    before = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    after = order.rowsBetween(Window.currentRow, Window.unboundedFollowing)
    return latest.select(
        "batch",
        F.coalesce(
            F.last("latest", ignorenulls=True).over(before),
            F.first("latest", ignorenulls=True).over(after),
        ).alias("near"),
    )


def join_windows(matches: DataFrame, documents: DataFrame) -> DataFrame:
    """Join matches with the windows of their documents; the input of subscription statistics.

    `documents` are small and `matches` large: the caller decides whether to broadcast the former.
    """
    windows = documents.select("batch", "document", "at", "window", "weight", "bytes")
    return matches.join(windows, ["batch", "document"])


def ratio(part: Column, total: Column) -> Column:
    """Return a share of weights, null if the total is 0; at most 1 despite rounding of sums."""
    share = F.try_divide(part, total)
    return F.when(share > 1, 1.0).otherwise(share)
