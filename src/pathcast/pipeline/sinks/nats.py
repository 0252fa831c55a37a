"""NATS JetStream outboxes: one message per delivery, to `PREFIX.subscriber`, effectively once.

A delivery counts when the broker acknowledged it. Its message id is a hash of the batch's key,
document and subscriber, so the broker drops duplicates within the *duplicate window* of the stream.
The key is random, and recorded in the staging folder before the first message. So a retry of the
batch has the same message ids, while the same document in a later batch, or in another run, has
others and is delivered.

The duplicate window is short (two minutes in streams created here), because the broker holds its
ids in memory; a batch that is published again after a longer pause would arrive twice. Therefore
the last sequence number of the stream is recorded with the key. A retry of the batch, and a resend
after a broken connection, first read the ids that arrived since and skip them. The duplicate window
then only covers two concurrent publishers: a task that Spark considers lost, and its replacement.

The stream must keep its messages (retention `limits`) until the batch is done, or their ids cannot
be read. An acknowledged message survives a crash of the broker process; whether it survives a crash
of the machine depends on the broker's `sync_interval`.

A delivery larger than the broker's limit is skipped, because it would block the batch forever.
`undeliverable` lists such deliveries, and a line on stderr counts them.

Workers publish their partitions (see `nats_publisher`); bodies never reach the driver. A worker
holds an Arrow batch, at most 500 messages in flight, and after an error the ids that arrived, about
150 bytes each. Measured: 5,000 messages/s of 6 KB on two cores shared with the broker, Spark and
other work; 3,000/s for a retry that has nothing left to send.
"""

from __future__ import annotations

import json
import secrets
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
from pathcast.pipeline.sinks import OUTBOX_FOLDER
from pathcast.pipeline.sinks.nats_publisher import REPORT_DDL, PublishTask, publish_batches
from pathcast.pipeline.sinks.nats_staging import MessageStaging
from pathcast.pipeline.spark_errors import spark_errors_as
from pathcast.pipeline.storage import Storage, open_storage

__all__ = ["DUPLICATE_WINDOW_SECONDS", "NatsOutbox"]

DUPLICATE_WINDOW_SECONDS: Final = 120.0
"""The duplicate window of streams that are created here."""

_MESSAGES_FOLDER: Final = "mail"
_STREAM_END_RECORD: Final = "begin.json"
_REPORT_FOLDER: Final = "report"


@dataclass(frozen=True, slots=True)
class NatsOutbox:
    """Subjects below a prefix; creates their stream if none takes them."""

    address: OutboxAddress
    retry_seconds: float = RETRY_SECONDS
    window: float = DUPLICATE_WINDOW_SECONDS
    name = "nats"
    writes_file_per_delivery = False

    def prepare(self) -> None:
        """Do nothing: the stream is created before the first message."""

    def staging(self) -> MessageStaging:
        return MessageStaging(f"{OUTBOX_FOLDER}/{_MESSAGES_FOLDER}")

    def stage(self, rows: DataFrame, staging: str) -> None:
        """Write the outbox rows of a batch as parquet."""
        columns = rows.select("document", "body", "version", "subscribers")
        columns.write.mode("overwrite").parquet(f"{staging}/{_MESSAGES_FOLDER}")

    def publish(self, session: SparkSession, staging: str, batch: int) -> int:
        """Send the staged messages that have not arrived; return how many deliveries the broker
        has.
        """
        with tempfile.TemporaryDirectory(prefix="pathcast-nats-") as cache:
            storage = open_storage(session, staging, Path(cache))
            if "_SUCCESS" not in storage.names(_REPORT_FOLDER):
                task = self._begin(storage, batch)
                with spark_errors_as("nats", str(self.address)):
                    session.read.parquet(escape_glob(storage.path(_MESSAGES_FOLDER))).mapInArrow(
                        partial(publish_batches, task=task), REPORT_DDL
                    ).write.mode("overwrite").parquet(storage.path(_REPORT_FOLDER))
            return self._count_messages(session, storage.path(_REPORT_FOLDER))

    def undeliverable(self, session: SparkSession, staging: str) -> DataFrame:
        """Return (document, subscribers, kind, message, version) of too large deliveries."""
        report = session.read.schema(REPORT_DDL).parquet(escape_glob(f"{staging}/{_REPORT_FOLDER}"))
        return report.where("kind is not null").drop("sent")

    def _begin(self, storage: Storage, batch: int) -> PublishTask:
        """Prepare the stream and the workers' task; at first, record the stream's end and a key."""
        with RetryingClient(self.address.server, self.retry_seconds) as client:
            target = client.call(partial(_prepare_stream, address=self.address, window=self.window))
        record = storage.read(_STREAM_END_RECORD)
        stream_end = target.end
        if record is None:
            key = secrets.token_hex(8)
            begin = {**asdict(stream_end), "key": key}
            storage.write(_STREAM_END_RECORD, json.dumps(begin).encode())
        else:
            begin = json.loads(record)
            key = begin.pop("key")
            recorded = _StreamEnd(**begin)
            # A recreated stream may hold messages of this batch from its start on.
            stream_end = (
                recorded
                if recorded.created == stream_end.created
                else _StreamEnd(stream_end.stream, "", 0)
            )
        return PublishTask(
            batch,
            key,
            self.address,
            stream_end.stream,
            stream_end.sequence,
            record is not None,
            target.max_bytes,
            self.retry_seconds,
        )

    def _count_messages(self, session: SparkSession, path: str) -> int:
        report = session.read.schema(REPORT_DDL).parquet(escape_glob(path))
        too_large = F.sum(F.when(F.col("kind").isNotNull(), F.size("subscribers")))
        row = report.agg(F.sum("sent").alias("sent"), too_large.alias("left")).head()
        assert row is not None
        if row.left:
            print_to_stderr(
                f"{self.address}: {row.left:,} deliveries are too large and were left out"
            )
        return row.sent or 0


