"""Outboxes as subjects of NATS JetStream: a message for each delivery, to `PREFIX.subscriber`, once in effect.

A delivery counts when the broker has acknowledged it. Its message id is made of the document and the subscriber, so the broker itself
drops one that comes again within the *duplicate window* of its stream. The window is short, two minutes in streams that are made
here, because the broker holds all ids of it in memory; a batch that is published again after a longer pause would arrive
twice. So before its first message the end of the stream is written down in the staging folder, and whoever publishes a
batch again, or sends something again because the connection broke, first reads the ids that have arrived since and leaves
these out. What remains for the window are two who publish the same at the same moment: a task that Spark believes dead, and the one that takes
its place. The stream must keep its messages (retention `limits`) until the batch is done: ids that it has dropped cannot be found
again. An acknowledged message outlives the broker's process; whether it outlives its machine is a setting of the broker (`sync_interval`).

A delivery that is larger than the broker allows is left out, for the batch would be stuck with it for ever: `refused` tells
which, and a line on stderr how many.

Workers publish, each its part of the mail (see `nats_post`): bodies never come to the driver. A worker holds a batch of Arrow and at most 500 messages
on their way, and after trouble the ids that arrived, some 150 bytes each. Measured: 5,000 messages/s of 6 KB, on two cores that ran
the broker and Spark, and were busy with other work; 3,000/s when it is all done again and nothing has to be sent.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from nats.js.api import RetentionPolicy, StorageType, StreamInfo
from nats.js.errors import NotFoundError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.jetstream import (
    RETRY_SECONDS,
    NatsConnection,
    OutboxAddress,
    RetryingClient,
    print_to_stderr,
)
from pathcast.pipeline.sinks.nats_publisher import REPORT_DDL, PublishTask, publish_batches
from pathcast.pipeline.spark_errors import spark_errors_as
from pathcast.pipeline.storage import Storage, open_storage

__all__ = ["DUPLICATE_WINDOW_SECONDS", "NatsOutbox"]

DUPLICATE_WINDOW_SECONDS: Final = 120.0
"""Seconds within which the broker itself drops what comes again, in streams that are made here."""

_MESSAGES_FOLDER: Final = "mail"
_STREAM_END_RECORD: Final = "begin.json"
_REPORT_FOLDER: Final = "report"


@dataclass(frozen=True, slots=True)
class NatsOutbox:
    """Subjects below a prefix; their stream is made if there is none."""

    address: OutboxAddress
    patience: float = RETRY_SECONDS
    window: float = DUPLICATE_WINDOW_SECONDS

    def stage(self, mail: DataFrame, staging: str) -> None:
        """Write the mail of a batch into a folder of its own."""
        chosen = mail.select("document", "body", "version", "subscribers")
        chosen.write.mode("overwrite").parquet(f"{staging}/{_MESSAGES_FOLDER}")

    def publish(self, session: SparkSession, staging: str) -> int:
        """Send what is staged and has not arrived before; how many deliveries of it the broker has now."""
        with tempfile.TemporaryDirectory(prefix="pathcast-nats-") as cache:
            storage = open_storage(session, staging, Path(cache))
            if "_SUCCESS" not in storage.names(_REPORT_FOLDER):
                task = self._begun(storage)
                with spark_errors_as("nats", str(self.address)):
                    session.read.parquet(escape_glob(storage.path(_MESSAGES_FOLDER))).mapInArrow(
                        partial(publish_batches, task=task), REPORT_DDL
                    ).write.mode("overwrite").parquet(storage.path(_REPORT_FOLDER))
            return self._counted(session, storage.path(_REPORT_FOLDER))

    def refused(self, session: SparkSession, staging: str) -> DataFrame:
        """(document, subscribers, kind, message, version) of what was too large, in a batch that is published."""
        report = session.read.schema(REPORT_DDL).parquet(escape_glob(f"{staging}/{_REPORT_FOLDER}"))
        return report.where("kind is not null").drop("sent")

    def _begun(self, storage: Storage) -> PublishTask:
        """What workers need; where the stream ended is written down, unless that was done before."""
        with RetryingClient(self.address.broker, self.patience) as line:
            found = line.ask(partial(_prepare_stream, address=self.address, window=self.window))
        written = storage.read(_STREAM_END_RECORD)
        begin = found.end
        if written is None:
            storage.write(_STREAM_END_RECORD, json.dumps(asdict(begin)).encode())
        else:
            earlier = _StreamEnd(**json.loads(written))
            # A stream that was made anew may have anything of this batch, from its beginning on.
            begin = earlier if earlier.created == begin.created else _StreamEnd(begin.stream, "", 0)
        return PublishTask(
            self.address,
            begin.stream,
            begin.sequence,
            written is not None,
            found.most,
            self.patience,
        )

    def _counted(self, session: SparkSession, path: str) -> int:
        report = session.read.schema(REPORT_DDL).parquet(escape_glob(path))
        left = F.sum(F.when(F.col("kind").isNotNull(), F.size("subscribers")))
        row = report.agg(F.sum("sent").alias("sent"), left.alias("left")).head()
        assert row is not None
        if row.left:
            print_to_stderr(
                f"{self.address}: {row.left:,} deliveries are too large and were left out"
            )
        return row.sent or 0


@dataclass(frozen=True, slots=True)
class _StreamEnd:
    """Where a stream ends; `created` tells it from another of that name."""

    stream: str
    created: str
    sequence: int


@dataclass(frozen=True, slots=True)
class _TargetStream:
    """A stream that takes the messages, each of `most` bytes with its headers."""

    end: _StreamEnd
    most: int


async def _prepare_stream(
    link: NatsConnection, address: OutboxAddress, window: float
) -> _TargetStream:
    """The stream that takes the messages; PipelineError if there is none that could."""
    found = await _find_or_create_stream(link, address, window)
    name, settings = found.config.name or "", found.config
    wrong = None
    if not any(_covers_prefix(one, address.prefix) for one in settings.subjects or ()):
        wrong = f"takes some of the subjects below {address.prefix}, but not all"
    elif settings.retention not in (None, RetentionPolicy.LIMITS):
        wrong = "drops messages when they were read, so that nobody knows what has arrived"
    elif settings.no_ack:
        wrong = "acknowledges nothing"
    if wrong is not None:
        raise PipelineError(
            "nats",
            f"{address}: the stream {name} {wrong}",
            hint=f"give {address.prefix}.> a stream of its own, with the retention `limits`",
        )
    most = link.client.max_payload
    if (own := settings.max_msg_size or -1) > 0:
        most = min(most, own)
    return _TargetStream(_StreamEnd(name, str(found.created), found.state.last_seq), most)


async def _find_or_create_stream(
    link: NatsConnection, address: OutboxAddress, window: float
) -> StreamInfo:
    subjects = f"{address.prefix}.>"
    try:
        name = await link.jetstream.find_stream_name_by_subject(subjects)
    except NotFoundError:
        return await link.jetstream.add_stream(
            name=address.prefix.replace(".", "_"),
            subjects=[subjects],
            storage=StorageType.FILE,
            duplicate_window=window,
        )
    return await link.jetstream.stream_info(name)


def _covers_prefix(subject: str, prefix: str) -> bool:
    """Whether a subject of a stream has all that are below a prefix.

    >>> streams = (">", "a.>", "*.b.>", "a.b.>", "a.b.c", "a.b.*", "a.b.c.>")
    >>> [_covers_prefix(subject, "a.b") for subject in streams]
    [True, True, True, True, False, False, False]
    """
    asked = prefix.split(".")
    tokens = subject.split(".")
    return (
        tokens[-1] == ">"
        and len(tokens) - 1 <= len(asked)
        and all(one in ("*", other) for one, other in zip(tokens[:-1], asked, strict=False))
    )
