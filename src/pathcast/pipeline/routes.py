"""Routes (subscription, subscriber), and the deliveries that follow from matches.

A subscription without a subscriber is its own subscriber. The route table belongs to a version.
Another producer may build it differently, for channels say; it needs these two string columns with
each subscription once. In a hop version (a broker's table), matches are hops, and each hop is its
own subscriber.

A delivery is a document for a subscriber, identified by that pair, no matter how many of the
subscriber's subscriptions match. It lists up to `MAX_LISTED_SUBSCRIPTIONS` of them, and their
count. Outbox rows are deliveries with the document body, which is stored once per
`SUBSCRIBERS_PER_ROW` subscribers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pathcast.pipeline.delivery_index import MAX_LISTED_SUBSCRIPTIONS

__all__ = [
    "DELIVERIES_DDL",
    "ROUTES_DDL",
    "SUBSCRIBERS_PER_ROW",
    "SubscriptionRoute",
    "deliveries",
    "outbox_rows",
    "save_routes",
]

ROUTES_DDL: Final = "subscription string, subscriber string"
DELIVERIES_DDL: Final = (
    "document string, subscriber string, subscriptions array<string>, count int, version string"
)
SUBSCRIBERS_PER_ROW: Final = 4_096


class SubscriptionRoute(NamedTuple):
    """The subscriber of a subscription, and its expression for people; None for a hop."""

    subscription: str
    subscriber: str
    xpath: str | None = None


def save_routes(routes: Sequence[SubscriptionRoute], path: Path) -> None:
    """Write routes as parquet, atomically."""
    table = pa.table(
        [
            pa.array([route.subscription for route in routes], pa.string()),
            pa.array([route.subscriber for route in routes], pa.string()),
            pa.array([route.xpath for route in routes], pa.string()),
        ],
        names=["subscription", "subscriber", "xpath"],
    )
    draft = path.with_name(f".{path.name}.draft")
    try:
        pq.write_table(table, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def deliveries(matches: DataFrame, routes: DataFrame) -> DataFrame:
    """Return (document, subscriber, subscriptions, count, version) of matches."""
    pairs = matches.select("document", F.explode("subscriptions").alias("subscription"), "version")
    return (
        pairs.join(routes, "subscription")
        .groupBy("document", "subscriber", "version")
        .agg(F.sort_array(F.collect_list("subscription")).alias("all"))
        .select(
            "document",
            "subscriber",
            F.slice("all", 1, MAX_LISTED_SUBSCRIPTIONS).alias("subscriptions"),
            F.size("all").alias("count"),
            "version",
        )
    )


def outbox_rows(deliveries: DataFrame, documents: DataFrame) -> DataFrame:
    """Return (document, body, version, subscribers); a document may have several rows."""
    order = Window.partitionBy("document").orderBy("subscriber")
    chunk = F.floor((F.row_number().over(order) - 1) / SUBSCRIBERS_PER_ROW)
    chunks = (
        deliveries.select("document", "subscriber", "version", chunk.alias("share"))
        .groupBy("document", "version", "share")
        .agg(F.sort_array(F.collect_list("subscriber")).alias("subscribers"))
    )
    bodies = documents.where("fault is null").select(F.col("id").alias("document"), "body")
    return chunks.join(bodies, "document").select("document", "body", "version", "subscribers")
