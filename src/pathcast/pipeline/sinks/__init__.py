"""Outboxes: where deliveries go besides the tables, staged per batch and then published.

choice          the outboxes that a name or an address stands for
segments        per task a file of bodies and an index
files           a folder per subscriber, a file per delivery
outbox_rows     staging of either in a Spark job of its own
nats            a NATS subject per subscriber
nats_staging    messages in parquet files until they are published
nats_publisher  the publishing work of a Spark worker
"""

from __future__ import annotations

from typing import Final, Protocol

from pyspark.sql import DataFrame, SparkSession

from pathcast.pipeline.stage_worker import OutboxStaging

__all__ = ["OUTBOX_FOLDER", "Outbox"]

OUTBOX_FOLDER: Final = "mail"
"""The folder of outbox entries in the staging folder of a batch."""


class Outbox(Protocol):
    """Delivers outbox rows (see `routes.outbox_rows`) to subscribers.

    `staging` is a folder of the batch, in Spark's notation. `stage` may run again after a crash,
    after the folder was removed. `publish` may run again too, on the folder as the first call left
    it, and then delivers only the rest.
    """

    @property
    def name(self) -> str:
        """What staged batches record: an outbox of another name cannot publish them."""

    @property
    def writes_file_per_delivery(self) -> bool: ...

    def prepare(self) -> None:
        """Create what readers need before the first delivery."""

    def staging(self) -> OutboxStaging:
        """Return what workers of the one-pass job stage with."""

    def stage(self, mail: DataFrame, staging: str) -> None:
        """Stage outbox rows with a Spark job, where one pass is impossible."""

    def publish(self, session: SparkSession, staging: str, batch: int) -> object:
        """Deliver what is staged, so that readers can tell the batch."""

    def undeliverable(self, session: SparkSession, staging: str) -> DataFrame | None:
        """Return (document, subscribers, kind, message, version) of rejected deliveries, if
        possible.
        """
