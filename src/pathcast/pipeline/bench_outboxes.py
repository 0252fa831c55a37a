"""Deliveries to outboxes without Spark, for `pathcast bench pipeline`.

A call of `OutboxDelivery` stages and publishes a batch as a task and the driver do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from pathcast.files.outboxes import FILES_FOLDER, SEGMENTS_FOLDER
from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.sinks import OUTBOX_FOLDER, Outbox
from pathcast.pipeline.sinks.files import FileOutboxes
from pathcast.pipeline.sinks.segments import SegmentOutboxes
from pathcast.pipeline.task_files import TASK_FOLDER

__all__ = ["OutboxDelivery"]


class OutboxDelivery:
    """Delivers bodies to the same number of subscribers each; every call is another batch."""

    def __init__(
        self, folder: Path, bodies: Sequence[bytes], subscribers: int, *, as_files: bool
    ) -> None:
        self._folder = folder
        self._outbox: Outbox = (
            FileOutboxes(folder / FILES_FOLDER)
            if as_files
            else SegmentOutboxes(folder / SEGMENTS_FOLDER)
        )
        self._bodies = list(bodies)
        self._documents = pa.array([f"news-{number:05}.xml" for number in range(len(bodies))])
        self._pairs = DeliveryPairs(
            np.repeat(np.arange(len(bodies), dtype=np.int32), subscribers),
            np.tile(np.arange(subscribers, dtype=np.int32), len(bodies)),
            pa.array([f"subscriber-{number:05}" for number in range(subscribers)]),
        )
        self._batches = 0

    def __call__(self) -> None:
        staging = self._folder / f"staging-{self._batches}"
        mail = staging / OUTBOX_FOLDER
        for folder in (mail, staging / TASK_FOLDER):
            folder.mkdir(parents=True)
        writer = self._outbox.staging().open(staging, "00000-0", "version")
        writer.add(self._documents, self._bodies, self._pairs)
        for file in writer.close():
            (staging / TASK_FOLDER / file.name).rename(mail / file.name)
        no_session = cast(SparkSession, None)  # these outboxes need none
        self._outbox.publish(no_session, f"file:{mail}", self._batches)
        self._batches += 1
