"""Against a real broker: each test has a stream of its own on it, or a broker of its own if it kills it."""

from __future__ import annotations

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
from pathcast.pipeline.sources.nats import NatsSource, nats_documents
from pathcast.pipeline.sources.nats_reader import LostRange, RangeReader
from pathcast.pipeline.storage import LocalStorage
from tests.pipeline.nats_server import NatsServer, nats_server, wait_for

MOST = 1_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats") / "store") as running:
        yield running


def bodies(count: int, first: int = 1) -> list[bytes]:
    return [b"<a n='%d'/>" % number for number in range(first, first + count)]


def stream(server: NatsServer, name: str, subject: str | None = None) -> StreamAddress:
    return StreamAddress(server.broker, name, subject)


def read_all(
    reading: RangeReader, line: RetryingClient
) -> tuple[list[tuple[int, bytes]], list[LostRange]]:
    found, gone = [], []
    while not reading.done:
        portion = line.call(reading.next_chunk)
        found += [(one.metadata.sequence.stream, one.data) for one in portion.messages]
        gone += [portion.lost] if portion.lost else []
    return found, gone


def run(
    frame: DataFrame, checkpoint: Path, during: Any = lambda number: None, **trigger: Any
) -> list[list[Row]]:
    """The micro-batches of a stream that ends by itself; `during` is called within each."""
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
    def test_shown_without_credentials(self, text: str, shown: str) -> None:
        found = StreamAddress.parse(text)
        assert str(found) == shown
        assert "p@w" not in repr(found)
        assert "t0ken" not in repr(found)

    def test_credentials_are_decoded(self) -> None:
        broker = StreamAddress.parse("nats://ann:p%40w@h:1/S").server
        assert (broker.user, broker.password) == ("ann", "p@w")

    @pytest.mark.parametrize(
        "text",
        [
            "", "S", "http://h/S", "nats://h", "nats://h/", "nats:///S", "nats://h:x/S", "nats://h:99999/S", "nats://h/a.b",
            "nats://h/a b", "nats://h/S/T", "nats://h/>", "nats://h/S?subjects=a", "nats://h/S?subject=", "nats://h/S?subject=a..b",
            "nats://h/S?subject=>.a", "nats://h/S#x",
        ],
    )  # fmt: skip
    def test_bad_streams(self, text: str) -> None:
        with pytest.raises(PipelineError) as error:
            StreamAddress.parse(text)
        assert error.value.kind == "nats"
        assert error.value.hint

    @pytest.mark.parametrize(
        "text", ["nats://h/", "nats://h/a..b", "nats://h/a.*", "nats://h/a?b=c", "nats://h/$JS.x"]
    )
    def test_bad_prefixes(self, text: str) -> None:
        with pytest.raises(PipelineError, match="beginning of a subject"):
            OutboxAddress.parse(text)

    def test_the_error_does_not_show_the_password(self) -> None:
        with pytest.raises(PipelineError) as error:
            StreamAddress.parse("nats://ann:secret@h/a.b")
        assert "secret" not in str(error.value)


