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
from pathcast.pipeline.jetstream import PATIENCE, Line, StreamAddress
from pathcast.pipeline.sources.nats_reader import Gone, Reading, Survey, survey
from pathcast.pipeline.sources.unpacking import FAULT, ROWS

__all__ = ["NatsSource", "nats_documents"]

_BATCH: Final = 1_000
_MOST: Final = 64 << 20  # no broker takes more
_LEAST_PART: Final = 250  # messages: fewer are not worth a task
_LARGEST_PART: Final = 10_000
_BYTES: Final = 2 << 20  # in a batch of rows
_TIME: Final = pa.timestamp("us", tz="UTC")


def nats_documents(
    session: SparkSession,
    address: StreamAddress,
    *,
    most: int,
    streaming: bool,
    batch: int = _BATCH,
    patience: float = PATIENCE,
) -> DataFrame:
    """The documents of a stream, each of `most` bytes at most; PipelineError if it cannot be read now."""
    if batch < 1:
        raise PipelineError("nats", f"a batch has at least one message, not {batch}")
    with Line(address.broker, patience=0) as line:
        line.ask(partial(survey, address=address, after=0))
    session.dataSource.register(NatsSource)
    reader = session.readStream if streaming else session.read
    settings = _Settings(address, most, batch, patience, session.sparkContext.defaultParallelism)
    return reader.format(NatsSource.name()).options(**settings.as_options()).load()


@dataclass(frozen=True, slots=True)
class _Settings:
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
    def from_options(cls, options: Mapping[str, str]) -> _Settings:
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
                int(options.get("most", _MOST)),
                int(options.get("batch", _BATCH)),
                float(options.get("patience", PATIENCE)),
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
        return ROWS

    def reader(self, schema: StructType) -> _Reader:  # noqa: ARG002 - Spark names it
        return _Reader(_Settings.from_options(self.options))

    def streamReader(self, schema: StructType) -> _StreamReader:  # noqa: ARG002, N802 - Spark names it
        return _StreamReader(_Settings.from_options(self.options))


@dataclass(frozen=True)
class _Part(InputPartition):
    """Messages from `first` to `last`."""

    first: int
    last: int


def _cut(first: int, last: int, parts: int) -> list[_Part]:
    size = min(max(-(-(last - first + 1) // max(parts, 1)), _LEAST_PART), _LARGEST_PART)
    return [_Part(at, min(last, at + size - 1)) for at in range(first, last + 1, size)]


class _Reader(DataSourceReader):
    """All that is there when the query is planned."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def partitions(self) -> list[InputPartition]:
        with Line(self._settings.address.broker, self._settings.patience) as line:
            found = line.ask(partial(survey, address=self._settings.address, after=0))
        return list(_cut(max(found.first, 1), found.last, self._settings.parts))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _Part):  # Spark makes one of its own when there is none
            yield from _rows(self._settings, partition)


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """What comes, in ranges."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings
        self._line: Line | None = None  # only in the planner: workers get a copy that never had one
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
        planned = _planned(found, done, last, rows)
        if planned is None:
            self._clear = (start["sequence"], max(done, last))
            return start
        return {"sequence": planned.last, "since": planned.first}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        first, last = max(start["sequence"] + 1, end["since"]), end["sequence"]
        edge = min(self._survey(last).first, last + 1)
        lost = [_Part(first, edge - 1)] if first < edge else []  # one part, so that it is one row
        return [*lost, *_cut(max(first, edge), last, self._settings.parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _rows(self._settings, cast(_Part, partition))

    def stop(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _survey(self, after: int) -> Survey:
        if self._line is None:
            self._line = Line(self._settings.address.broker, self._settings.patience)
        return self._line.ask(partial(survey, address=self._settings.address, after=after))


def _planned(found: Survey, done: int, last: int, rows: int | None) -> _Part | None:
    """The range that gives the next rows, of those up to `last`; None if there is nothing to tell.

    >>> _planned(Survey(1, 90, 41), 20, 90, 10)  # 21 to 40 are of other subjects
    _Part(first=41, last=50)
    >>> _planned(Survey(31, 90, 41), 20, 90, 10)  # 21 to 30 are gone: that is a row
    _Part(first=21, last=49)
    """
    gone = done + 1 < found.first and done < last
    upcoming = found.upcoming if found.upcoming is not None and found.upcoming <= last else None
    if upcoming is None:
        return _Part(done + 1, min(found.first - 1, last)) if gone else None
    return _Part(
        done + 1 if gone else upcoming,
        last if rows is None else min(last, upcoming + rows - 1 - gone),
    )


class _Row(NamedTuple):
    id: str
    body: bytes | None
    time: object
    fault: dict[str, str] | None


def _rows(settings: _Settings, part: _Part) -> Iterator[pa.RecordBatch]:
    """The documents of a part, a few megabytes at a time."""
    reading = Reading(settings.address, part.first, part.last)
    held: list[_Row] = []
    size = 0
    with Line(settings.address.broker, settings.patience) as line:
        while not reading.done:
            portion = line.ask(reading.portion)
            if portion.gone is not None:
                held.append(_gone(settings.address, portion.gone))
            for message in portion.messages:
                held.append(_row(settings, message))
                size += len(held[-1].body or b"")
            if size >= _BYTES:
                yield _batch(held, str(settings.address))
                held, size = [], 0
    if held:
        yield _batch(held, str(settings.address))


def _row(settings: _Settings, message: Msg) -> _Row:
    about = message.metadata
    id = f"{settings.address.stream}:{about.sequence.stream}"
    if len(message.data) <= settings.most:
        return _Row(id, message.data, about.timestamp, None)
    why = f"{len(message.data):,} bytes, more than {settings.most:,}"
    return _Row(id, None, about.timestamp, {"kind": "size", "message": why})


def _gone(address: StreamAddress, gone: Gone) -> _Row:
    count = f"{gone.count:,}" if address.subject is None else f"up to {gone.count:,}"
    why = f"{count} messages are gone from the stream, and were not read before"
    id = f"{address.stream}:{gone.first}-{gone.last}"
    return _Row(id, None, None, {"kind": "gone", "message": why})


def _batch(rows: list[_Row], source: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([one.id for one in rows], pa.string()),
            pa.array([one.body for one in rows], pa.binary()),
            pa.repeat(source, len(rows)),
            pa.array([one.time for one in rows], _TIME),
            pa.array([one.fault for one in rows], FAULT),
        ],
        names=["id", "body", "source", "time", "fault"],
    )