@dataclass(frozen=True, slots=True)
class _StreamEnd:
    """The last sequence of a stream; `created` tells it from another stream of the same name."""

    stream: str
    created: str
    sequence: int


@dataclass(frozen=True, slots=True)
class _TargetStream:
    """A stream that takes the messages, each of at most `max_bytes` with its headers."""

    end: _StreamEnd
    max_bytes: int


async def _prepare_stream(
    connection: NatsConnection, address: OutboxAddress, window: float
) -> _TargetStream:
    """Return the stream that takes the messages; PipelineError if it is unsuitable."""
    info = await _find_or_create_stream(connection, address, window)
    name, settings = info.config.name or "", info.config
    problem = None
    if not any(_covers_prefix(subject, address.prefix) for subject in settings.subjects or ()):
        problem = f"takes some of the subjects below {address.prefix}, but not all"
    elif settings.retention not in (None, RetentionPolicy.LIMITS):
        problem = "drops messages when they were read, so what has arrived cannot be checked"
    elif settings.no_ack:
        problem = "acknowledges nothing"
    if problem is not None:
        raise PipelineError(
            "nats",
            f"{address}: the stream {name} {problem}",
            hint=f"give {address.prefix}.> a stream of its own, with the retention `limits`",
        )
    max_bytes = connection.client.max_payload
    if (stream_limit := settings.max_msg_size or -1) > 0:
        max_bytes = min(max_bytes, stream_limit)
    return _TargetStream(_StreamEnd(name, str(info.created), info.state.last_seq), max_bytes)


async def _find_or_create_stream(
    connection: NatsConnection, address: OutboxAddress, window: float
) -> StreamInfo:
    subjects = f"{address.prefix}.>"
    try:
        name = await connection.jetstream.find_stream_name_by_subject(subjects)
    except NotFoundError:
        return await connection.jetstream.add_stream(
            name=address.prefix.replace(".", "_"),
            subjects=[subjects],
            storage=StorageType.FILE,
            duplicate_window=window,
        )
    return await connection.jetstream.stream_info(name)


def _covers_prefix(subject: str, prefix: str) -> bool:
    """Return whether a subject of a stream covers all subjects below a prefix.

    >>> streams = (">", "a.>", "*.b.>", "a.b.>", "a.b.c", "a.b.*", "a.b.c.>")
    >>> [_covers_prefix(subject, "a.b") for subject in streams]
    [True, True, True, True, False, False, False]
    """
    prefix_tokens = prefix.split(".")
    tokens = subject.split(".")
    return (
        tokens[-1] == ">"
        and len(tokens) - 1 <= len(prefix_tokens)
        and all(
            token in ("*", prefix_token)
            for token, prefix_token in zip(tokens[:-1], prefix_tokens, strict=False)
        )
    )
