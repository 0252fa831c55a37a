"""Publishing outbox rows to NATS JetStream in a worker, as `sinks.nats` planned it.

    subject   the prefix, and the subscriber as one token
    headers   Nats-Msg-Id, Pathcast-Batch, Pathcast-Document, Pathcast-Subscriber,
              Pathcast-Version; the last three are percent-encoded
    body      the document

Several hundred messages are in flight at a time, and all are acknowledged before the next ones are
sent. If the connection breaks, it is unknown which of them arrived. The publisher then reads the
ids in the stream after `PublishTask.last_sequence_before` (once; later only new ones) and skips
these. A retried task does the same before it starts.

>>> subject_token("ann"), subject_token("desk 7.fr/*"), subject_token("")
('ann', 'desk%207%2Efr%2F%2A', '=')
>>> subscriber_of(subject_token("desk 7.fr/*"))
'desk 7.fr/*'
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import pyarrow as pa
from nats.js.api import Header
from pyspark import TaskContext

from pathcast.pipeline.jetstream import NatsConnection, OutboxAddress, RetryingClient, StreamAddress
from pathcast.pipeline.sources.nats_reader import RangeReader

__all__ = [
    "REPORT_DDL",
    "PublishTask",
    "message_id",
    "publish_batches",
    "subject_token",
    "subscriber_of",
]

REPORT_DDL: Final = (
    "sent bigint, document string, subscribers array<string>, "
    "kind string, message string, version string"
)
"""Rows with `sent` count deliveries; the others name deliveries that are too large."""

_REPORT_SCHEMA: Final = pa.schema(
    [
        ("sent", pa.int64()),
        ("document", pa.string()),
        ("subscribers", pa.list_(pa.string())),
        ("kind", pa.string()),
        ("message", pa.string()),
        ("version", pa.string()),
    ]
)
_HASH_PREFIX: Final = "="  # never in a percent-encoded name
_MAX_TOKEN_LENGTH: Final = 512  # with the prefix, it must fit into a protocol line
_MAX_IN_FLIGHT: Final = 500  # messages
_MAX_IN_FLIGHT_BYTES: Final = 8 << 20  # far below the broker's pending limit for a stream
_PUBLISH_TIMEOUT: Final = 30.0  # seconds for one chunk


@dataclass(frozen=True, slots=True)
class PublishTask:
    """What a worker needs. A retry finds earlier messages after `last_sequence_before`."""

    batch: int
    key: str
    """Makes the message ids of the batch unique."""
    address: OutboxAddress
    stream: str
    last_sequence_before: int
    is_retry: bool
    max_bytes: int
    retry_seconds: float


def subject_token(subscriber: str) -> str:
    """Encode a subscriber as one token of a subject.

    The token is percent-encoded; if that is too long, it is `=` and a hash, and only the header has
    the name.
    """
    encoded = quote(subscriber, safe="").replace(".", "%2E")
    if not encoded:
        return _HASH_PREFIX
    return (
        encoded
        if len(encoded) <= _MAX_TOKEN_LENGTH
        else _HASH_PREFIX + sha256(subscriber.encode()).hexdigest()
    )


def subscriber_of(token: str) -> str | None:
    """Return the subscriber of a token, or None if it is a hash."""
    if token.startswith(_HASH_PREFIX):
        return None if token != _HASH_PREFIX else ""
    return unquote(token)


def message_id(key: str, document: str, subscriber: str) -> str:
    """Return the id by which the broker detects duplicates: short, however long the names."""
    return sha256(json.dumps([key, document, subscriber]).encode()).hexdigest()


class _OutgoingMessage(NamedTuple):
    subject: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers[Header.MSG_ID.value]

    @property
    def size(self) -> int:
        """The broker's measure: body and headers, with a line before and after the headers."""
        return (
            len(self.body) + 12 + sum(len(key) + len(self.headers[key]) + 4 for key in self.headers)
        )


