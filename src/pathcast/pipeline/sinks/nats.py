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
from pathcast.pipeline.hadoop import literal
from pathcast.pipeline.jetstream import PATIENCE, Line, Link, OutboxAddress, to_stderr
from pathcast.pipeline.sinks.nats_publisher import REPORT, Task, post_batches
from pathcast.pipeline.spark_errors import told
from pathcast.pipeline.storage import Storage, open_storage

__all__ = ["WINDOW", "NatsOutbox"]

WINDOW: Final = 120.0
"""Seconds within which the broker itself drops what comes again, in streams that are made here."""

_MAIL: Final = "mail"
_BEGIN: Final = "begin.json"
_REPORT: Final = "report"


@dataclass(frozen=True, slots=True)
class NatsOutbox:
    """Subjects below a prefix; their stream is made if there is none."""

    address: OutboxAddress
    patience: float = PATIENCE
    window: float = WINDOW

    def stage(self, mail: DataFrame, staging: str) -> None:
        """Write the mail of a batch into a folder of its own."""
        chosen = mail.select("document", "body", "version", "subscribers")
        chosen.write.mode("overwrite").parquet(f"{staging}/{_MAIL}")

    def publish(self, session: SparkSession, staging: str) -> int:
        """Send what is staged and has not arrived before; how many deliveries of it the broker has now."""
        with tempfile.TemporaryDirectory(prefix="pathcast-nats-") as cache:
            storage = open_storage(session, staging, Path(cache))
            if "_SUCCESS" not in storage.names(_REPORT):
                task = self._begun(storage)
                with told("nats", str(self.address)):
                    session.read.parquet(literal(storage.path(_MAIL))).mapInArrow(
                        partial(post_batches, task=task), REPORT
                    ).write.mode("overwrite").parquet(storage.path(_REPORT))
            return self._counted(session, storage.path(_REPORT))

    def refused(self, session: SparkSession, staging: str) -> DataFrame:
        """(document, subscribers, kind, message, version) of what was too large, in a batch that is published."""
        report = session.read.schema(REPORT).parquet(literal(f"{staging}/{_REPORT}"))
        return report.where("kind is not null").drop("sent")

    def _begun(self, storage: Storage) -> Task:
        """What workers need; where the stream ended is written down, unless that was done before."""
        with Line(self.address.broker, self.patience) as line:
            found = line.ask(partial(_prepared, address=self.address, window=self.window))
        written = storage.read(_BEGIN)
        begin = found.end
        if written is None:
            storage.write(_BEGIN, json.dumps(asdict(begin)).encode())
        else:
            earlier = _End(**json.loads(written))
            # A stream that was made anew may have anything of this batch, from its beginning on.
            begin = earlier if earlier.created == begin.created else _End(begin.stream, "", 0)
        return Task(
            self.address,
            begin.stream,
            begin.sequence,
            written is not None,
            found.most,
            self.patience,
        )

    def _counted(self, session: SparkSession, path: str) -> int:
        report = session.read.schema(REPORT).parquet(literal(path))
        left = F.sum(F.when(F.col("kind").isNotNull(), F.size("subscribers")))
        row = report.agg(F.sum("sent").alias("sent"), left.alias("left")).head()
        assert row is not None
        if row.left:
            to_stderr(f"{self.address}: {row.left:,} deliveries are too large and were left out")
        return row.sent or 0


@dataclass(frozen=True, slots=True)
class _End:
    """Where a stream ends; `created` tells it from another of that name."""

    stream: str
    created: str
    sequence: int


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A stream that takes the messages, each of `most` bytes with its headers."""

    end: _End
    most: int


async def _prepared(link: Link, address: OutboxAddress, window: float) -> _Prepared:
    """The stream that takes the messages; PipelineError if there is none that could."""
    found = await _stream(link, address, window)
    name, settings = found.config.name or "", found.config
    wrong = None
    if not any(_takes_all(one, address.prefix) for one in settings.subjects or ()):
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
    return _Prepared(_End(name, str(found.created), found.state.last_seq), most)


async def _stream(link: Link, address: OutboxAddress, window: float) -> StreamInfo:
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


def _takes_all(subject: str, prefix: str) -> bool:
    """Whether a subject of a stream has all that are below a prefix.

    >>> [_takes_all(one, "a.b") for one in (">", "a.>", "*.b.>", "a.b.>", "a.b.c", "a.b.*", "a.b.c.>")]
    [True, True, True, True, False, False, False]
    """
    asked = prefix.split(".")
    tokens = subject.split(".")
    return (
        tokens[-1] == ">"
        and len(tokens) - 1 <= len(asked)
        and all(one in ("*", other) for one, other in zip(tokens[:-1], asked, strict=False))
    )