class TestReading:
    def test_any_range_any_number_of_times(self, server: NatsServer) -> None:
        server.make("RANGE")
        server.put("RANGE", bodies(150))
        twin = list(enumerate(bodies(150), 1))
        with RetryingClient(server.broker) as line:
            for first, last in [(1, 150), (1, 150), (150, 150), (3, 2), (60, 70), (64, 129)]:
                found = read_all(RangeReader(stream(server, "RANGE"), first, last), line)
                assert found == (twin[first - 1 : last], [])

            async def consumers(link: NatsConnection) -> int | None:
                return (await link.jetstream.stream_info("RANGE")).state.consumer_count

            assert line.call(consumers) == 0

    def test_single_holes_are_no_loss_and_the_beginning_is(self, server: NatsServer) -> None:
        server.make("HOLES")
        server.put("HOLES", bodies(20))

        async def dig(link: NatsConnection) -> None:
            for sequence in (9, 14, 15, 20):
                await link.jetstream.delete_msg("HOLES", sequence)
            await link.jetstream.purge_stream("HOLES", seq=6)

        server.ask(dig)
        left = [(one, b"<a n='%d'/>" % one) for one in range(6, 20) if one not in (9, 14, 15)]
        with RetryingClient(server.broker) as line:
            address = stream(server, "HOLES")
            assert read_all(RangeReader(address, 1, 20), line) == (left, [LostRange(1, 5, 5)])
            assert read_all(RangeReader(address, 6, 20), line) == (left, [])
            assert read_all(RangeReader(address, 2, 4), line) == ([], [LostRange(2, 4, 3)])
            assert read_all(RangeReader(address, 14, 15), line) == ([], [])

    def test_other_subjects_are_not_gone(self, server: NatsServer) -> None:
        server.make("MIXED")
        for number in range(1, 31):
            server.put("MIXED", bodies(1, number), "wanted" if number % 10 == 0 else "other")
        with RetryingClient(server.broker) as line:
            reading = RangeReader(stream(server, "MIXED", "MIXED.wanted"), 1, 30)
            found, gone = read_all(reading, line)
        assert [sequence for sequence, _ in found] == [10, 20, 30]
        assert gone == []

    def test_a_broker_that_is_killed_and_comes_back(self, tmp_path: Path) -> None:
        with nats_server(tmp_path / "store") as server:
            server.make("BACK")
            server.put("BACK", bodies(200))
            said: list[str] = []

            def start_again(message: str) -> None:
                said.append(message)
                server.start()

            with RetryingClient(server.broker, retry_seconds=30, log=start_again) as line:
                reading = RangeReader(stream(server, "BACK"), 1, 200)
                first = line.call(reading.next_chunk).messages
                server.kill()
                rest, gone = read_all(reading, line)
            before = [(one.metadata.sequence.stream, one.data) for one in first]
            assert before + rest == list(enumerate(bodies(200), 1))
            assert 0 < len(before) < 200
            assert gone == []
            assert said
            assert f"waiting for {server.broker}" in said[0]

    def test_patience_ends(self, server: NatsServer, tmp_path: Path) -> None:
        nobody = NatsServer(tmp_path)
        said: list[str] = []
        with (
            pytest.raises(PipelineError, match="does not answer") as error,
            RetryingClient(nobody.broker, retry_seconds=0.3, log=said.append) as line,
        ):
            line.call(RangeReader(stream(nobody, "S"), 1, 2).next_chunk)
        assert error.value.hint
        assert len(said) >= 2


class TestBatch:
    def test_all_that_is_there(self, spark: SparkSession, server: NatsServer) -> None:
        server.make("ALL")
        sent = [*bodies(5), b"x" * (MOST + 1), b""]
        server.put("ALL", sent)
        address = stream(server, "ALL")
        frame = nats_documents(spark, address, max_bytes=MOST, streaming=False)
        found = frame.selectExpr(
            "id", "body", "source", "unix_micros(time) as time", "fault"
        ).collect()
        by_id = {row.id: row for row in found}
        assert len(found) == len(by_id) == 7
        twin = {f"ALL:{one.seq}": one for one in server.all("ALL")}
        assert by_id.keys() == twin.keys()
        for id, row in by_id.items():
            assert row.source == str(address)
            taken = twin[id].time
            assert isinstance(taken, datetime)  # to the microsecond: the client rounds
            assert abs(row.time - round(taken.timestamp() * 1e6)) <= 2
            if id == "ALL:6":
                assert row.body is None
                assert row.fault.asDict() == {
                    "kind": "size",
                    "message": "1,001 bytes, more than 1,000",
                }
            else:
                assert bytes(row.body) == (twin[id].data or b"")
                assert row.fault is None

    def test_nothing_there(self, spark: SparkSession, server: NatsServer) -> None:
        server.make("EMPTY")
        found = nats_documents(spark, stream(server, "EMPTY"), max_bytes=MOST, streaming=False)
        assert found.collect() == []

    def test_many_parts(self, spark: SparkSession, server: NatsServer) -> None:
        server.make("PARTS")
        server.put("PARTS", bodies(600))
        found = nats_documents(spark, stream(server, "PARTS"), max_bytes=MOST, streaming=False)
        assert found.rdd.getNumPartitions() == 2
        assert Counter(row.id for row in found.select("id").collect()) == Counter(
            f"PARTS:{number}" for number in range(1, 601)
        )

    def test_no_such_stream(self, spark: SparkSession, server: NatsServer) -> None:
        with pytest.raises(PipelineError, match="no stream NOPE") as error:
            nats_documents(spark, stream(server, "NOPE"), max_bytes=MOST, streaming=True)
        assert error.value.hint

    @pytest.mark.parametrize("retention", ["workqueue", "interest"])
    def test_streams_that_drop_what_was_read(
        self, spark: SparkSession, server: NatsServer, retention: str
    ) -> None:
        server.make(f"DROP_{retention}", retention=retention)
        with pytest.raises(PipelineError, match="could not be read again"):
            nats_documents(
                spark, stream(server, f"DROP_{retention}"), max_bytes=MOST, streaming=False
            )