def _outgoing_messages(row: dict[str, Any], task: PublishTask) -> Iterator[_OutgoingMessage]:
    """Yield the messages of an outbox row."""
    for subscriber in row["subscribers"]:
        yield _OutgoingMessage(
            f"{task.address.prefix}.{subject_token(subscriber)}",
            {
                Header.MSG_ID.value: message_id(task.key, row["document"], subscriber),
                Header.EXPECTED_STREAM.value: task.stream,
                "Pathcast-Batch": str(task.batch),
                "Pathcast-Document": quote(row["document"], safe="/:!"),
                "Pathcast-Subscriber": quote(subscriber, safe="/:!"),
                "Pathcast-Version": quote(row["version"] or "", safe="/:!"),
            },
            row["body"],
        )


def publish_batches(
    batches: Iterator[pa.RecordBatch], task: PublishTask
) -> Iterator[pa.RecordBatch]:
    """Send the messages of outbox rows; yield the numbers sent and the deliveries left out."""
    context = TaskContext.get()
    is_retry = task.is_retry or (context is not None and context.attemptNumber() > 0)
    publisher = _Publisher(task, is_retry)
    with RetryingClient(task.address.server, task.retry_seconds) as client:
        for batch in batches:
            too_large: list[dict[str, Any]] = []
            sent = 0
            for chunk in _chunks(_messages_within_limit(batch.to_pylist(), task, too_large)):
                client.call(partial(publisher.send, messages=chunk))
                sent += len(chunk)
            yield pa.RecordBatch.from_pylist([{"sent": sent}, *too_large], schema=_REPORT_SCHEMA)


def _messages_within_limit(
    rows: Sequence[dict[str, Any]], task: PublishTask, too_large: list[dict[str, Any]]
) -> Iterator[_OutgoingMessage]:
    """Yield the messages of outbox rows; append those that are too large to `too_large`."""
    for row in rows:
        sizes: dict[str, int] = {}
        for subscriber, message in zip(
            row["subscribers"], _outgoing_messages(row, task), strict=True
        ):
            if message.size <= task.max_bytes:
                yield message
            else:
                sizes[subscriber] = message.size
        if sizes:
            size = max(sizes.values())
            reason = (
                f"{size:,} bytes with its headers, "
                f"and the broker takes {task.max_bytes:,}: not sent"
            )
            too_large.append(
                {
                    "document": row["document"],
                    "subscribers": list(sizes),
                    "kind": "size",
                    "message": reason,
                    "version": row["version"],
                }
            )


def _chunks(messages: Iterator[_OutgoingMessage]) -> Iterator[list[_OutgoingMessage]]:
    chunk: list[_OutgoingMessage] = []
    size = 0
    for message in messages:
        chunk.append(message)
        size += message.size
        if len(chunk) >= _MAX_IN_FLIGHT or size >= _MAX_IN_FLIGHT_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class _Publisher:
    """Sends messages; after an error, only those that have not arrived."""

    def __init__(self, task: PublishTask, is_retry: bool) -> None:
        self._may_have_arrived = is_retry
        self._connection: NatsConnection | None = None
        self._stream = task.stream
        self._arrived: set[str] = set()
        subjects = StreamAddress(task.address.server, task.stream, f"{task.address.prefix}.>")
        self._reader = RangeReader(
            subjects, task.last_sequence_before + 1, task.last_sequence_before, headers_only=True
        )

    async def send(self, connection: NatsConnection, messages: list[_OutgoingMessage]) -> None:
        """Send messages and wait for all acknowledgements; an operation for `RetryingClient`."""
        if connection is not self._connection:
            if self._may_have_arrived:
                await self._catch_up(connection)
            # On the next connection, messages of this one may have arrived.
            self._connection, self._may_have_arrived = connection, True
        async with asyncio.timeout(_PUBLISH_TIMEOUT):
            acknowledgements = [
                await connection.jetstream.publish_async(
                    message.subject, message.body, headers=message.headers
                )
                for message in messages
                if message.id not in self._arrived
            ]
            await asyncio.gather(*acknowledgements)

    async def _catch_up(self, connection: NatsConnection) -> None:
        """Read the ids that arrived since the batch started, or since the last call."""
        info = await connection.jetstream.stream_info(self._stream)
        self._reader.last = info.state.last_seq
        while not self._reader.done:
            chunk = await self._reader.next_chunk(connection)
            ids = ((message.headers or {}).get(Header.MSG_ID.value) for message in chunk.messages)
            self._arrived.update(id for id in ids if id is not None)
