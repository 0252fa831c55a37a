"""Repeated document structures, and the hit rate of a structure cache.

A broker that caches, per tag tree, the subscriptions whose structure fits need not filter when the
tree recurs (Cao 2012, sections 3.1.2 and 3.5: all weather messages share one structure, so 100%
hit). Structures are known for a sample of the documents, chosen by id; shares refer to the sample.

The hit rate of a cache with the n most frequent structures, of counts c_1 >= c_2 >= ... among N
sampled documents:

    warm(n) = (c_1 + ... + c_n) / N               all entries are present from the start
    cold(n) = (c_1 - 1 + ... + c_n - 1) / N       the first document of each structure misses

The rate for future documents lies between the two: structures seen once may never recur, yet `warm`
counts them as hits. Cost: one row per distinct structure passes through a single task, which ranks
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

__all__ = ["cache_hits", "structures"]


def structures(documents: DataFrame) -> DataFrame:
    """Return (rank, structure, documents, share, cumulative, first), most frequent first."""
    counted = (
        documents.where("structure is not null")
        .groupBy("structure")
        .agg(
            F.count("*").alias("documents"),
            F.min(F.struct("window", "at", "batch", "document")).alias("earliest"),
        )
    )
    order = Window.orderBy(F.desc("documents"), F.asc("structure"))
    up_to_rank = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    all_rows = Window.partitionBy()
    return counted.select(
        F.row_number().over(order).alias("rank"),
        "structure",
        "documents",
        (F.col("documents") / F.sum("documents").over(all_rows)).alias("share"),
        (F.sum("documents").over(up_to_rank) / F.sum("documents").over(all_rows)).alias(
            "cumulative"
        ),
        F.col("earliest.document").alias("first"),
    )


def cache_hits(structures: DataFrame, entries: Sequence[int]) -> DataFrame:
    """Return (entries, warm, cold): hit rates for these sizes, and for one that holds all."""
    document_share = F.col("share") / F.col("documents")  # the share of a single document
    return structures.where(F.col("rank").isin(list(entries)) | (F.col("cumulative") == 1)).select(
        F.col("rank").cast("bigint").alias("entries"),
        F.col("cumulative").alias("warm"),
        (F.col("cumulative") - F.col("rank") * document_share).alias("cold"),
    )
