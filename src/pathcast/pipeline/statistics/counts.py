"""Counts of documents by window and by source, and of errors by kind.

`outcomes` has one row per document with the number of its matches: null if it was refused, that is,
has an error without a subscription. The other tables aggregate it. Documents skipped as repeats are
in none of these tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.statistics.windows import WindowAxis

__all__ = ["errors_by_kind", "outcomes", "sources", "totals", "traffic"]

_DOCUMENT_KEY = ["batch", "document"]


def outcomes(documents: DataFrame, matches: DataFrame, errors: DataFrame) -> DataFrame:
    """Return documents with `matches`, the `version` that matched them, and `refused`."""
    match_counts = matches.groupBy(*_DOCUMENT_KEY).agg(
        F.sum(F.size("subscriptions")).alias("matches"), F.first("version").alias("version")
    )
    refused = errors.where("subscriptions is null").select(*_DOCUMENT_KEY).distinct()
    refused = refused.withColumn("refused", F.lit(True))
    return (
        documents.join(match_counts, _DOCUMENT_KEY, "left")
        .join(refused, _DOCUMENT_KEY, "left")
        .withColumn("refused", F.coalesce("refused", F.lit(False)))
    )


def totals() -> list[Column]:
    """Return the aggregates over documents: documents >= read >= matched; matches are pairs."""
    return [
        F.count("*").alias("documents"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
        F.count("matches").alias("read"),
        F.count_if(F.col("matches") > 0).alias("matched"),
        F.coalesce(F.sum("matches"), F.lit(0)).alias("matches"),
        F.count_if("refused").alias("refused"),
    ]


def traffic(
    outcomes: DataFrame, axis: WindowAxis, aggregates: Sequence[Column] | None = None
) -> DataFrame:
    """Return one row per window that has documents: totals, and rates per `axis.unit`.

    `aggregates` replace `totals()` where rows are not single documents.
    """
    table = outcomes.groupBy("window").agg(*(aggregates or totals()))
    return table.select(
        "window",
        axis.start(F.col("window")).alias("start"),
        *(name for name in table.columns if name != "window"),
        (F.col("documents") / axis.window_length).alias("documents_rate"),
        (F.col("bytes") / axis.window_length).alias("bytes_rate"),
    )


def sources(outcomes: DataFrame, aggregates: Sequence[Column] | None = None) -> DataFrame:
    """Return the totals of each source."""
    return outcomes.groupBy("source").agg(*(aggregates or totals()))


def errors_by_kind(errors: DataFrame) -> DataFrame:
    """Return (kind, errors, documents, undecided, example).

    `undecided` counts pairs of document and subscription.
    """
    undecided = F.when(F.col("subscriptions").isNull(), 0).otherwise(F.size("subscriptions"))
    return errors.groupBy("kind").agg(
        F.count("*").alias("errors"),
        F.count_distinct("batch", "document").alias("documents"),
        F.sum(undecided).alias("undecided"),
        F.min(F.struct("document", "place", "message")).alias("example"),
    )
