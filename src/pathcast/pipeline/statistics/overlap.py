"""Pairwise overlap of selected subscriptions: how many documents they have in common.

SemCast (2004) derives an overlap matrix from its selectivity matrix. Entry O_ij is the share of the
(weighted) messages of P_j that P_i matches too; 1 suggests that P_i contains P_j. Here a pair a < b
has both entries, `given_a` = O_ba and `given_b` = O_ab, and the Jaccard index: documents that both
match among those that either matches. The rate of what b receives and a does not, r_(b-a), is that
of b times (1 - given_b). Only pairs with a common document have a row. A pair is compared on
documents that were matched against both, so a subscription is not judged by documents before it
existed.

Cost: one pass over the ids of all matches, which keeps the selected ones. A document that matches k
of them yields k (k - 1) / 2 pairs, aggregated before the shuffle; k is bounded by
`settings.MAX_COMPARED`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.statistics.windows import ratio

__all__ = ["count_single", "overlap", "select_subscriptions"]


def select_subscriptions(windowed_matches: DataFrame, subscriptions: Sequence[str]) -> DataFrame:
    """Return (batch, document, version, weight, subscriptions).

    Keep documents that match some of the selected subscriptions, with all of these that match.
    """
    ids = F.lit(sorted(set(subscriptions))) if subscriptions else F.array()
    parts = windowed_matches.select(
        "batch",
        "document",
        "version",
        "weight",
        F.array_intersect("subscriptions", ids.cast("array<string>")).alias("part"),
    ).where(F.size("part") > 0)
    return parts.groupBy("batch", "document", "version").agg(
        F.first("weight").alias("weight"),
        F.sort_array(F.flatten(F.collect_list("part"))).alias("subscriptions"),
    )


def count_single(selected: DataFrame) -> DataFrame:
    """Return (subscription, version, documents, weight) of the selected subscriptions."""
    pairs = selected.select(F.explode("subscriptions").alias("subscription"), "version", "weight")
    return pairs.groupBy("subscription", "version").agg(
        F.count("*").alias("documents"), F.sum("weight").alias("weight")
    )


def overlap(
    selected: DataFrame, single_counts: DataFrame, subscriptions: DataFrame | None = None
) -> DataFrame:
    """Return (a, b, both, documents_a, documents_b, jaccard, given_a, given_b).

    Counts are numbers of documents, shares are by weight, and null if all weights are 0.
    `subscriptions` is (subscription, version): with it, a counts only under versions that have b,
    and vice versa.
    """
    pairs = (
        selected.where(F.size("subscriptions") > 1)
        .select("weight", "subscriptions", F.explode("subscriptions").alias("a"))
        .select(
            "a",
            F.explode(F.filter("subscriptions", lambda other: other > F.col("a"))).alias("b"),
            "weight",
        )
        .groupBy("a", "b")
        .agg(F.count("*").alias("both"), F.sum("weight").alias("weight"))
    )
    counts = _versions_and_counts(single_counts, subscriptions)
    with_counts = (
        pairs.join(F.broadcast(_with_suffix(counts, "a")), "a")
        .join(F.broadcast(_with_suffix(counts, "b")), "b")
        .withColumn("common", F.array_intersect("versions_a", "versions_b"))
        .select("a", "b", "both", "weight", *_under_common("a"), *_under_common("b"))
    )
    weight, either = F.col("weight"), F.col("weight_a") + F.col("weight_b") - F.col("weight")
    return with_counts.select(
        "a",
        "b",
        "both",
        "documents_a",
        "documents_b",
        ratio(weight, either).alias("jaccard"),
        ratio(weight, F.col("weight_a")).alias("given_a"),
        ratio(weight, F.col("weight_b")).alias("given_b"),
    )


def _versions_and_counts(single_counts: DataFrame, subscriptions: DataFrame | None) -> DataFrame:
    """Return (subscription, versions, matched) of the selected subscriptions; small enough to
    broadcast.
    """
    matched = single_counts.groupBy("subscription").agg(
        F.collect_list(F.struct("version", "documents", "weight")).alias("matched")
    )
    if subscriptions is None:
        all_versions = single_counts.agg(F.collect_set("version").alias("versions"))
        return matched.crossJoin(F.broadcast(all_versions))
    versions = (
        subscriptions.join(F.broadcast(matched.select("subscription")), "subscription")
        .groupBy("subscription")
        .agg(F.collect_set("version").alias("asked"))
    )
    matched_versions = F.transform(
        "matched", lambda entry: entry["version"]
    )  # include them even if their routes are gone
    return matched.join(versions, "subscription", "left").select(
        "subscription",
        "matched",
        F.array_union(F.coalesce("asked", F.array()), matched_versions).alias("versions"),
    )


def _with_suffix(counts: DataFrame, side: str) -> DataFrame:
    return counts.select(
        F.col("subscription").alias(side),
        F.col("versions").alias(f"versions_{side}"),
        F.col("matched").alias(f"matched_{side}"),
    )


def _under_common(side: str) -> list[Column]:
    """Sum the matches of one side under the versions that have both subscriptions."""
    common_entries = F.filter(
        f"matched_{side}", lambda entry: F.array_contains(F.col("common"), entry["version"])
    )
    documents = F.aggregate(
        common_entries, F.lit(0).cast("bigint"), lambda sum, entry: sum + entry["documents"]
    )
    weight = F.aggregate(common_entries, F.lit(0.0), lambda sum, entry: sum + entry["weight"])
    return [documents.alias(f"documents_{side}"), weight.alias(f"weight_{side}")]
