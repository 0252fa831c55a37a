"""Outboxes: where deliveries go besides the tables, staged per batch and then published.

files           a folder per subscriber
file_names      file names for arbitrary ids
nats            a NATS subject per subscriber
nats_publisher  the publishing work of a Spark worker
"""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

__all__ = ["Outbox"]


class Outbox(Protocol):
    """Delivers outbox rows (see `routes.outbox_rows`) to subscribers.

    `staging` is a folder of the batch, in Spark's notation. `stage` may run again after a crash,
    after the folder was removed. `publish` may run again too, on the folder as the first call left
    it, and then delivers only the rest.
    """

    def stage(self, mail: DataFrame, staging: str) -> None: ...

    def publish(self, session: SparkSession, staging: str) -> object: ...

    def undeliverable(self, session: SparkSession, staging: str) -> DataFrame | None:
        """Return (document, subscribers, kind, message, version) of rejected deliveries, if
        possible.
        """
