"""How often documents have the same structure, and what a cache of structures would gain by it.

A broker that keeps, for each tag tree it met, the subscriptions whose structure fits needs no filtering when the tree comes again (Cao,
sections 3.1.2 and 3.5: every weather message has one structure, so that 100% of them hit). Structures are known for a
sample of the documents, chosen by their ids; shares are of the sample.

The rate of hits of a cache with n entries, kept for the n most frequent structures, c_1 >= c_2 >= ... of N sampled documents:

    warm(n) = (c_1 + ... + c_n) / N               the entries are there from the start
    cold(n) = (c_1 - 1 + ... + c_n - 1) / N       each must be met once: the first of its kind is a miss

What holds for documents to come lies between: structures that were met once may never be met again, and `warm` takes
them for repeating. Cost: one row for each distinct structure goes through one task, which ranks them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

__all__ = ["cache_hits", "structures"]


def structures(documents: DataFrame) -> DataFrame:
    """(rank, structure, documents, share, cumulative, first): the most frequent first."""
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
    """(entries, warm, cold): expected shares of hits for caches of these sizes, up to one that holds all structures."""
    document_share = F.col("share") / F.col("documents")  # what a single document is of the sample
    return structures.where(F.col("rank").isin(list(entries)) | (F.col("cumulative") == 1)).select(
        F.col("rank").cast("bigint").alias("entries"),
        F.col("cumulative").alias("warm"),
        (F.col("cumulative") - F.col("rank") * document_share).alias("cold"),
    )
