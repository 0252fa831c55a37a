"""Which window a document is in, and what it weighs.

Windows are numbered from the epoch, so that a later job finds the same ones: window k of length L has the documents with
floor(time / L) = k, or, where no document has a time, floor(batch / L) = k. A document without a time among
documents that have one gets the latest time of its batch, or of the nearest batch before it that has one, or after it.

A document in window k weighs decay^(K - k), K being the newest window that has a document, and nothing if K - k >= kept. Ages go by the
clock: an empty window holds nothing that could count, and what came before it has aged by it all the same.

>>> axis = WindowAxis("time", 60_000_000, oldest=10, newest=12, decay=0.5)
>>> axis.windows, axis.total_length, axis.total_weight   # 3 windows of 60 s, weighing 1 + 1/2 + 1/4
(3, 180.0, 1.75)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.statistics.settings import StatisticsSettings

__all__ = ["WindowAxis", "assign_windows", "join_windows", "ratio", "window_axis"]

_MICROS_PER_SECOND: Final = 1_000_000
_TARGET_WINDOWS: Final = 50  # windows, if nobody says how long they are
_ROUND_LENGTHS: Final = (
    *(0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200),
    *(86_400, 604_800, 2_592_000, 31_536_000),
)


@dataclass(frozen=True, slots=True)
class WindowAxis:
    """The windows of a run. `length` is in microseconds, or in batches; without documents there is no window."""

    by: Literal["time", "batch"]
    length: int
    oldest: int = 0
    newest: int = -1
    decay: float = 1.0
    kept: int | None = None
    documents: int = 0

    @property
    def windows(self) -> int:
        """From the oldest to the newest, empty ones included."""
        return self.newest - self.oldest + 1

    @property
    def unit(self) -> str:
        """What rates are per."""
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
        """The weights of all windows, empty ones included: what a fading rate is divided by."""
        counted = self.windows if self.kept is None else min(self.windows, self.kept)
        if self.decay == 1:
            return float(counted)
        return (1 - self.decay**counted) / (1 - self.decay)

    def window(self, at: Column, batch: Column) -> Column:
        """The number of the window of a document."""
        place = F.unix_micros(at) if self.by == "time" else batch.cast("bigint")
        length = F.lit(self.length).cast("bigint")
        # Whole numbers all the way: a double may round across the border.
        return ((place - F.pmod(place, length)) / length).cast("bigint")

    def weight(self, window: Column) -> Column:
        """The weight of a document in that window."""
        age = F.lit(self.newest) - window
        weight = F.pow(F.lit(self.decay), age.cast("double"))
        return weight if self.kept is None else F.when(age < self.kept, weight).otherwise(0.0)

    def start(self, window: Column) -> Column:
        """When a window begins; null where windows are made of batches."""
        if self.by == "batch":
            return F.lit(None).cast("timestamp")
        return F.timestamp_micros(window * F.lit(self.length))


def window_axis(documents: DataFrame, settings: StatisticsSettings) -> WindowAxis:
    """The windows that documents fall into; one pass over their times."""
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
    timed = bounds["first"] is not None
    if settings.by == "time" and bounds["documents"] and not timed:
        raise PipelineError(
            "settings", "no document has a time", hint="make windows of batches instead"
        )
    by: Literal["time", "batch"] = "time" if settings.by != "batch" and timed else "batch"
    first, last = (
        (bounds["first"], bounds["last"])
        if by == "time"
        else (bounds["first_batch"], bounds["last_batch"])
    )
    length = _length(by, settings.window, 0 if first is None else last - first)
    if first is None:
        return WindowAxis(by, length, decay=settings.decay, kept=settings.kept)
    return WindowAxis(
        by,
        length,
        first // length,
        last // length,
        settings.decay,
        settings.kept,
        bounds["documents"],
    )


def _length(by: str, window: float | None, span: int) -> int:
    if by == "batch":
        return math.ceil((span + 1) / _TARGET_WINDOWS if window is None else window)
    if window is None:
        seconds = span / _MICROS_PER_SECOND / _TARGET_WINDOWS if span else 1.0
        window = next((nice for nice in _ROUND_LENGTHS if nice >= seconds), math.ceil(seconds))
    return max(1, round(window * _MICROS_PER_SECOND))


def assign_windows(documents: DataFrame, axis: WindowAxis) -> DataFrame:
    """Documents with `at` (their time, or the nearest known one), `window` and `weight`."""
    timed = documents.withColumn("at", F.col("time"))
    if axis.by == "time":
        latest = documents.groupBy("batch").agg(F.max("time").alias("latest"))
        order = Window.orderBy("batch")  # one task; there is a row for each batch
        before = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        after = order.rowsBetween(Window.currentRow, Window.unboundedFollowing)
        nearest = latest.select(
            "batch",
            F.coalesce(
                F.last("latest", ignorenulls=True).over(before),
                F.first("latest", ignorenulls=True).over(after),
            ).alias("near"),
        )
        timed = timed.join(F.broadcast(nearest), "batch")
        timed = timed.withColumn("at", F.coalesce("time", "near")).drop("near")
    return timed.withColumn("window", axis.window(F.col("at"), F.col("batch"))).withColumn(
        "weight", axis.weight(F.col("window"))
    )


def join_windows(matches: DataFrame, documents: DataFrame) -> DataFrame:
    """Matches with the place of their documents: what statistics of subscriptions are made of.

    `documents` are few and `matches` long: it is for the caller to say that the former may be broadcast.
    """
    windows = documents.select("batch", "document", "at", "window", "weight", "bytes")
    return matches.join(windows, ["batch", "document"])


def ratio(part: Column, total: Column) -> Column:
    """A share of weights: at most 1, which sums in another order may exceed by a hair; null if the whole weighs nothing."""
    share = F.try_divide(part, total)
    return F.when(share > 1, 1.0).otherwise(share)
