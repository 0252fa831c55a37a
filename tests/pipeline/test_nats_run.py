"""A run from a NATS stream to NATS subjects, interrupted and resumed."""

from __future__ import annotations

import threading
from pathlib import Path
from urllib.parse import unquote

import pytest
from pyspark.sql import SparkSession

from pathcast.pipeline.batches import BatchSettings
from pathcast.pipeline.jetstream import OutboxAddress, StreamAddress
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent, RunSpec
from pathcast.pipeline.sinks.nats import NatsOutbox
from pathcast.pipeline.sources import Source, kind_of
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests.pipeline.nats_server import nats_server
from tests.pipeline.test_running import (
    LIMITS,
    expected_deliveries,
    read_deliveries,
    write_subscriptions,
)

pytestmark = pytest.mark.usefixtures("staging")


def test_from_stream_to_subjects(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(
        tmp_path / "s.jsonl",
        [
            {"id": "x", "xpath": "//b[. = 7]", "subscriber": "desk one"},
            {"id": "y", "xpath": "//b"},
        ],
    )
    with nats_server(tmp_path / "store") as server:
        server.create_stream("FEED")
        bodies = [b"<a><b>%d</b></a>" % number for number in range(5, 9)] + [b"<a>"]
        server.publish("FEED", bodies)
        address = str(StreamAddress(server.address, "FEED"))
        assert kind_of(address) == "nats"
        spec = RunSpec(
            SubscriptionSource(file),
            Source(address, "nats", LIMITS.size),
            str(tmp_path / "out"),
            BatchSettings(LIMITS),
            lambda _: NatsOutbox(OutboxAddress(server.address, "mail")),
            batch_size=3,
        )
        events: list[RunEvent] = []
        stopping = threading.Event()

        def on_event(event: RunEvent) -> None:
            events.append(event)
            if isinstance(event, BatchDone):
                stopping.set()

        PipelineRun(spark, spec, on_event).run_stream(stopping)  # the first batch only
        assert [event.outcome.documents for event in events if isinstance(event, BatchDone)] == [3]
        PipelineRun(spark, spec, events.append).run_stream(threading.Event(), until_caught_up=True)
        assert [event.outcome.refused for event in events if isinstance(event, BatchDone)] == [0, 1]
        documents = {f"FEED:{number}": body for number, body in enumerate(bodies, 1)}
        expected = expected_deliveries(file, documents)
        assert read_deliveries(spark, tmp_path / "out") == expected
        sent = server.messages("mail")
        assert len(sent) == len(expected)
        assert {
            (
                message.headers["Pathcast-Document"],
                unquote(message.headers["Pathcast-Subscriber"]),
            ): message.data
            for message in sent
            if message.headers is not None
        } == {pair: documents[pair[0]] for pair in expected}
