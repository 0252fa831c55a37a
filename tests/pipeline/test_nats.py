"""NATS sources and outboxes against a real broker; a test that kills it has its own."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from pathcast.errors import PipelineError
from pathcast.pipeline.jetstream import NatsConnection, OutboxAddress, RetryingClient, StreamAddress
from pathcast.pipeline.sinks.nats import NatsOutbox
from pathcast.pipeline.sinks.nats_publisher import (
    message_id,
    publish_batches,
    subject_token,
    subscriber_of,
)
from pathcast.pipeline.sources import DocumentSource
from pathcast.pipeline.sources.nats import NatsSource, nats_documents
from pathcast.pipeline.sources.nats_reader import LostRange, RangeReader
from pathcast.pipeline.storage import LocalStorage
from tests.pipeline.nats_server import NatsServer, nats_server, wait_for

MAX_BYTES = 1_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats") / "store") as running:
        yield running


def sample_bodies(count: int, first: int = 1) -> list[bytes]:
    return [b"<a n='%d'/>" % number for number in range(first, first + count)]


def stream_address(server: NatsServer, name: str, subject: str | None = None) -> StreamAddress:
    return StreamAddress(server.address, name, subject)


def read_all(
    reader: RangeReader, client: RetryingClient
) -> tuple[list[tuple[int, bytes]], list[LostRange]]:
    messages, lost = [], []
    while not reader.done:
        chunk = client.call(reader.next_chunk)
        messages += [(message.metadata.sequence.stream, message.data) for message in chunk.messages]
        lost += [chunk.lost] if chunk.lost else []
    return messages, lost


def run(
    frame: DataFrame, checkpoint: Path, during: Any = lambda number: None, **trigger: Any
) -> list[list[Row]]:
    """Run a stream to its end and return its micro-batches; call `during` within each."""
    batches: list[list[Row]] = []

    def take(batch: DataFrame, number: int) -> None:
        batches.append(sorted(batch.collect(), key=lambda row: row.id))
        during(number)

    query = (
        frame.writeStream.foreachBatch(take)
        .option("checkpointLocation", str(checkpoint))
        .trigger(**(trigger or {"availableNow": True}))
        .start()
    )
    try:
        assert query.awaitTermination(60)
    finally:
        query.stop()
    return batches


class TestAddress:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("nats://localhost/S", "nats://localhost:4222/S"),
            ("nats://ann:p%40w@h:1/S", "nats://h:1/S"),
            ("tls://t0ken@[::1]:4443/S?subject=a.*.%3E", "tls://[::1]:4443/S?subject=a.*.>"),
        ],
    )
    def test_text_form_has_no_credentials(self, text: str, shown: str) -> None:
        address = StreamAddress.parse(text)
        assert str(address) == shown
        assert "p@w" not in repr(address)
        assert "t0ken" not in repr(address)

    def test_credentials_are_decoded(self) -> None:
        broker = StreamAddress.parse("nats://ann:p%40w@h:1/S").server
        assert (broker.user, broker.password) == ("ann", "p@w")

    @pytest.mark.parametrize(
        "text",
        [
            "", "S", "http://h/S", "nats://h", "nats://h/", "nats:///S", "nats://h:x/S",
            "nats://h:99999/S", "nats://h/a.b", "nats://h/a b", "nats://h/S/T", "nats://h/>",
            "nats://h/S?subjects=a", "nats://h/S?subject=", "nats://h/S?subject=a..b",
            "nats://h/S?subject=>.a", "nats://h/S#x",
        ],
    )  # fmt: skip
    def test_invalid_stream_addresses(self, text: str) -> None:
        with pytest.raises(PipelineError) as error:
            StreamAddress.parse(text)
        assert error.value.kind == "nats"
        assert error.value.hint

    @pytest.mark.parametrize(
        "text", ["nats://h/", "nats://h/a..b", "nats://h/a.*", "nats://h/a?b=c", "nats://h/$JS.x"]
    )
    def test_invalid_prefixes(self, text: str) -> None:
        with pytest.raises(PipelineError, match="beginning of a subject"):
            OutboxAddress.parse(text)

    def test_error_does_not_show_the_password(self) -> None:
        with pytest.raises(PipelineError) as error:
            StreamAddress.parse("nats://ann:secret@h/a.b")
        assert "secret" not in str(error.value)


class TestReading:
    def test_ranges_can_be_read_repeatedly(self, server: NatsServer) -> None:
        server.create_stream("RANGE")
        server.publish("RANGE", sample_bodies(150))
        twin = list(enumerate(sample_bodies(150), 1))
        with RetryingClient(server.address) as client:
            for first, last in [(1, 150), (1, 150), (150, 150), (3, 2), (60, 70), (64, 129)]:
                result = read_all(RangeReader(stream_address(server, "RANGE"), first, last), client)
                assert result == (twin[first - 1 : last], [])

            async def consumers(connection: NatsConnection) -> int | None:
                return (await connection.jetstream.stream_info("RANGE")).state.consumer_count

            assert client.call(consumers) == 0

    def test_only_a_missing_start_is_lost(self, server: NatsServer) -> None:
        server.create_stream("HOLES")
        server.publish("HOLES", sample_bodies(20))

        async def dig(connection: NatsConnection) -> None:
            for sequence in (9, 14, 15, 20):
                await connection.jetstream.delete_msg("HOLES", sequence)
            await connection.jetstream.purge_stream("HOLES", seq=6)

        server.call(dig)
        present = [
            (sequence_left, b"<a n='%d'/>" % sequence_left)
            for sequence_left in range(6, 20)
            if sequence_left not in (9, 14, 15)
        ]
        with RetryingClient(server.address) as client:
            address = stream_address(server, "HOLES")
            assert read_all(RangeReader(address, 1, 20), client) == (present, [LostRange(1, 5, 5)])
            assert read_all(RangeReader(address, 6, 20), client) == (present, [])
            assert read_all(RangeReader(address, 2, 4), client) == ([], [LostRange(2, 4, 3)])
            assert read_all(RangeReader(address, 14, 15), client) == ([], [])

    def test_other_subjects_are_not_lost(self, server: NatsServer) -> None:
        server.create_stream("MIXED")
        for number in range(1, 31):
            server.publish(
                "MIXED", sample_bodies(1, number), "wanted" if number % 10 == 0 else "other"
            )
        with RetryingClient(server.address) as client:
            reader = RangeReader(stream_address(server, "MIXED", "MIXED.wanted"), 1, 30)
            messages, lost = read_all(reader, client)
        assert [sequence for sequence, _ in messages] == [10, 20, 30]
        assert lost == []

    def test_reader_survives_a_broker_restart(self, tmp_path: Path) -> None:
        with nats_server(tmp_path / "store") as server:
            server.create_stream("BACK")
            server.publish("BACK", sample_bodies(200))
            log: list[str] = []

            def start_again(message: str) -> None:
                log.append(message)
                server.start()

            with RetryingClient(server.address, retry_seconds=30, log=start_again) as client:
                reader = RangeReader(stream_address(server, "BACK"), 1, 200)
                first = client.call(reader.next_chunk).messages
                server.kill()
                remaining, lost = read_all(reader, client)
            before = [(received.metadata.sequence.stream, received.data) for received in first]
            assert before + remaining == list(enumerate(sample_bodies(200), 1))
            assert 0 < len(before) < 200
            assert lost == []
            assert log
            assert f"waiting for {server.address}" in log[0]

    def test_retries_end(self, server: NatsServer, tmp_path: Path) -> None:
        unreachable = NatsServer(tmp_path)
        log: list[str] = []
        with (
            pytest.raises(PipelineError, match="does not answer") as error,
            RetryingClient(unreachable.address, retry_seconds=0.3, log=log.append) as client,
        ):
            client.call(RangeReader(stream_address(unreachable, "S"), 1, 2).next_chunk)
        assert error.value.hint
        assert len(log) >= 2


class TestBatch:
    def test_batch_reads_all_messages(self, spark: SparkSession, server: NatsServer) -> None:
        server.create_stream("ALL")
        sent = [*sample_bodies(5), b"x" * (MAX_BYTES + 1), b""]
        server.publish("ALL", sent)
        address = stream_address(server, "ALL")
        frame = nats_documents(spark, address, max_bytes=MAX_BYTES, streaming=False)
        rows = frame.selectExpr(
            "id", "body", "source", "unix_micros(time) as time", "fault"
        ).collect()
        by_id = {row.id: row for row in rows}
        assert len(rows) == len(by_id) == 7
        twin = {f"ALL:{message.seq}": message for message in server.messages("ALL")}
        assert by_id.keys() == twin.keys()
        for id, row in by_id.items():
            assert row.source == str(address)
            stored_at = twin[id].time
            assert isinstance(stored_at, datetime)  # to the microsecond: the client rounds
            assert abs(row.time - round(stored_at.timestamp() * 1e6)) <= 2
            if id == "ALL:6":
                assert row.body is None
                assert row.fault.asDict() == {
                    "kind": "size",
                    "message": "1,001 bytes, more than 1,000",
                }
            else:
                assert bytes(row.body) == (twin[id].data or b"")
                assert row.fault is None

    def test_empty_stream(self, spark: SparkSession, server: NatsServer) -> None:
        server.create_stream("EMPTY")
        documents = nats_documents(
            spark, stream_address(server, "EMPTY"), max_bytes=MAX_BYTES, streaming=False
        )
        assert documents.collect() == []

    def test_several_partitions(self, spark: SparkSession, server: NatsServer) -> None:
        server.create_stream("PARTS")
        server.publish("PARTS", sample_bodies(600))
        documents = nats_documents(
            spark, stream_address(server, "PARTS"), max_bytes=MAX_BYTES, streaming=False
        )
        assert documents.rdd.getNumPartitions() == 2
        assert Counter(row.id for row in documents.select("id").collect()) == Counter(
            f"PARTS:{number}" for number in range(1, 601)
        )

    def test_no_such_stream(self, spark: SparkSession, server: NatsServer) -> None:
        with pytest.raises(PipelineError, match="no stream NOPE") as error:
            nats_documents(
                spark, stream_address(server, "NOPE"), max_bytes=MAX_BYTES, streaming=True
            )
        assert error.value.hint

    @pytest.mark.parametrize("retention", ["workqueue", "interest"])
    def test_streams_that_drop_messages_after_reading(
        self, spark: SparkSession, server: NatsServer, retention: str
    ) -> None:
        server.create_stream(f"DROP_{retention}", retention=retention)
        with pytest.raises(PipelineError, match="could not be read again"):
            nats_documents(
                spark,
                stream_address(server, f"DROP_{retention}"),
                max_bytes=MAX_BYTES,
                streaming=False,
            )


class TestStreaming:
    def test_format_pathcast(self, spark: SparkSession, server: NatsServer, tmp_path: Path) -> None:
        server.create_stream("FORMAT")
        server.publish("FORMAT", sample_bodies(5))
        address = str(stream_address(server, "FORMAT"))
        spark.dataSource.register(DocumentSource)
        table = spark.read.format("pathcast").load(address)
        assert {bytes(row.body) for row in table.collect()} == set(sample_bodies(5))
        stream = spark.readStream.format("pathcast").option("batchDocuments", "3").load(address)
        assert [len(batch) for batch in run(stream, tmp_path / "checkpoint")] == [3, 2]

    def test_batch_limit_and_fixed_end(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.create_stream("LIMIT")
        server.publish("LIMIT", sample_bodies(16))
        address = stream_address(server, "LIMIT")
        frame = nats_documents(spark, address, max_bytes=MAX_BYTES, streaming=True, batch_size=7)

        def publish_more(
            number: int,
        ) -> None:  # messages that arrive during the run are for the next one
            server.publish("LIMIT", sample_bodies(2, first=100 + 2 * number))

        batches = run(frame, tmp_path / "checkpoint", publish_more)
        assert [len(batch) for batch in batches] == [7, 7, 2]
        assert {row.id for batch in batches for row in batch} == {
            f"LIMIT:{sequence}" for sequence in range(1, 17)
        }
        next_batches = run(
            nats_documents(spark, address, max_bytes=MAX_BYTES, streaming=True, batch_size=100),
            tmp_path / "checkpoint",
        )
        assert [[row.id for row in batch] for batch in next_batches] == [
            [f"LIMIT:{sequence}" for sequence in range(17, 23)]
        ]
        assert [bytes(row.body) for row in next_batches[0]] == sample_bodies(6, first=100)

    def test_failed_batch_is_repeated(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.create_stream("AGAIN")
        server.publish("AGAIN", sample_bodies(9))
        frame = nats_documents(
            spark,
            stream_address(server, "AGAIN"),
            max_bytes=MAX_BYTES,
            streaming=True,
            batch_size=5,
        )
        attempts: list[list[str]] = []

        def fail(batch: DataFrame, number: int) -> None:
            attempts.append(sorted(row.id for row in batch.collect()))
            if number == 1:
                raise RuntimeError("out of order")

        writer = frame.writeStream.foreachBatch(fail).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        wait_for(lambda: not query.isActive)
        server.publish("AGAIN", sample_bodies(3, first=50))
        batches = run(frame, tmp_path / "checkpoint")
        assert (
            [row.id for row in batches[0]]
            == attempts[1]
            == [f"AGAIN:{sequence}" for sequence in range(6, 10)]
        )
        assert [row.id for batch in batches[1:] for row in batch] == [
            f"AGAIN:{sequence}" for sequence in (10, 11, 12)
        ]

    def test_messages_lost_between_runs_are_reported(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.create_stream("LOST")
        server.publish("LOST", sample_bodies(5))
        frame = nats_documents(
            spark, stream_address(server, "LOST"), max_bytes=MAX_BYTES, streaming=True, batch_size=4
        )
        run(frame, tmp_path / "checkpoint")
        server.publish("LOST", sample_bodies(10, first=6))

        async def purge(connection: NatsConnection) -> None:
            await connection.jetstream.purge_stream("LOST", seq=12)

        server.call(purge)
        batches = run(frame, tmp_path / "checkpoint")
        assert [len(batch) for batch in batches] == [4, 1]
        rows = {row.id: row for batch in batches for row in batch}
        assert rows.keys() == {"LOST:6-11", *(f"LOST:{sequence}" for sequence in range(12, 16))}
        assert rows["LOST:6-11"].fault.kind == "gone"
        assert rows["LOST:6-11"].fault.message.startswith("6 messages")
        assert rows["LOST:6-11"].body is None

    def test_broker_killed_between_batches(self, spark: SparkSession, tmp_path: Path) -> None:
        with nats_server(tmp_path / "store") as server:
            server.create_stream("KILLED")
            server.publish("KILLED", sample_bodies(30))
            frame = nats_documents(
                spark,
                stream_address(server, "KILLED"),
                max_bytes=MAX_BYTES,
                streaming=True,
                batch_size=10,
            )
            ids: list[str] = []

            def take(batch: DataFrame, number: int) -> None:
                ids.extend(row.id for row in batch.collect())
                if number == 0:
                    server.kill()

            query = (
                frame.writeStream.foreachBatch(take)
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .start()
            )
            try:
                wait_for(lambda: server._process is not None and server._process.poll() is not None)
                server.start()
                server.publish("KILLED", sample_bodies(5, first=31))
                wait_for(lambda: len(ids) >= 35 or not query.isActive)
                assert query.exception() is None
            finally:
                query.stop()
            assert sorted(ids) == sorted(f"KILLED:{sequence}" for sequence in range(1, 36))


class TestPlanning:
    @staticmethod
    def planner(address: StreamAddress, **options: str) -> Any:
        source = NatsSource({"address": str(address), "batch": "5", **options})
        return source.streamReader(None)  # type: ignore[arg-type]

    def test_offsets_respect_the_limit(self, server: NatsServer) -> None:
        server.create_stream("PLAN")
        server.publish("PLAN", sample_bodies(12))
        planner = self.planner(stream_address(server, "PLAN"))
        try:
            start = planner.initialOffset()
            assert start["sequence"] == 0
            assert planner.getDefaultReadLimit() == ReadMaxRows(5)
            assert planner.latestOffset(start, ReadMaxRows(5))["sequence"] == 5
            end = planner.latestOffset(start, ReadAllAvailable())
            assert end["sequence"] == 12
            assert planner.latestOffset(end, ReadMaxRows(5)) == end
            assert planner.partitions(end, end) == []
            assert planner.reportLatestOffset() == {"sequence": 12}
            planner.prepareForTriggerAvailableNow()
            server.publish("PLAN", sample_bodies(3))
            assert planner.latestOffset(start, ReadAllAvailable())["sequence"] == 12
        finally:
            planner.stop()

    def test_quiet_subject_of_a_busy_stream(self, server: NatsServer) -> None:
        server.create_stream("QUIET")
        server.publish("QUIET", sample_bodies(20), "other")
        planner = self.planner(stream_address(server, "QUIET", "QUIET.wanted"))

        async def purge(connection: NatsConnection) -> None:
            await connection.jetstream.purge_stream("QUIET", seq=18)

        try:
            start = planner.initialOffset()
            assert planner.latestOffset(start, ReadMaxRows(5)) == start  # no empty batches
            server.call(purge)  # the planner knows that no wanted message was purged
            assert planner.latestOffset(start, ReadMaxRows(5)) == start
            server.publish("QUIET", sample_bodies(1), "wanted")
            end = planner.latestOffset(start, ReadMaxRows(5))
            assert end == {"sequence": 21, "since": 21}
            [part] = planner.partitions(start, end)
            assert (part.first, part.last) == (21, 21)
        finally:
            planner.stop()

    def test_recreated_stream(self, server: NatsServer) -> None:
        server.create_stream("ANEW")
        server.publish("ANEW", sample_bodies(2))
        planner = self.planner(stream_address(server, "ANEW"))
        try:
            with pytest.raises(PipelineError, match="made anew"):
                planner.latestOffset({"sequence": 9, "since": 1}, ReadMaxRows(5))
        finally:
            planner.stop()


UNUSUAL_NAMES = [
    "ann",
    "a.b",
    "a b",
    "*",
    ">",
    "ünï",
    "",
    "=",
    "x/y:z",
    "%2E",
    "\n",
    "猫" * 2_000,
    "l" * 512,
    "l" * 513,
]


def outbox_rows(spark: SparkSession, rows: list[tuple[str, bytes, list[str]]]) -> DataFrame:
    return spark.createDataFrame(
        [(document, body, "v1", names) for document, body, names in rows],
        "document string, body binary, version string, subscribers array<string>",
    )


def read_messages(server: NatsServer, name: str) -> Counter[tuple[str, str, bytes | None]]:
    """Return (document, subscriber, body) of all messages of a stream, counted."""
    return Counter(
        (
            unquote(message.headers["Pathcast-Document"]),
            unquote(message.headers["Pathcast-Subscriber"]),
            message.data,
        )
        for message in server.messages(name)
        if message.headers and "Pathcast-Document" in message.headers
    )


def expected_messages(
    rows: list[tuple[str, bytes, list[str]]],
) -> Counter[tuple[str, str, bytes | None]]:
    return Counter((document, name, body) for document, body, names in rows for name in names)


class TestOutbox:
    def test_one_message_per_delivery(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        rows = [("f/1.xml", b"<a/>", UNUSUAL_NAMES), ("f/ü 2.xml", b"<b/>", ["ann", "bob"])]
        outbox = NatsOutbox(OutboxAddress(server.address, "box.one"))
        outbox.stage(outbox_rows(spark, rows), str(tmp_path))
        assert outbox.publish(spark, str(tmp_path), 3) == len(UNUSUAL_NAMES) + 2
        assert read_messages(server, "box_one") == expected_messages(rows)
        key = json.loads((tmp_path / "begin.json").read_text())["key"]
        for message in server.messages("box_one"):
            assert message.headers is not None
            subscriber = unquote(message.headers["Pathcast-Subscriber"])
            assert message.subject == f"box.one.{subject_token(subscriber)}"
            assert message.headers["Pathcast-Version"] == "v1"
            assert message.headers["Pathcast-Batch"] == "3"
            document = unquote(message.headers["Pathcast-Document"])
            assert message.headers["Nats-Msg-Id"] == message_id(key, document, subscriber)
        assert outbox.undeliverable(spark, str(tmp_path)).count() == 0
        assert outbox.publish(spark, str(tmp_path), 3) == len(UNUSUAL_NAMES) + 2
        assert read_messages(server, "box_one") == expected_messages(rows)

    def test_no_deliveries(self, spark: SparkSession, server: NatsServer, tmp_path: Path) -> None:
        outbox = NatsOutbox(OutboxAddress(server.address, "box.none"))
        outbox.stage(outbox_rows(spark, []), str(tmp_path))
        assert outbox.publish(spark, str(tmp_path), 3) == 0

    def test_an_id_of_a_later_batch_is_no_duplicate(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        """Within the duplicate window, the broker keeps both, and no repetition of either."""
        outbox = NatsOutbox(OutboxAddress(server.address, "later"))
        rows = [("1.xml", b"<a/>", ["ann"])], [("1.xml", b"<b/>", ["ann"])]
        for batch, batch_rows in enumerate(rows):
            staging = str(tmp_path / f"{batch}")
            outbox.stage(outbox_rows(spark, batch_rows), staging)
            for _ in range(2):
                outbox.publish(spark, staging, batch)
                shutil.rmtree(tmp_path / f"{batch}" / "report")  # as if the driver were killed
        messages = [(item.headers or {}, item.data) for item in server.messages("later")]
        assert [(headers["Pathcast-Batch"], body) for headers, body in messages] == [
            ("0", b"<a/>"),
            ("1", b"<b/>"),
        ]

    def test_exactly_once_after_a_crash_beyond_the_duplicate_window(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.create_stream("CRASH", subjects=["crash.>"], duplicate_window=0.1)
        server.publish("crash", sample_bodies(3), "elsewhere")  # published before the batch started
        rows = [(f"{n}.xml", b"<a/>", ["ann", "b.c"]) for n in range(40)]
        outbox = NatsOutbox(OutboxAddress(server.address, "crash"))
        outbox.stage(outbox_rows(spark, rows), str(tmp_path))
        task = outbox._begin(LocalStorage(tmp_path), 3)

        def interrupted_rows() -> Iterator[pa.RecordBatch]:
            for document, body, names in rows[:25]:
                yield pa.RecordBatch.from_pylist(
                    [{"document": document, "body": body, "version": "v1", "subscribers": names}]
                )
            raise RuntimeError("killed")

        with pytest.raises(RuntimeError, match="killed"):
            list(publish_batches(interrupted_rows(), task))
        assert sum(read_messages(server, "CRASH").values()) == 50

        async def taken_twice(connection: NatsConnection) -> bool:
            probe = partial(
                connection.jetstream.publish,
                "crash.probe",
                headers={"Nats-Msg-Id": message_id(task.key, "24.xml", "b.c")},
            )
            return not (await probe()).duplicate

        wait_for(lambda: server.call(taken_twice))  # the broker's duplicate window has passed
        assert outbox.publish(spark, str(tmp_path), 3) == 80
        assert read_messages(server, "CRASH") == expected_messages(rows)

    def test_exactly_once_over_broken_connections(self, tmp_path: Path) -> None:
        rows = [(f"{n}.xml", b"<a/>", ["ann", "bob"]) for n in range(20)]
        with nats_server(tmp_path / "store") as server:
            outbox = NatsOutbox(OutboxAddress(server.address, "broken"))
            task = outbox._begin(LocalStorage(tmp_path), 3)

            def rows_with_kills() -> Iterator[pa.RecordBatch]:
                for number, (document, body, names) in enumerate(rows):
                    if number in (5, 6, 12):
                        server.kill()
                        server.start()
                    yield pa.RecordBatch.from_pylist(
                        [
                            {
                                "document": document,
                                "body": body,
                                "version": None,
                                "subscribers": names,
                            }
                        ]
                    )

            report = pa.Table.from_batches(publish_batches(rows_with_kills(), task)).to_pylist()
            assert sum(row["sent"] for row in report) == 40
            assert read_messages(server, "broken") == expected_messages(rows)

    @pytest.mark.deep
    def test_exactly_once_over_repeated_broker_kills(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        rows = [(f"{n}.xml", b"<a/>" * 300, [f"s{m}" for m in range(20)]) for n in range(1_000)]
        with nats_server(tmp_path / "store") as server:
            server.create_stream("DEEP", subjects=["deep.>"], duplicate_window=0.1)
            outbox = NatsOutbox(OutboxAddress(server.address, "deep"))
            outbox.stage(outbox_rows(spark, rows).repartition(2), str(tmp_path / "staging"))

            async def count(connection: NatsConnection) -> int:
                return (await connection.jetstream.stream_info("DEEP")).state.messages

            with ThreadPoolExecutor(1) as pool:
                sent = pool.submit(outbox.publish, spark, str(tmp_path / "staging"), 3)
                for enough in range(1_000, 20_000, 4_000):
                    wait_for(lambda enough=enough: server.call(count) >= enough)  # type: ignore[misc]
                    assert not sent.done()
                    server.kill()
                    back = time.monotonic() + 0.3  # longer than the duplicate window
                    wait_for(lambda back=back: time.monotonic() > back)  # type: ignore[misc]
                    server.start()
                assert sent.result(120) == 20_000
            assert read_messages(server, "DEEP") == expected_messages(rows)

    def test_too_large_deliveries_are_skipped_and_reported(
        self,
        spark: SparkSession,
        server: NatsServer,
        tmp_path: Path,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        server.create_stream("LARGE", subjects=["large.>"], max_msg_size=2_000)
        small, large = b"s" * 500, b"l" * 2_001
        rows = [("1", small, ["ann"]), ("2", large, ["ann", "bob"]), ("3", small, ["bob"])]
        outbox = NatsOutbox(OutboxAddress(server.address, "large"))
        outbox.stage(outbox_rows(spark, rows), str(tmp_path))
        assert outbox.publish(spark, str(tmp_path), 3) == 2
        assert read_messages(server, "LARGE") == expected_messages([rows[0], rows[2]])
        [row] = outbox.undeliverable(spark, str(tmp_path)).collect()
        assert (row.document, row.subscribers, row.kind) == ("2", ["ann", "bob"], "size")
        assert "2,000" in row.message
        assert "2 deliveries are too large" in capfd.readouterr().err

    def test_largest_message_of_the_broker(self, server: NatsServer, tmp_path: Path) -> None:
        server.create_stream("EDGE", subjects=["edge.>"], max_msg_size=2_000)
        outbox = NatsOutbox(OutboxAddress(server.address, "edge"), retry_seconds=0)
        task = outbox._begin(LocalStorage(tmp_path), 3)
        sizes = range(1_500, 2_001)
        row = {"version": "v", "subscribers": ["ann"]}
        message_rows = [{"document": f"{size}", "body": b"x" * size, **row} for size in sizes]
        batch = pa.RecordBatch.from_pylist(message_rows)
        report = pa.Table.from_batches(publish_batches(iter([batch]), task)).to_pylist()
        sent = sum(item["sent"] or 0 for item in report)
        stored = [len(item.data or b"") for item in server.messages("EDGE")]
        assert stored == list(sizes)[:sent]
        assert len(report) == 1 + len(sizes) - sent
        assert 0 < sent < len(sizes)

    @pytest.mark.parametrize(
        ("settings", "reason"),
        [
            ({"subjects": ["w1.ann"]}, "not all"),
            ({"subjects": ["w2.>"], "retention": "workqueue"}, "when they were read"),
            ({"subjects": ["w3.>"], "no_ack": True}, "acknowledges nothing"),
        ],
    )
    def test_unsuitable_streams(
        self, server: NatsServer, tmp_path: Path, settings: dict[str, Any], reason: str
    ) -> None:
        prefix = settings["subjects"][0][:2]
        server.create_stream(f"WRONG_{prefix}", **settings)
        with pytest.raises(PipelineError, match=reason):
            NatsOutbox(OutboxAddress(server.address, prefix))._begin(LocalStorage(tmp_path), 3)

    @given(st.text())
    def test_subject_token_roundtrip(self, subscriber: str) -> None:
        token = subject_token(subscriber)
        assert token
        assert token.isascii()
        assert token.isprintable()
        assert not set(" .*>") & set(token)
        if not token.startswith("=") or token == "=":
            assert subscriber_of(token) == subscriber

    def test_message_ids_are_unique(self) -> None:
        pairs = [("a", "b/c"), ("a/b", "c"), ('a"', ',"b'), ('a", ', 'b"'), ("", "a"), ("a", "")]
        ids = [message_id(key, *pair) for pair in pairs for key in ("", "k", "l")]
        assert len(set(ids)) == 3 * len(pairs)
