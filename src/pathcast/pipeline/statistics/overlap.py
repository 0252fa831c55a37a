"""How far chosen subscriptions want the same documents, pair by pair.

SemCast derives from its selectivity matrix an overlap matrix, whose entry O_ij is the share of the (weighted) messages of P_j that P_i
matches too: 1 means that, by all that was seen, P_i contains P_j. Here a pair a < b has both entries, `given_a` = O_ba and
`given_b` = O_ab, and Jaccard's share, the documents that both match among those that either does. The rate of what b gets and a does
not, r_(b-a), is that of b times (1 - given_b). Only pairs that met on some document have a row. Entries of a pair are made of
documents that both were asked about: a subscription is not held to what came before it.

Cost: a pass over the ids of all matches, which keeps the chosen ones; then a document that matches k of them makes k (k - 1) / 2
pairs, which are counted before they are sent. k is at most the number chosen, and that is bounded (`settings.MOST_CHOSEN`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.statistics.windows import ratio

__all__ = ["count_single", "overlap", "select_subscriptions"]


def select_subscriptions(windowed_matches: DataFrame, subscriptions: Sequence[str]) -> DataFrame:
    """(batch, document, version, weight, subscriptions): documents that match some of these, with all they match."""
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
    """(subscription, version, documents, weight) of the chosen."""
    pairs = selected.select(F.explode("subscriptions").alias("subscription"), "version", "weight")
    return pairs.groupBy("subscription", "version").agg(
        F.count("*").alias("documents"), F.sum("weight").alias("weight")
    )


def overlap(
    selected: DataFrame, single_counts: DataFrame, subscriptions: DataFrame | None = None
) -> DataFrame:
    """(a, b, both, documents_a, documents_b, jaccard, given_a, given_b): counts of documents, shares by weight.

    `known` is (subscription, version): where it is given, a counts only under versions that have b, and the other way round.
    Shares are null where all documents weigh nothing.
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
    """(subscription, versions, matched): a row for each of the chosen, so few that any worker can have them all."""
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
    )  # known, even if its routes are gone
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
    """What one of a pair matches under the versions that have both."""
    common_entries = F.filter(
        f"matched_{side}", lambda entry: F.array_contains(F.col("common"), entry["version"])
    )
    documents = F.aggregate(
        common_entries, F.lit(0).cast("bigint"), lambda sum, entry: sum + entry["documents"]
    )
    weight = F.aggregate(common_entries, F.lit(0.0), lambda sum, entry: sum + entry["weight"])
    return [documents.alias(f"documents_{side}"), weight.alias(f"weight_{side}")]
