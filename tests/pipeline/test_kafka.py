"""Kafka messages as documents. Neither Kafka nor its connector is present: a table replaces it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.kafka import KafkaAddress, kafka_documents, message_documents

MESSAGES = (
    "key binary, value binary, topic string, partition int, offset bigint, "
    "timestamp timestamp, timestampType int"
)


@pytest.mark.parametrize(
    ("text", "servers", "topics", "options"),
    [
        ("kafka://a:9092/t", "a:9092", "t", ()),
        ("kafka://a:1,b.c:2,[::1]:3/t.1,u_2", "a:1,b.c:2,[::1]:3", "t.1,u_2", ()),
        (
            "kafka://a:1/t?startingOffsets=latest&kafka.sasl.jaas.config=user%20%22x%22%3B",
            "a:1",
            "t",
            (("startingOffsets", "latest"), ("kafka.sasl.jaas.config", 'user "x";')),
        ),
    ],
)
def test_address(
    text: str, servers: str, topics: str, options: tuple[tuple[str, str], ...]
) -> None:
    address = KafkaAddress.parse(text)
    assert (address.servers, address.topics, address.options) == (servers, topics, options)
    assert KafkaAddress.parse(str(address)) == KafkaAddress(servers, topics)
    assert "jaas" not in f"{address}{address!r}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kafka://a/t", "a port for each host"),
        ("kafka://u:secret@a:1/t", "a port for each host"),
        ("kafka://a:1", "cannot be the name of a topic"),
        ("kafka://a:1/t/u", "cannot be the name of a topic"),
        ("kafka://a:1/t?subscribePattern=.*", "said by the address itself"),
        ("kafka://a:1/t?kafka.bootstrap.servers=b:1", "said by the address itself"),
        ("kafka://[a:1/t", "an address that is none"),
        ("nats://a:1/t", "no address of Kafka"),
    ],
)
def test_bad_address(text: str, reason: str) -> None:
    with pytest.raises(PipelineError, match=reason) as caught:
        KafkaAddress.parse(text)
    assert caught.value.kind == "source"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("batch", [None, 100])
def test_connector_is_missing(spark: SparkSession, batch: int | None) -> None:
    address = KafkaAddress.parse("kafka://127.0.0.1:9092/news?kafka.ssl.key.password=secret")
    with pytest.raises(PipelineError, match="no connector for Kafka") as caught:
        kafka_documents(spark, address, max_bytes=100, batch_size=batch)
    assert f"spark-sql-kafka-0-10_2.13:{spark.version}" in str(caught.value.hint)
    assert "secret" not in str(caught.value)


def test_messages_are_documents(spark: SparkSession) -> None:
    time = datetime(2011, 8, 3, 9, 30, tzinfo=UTC)
    rows = [
        (None, b"<a/>", "news", 0, 7, time, 0),
        (b"k", b"<b></b>", "news", 1, 7, time, 0),
        (b"k", None, "news", 1, 8, time, 0),
        (None, b"<a/>" * 3, "alerts", 0, 2**40, time, 0),
    ]
    messages = spark.createDataFrame(rows, MESSAGES)
    documents = message_documents(messages, "kafka://a:1/news,alerts", max_bytes=7)
    assert documents.schema["fault"].dataType.simpleString() == "struct<kind:string,message:string>"
    assert [(row.id, row.body, row.fault and tuple(row.fault)) for row in documents.collect()] == [
        ("news:0:7", b"<a/>", None),
        ("news:1:7", b"<b></b>", None),
        ("news:1:8", None, ("row", "the message has no value")),
        (f"alerts:0:{2**40}", None, ("size", "more than 7 bytes")),
    ]
    assert {row.source for row in documents.collect()} == {"kafka://a:1/news,alerts"}
    seconds = documents.selectExpr("cast(time as double) as at").distinct().collect()
    assert [row.at for row in seconds] == [time.timestamp()]