class TestStreaming:
    def test_limited_batches_and_a_fixed_end(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.make("LIMIT")
        server.put("LIMIT", bodies(16))
        address = stream(server, "LIMIT")
        frame = nats_documents(spark, address, max_bytes=MOST, streaming=True, batch_size=7)

        def more(number: int) -> None:  # what comes during the run is for the next one
            server.put("LIMIT", bodies(2, first=100 + 2 * number))

        batches = run(frame, tmp_path / "checkpoint", more)
        assert [len(batch) for batch in batches] == [7, 7, 2]
        assert {row.id for batch in batches for row in batch} == {
            f"LIMIT:{one}" for one in range(1, 17)
        }
        again = run(
            nats_documents(spark, address, max_bytes=MOST, streaming=True, batch_size=100),
            tmp_path / "checkpoint",
        )
        assert [[row.id for row in batch] for batch in again] == [
            [f"LIMIT:{one}" for one in range(17, 23)]
        ]
        assert [bytes(row.body) for row in again[0]] == bodies(6, first=100)

    def test_a_failed_batch_is_the_same_again(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.make("AGAIN")
        server.put("AGAIN", bodies(9))
        frame = nats_documents(
            spark, stream(server, "AGAIN"), max_bytes=MOST, streaming=True, batch_size=5
        )
        seen: list[list[str]] = []

        def fail(batch: DataFrame, number: int) -> None:
            seen.append(sorted(row.id for row in batch.collect()))
            if number == 1:
                raise RuntimeError("out of order")

        writer = frame.writeStream.foreachBatch(fail).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        wait_for(lambda: not query.isActive)
        server.put("AGAIN", bodies(3, first=50))
        batches = run(frame, tmp_path / "checkpoint")
        assert [row.id for row in batches[0]] == seen[1] == [f"AGAIN:{one}" for one in range(6, 10)]
        assert [row.id for batch in batches[1:] for row in batch] == [
            f"AGAIN:{one}" for one in (10, 11, 12)
        ]

    def test_what_is_lost_between_two_runs_is_told(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.make("LOST")
        server.put("LOST", bodies(5))
        frame = nats_documents(
            spark, stream(server, "LOST"), max_bytes=MOST, streaming=True, batch_size=4
        )
        run(frame, tmp_path / "checkpoint")
        server.put("LOST", bodies(10, first=6))

        async def purge(link: NatsConnection) -> None:
            await link.jetstream.purge_stream("LOST", seq=12)

        server.ask(purge)
        batches = run(frame, tmp_path / "checkpoint")
        assert [len(batch) for batch in batches] == [4, 1]
        rows = {row.id: row for batch in batches for row in batch}
        assert rows.keys() == {"LOST:6-11", *(f"LOST:{one}" for one in range(12, 16))}
        assert rows["LOST:6-11"].fault.kind == "gone"
        assert rows["LOST:6-11"].fault.message.startswith("6 messages")
        assert rows["LOST:6-11"].body is None

    def test_a_broker_killed_between_batches(self, spark: SparkSession, tmp_path: Path) -> None:
        with nats_server(tmp_path / "store") as server:
            server.make("KILLED")
            server.put("KILLED", bodies(30))
            frame = nats_documents(
                spark, stream(server, "KILLED"), max_bytes=MOST, streaming=True, batch_size=10
            )
            taken: list[str] = []

            def take(batch: DataFrame, number: int) -> None:
                taken.extend(row.id for row in batch.collect())
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
                server.put("KILLED", bodies(5, first=31))
                wait_for(lambda: len(taken) >= 35 or not query.isActive)
                assert query.exception() is None
            finally:
                query.stop()
            assert sorted(taken) == sorted(f"KILLED:{one}" for one in range(1, 36))


class TestPlanning:
    @staticmethod
    def planner(address: StreamAddress, **options: str) -> Any:
        source = NatsSource({"address": str(address), "batch": "5", **options})
        return source.streamReader(None)  # type: ignore[arg-type]

    def test_limits(self, server: NatsServer) -> None:
        server.make("PLAN")
        server.put("PLAN", bodies(12))
        planner = self.planner(stream(server, "PLAN"))
        try:
            start = planner.initialOffset()
            assert start["sequence"] == 0
            assert planner.getDefaultReadLimit() == ReadMaxRows(5)
            assert planner.latestOffset(start, ReadMaxRows(5))["sequence"] == 5
            everything = planner.latestOffset(start, ReadAllAvailable())
            assert everything["sequence"] == 12
            assert planner.latestOffset(everything, ReadMaxRows(5)) == everything
            assert planner.partitions(everything, everything) == []
            assert planner.reportLatestOffset() == {"sequence": 12}
            planner.prepareForTriggerAvailableNow()
            server.put("PLAN", bodies(3))
            assert planner.latestOffset(start, ReadAllAvailable())["sequence"] == 12
        finally:
            planner.stop()

    def test_a_quiet_subject_of_a_busy_stream(self, server: NatsServer) -> None:
        server.make("QUIET")
        server.put("QUIET", bodies(20), "other")
        planner = self.planner(stream(server, "QUIET", "QUIET.wanted"))

        async def purge(link: NatsConnection) -> None:
            await link.jetstream.purge_stream("QUIET", seq=18)

        try:
            start = planner.initialOffset()
            assert planner.latestOffset(start, ReadMaxRows(5)) == start  # no empty batches
            server.ask(purge)  # what goes was not wanted, and the planner knows it
            assert planner.latestOffset(start, ReadMaxRows(5)) == start
            server.put("QUIET", bodies(1), "wanted")
            end = planner.latestOffset(start, ReadMaxRows(5))
            assert end == {"sequence": 21, "since": 21}
            [part] = planner.partitions(start, end)
            assert (part.first, part.last) == (21, 21)
        finally:
            planner.stop()

    def test_a_stream_that_was_made_anew(self, server: NatsServer) -> None:
        server.make("ANEW")
        server.put("ANEW", bodies(2))
        planner = self.planner(stream(server, "ANEW"))
        try:
            with pytest.raises(PipelineError, match="made anew"):
                planner.latestOffset({"sequence": 9, "since": 1}, ReadMaxRows(5))
        finally:
            planner.stop()


ODD = ["ann", "a.b", "a b", "*", ">", "ünï", "", "=", "x/y:z", "%2E", "\n", "猫" * 2_000, "l" * 512, "l" * 513]  # fmt: skip


def mail(spark: SparkSession, rows: list[tuple[str, bytes, list[str]]]) -> DataFrame:
    return spark.createDataFrame(
        [(document, body, "v1", names) for document, body, names in rows],
        "document string, body binary, version string, subscribers array<string>",
    )


def delivered(server: NatsServer, name: str) -> Counter[tuple[str, str, bytes | None]]:
    """(document, subscriber, body) of all messages of a stream, each with its number."""
    return Counter(
        (
            unquote(one.headers["Pathcast-Document"]),
            unquote(one.headers["Pathcast-Subscriber"]),
            one.data,
        )
        for one in server.all(name)
        if one.headers and "Pathcast-Document" in one.headers
    )


def expected(rows: list[tuple[str, bytes, list[str]]]) -> Counter[tuple[str, str, bytes | None]]:
    return Counter((document, name, body) for document, body, names in rows for name in names)


class TestOutbox:
    def test_a_message_for_each_delivery(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        rows = [("f/1.xml", b"<a/>", ODD), ("f/ü 2.xml", b"<b/>", ["ann", "bob"])]
        outbox = NatsOutbox(OutboxAddress(server.broker, "box.one"))
        outbox.stage(mail(spark, rows), str(tmp_path))
        assert outbox.publish(spark, str(tmp_path)) == len(ODD) + 2
        assert delivered(server, "box_one") == expected(rows)
        for one in server.all("box_one"):
            assert one.headers is not None
            subscriber = unquote(one.headers["Pathcast-Subscriber"])
            assert one.subject == f"box.one.{subject_token(subscriber)}"
            assert one.headers["Pathcast-Version"] == "v1"
            document = unquote(one.headers["Pathcast-Document"])
            assert one.headers["Nats-Msg-Id"] == message_id(document, subscriber)
        assert outbox.undeliverable(spark, str(tmp_path)).count() == 0
        assert outbox.publish(spark, str(tmp_path)) == len(ODD) + 2
        assert delivered(server, "box_one") == expected(rows)

    def test_no_mail(self, spark: SparkSession, server: NatsServer, tmp_path: Path) -> None:
        outbox = NatsOutbox(OutboxAddress(server.broker, "box.none"))
        outbox.stage(mail(spark, []), str(tmp_path))
        assert outbox.publish(spark, str(tmp_path)) == 0

    def test_once_over_a_crash_and_beyond_the_window(
        self, spark: SparkSession, server: NatsServer, tmp_path: Path
    ) -> None:
        server.make("CRASH", subjects=["crash.>"], duplicate_window=0.1)
        server.put("crash", bodies(3), "elsewhere")  # before it began: none of its business
        rows = [(f"{n}.xml", b"<a/>", ["ann", "b.c"]) for n in range(40)]
        outbox = NatsOutbox(OutboxAddress(server.broker, "crash"))
        outbox.stage(mail(spark, rows), str(tmp_path))
        task = outbox._begin(LocalStorage(tmp_path))

        def some() -> Iterator[pa.RecordBatch]:
            for document, body, names in rows[:25]:
                yield pa.RecordBatch.from_pylist(
                    [{"document": document, "body": body, "version": "v1", "subscribers": names}]
                )
            raise RuntimeError("killed")

        with pytest.raises(RuntimeError, match="killed"):
            list(publish_batches(some(), task))
        assert sum(delivered(server, "CRASH").values()) == 50

        async def taken_twice(link: NatsConnection) -> bool:
            probe = partial(
                link.jetstream.publish,
                "crash.probe",
                headers={"Nats-Msg-Id": message_id("24.xml", "b.c")},
            )
            return not (await probe()).duplicate

        wait_for(lambda: server.ask(taken_twice))  # the broker itself has forgotten the first ids
        assert outbox.publish(spark, str(tmp_path)) == 80
        assert delivered(server, "CRASH") == expected(rows)

    def test_once_over_a_broken_connection(self, tmp_path: Path) -> None:
        rows = [(f"{n}.xml", b"<a/>", ["ann", "bob"]) for n in range(20)]
        with nats_server(tmp_path / "store") as server:
            outbox = NatsOutbox(OutboxAddress(server.broker, "broken"))
            task = outbox._begin(LocalStorage(tmp_path))

            def some() -> Iterator[pa.RecordBatch]:
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

            told = pa.Table.from_batches(publish_batches(some(), task)).to_pylist()
            assert sum(row["sent"] for row in told) == 40
            assert delivered(server, "broken") == expected(rows)

    @pytest.mark.deep
    def test_once_over_a_broker_that_is_killed_again_and_again(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        rows = [(f"{n}.xml", b"<a/>" * 300, [f"s{m}" for m in range(20)]) for n in range(1_000)]
        with nats_server(tmp_path / "store") as server:
            server.make("DEEP", subjects=["deep.>"], duplicate_window=0.1)
            outbox = NatsOutbox(OutboxAddress(server.broker, "deep"))
            outbox.stage(mail(spark, rows).repartition(2), str(tmp_path / "staging"))

            async def count(link: NatsConnection) -> int:
                return (await link.jetstream.stream_info("DEEP")).state.messages

            with ThreadPoolExecutor(1) as pool:
                sent = pool.submit(outbox.publish, spark, str(tmp_path / "staging"))
                for enough in range(1_000, 20_000, 4_000):
                    wait_for(lambda enough=enough: server.ask(count) >= enough)  # type: ignore[misc]
                    assert not sent.done()
                    server.kill()
                    back = time.monotonic() + 0.3  # away for longer than it would remember ids
                    wait_for(lambda back=back: time.monotonic() > back)  # type: ignore[misc]
                    server.start()
                assert sent.result(120) == 20_000
            assert delivered(server, "DEEP") == expected(rows)

    def test_what_is_too_large_is_left_out_and_told(
        self,
        spark: SparkSession,
        server: NatsServer,
        tmp_path: Path,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        server.make("LARGE", subjects=["large.>"], max_msg_size=2_000)
        small, large = b"s" * 500, b"l" * 2_001
        rows = [("1", small, ["ann"]), ("2", large, ["ann", "bob"]), ("3", small, ["bob"])]
        outbox = NatsOutbox(OutboxAddress(server.broker, "large"))
        outbox.stage(mail(spark, rows), str(tmp_path))
        assert outbox.publish(spark, str(tmp_path)) == 2
        assert delivered(server, "LARGE") == expected([rows[0], rows[2]])
        [row] = outbox.undeliverable(spark, str(tmp_path)).collect()
        assert (row.document, row.subscribers, row.kind) == ("2", ["ann", "bob"], "size")
        assert "2,000" in row.message
        assert "2 deliveries are too large" in capfd.readouterr().err

    def test_the_largest_that_the_broker_takes(self, server: NatsServer, tmp_path: Path) -> None:
        server.make("EDGE", subjects=["edge.>"], max_msg_size=2_000)
        outbox = NatsOutbox(OutboxAddress(server.broker, "edge"), retry_seconds=0)
        task = outbox._begin(LocalStorage(tmp_path))
        sizes = range(1_500, 2_001)
        row = {"version": "v", "subscribers": ["ann"]}
        some = [{"document": f"{size}", "body": b"x" * size, **row} for size in sizes]
        batch = pa.RecordBatch.from_pylist(some)
        told = pa.Table.from_batches(publish_batches(iter([batch]), task)).to_pylist()
        sent = sum(one["sent"] or 0 for one in told)
        stored = [len(one.data or b"") for one in server.all("EDGE")]
        assert stored == list(sizes)[:sent]
        assert len(told) == 1 + len(sizes) - sent
        assert 0 < sent < len(sizes)

    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"subjects": ["w1.ann"]}, "not all"),
            ({"subjects": ["w2.>"], "retention": "workqueue"}, "when they were read"),
            ({"subjects": ["w3.>"], "no_ack": True}, "acknowledges nothing"),
        ],
    )
    def test_streams_that_will_not_do(
        self, server: NatsServer, tmp_path: Path, settings: dict[str, Any], why: str
    ) -> None:
        prefix = settings["subjects"][0][:2]
        server.make(f"WRONG_{prefix}", **settings)
        with pytest.raises(PipelineError, match=why):
            NatsOutbox(OutboxAddress(server.broker, prefix))._begin(LocalStorage(tmp_path))

    @given(st.text())
    def test_a_token_is_one_token_and_can_be_read_back(self, subscriber: str) -> None:
        found = subject_token(subscriber)
        assert found
        assert found.isascii()
        assert found.isprintable()
        assert not set(" .*>") & set(found)
        if not found.startswith("=") or found == "=":
            assert subscriber_of(found) == subscriber

    def test_pairs_are_told_apart(self) -> None:
        pairs = [("a", "b/c"), ("a/b", "c"), ('a"', ',"b'), ('a", ', 'b"'), ("", "a"), ("a", "")]
        assert len({message_id(*pair) for pair in pairs}) == len(pairs)
