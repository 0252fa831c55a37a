"""Delivery rates per group: documents and bytes per unit of time, average, recent and peak.

A group is a subscriber, or given by a table (subscription, group): a channel, a broker. A document
counts once per group, however many of its subscriptions match. Over the windows from the oldest to
the newest, empty ones included,

    rate   = documents / (windows x length)
    recent = sum over k of decay^(K-k) documents(k) / (length x sum over k of decay^(K-k))
    peak   = documents of the group's fullest window / length

with seconds as the unit, or batches where documents have no times. The peak is at least the rate.

Cost: deliveries are (document, subscriber) pairs already, so subscribers need no pass over ids.
Other groups need that pass, and a shuffle of the distinct (document, group) pairs.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pathcast.pipeline.statistics.windows import WindowAxis

__all__ = ["group_pairs", "rates", "rates_by_window", "subscriber_pairs"]


def subscriber_pairs(deliveries: DataFrame, documents: DataFrame) -> DataFrame:
    """Return (group, window, bytes) of every delivery, with subscribers as groups."""
    windows = documents.select("batch", "document", "window", "bytes")
    pairs = deliveries.select("batch", "document", F.col("subscriber").alias("group"))
    return pairs.join(windows, ["batch", "document"]).select("group", "window", "bytes")


def group_pairs(windowed_matches: DataFrame, groups: DataFrame | None = None) -> DataFrame:
    """Return (group, window, bytes) of every document for every group with a matching subscription.

    `groups` is (subscription, group), with a `version` if groups differ by version; without it each
    subscription is a group.
    """
    matches = windowed_matches.select(
        "batch",
        "document",
        "version",
        "window",
        "bytes",
        F.explode("subscriptions").alias("subscription"),
    )
    if groups is None:  # ids are unique per document
        return matches.select(F.col("subscription").alias("group"), "window", "bytes")
    keys = ["subscription", "version"] if "version" in groups.columns else ["subscription"]
    pairs = matches.join(groups.select(*keys, "group"), keys)
    pairs = pairs.select("batch", "document", "group", "window", "bytes").distinct()
    return pairs.select("group", "window", "bytes")


def rates(pairs: DataFrame, axis: WindowAxis) -> DataFrame:
    """Return one row per group: totals, rates per `axis.unit`, and the first of its fullest
    windows.
    """
    by_window = pairs.groupBy("group", "window").agg(
        F.count("*").alias("documents"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
    )
    return rates_by_window(by_window, axis)


def rates_by_window(by_window: DataFrame, axis: WindowAxis) -> DataFrame:
    """Return what `rates` returns, from (group, window, documents, bytes)."""
    weight = axis.weight(F.col("window"))
    peak_key = F.struct("documents", (-F.col("window")).alias("earlier"), "window", "bytes")
    totals = by_window.groupBy("group").agg(
        F.sum("documents").alias("documents"),
        F.sum("bytes").alias("bytes"),
        F.count("*").alias("windows"),
        F.sum(F.col("documents") * weight).alias("recent_documents"),
        F.sum(F.col("bytes") * weight).alias("recent_bytes"),
        F.max(peak_key).alias("peak"),
    )
    recent_length = axis.total_weight * axis.window_length
    return totals.select(
        "group",
        "documents",
        "bytes",
        "windows",
        _per("documents", axis.total_length).alias("documents_rate"),
        _per("bytes", axis.total_length).alias("bytes_rate"),
        _per("recent_documents", recent_length).alias("recent_documents_rate"),
        _per("recent_bytes", recent_length).alias("recent_bytes_rate"),
        F.col("peak.window").alias("peak_window"),
        axis.start(F.col("peak.window")).alias("peak_start"),
        F.col("peak.documents").alias("peak_documents"),
        _per("peak.documents", axis.window_length).alias("peak_documents_rate"),
        _per("peak.bytes", axis.window_length).alias("peak_bytes_rate"),
    )


def _per(amount: str, length: float) -> Column:
    return F.try_divide(F.col(amount).cast("double"), F.lit(length))
