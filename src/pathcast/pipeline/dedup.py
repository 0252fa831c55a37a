"""Repeated documents: equal bytes, seen again within a window of time.

A document is a repeat when one with the same content was there at most `window` seconds before it, whether that one was itself
a repeat or not: a station that says the same every half minute is heard once, and again when it has been silent for the
window. Time is the document's own; for one without it is that of its batch's plan, so a batch that is run again finds the same repeats.

What is remembered is a table of hashes, one part for each batch; only parts that the window reaches are read.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

__all__ = ["find_repeats", "hashes"]


def hashes(documents: DataFrame, started: float) -> DataFrame:
    """(hash, time, document) of documents that have a body."""
    return documents.where("fault is null").select(
        F.sha2("body", 256).alias("hash"),
        F.coalesce("time", F.timestamp_seconds(F.lit(started))).alias("time"),
        F.col("id").alias("document"),
    )


def find_repeats(
    new_hashes: DataFrame, earlier_hashes: DataFrame | None, window: float
) -> DataFrame:
    """(document, of, time): which of the new are repeats, and of which document."""
    hashes = new_hashes.withColumn("new", F.lit(True))
    if earlier_hashes is not None:
        hashes = hashes.unionByName(earlier_hashes.withColumn("new", F.lit(False)))
    order = Window.partitionBy("hash").orderBy("time", "new", "document")
    gap = F.col("time").cast("double") - F.lag("time").over(order).cast("double")
    return (
        hashes.withColumn("gap", gap)
        .withColumn("of", F.lag("document").over(order))
        .where(F.col("new") & (F.col("gap") <= window))
        .select("document", "of", "time")
    )
