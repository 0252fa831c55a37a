"""Where deliveries end up besides the tables: outboxes, staged by batch and then published."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

__all__ = ["Outbox"]


class Outbox(Protocol):
    """What brings mail (see `routes.mail`) to subscribers.

    `staging` is a folder of the batch's own, in Spark's way of writing it. `stage` may be called again after a crash, on a folder that
    was removed in between; `publish` too, on one that stays as the first call left it, and then brings only what is left.
    """

    def stage(self, mail: DataFrame, staging: str) -> None: ...

    def publish(self, session: SparkSession, staging: str) -> object: ...

    def undeliverable(self, session: SparkSession, staging: str) -> DataFrame | None:
        """(document, subscribers, kind, message, version) of what could not be brought, if that can happen."""
