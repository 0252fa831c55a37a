"""Statistics from the partials that batches wrote (`pathcast.pipeline.partials`).

A partial counts documents of one hour. So its rows give the exact statistics for windows of whole
hours. They also do for windows of batches, and for documents without a time, as long as no batches
were compacted: a compacted row is of several batches. Everything else comes from the tables, and so
do overlap and structures, which are about single documents.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.partials import HOUR_MICROS, SUMS
from pathcast.pipeline.statistics.tables import RunTables
from pathcast.pipeline.statistics.windows import WindowAxis, nearest_times

__all__ = [
    "deliveries_by_window",
    "documents_in_partials",
    "partial_sums",
    "version_counts",
    "windowed_pairs",
    "windowed_partials",
]


def windowed_partials(tables: RunTables, axis: WindowAxis) -> DataFrame | None:
    """Return the partials with `window` and `weight`; None if they are not exact for this axis."""
    partials = tables.partials
    if partials is None:
        return None
    if axis.by == "batch":
        if tables.compacted:
            return None
        return _add_windows(partials, F.col("first"), axis)
    if axis.length % HOUR_MICROS:
        return None
    at = F.timestamp_micros(F.col("hour") * HOUR_MICROS)
    if partials.where("hour is null").isEmpty():
        return _add_windows(partials, at, axis)
    if tables.compacted:
        return None
    latest = documents_in_partials(partials).groupBy("batch").agg(F.max("last").alias("latest"))
    timed = partials.join(F.broadcast(nearest_times(latest)), "batch", "left")
    for name in ("first", "last"):
        timed = timed.withColumn(name, F.coalesce(name, "near"))
    return _add_windows(timed, F.coalesce(at, F.col("near")), axis)


def _add_windows(partials: DataFrame, at: Column, axis: WindowAxis) -> DataFrame:
    return partials.withColumn("window", axis.window(at, F.col("batch"))).withColumn(
        "weight", axis.weight(F.col("window"))
    )


def partial_sums() -> list[Column]:
    """Return the aggregates over partials of documents; those of `counts.totals`."""
    return [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in SUMS]


def documents_in_partials(partials: DataFrame) -> DataFrame:
    """Return the partials of documents, with their `source`."""
    return partials.where("kind = 'document'").withColumn("source", F.col("key"))


def windowed_pairs(partials: DataFrame) -> DataFrame:
    """Return (subscription, documents, window, weight, first, last) of matches."""
    return partials.where("kind = 'match'").withColumn("subscription", F.col("key"))


def version_counts(partials: DataFrame) -> DataFrame:
    """Return (version, documents, mass, since) of the documents read."""
    return (
        documents_in_partials(partials)
        .where("version is not null")
        .groupBy("version")
        .agg(
            F.sum("read").alias("documents"),
            F.sum(F.col("read") * F.col("weight")).alias("mass"),
            F.min("first").alias("since"),
        )
    )


def deliveries_by_window(partials: DataFrame) -> DataFrame:
    """Return (group, window, documents, bytes), with subscribers as groups."""
    return (
        partials.where("kind = 'delivery'")
        .groupBy(F.col("key").alias("group"), "window")
        .agg(F.sum("documents").alias("documents"), F.sum("bytes").alias("bytes"))
    )
