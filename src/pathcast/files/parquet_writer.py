"""Writer of subscriptions or documents to parquet, one row group at a time, in bounded memory.

A column has one type, so **ids are all integers (int64) or all texts; a mixture is refused** rather
than converted to text, because 7 and "7" would become one. The same holds for subscribers; the
subscriber is null if it equals the id.

The first id determines the type of all ids. The type of the subscribers may stay unknown until the
end. Row groups without a subscriber wait in a temporary file (in memory while it is small) until it
is known.

Documents have the columns `id` (text) and `body` (binary): any bytes can be written.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any, BinaryIO

from pathcast.errors import FormatError
from pathcast.files.parquet import pyarrow
from pathcast.files.subscription import Subscription

__all__ = ["write_bodies", "write_rows"]

MAX_GROUP_ROWS = 1 << 15
MIN_GROUP_BYTES = 1 << 24  # bytes of documents that complete a group
_MAX_MEMORY_BYTES = 1 << 24  # of the queue, before it goes to disk
_INT64_LIMIT = 1 << 63
_HINT = "write .jsonl"


def write_bodies(stream: BinaryIO, documents: Iterable[tuple[str, bytes]]) -> int:
    """Write documents; return their number."""
    arrow, parquet = pyarrow()
    schema = arrow.schema([("id", arrow.string()), ("body", arrow.binary())])
    count = 0
    with parquet.ParquetWriter(stream, schema) as writer:
        for group in _by_bytes(documents):
            ids = arrow.array([document_id for document_id, _ in group], arrow.string())
            bodies = arrow.array([body for _, body in group], arrow.binary())
            writer.write_batch(arrow.record_batch([ids, bodies], schema=schema))
            count += len(group)
    return count


def _by_bytes(documents: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    group: list[tuple[str, bytes]] = []
    size = 0
    for document in documents:
        group.append(document)
        size += len(document[1])
        if size >= MIN_GROUP_BYTES or len(group) >= MAX_GROUP_ROWS:
            yield group
            group, size = [], 0
    if group:
        yield group


def write_rows(stream: BinaryIO, subscriptions: Iterable[Subscription]) -> int:
    """Write subscriptions; return their number. FormatError if a column would have two types."""
    arrow, parquet = pyarrow()
    rows = iter(subscriptions)
    count = 0
    id_type, subscriber_type = _ColumnType("id"), _ColumnType("subscriber")
    with tempfile.SpooledTemporaryFile(_MAX_MEMORY_BYTES) as spool, ExitStack() as stack:
        queue = _GroupQueue(arrow, spool)
        writer: Any = None
        while group := list(itertools.islice(rows, MAX_GROUP_ROWS)):
            count += len(group)
            ids = [row.id for row in group]
            subscribers = [None if row.subscriber == row.id else row.subscriber for row in group]
            id_type.observe(ids)
            subscriber_type.observe(subscribers)
            batch = _batch(arrow, group, arrow.array(ids, id_type.arrow_type(arrow)))
            if not subscriber_type.is_known:
                queue.put(batch)
                continue
            if writer is None:
                writer = stack.enter_context(
                    _writer(arrow, parquet, stream, id_type, subscriber_type)
                )
                _write_queue(arrow, writer, queue, subscriber_type)
            column = arrow.array(subscribers, subscriber_type.arrow_type(arrow))
            writer.write_batch(batch.append_column("subscriber", column))
        if writer is None:
            writer = stack.enter_context(_writer(arrow, parquet, stream, id_type, subscriber_type))
            _write_queue(arrow, writer, queue, subscriber_type)
    return count


def _batch(arrow: ModuleType, group: list[Subscription], ids: Any) -> Any:
    """Return a batch of the columns whose type is known."""
    pairs = [list(row.namespaces.items()) if row.namespaces else None for row in group]
    return arrow.record_batch(
        {
            "id": ids,
            "xpath": arrow.array([row.xpath for row in group], arrow.string()),
            "namespaces": arrow.array(pairs, arrow.map_(arrow.string(), arrow.string())),
        }
    )


def _writer(
    arrow: ModuleType,
    parquet: ModuleType,
    stream: BinaryIO,
    id_type: _ColumnType,
    subscriber_type: _ColumnType,
) -> Any:
    schema = _batch(arrow, [], arrow.array([], id_type.arrow_type(arrow))).schema
    return parquet.ParquetWriter(
        stream, schema.append(arrow.field("subscriber", subscriber_type.arrow_type(arrow)))
    )


def _write_queue(
    arrow: ModuleType, writer: Any, queue: _GroupQueue, subscriber_type: _ColumnType
) -> None:
    for batch in queue.drain():
        nulls = arrow.nulls(batch.num_rows, subscriber_type.arrow_type(arrow))
        writer.write_batch(batch.append_column("subscriber", nulls))


class _ColumnType:
    """The type of a column, inferred from its values."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text: str | None = None
        self.number: int | None = None

    @property
    def is_known(self) -> bool:
        return self.text is not None or self.number is not None

    def observe(self, values: Iterable[str | int | None]) -> None:
        """Infer the type from more values; FormatError if they have different types."""
        for value in values:
            if isinstance(value, str):
                self.text = value
            elif isinstance(value, int):
                self.number = value
                if not -_INT64_LIMIT <= value < _INT64_LIMIT:
                    message = f"{self.name} {value} has over 64 bits"
                    raise FormatError("unwritable", message, hint=_HINT)
            if self.text is not None and self.number is not None:
                examples = f"{self.number!r} and {self.text!r}"
                message = f"integers and texts among the {self.name} values ({examples})"
                raise FormatError("unwritable", message, hint=f"a column has one type; {_HINT}")

    def arrow_type(self, arrow: ModuleType) -> Any:
        return arrow.string() if self.number is None else arrow.int64()


class _GroupQueue:
    """Row groups that cannot be written yet, in a spool file."""

    def __init__(self, arrow: ModuleType, spool: Any) -> None:
        self._arrow = arrow
        self._spool = spool
        self._stream: Any = None

    def put(self, batch: Any) -> None:
        if self._stream is None:
            self._stream = self._arrow.ipc.new_stream(self._spool, batch.schema)
        self._stream.write_batch(batch)

    def drain(self) -> Iterator[Any]:
        if self._stream is not None:
            self._stream.close()
            self._spool.seek(0)
            with self._arrow.ipc.open_stream(self._spool) as batches:
                yield from batches
