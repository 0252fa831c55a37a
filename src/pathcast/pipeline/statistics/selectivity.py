"""How selective a subscription is: the share of documents that match it, newer ones counting for more.

SemCast keeps a matrix with a row for each message of a sliding window and a column for each profile; rows have weights, which decay
as newer messages come in (Papaemmanouil and Cetintemel, section 3.2.1). With the weights of `windows`,

    selectivity(s) = sum of w(d) over documents d that match s / sum of w(d) over documents d that s was asked about
                   = sum over windows k of decay^(K-k) m(s,k)  /  sum over windows k of decay^(K-k) n(s,k)

where n(s,k) counts the documents of window k whose version has s, and m(s,k) those that match. A window without documents adds
nothing to either sum; one with many documents counts for more than one with few, as each message is a row. So a
subscription that came yesterday is measured by what came since. A document that was refused is asked nothing.

Cost: one pass over the ids of all matches, summed by subscription before anything is sent; those sums, not the matches, are what
travels. The table has a row for each subscription.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.statistics.windows import WindowAxis, ratio

__all__ = [
    "MAX_RECENT_WINDOWS",
    "least_matching",
    "most_matching",
    "selectivity",
    "silent_subscriptions",
]

MAX_RECENT_WINDOWS: Final = 64
"""Among how many of the newest windows those are counted in which a subscription matched: the bits of a number."""


def selectivity(
    windowed_matches: DataFrame,
    read: DataFrame,
    axis: WindowAxis,
    subscriptions: DataFrame | None = None,
) -> DataFrame:
    """(subscription, matched, documents, share, selectivity, windows, since, first, last).

    `read` has a row for each document that was matched against something, with its `version`, `weight` and `at`.
    `known` is (subscription, version); without it only subscriptions that matched are listed, and all
    documents count as asked about. `selectivity` is null where no document that counts was asked about it.
    """
    counts = _match_counts(windowed_matches, axis)
    version_counts = _version_counts(read)
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
            "*", "cast(null as bigint) documents", "cast(null as double) mass", "null since"
        )
    # A subscription that matched is known, even if its routes are gone.
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
    )


def _match_counts(windowed_matches: DataFrame, axis: WindowAxis) -> DataFrame:
    # One key and a few numbers: what has a key for each window as well hardly shrinks where matches are rare.
    age = F.lit(axis.newest) - F.col("window")
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), age.cast("int"))
    recent = F.when(age < MAX_RECENT_WINDOWS, bit).otherwise(0)
    return (
        windowed_matches.select(
            F.explode("subscriptions").alias("subscription"), "window", "weight", "at"
        )
        .groupBy("subscription")
        .agg(
            F.count("*").alias("matched"),
            F.sum("weight").alias("weight"),
            F.bit_count(F.bit_or(recent)).alias("windows"),
            F.min("at").alias("first"),
            F.max("at").alias("last"),
        )
    )


def _version_counts(read: DataFrame) -> DataFrame:
    """(version, documents, mass, since)."""
    return read.groupBy("version").agg(
        F.count("*").alias("documents"),
        F.sum("weight").alias("mass"),
        F.min("at").alias("since"),
    )


def _documents_per_subscription(subscriptions: DataFrame, version_counts: DataFrame) -> DataFrame:
    """(subscription, documents, mass, since): 0 documents for one whose versions never met any."""
    return (
        subscriptions.select("subscription", "version")
        .join(F.broadcast(version_counts), "version", "left")
        .groupBy("subscription")
        .agg(
            F.coalesce(F.sum("documents"), F.lit(0)).alias("documents"),
            F.coalesce(F.sum("mass"), F.lit(0.0)).alias("mass"),
            F.min("since").alias("since"),
        )
    )


def most_matching(selectivity: DataFrame, n: int) -> DataFrame:
    """The n subscriptions that match the largest share of documents."""
    order = [F.desc_nulls_last("selectivity"), F.desc("matched"), F.asc("subscription")]
    return selectivity.where("matched > 0").orderBy(*order).limit(n)


def least_matching(selectivity: DataFrame, n: int) -> DataFrame:
    """The n subscriptions that match the smallest share of documents, but some."""
    order = [F.asc_nulls_last("selectivity"), F.asc("matched"), F.asc("subscription")]
    return selectivity.where("matched > 0").orderBy(*order).limit(n)


def silent_subscriptions(selectivity: DataFrame) -> DataFrame:
    """The subscriptions that matched nothing: those that were asked about most documents come first."""
    silent = selectivity.where("matched = 0")
    return silent.orderBy(F.desc("documents"), F.asc("subscription"))
