"""Where matches go: a table of (subscription, subscriber), and the deliveries that it makes of matches.

A subscription without a subscriber of its own is its own subscriber. The table is saved beside the version that it belongs to, and later
rooms may write it otherwise (brokers, channels): all that is asked of it are these two columns, texts, each subscription once.

A delivery is a document for a subscriber, however many of the subscriber's subscriptions ask for it; the pair is its
id. It names the subscriptions, at most `NAMED` of them, and says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pathcast.formats import Subscription

__all__ = ["NAMED", "deliveries", "save_routes"]

NAMED: Final = 1_000


def save_routes(subscriptions: Iterable[Subscription], path: Path) -> None:
    """Write the routes of subscriptions, at once or not at all."""
    pairs = [(str(one.id), str(one.subscriber)) for one in subscriptions]
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    table = pa.table(
        [pa.array(column, pa.string()) for column in columns], names=["subscription", "subscriber"]
    )
    draft = path.with_name(f".{path.name}.draft")
    try:
        pq.write_table(table, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def deliveries(matches: DataFrame, routes: DataFrame) -> DataFrame:
    """(document, subscriber, subscriptions, count, version) of matches."""
    asked = matches.select("document", F.explode("subscriptions").alias("subscription"), "version")
    return (
        asked.join(routes, "subscription")
        .groupBy("document", "subscriber", "version")
        .agg(F.sort_array(F.collect_list("subscription")).alias("all"))
        .select(
            "document",
            "subscriber",
            F.slice("all", 1, NAMED).alias("subscriptions"),
            F.size("all").alias("count"),
            "version",
        )
    )
