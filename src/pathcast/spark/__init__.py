"""pathcast for PySpark: match the documents of any DataFrame, in batch and streaming queries.

    from pathcast.spark import match, subscriptions

    subs = subscriptions("subscriptions.tsv")
    match(spark.table("news"), subs, "body").where("size(subscriptions) > 0").show()

- `subscriptions`: compiles subscriptions from a file, a mapping, values or a table.
- `match`, `deliveries`, `hops`: a DataFrame of documents to one of results.
- `split`: the records of large documents as rows.
- `matcher`: a function for columns; `register`: a table function for SQL.
- `write_stream`: a stream into tables and outboxes, exactly once.
- `Documents`: the format `pathcast`, which reads folders, archives, rows and NATS.
- `Progress`: metrics of streaming queries.

All but `write_stream` works in classic sessions and over Spark Connect. Python workers must have
pathcast installed.

- `compiled`: subscriptions as a value that travels with a task.
- `columns`: checks on the driver.
- `matching`, `splitting`, `table_function`, `streams`, `progress`: the functions.
- `worker`: the work in Python workers.
"""

from __future__ import annotations

from pathcast.pipeline.sources import DocumentSource as Documents
from pathcast.spark.compiled import Compiled, SubscriptionsLike, subscriptions
from pathcast.spark.matching import deliveries, hops, match, matcher
from pathcast.spark.progress import Progress
from pathcast.spark.splitting import split
from pathcast.spark.streams import write_stream
from pathcast.spark.table_function import register

__all__ = [
    "Compiled",
    "Documents",
    "Progress",
    "SubscriptionsLike",
    "deliveries",
    "hops",
    "match",
    "matcher",
    "register",
    "split",
    "subscriptions",
    "write_stream",
]
