"""Mail -> messages of NATS JetStream, in a worker: what `sinks.nats` has decided is done here.

    subject   the prefix, and the subscriber as one token
    headers   Nats-Msg-Id, Pathcast-Document, Pathcast-Subscriber, Pathcast-Version; the last three percent-encoded
    body      the document

Several hundred messages are on their way at a time, and all of them are acknowledged before the next go out. When the connection breaks among them
nobody knows which arrived: the ids that the stream has from `Task.begin` on are read (once; later only what came since), and
those are left out. The same is done at the start by whoever takes the place of another.

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

REPORT_DDL: Final = "sent bigint, document string, subscribers array<string>, kind string, message string, version string"
"""Rows with `sent` count deliveries; the others name those that are too large."""

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
_MAX_TOKEN_LENGTH: Final = (
    512  # characters of a token: with the prefix and the rest it must fit into a line
)
_MAX_IN_FLIGHT: Final = 500  # messages on their way
_MAX_IN_FLIGHT_BYTES: Final = 8 << 20  # far below what the broker holds back for a stream
_PUBLISH_TIMEOUT: Final = 30.0  # seconds for these


@dataclass(frozen=True, slots=True)
class PublishTask:
    """What a worker needs; if the batch was begun before, its messages are in the stream, after `begin`."""

    address: OutboxAddress
    stream: str
    last_sequence_before: int
    is_retry: bool
    max_bytes: int
    retry_seconds: float


def subject_token(subscriber: str) -> str:
    """A subscriber as one token of a subject: percent-encoded; if that is too long, `=` and a hash (the header has the name)."""
    encoded = quote(subscriber, safe="").replace(".", "%2E")
    if not encoded:
        return _HASH_PREFIX
    return (
        encoded
        if len(encoded) <= _MAX_TOKEN_LENGTH
        else _HASH_PREFIX + sha256(subscriber.encode()).hexdigest()
    )


def subscriber_of(token: str) -> str | None:
    """The subscriber that a token stands for; None if it is a hash."""
    if token.startswith(_HASH_PREFIX):
        return None if token != _HASH_PREFIX else ""
    return unquote(token)


def message_id(document: str, subscriber: str) -> str:
    """The id of a delivery, by which the broker knows it again: short, however long the names are."""
    return sha256(json.dumps([document, subscriber]).encode()).hexdigest()


class _OutgoingMessage(NamedTuple):
    subject: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers[Header.MSG_ID.value]

    @property
    def size(self) -> int:
        """As the broker counts it: with the headers, a line before and a line after them."""
        return (
            len(self.body) + 12 + sum(len(key) + len(self.headers[key]) + 4 for key in self.headers)
        )


def _outgoing_messages(row: dict[str, Any], task: PublishTask) -> Iterator[_OutgoingMessage]:
    """The deliveries of a row of mail."""
    for subscriber in row["subscribers"]:
        yield _OutgoingMessage(
            f"{task.address.prefix}.{subject_token(subscriber)}",
            {
                Header.MSG_ID.value: message_id(row["document"], subscriber),
                Header.EXPECTED_STREAM.value: task.stream,
                "Pathcast-Document": quote(row["document"], safe="/:!"),
                "Pathcast-Subscriber": quote(subscriber, safe="/:!"),
                "Pathcast-Version": quote(row["version"] or "", safe="/:!"),
            },
            row["body"],
        )


def publish_batches(
    batches: Iterator[pa.RecordBatch], task: PublishTask
) -> Iterator[pa.RecordBatch]:
    """Send rows of mail; what comes out says how many deliveries were sent, and which were not."""
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
    """The deliveries of mail; those that are too large go to `refused`, one row of the report for a row of mail."""
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
            reason = f"{size:,} bytes with its headers, and the broker takes {task.max_bytes:,}: not sent"
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
    """Sends letters, and after trouble only those that have not arrived."""

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
        """A question for a line: answered when the broker has them all."""
        if connection is not self._connection:
            if self._may_have_arrived:
                await self._catch_up(connection)
            self._connection, self._may_have_arrived = (
                connection,
                True,
            )  # on the next one nobody knows what got through
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
        """Learn what has arrived since the batch was begun, or since this was asked last."""
        info = await connection.jetstream.stream_info(self._stream)
        self._reader.last = info.state.last_seq
        while not self._reader.done:
            chunk = await self._reader.next_chunk(connection)
            ids = ((message.headers or {}).get(Header.MSG_ID.value) for message in chunk.messages)
            self._arrived.update(id for id in ids if id is not None)
