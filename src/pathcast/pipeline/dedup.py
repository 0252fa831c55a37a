"""Deduplication: documents with equal bytes within a time window.

A document is a repeat if a document with the same content is at most `window` seconds older,
whether or not that one was a repeat. A station that sends the same report every half minute is thus
delivered once, and again after a silence longer than the window. Time is the document's own, or
else the time of its batch's plan, so a retried batch finds the same repeats.

The state is the table of hashes; `hash_index` selects the files within reach of the window. A
document that comes more than a window late is compared only with documents within reach.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

__all__ = ["find_repeats", "hashes"]


def hashes(documents: DataFrame, started: float) -> DataFrame:
    """Return (hash, time, document) of the documents that have a body."""
    return documents.where("fault is null").select(
        F.sha2("body", 256).alias("hash"),
        F.coalesce("time", F.timestamp_seconds(F.lit(started))).alias("time"),
        F.col("id").alias("document"),
    )


def find_repeats(
    new_hashes: DataFrame, earlier_hashes: DataFrame | None, window: float
) -> DataFrame:
    """Return (document, of, time): the new documents that are repeats, and what each repeats."""
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
