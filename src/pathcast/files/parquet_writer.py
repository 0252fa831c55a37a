"""Subscriptions or documents -> a parquet file, a row group at a time, so that memory stays bounded.

A column has one type, so **ids are all integers (int64) or all texts; a mixture is refused** rather than made
text, because 7 and "7" would become one. Subscribers likewise; the subscriber is null where it is the id.

The first id says the type of all ids. The type of the subscribers may stay unknown for long, and usually
does to the end: groups without one wait in a temporary file (in memory while they are small) until it is known.

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

GROUP = 1 << 15  # rows of a group
GROUP_BYTES = 1 << 24  # bytes of documents that are enough for a group
_WAITING = 1 << 24  # bytes of waiting groups that stay in memory
_LIMIT = 1 << 63
_HINT = "write .jsonl"


def write_bodies(stream: BinaryIO, documents: Iterable[tuple[str, bytes]]) -> int:
    """Write documents, and say how many."""
    arrow, parquet = pyarrow()
    schema = arrow.schema([("id", arrow.string()), ("body", arrow.binary())])
    count = 0
    with parquet.ParquetWriter(stream, schema) as writer:
        for group in _by_bytes(documents):
            ids = arrow.array([key for key, _ in group], arrow.string())
            bodies = arrow.array([body for _, body in group], arrow.binary())
            writer.write_batch(arrow.record_batch([ids, bodies], schema=schema))
            count += len(group)
    return count


def _by_bytes(documents: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    group: list[tuple[str, bytes]] = []
    size = 0
    for one in documents:
        group.append(one)
        size += len(one[1])
        if size >= GROUP_BYTES or len(group) >= GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def write_rows(stream: BinaryIO, subscriptions: Iterable[Subscription]) -> int:
    """Write subscriptions, and say how many; FormatError if a column would have two types."""
    arrow, parquet = pyarrow()
    rows = iter(subscriptions)
    count = 0
    ids, owners = _Column("id"), _Column("subscriber")
    with tempfile.SpooledTemporaryFile(_WAITING) as held, ExitStack() as stack:
        waiting = _Waiting(arrow, held)
        writer: Any = None
        while group := list(itertools.islice(rows, GROUP)):
            count += len(group)
            keys = [one.id for one in group]
            subscribers = [None if one.subscriber == one.id else one.subscriber for one in group]
            ids.see(keys)
            owners.see(subscribers)
            batch = _batch(arrow, group, arrow.array(keys, ids.type(arrow)))
            if not owners.known:
                waiting.put(batch)
                continue
            if writer is None:
                writer = stack.enter_context(_writer(arrow, parquet, stream, ids, owners))
                _take_all(arrow, writer, waiting, owners)
            known = arrow.array(subscribers, owners.type(arrow))
            writer.write_batch(batch.append_column("subscriber", known))
        if writer is None:
            writer = stack.enter_context(_writer(arrow, parquet, stream, ids, owners))
            _take_all(arrow, writer, waiting, owners)
    return count


def _batch(arrow: ModuleType, group: list[Subscription], keys: Any) -> Any:
    """The columns whose type is known."""
    pairs = [list(one.namespaces.items()) if one.namespaces else None for one in group]
    return arrow.record_batch(
        {
            "id": keys,
            "xpath": arrow.array([one.xpath for one in group], arrow.string()),
            "namespaces": arrow.array(pairs, arrow.map_(arrow.string(), arrow.string())),
        }
    )


def _writer(
    arrow: ModuleType, parquet: ModuleType, stream: BinaryIO, ids: _Column, owners: _Column
) -> Any:
    schema = _batch(arrow, [], arrow.array([], ids.type(arrow))).schema
    return parquet.ParquetWriter(
        stream, schema.append(arrow.field("subscriber", owners.type(arrow)))
    )


def _take_all(arrow: ModuleType, writer: Any, waiting: _Waiting, owners: _Column) -> None:
    for batch in waiting.take():
        nobody = arrow.nulls(batch.num_rows, owners.type(arrow))
        writer.write_batch(batch.append_column("subscriber", nobody))


class _Column:
    """The type of a column, as far as its values have told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text: str | None = None
        self.number: int | None = None

    @property
    def known(self) -> bool:
        return self.text is not None or self.number is not None

    def see(self, values: Iterable[str | int | None]) -> None:
        """Learn from more values; FormatError if they do not go together."""
        for value in values:
            if isinstance(value, str):
                self.text = value
            elif isinstance(value, int):
                self.number = value
                if not -_LIMIT <= value < _LIMIT:
                    message = f"{self.name} {value} has over 64 bits"
                    raise FormatError("unwritable", message, hint=_HINT)
            if self.text is not None and self.number is not None:
                examples = f"{self.number!r} and {self.text!r}"
                message = f"integers and texts among the {self.name} values ({examples})"
                raise FormatError("unwritable", message, hint=f"a column has one type; {_HINT}")

    def type(self, arrow: ModuleType) -> Any:
        return arrow.string() if self.number is None else arrow.int64()


class _Waiting:
    """Batches that cannot be written yet, held in a file."""

    def __init__(self, arrow: ModuleType, held: Any) -> None:
        self._arrow = arrow
        self._held = held
        self._stream: Any = None

    def put(self, batch: Any) -> None:
        if self._stream is None:
            self._stream = self._arrow.ipc.new_stream(self._held, batch.schema)
        self._stream.write_batch(batch)

    def take(self) -> Iterator[Any]:
        if self._stream is not None:
            self._stream.close()
            self._held.seek(0)
            with self._arrow.ipc.open_stream(self._held) as batches:
                yield from batches
