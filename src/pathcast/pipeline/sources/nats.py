"""Documents from a stream of NATS JetStream: what is there now, or what comes, for as long as it comes.

A document's id is `STREAM:NUMBER`, by the sequence number that the broker gave its message; its time is when the broker took it. The
number is also Spark's offset, so a range of them gives the same documents again after any crash, as long as
the broker keeps them; nothing is acknowledged or deleted by reading (see `nats_reading`). A message that is too large is a row with
the fault `size`. Messages that the stream lost before they were read are one row with the fault `gone` and the id `STREAM:FIRST-LAST`; a new
query begins with what the stream has and misses nothing.

A micro-batch takes at most `batch` messages; with the trigger availableNow the stream ends where it ended when the
query began. An offset holds two numbers: all up to `sequence` is done, and nothing before `since` was wanted when the
batch was planned. So a quiet subject of a busy stream costs no empty batches, and what other subjects lose meanwhile is not missed.

The planner runs in a process of its own beside the driver, and the parts are read in workers: each has its own line to the broker,
which waits when the broker is away (see `jetstream`). Measured: 6,000 documents/s of 6 KB, on two cores that ran the broker,
Spark and the reader, and were busy with other work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, cast

import pyarrow as pa
from nats.aio.msg import Msg
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from pathcast.errors import PipelineError
from pathcast.pipeline.jetstream import RETRY_SECONDS, RetryingClient, StreamAddress
from pathcast.pipeline.sources.nats_reader import (
    LostRange,
    RangeReader,
    StreamState,
    read_stream_state,
)
from pathcast.pipeline.sources.unpacking import DOCUMENTS_DDL, FAULT_TYPE

__all__ = ["NatsSource", "nats_documents"]

_DEFAULT_BATCH: Final = 1_000
_MAX_MESSAGE_BYTES: Final = 64 << 20  # no broker takes more
_MIN_RANGE: Final = 250  # messages: fewer are not worth a task
_MAX_RANGE: Final = 10_000
_BATCH_BYTES: Final = 2 << 20  # in a batch of rows
_TIME: Final = pa.timestamp("us", tz="UTC")


def nats_documents(
    session: SparkSession,
    address: StreamAddress,
    *,
    most: int,
    streaming: bool,
    batch: int = _DEFAULT_BATCH,
    patience: float = RETRY_SECONDS,
) -> DataFrame:
    """The documents of a stream, each of `most` bytes at most; PipelineError if it cannot be read now."""
    if batch < 1:
        raise PipelineError("nats", f"a batch has at least one message, not {batch}")
    with RetryingClient(address.broker, patience=0) as line:
        line.ask(partial(read_stream_state, address=address, after=0))
    session.dataSource.register(NatsSource)
    reader = session.readStream if streaming else session.read
    settings = _NatsOptions(address, most, batch, patience, session.sparkContext.defaultParallelism)
    return reader.format(NatsSource.name()).options(**settings.as_options()).load()


@dataclass(frozen=True, slots=True)
class _NatsOptions:
    address: StreamAddress
    most: int
    batch: int
    patience: float
    parts: int

    def as_options(self) -> dict[str, str]:
        """As Spark takes them; the password has a name that Spark does not print in plans."""
        broker = self.address.broker
        found = {
            "address": str(self.address),
            "user": broker.user,
            "password": broker.password,
            "most": str(self.most),
            "batch": str(self.batch),
            "patience": str(self.patience),
            "parts": str(self.parts),
        }
        return {key: value for key, value in found.items() if value is not None}

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> _NatsOptions:
        if "address" not in options:
            raise PipelineError(
                "nats", "no address", hint="option('address', 'nats://host:port/STREAM')"
            )
        address = StreamAddress.parse(options["address"])
        if "user" in options:
            broker = replace(address.broker, user=options["user"], password=options.get("password"))
            address = replace(address, broker=broker)
        try:
            return cls(
                address,
                int(options.get("most", _MAX_MESSAGE_BYTES)),
                int(options.get("batch", _DEFAULT_BATCH)),
                float(options.get("patience", RETRY_SECONDS)),
                int(options.get("parts", 2)),
            )
        except ValueError as error:
            raise PipelineError("nats", f"most, batch, patience and parts: {error}") from None


class NatsSource(DataSource):
    """The format `pathcast_nats`; options: address, user, password, most, batch, patience (seconds), parts."""

    @classmethod
    def name(cls) -> str:
        return "pathcast_nats"

    def schema(self) -> str:
        return DOCUMENTS_DDL

    def reader(self, schema: StructType) -> _NatsBatchReader:  # noqa: ARG002 - Spark names it
        return _NatsBatchReader(_NatsOptions.from_options(self.options))

    def streamReader(self, schema: StructType) -> _NatsStreamReader:  # noqa: ARG002, N802 - Spark names it
        return _NatsStreamReader(_NatsOptions.from_options(self.options))


@dataclass(frozen=True)
class _SequenceRange(InputPartition):
    """Messages from `first` to `last`."""

    first: int
    last: int


def _split_range(first: int, last: int, parts: int) -> list[_SequenceRange]:
    size = min(max(-(-(last - first + 1) // max(parts, 1)), _MIN_RANGE), _MAX_RANGE)
    return [_SequenceRange(at, min(last, at + size - 1)) for at in range(first, last + 1, size)]


class _NatsBatchReader(DataSourceReader):
    """All that is there when the query is planned."""

    def __init__(self, settings: _NatsOptions) -> None:
        self._settings = settings

    def partitions(self) -> list[InputPartition]:
        with RetryingClient(self._settings.address.broker, self._settings.patience) as line:
            found = line.ask(partial(read_stream_state, address=self._settings.address, after=0))
        return list(_split_range(max(found.first, 1), found.last, self._settings.parts))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _SequenceRange):  # Spark makes one of its own when there is none
            yield from _read_range(self._settings, partition)


class _NatsStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """What comes, in ranges."""

    def __init__(self, settings: _NatsOptions) -> None:
        self._settings = settings
        self._line: RetryingClient | None = (
            None  # only in the planner: workers get a copy that never had one
        )
        self._end: int | None = None
        self._clear = (0, 0)  # nothing that is wanted lies between these numbers

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        first = max(self._survey(0).first, 1)
        return {"sequence": first - 1, "since": first}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._settings.batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._end = self._survey(0).last

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"sequence": self._survey(0).last}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        done = self._clear[1] if self._clear[0] == start["sequence"] else start["sequence"]
        found = self._survey(done)
        if found.last < start["sequence"]:
            raise PipelineError(
                "nats",
                f"the stream {self._settings.address.stream} ends at {found.last}, but was read up to {start['sequence']}",
                hint="it was made anew: begin with a new checkpoint",
            )
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        last = found.last if self._end is None else min(found.last, self._end)
        planned = _plan_range(found, done, last, rows)
        if planned is None:
            self._clear = (start["sequence"], max(done, last))
            return start
        return {"sequence": planned.last, "since": planned.first}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        first, last = max(start["sequence"] + 1, end["since"]), end["sequence"]
        edge = min(self._survey(last).first, last + 1)
        lost = (
            [_SequenceRange(first, edge - 1)] if first < edge else []
        )  # one part, so that it is one row
        return [*lost, *_split_range(max(first, edge), last, self._settings.parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read_range(self._settings, cast(_SequenceRange, partition))

    def stop(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _survey(self, after: int) -> StreamState:
        if self._line is None:
            self._line = RetryingClient(self._settings.address.broker, self._settings.patience)
        return self._line.ask(
            partial(read_stream_state, address=self._settings.address, after=after)
        )


def _plan_range(
    found: StreamState, done: int, last: int, rows: int | None
) -> _SequenceRange | None:
    """The range that gives the next rows, of those up to `last`; None if there is nothing to tell.

    >>> _plan_range(StreamState(1, 90, 41), 20, 90, 10)  # 21 to 40 are of other subjects
    _SequenceRange(first=41, last=50)
    >>> _plan_range(StreamState(31, 90, 41), 20, 90, 10)  # 21 to 30 are gone: that is a row
    _SequenceRange(first=21, last=49)
    """
    gone = done + 1 < found.first and done < last
    upcoming = found.upcoming if found.upcoming is not None and found.upcoming <= last else None
    if upcoming is None:
        return _SequenceRange(done + 1, min(found.first - 1, last)) if gone else None
    return _SequenceRange(
        done + 1 if gone else upcoming,
        last if rows is None else min(last, upcoming + rows - 1 - gone),
    )


class _DocumentRow(NamedTuple):
    id: str
    body: bytes | None
    time: object
    fault: dict[str, str] | None


def _read_range(settings: _NatsOptions, part: _SequenceRange) -> Iterator[pa.RecordBatch]:
    """The documents of a part, a few megabytes at a time."""
    reading = RangeReader(settings.address, part.first, part.last)
    held: list[_DocumentRow] = []
    size = 0
    with RetryingClient(settings.address.broker, settings.patience) as line:
        while not reading.done:
            portion = line.ask(reading.portion)
            if portion.gone is not None:
                held.append(_gone_row(settings.address, portion.gone))
            for message in portion.messages:
                held.append(_message_row(settings, message))
                size += len(held[-1].body or b"")
            if size >= _BATCH_BYTES:
                yield _document_batch(held, str(settings.address))
                held, size = [], 0
    if held:
        yield _document_batch(held, str(settings.address))


def _message_row(settings: _NatsOptions, message: Msg) -> _DocumentRow:
    about = message.metadata
    id = f"{settings.address.stream}:{about.sequence.stream}"
    if len(message.data) <= settings.most:
        return _DocumentRow(id, message.data, about.timestamp, None)
    why = f"{len(message.data):,} bytes, more than {settings.most:,}"
    return _DocumentRow(id, None, about.timestamp, {"kind": "size", "message": why})


def _gone_row(address: StreamAddress, gone: LostRange) -> _DocumentRow:
    count = f"{gone.count:,}" if address.subject is None else f"up to {gone.count:,}"
    why = f"{count} messages are gone from the stream, and were not read before"
    id = f"{address.stream}:{gone.first}-{gone.last}"
    return _DocumentRow(id, None, None, {"kind": "gone", "message": why})


def _document_batch(rows: list[_DocumentRow], source: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([one.id for one in rows], pa.string()),
            pa.array([one.body for one in rows], pa.binary()),
            pa.repeat(source, len(rows)),
            pa.array([one.time for one in rows], _TIME),
            pa.array([one.fault for one in rows], FAULT_TYPE),
        ],
        names=["id", "body", "source", "time", "fault"],
    )
