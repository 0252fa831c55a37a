"""Selectivity of subscriptions: the share of documents that match, weighted by recency.

SemCast (2004, section 3.2.1) keeps a matrix with a row per message of a sliding window and a column
per profile; the weights of rows decay as newer messages arrive. With the weights of `windows`,

    selectivity(s) = sum of w(d) over documents d that match s
                     / sum of w(d) over documents d that were matched against s
                   = sum over windows k of decay^(K-k) m(s,k)
                     / sum over windows k of decay^(K-k) n(s,k)

where n(s,k) counts the documents of window k whose version has s, and m(s,k) those that match. An
empty window adds nothing to either sum; a window with many documents counts more than one with few,
as each message is a row. A subscription added yesterday is thus measured by the documents since.
Refused documents do not count.

Cost: one pass over the ids of all matches, aggregated by subscription before the shuffle. The table
has one row per subscription.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.statistics.windows import WindowAxis, ratio

__all__ = [
    "MAX_RECENT_WINDOWS",
    "selectivity",
    "selectivity_of_counts",
]

MAX_RECENT_WINDOWS: Final = 64
"""The newest windows in which matches are counted as `windows`: the bits of a bigint."""


def selectivity(
    windowed_matches: DataFrame,
    read: DataFrame,
    axis: WindowAxis,
    subscriptions: DataFrame | None = None,
) -> DataFrame:
    """Return (subscription, matched, documents, share, selectivity, windows, since, first, last,
    xpath).

    `read` has one row per document that was matched, with its `version`, `weight` and `at`.
    `subscriptions` is (subscription, version, xpath); without it only subscriptions with a match
    are listed, and all documents count for each. `selectivity` is null if no document with a
    weight counts.
    """
    pairs = windowed_matches.select(
        F.explode("subscriptions").alias("subscription"),
        *("window", "weight"),
        F.lit(1).alias("documents"),
        F.col("at").alias("first"),
        F.col("at").alias("last"),
    )
    version_counts = read.groupBy("version").agg(
        F.count("*").alias("documents"),
        F.sum("weight").alias("mass"),
        F.min("at").alias("since"),
    )
    return selectivity_of_counts(pairs, version_counts, axis, subscriptions)


def selectivity_of_counts(
    pairs: DataFrame,
    version_counts: DataFrame,
    axis: WindowAxis,
    subscriptions: DataFrame | None = None,
) -> DataFrame:
    """Return what `selectivity` returns.

    `pairs` is (subscription, documents, window, weight, first, last), with any number of rows per
    subscription; `version_counts` is (version, documents, mass, since) of the documents read.
    """
    counts = _match_counts(pairs, axis)
    totals = version_counts.agg(
        F.sum("documents").alias("all_documents"),
        F.sum("mass").alias("all_mass"),
        F.min("since").alias("all_since"),
    )
    if subscriptions is not None:
        counts = counts.join(
            _documents_per_subscription(subscriptions, version_counts), "subscription", "full_outer"
        )
    else:
        counts = counts.selectExpr(
            "*",
            "cast(null as bigint) documents",
            "cast(null as double) mass",
            "null since",
            "cast(null as string) xpath",
        )
    # A matching subscription is listed even if its routes are gone.
    total = counts.crossJoin(F.broadcast(totals)).select(
        "subscription",
        F.coalesce("matched", F.lit(0)).alias("matched"),
        F.coalesce("documents", "all_documents", F.lit(0)).alias("documents"),
        F.coalesce("weight", F.lit(0.0)).alias("weight"),
        F.coalesce("mass", "all_mass").alias("mass"),
        F.coalesce("windows", F.lit(0)).alias("windows"),
        F.coalesce("since", "all_since").alias("since"),
        "first",
        "last",
        "xpath",
    )
    return total.select(
        "subscription",
        "matched",
        "documents",
        F.try_divide("matched", "documents").alias("share"),
        ratio(F.col("weight"), F.col("mass")).alias("selectivity"),
        "windows",
        "since",
        "first",
        "last",
        "xpath",
    )


def _match_counts(pairs: DataFrame, axis: WindowAxis) -> DataFrame:
    # Group by subscription alone: with the window as a second key, partial aggregation would hardly
    # reduce rare matches.
    age = F.lit(axis.newest) - F.col("window")
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), age.cast("int"))
    recent = F.when(age < MAX_RECENT_WINDOWS, bit).otherwise(0)
    return pairs.groupBy("subscription").agg(
        F.sum("documents").alias("matched"),
        F.sum(F.col("weight") * F.col("documents")).alias("weight"),
        F.bit_count(F.bit_or(recent)).alias("windows"),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
    )


def _documents_per_subscription(subscriptions: DataFrame, version_counts: DataFrame) -> DataFrame:
    """Return (subscription, documents, mass, since, xpath); 0 documents if its versions matched
    none.

    An id whose expression changed has that of one of its versions.
    """
    return (
        subscriptions.select("subscription", "version", "xpath")
        .join(F.broadcast(version_counts), "version", "left")
        .groupBy("subscription")
        .agg(
            F.coalesce(F.sum("documents"), F.lit(0)).alias("documents"),
            F.coalesce(F.sum("mass"), F.lit(0.0)).alias("mass"),
            F.min("since").alias("since"),
            F.max("xpath").alias("xpath"),
        )
    )
