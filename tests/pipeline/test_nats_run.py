"""A run from a stream of a real broker to subjects of it, stopped in the middle and gone on with."""

from __future__ import annotations

import threading
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import SparkSession

from pathcast.pipeline.batches import BatchSettings
from pathcast.pipeline.jetstream import OutboxAddress, StreamAddress
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent, RunSpec
from pathcast.pipeline.sinks.nats import NatsOutbox
from pathcast.pipeline.sources import Source, kind_of
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests.pipeline.nats_server import nats_server
from tests.pipeline.test_running import LIMITS, delivered, twin, write_subscriptions


def test_from_stream_to_subjects(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(
        tmp_path / "s.jsonl",
        [
            {"id": "x", "xpath": "//b[. = 7]", "subscriber": "desk one"},
            {"id": "y", "xpath": "//b"},
        ],
    )
    with nats_server(tmp_path / "store") as server:
        server.make("FEED")
        bodies = [b"<a><b>%d</b></a>" % number for number in range(5, 9)] + [b"<a>"]
        server.put("FEED", bodies)
        address = str(StreamAddress(server.broker, "FEED"))
        assert kind_of(address) == "nats"
        order = RunSpec(
            SubscriptionSource(file),
            Source(address, "nats", LIMITS.size),
            str(tmp_path / "out"),
            BatchSettings(LIMITS),
            lambda _: NatsOutbox(OutboxAddress(server.broker, "mail")),
            batch_size=3,
        )
        heard: list[RunEvent] = []
        stopping = threading.Event()

        def hear(event: RunEvent) -> None:
            heard.append(event)
            if isinstance(event, BatchDone):
                stopping.set()

        PipelineRun(spark, order, hear).run_stream(stopping)  # the first batch, and no more
        assert [event.outcome.documents for event in heard if isinstance(event, BatchDone)] == [3]
        PipelineRun(spark, order, heard.append).run_stream(threading.Event(), until_caught_up=True)
        assert [event.outcome.refused for event in heard if isinstance(event, BatchDone)] == [0, 1]
        documents = {f"FEED:{number}": body for number, body in enumerate(bodies, 1)}
        expected = twin(file, documents)
        assert delivered(spark, tmp_path / "out") == expected
        sent = server.all("mail")
        assert len(sent) == len(expected)
        assert {
            (
                message.headers["Pathcast-Document"],
                unquote(message.headers["Pathcast-Subscriber"]),
            ): message.data
            for message in sent
            if message.headers is not None
        } == {pair: documents[pair[0]] for pair in expected}
