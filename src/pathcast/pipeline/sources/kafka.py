"""Documents from Kafka topics, by Spark's Kafka connector.

Spark does not include the connector's jar; `spark.jars.packages` downloads it, `spark.jars` names a
local copy. An address is `kafka://HOST:PORT,HOST:PORT/TOPIC,TOPIC?OPTION=VALUE`. Options are passed
to the connector unchanged, those of the client (`kafka.security.protocol`) among them. They may be
secrets, so they are never shown or stored. By default a stream starts at the oldest message, as a
batch run does.

A document's id is `TOPIC:PARTITION:OFFSET`, its time is that of the message. Spark's checkpoint
holds offsets, so a retried batch reads the same messages as long as Kafka keeps them. If Kafka
dropped some, the connector ends the run (`failOnDataLoss`) rather than skip them. A message without
a value, as in compacted topics, is a row with a fault, and so is a message that is too large.

>>> address = KafkaAddress.parse("kafka://one:9092,two:9092/news?minPartitions=8")
>>> str(address), address.options
('kafka://one:9092,two:9092/news', (('minPartitions', '8'),))
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from pyspark import __version__ as spark_version
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError

__all__ = ["KafkaAddress", "kafka_documents", "message_documents"]

_FAULT_DDL: Final = "struct<kind:string,message:string>"
_SERVER: Final = r"(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}"
_SERVERS: Final = re.compile(rf"{_SERVER}(?:,{_SERVER})*")
_TOPICS: Final = re.compile(r"[A-Za-z0-9._-]{1,249}(?:,[A-Za-z0-9._-]{1,249})*")
_RESERVED_OPTIONS: Final = ("kafka.bootstrap.servers", "subscribe", "subscribepattern", "assign")
_ADDRESS_HINT: Final = "an address looks like kafka://localhost:9092/TOPIC"
_CONNECTOR: Final = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark_version}"


@dataclass(frozen=True, slots=True)
class KafkaAddress:
    """Topics to read, all of them, and options of the connector."""

    servers: str
    topics: str
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse kafka://HOST:PORT/TOPIC?OPTION=VALUE, or raise PipelineError."""
        try:
            parts = urlsplit(text)
        except ValueError as error:  # unbalanced brackets
            raise PipelineError(
                "source", f"an address that is none: {error}", hint=_ADDRESS_HINT
            ) from None
        redacted = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        topics = unquote(parts.path.removeprefix("/"))
        options = tuple(parse_qsl(parts.query, keep_blank_values=True))
        reason = None
        if parts.scheme != "kafka" or not _SERVERS.fullmatch(parts.netloc):
            reason = "no address of Kafka, with a port for each host"
        elif not _TOPICS.fullmatch(topics):
            reason = f"{topics!r} cannot be the name of a topic"
        elif reserved := [key for key, _ in options if key.lower() in _RESERVED_OPTIONS]:
            reason = f"{', '.join(reserved)} is said by the address itself"
        if reason is not None:
            raise PipelineError("source", f"{redacted}: {reason}", hint=_ADDRESS_HINT)
        return cls(parts.netloc, topics, options)

    def __str__(self) -> str:
        return f"kafka://{self.servers}/{self.topics}"


def kafka_documents(
    session: SparkSession, address: KafkaAddress, *, max_bytes: int, batch_size: int | None = None
) -> DataFrame:
    """Return the documents of topics: (id, body, source, time, fault).

    With `batch_size` the table is a stream with at most that many messages per micro-batch.
    """
    options = {"startingOffsets": "earliest"}
    if batch_size is not None:
        options["maxOffsetsPerTrigger"] = str(batch_size)
    given_keys = {key.lower() for key, _ in address.options}  # Spark's options are case-insensitive
    options = {key: value for key, value in options.items() if key.lower() not in given_keys}
    options |= {"kafka.bootstrap.servers": address.servers, "subscribe": address.topics}
    reader = session.read if batch_size is None else session.readStream
    try:
        messages = reader.format("kafka").options(**options, **dict(address.options)).load()
    except AnalysisException as error:
        if "Failed to find data source" not in str(error):
            raise
        raise PipelineError(
            "source",
            f"{address}: this Spark has no connector for Kafka",
            hint=f"--conf spark.jars.packages={_CONNECTOR}, or its jars by --conf spark.jars=",
        ) from None
    return message_documents(messages, str(address), max_bytes)


def message_documents(messages: DataFrame, source: str, max_bytes: int) -> DataFrame:
    """Convert connector rows (topic, partition, offset, timestamp, value) to documents."""
    body = F.col("value")
    return messages.select(
        F.concat_ws(":", "topic", "partition", "offset").alias("id"),
        F.when(F.length(body) <= max_bytes, body).alias("body"),
        F.lit(source).alias("source"),
        F.col("timestamp").alias("time"),
        _fault(body, max_bytes).cast(_FAULT_DDL).alias("fault"),
    )


def _fault(body: Column, max_bytes: int) -> Column:
    def fault(kind: str, message: str) -> Column:
        return F.struct(F.lit(kind).alias("kind"), F.lit(message).alias("message"))

    return F.when(body.isNull(), fault("row", "the message has no value")).when(
        F.length(body) > max_bytes, fault("size", f"more than {max_bytes:,} bytes")
    )
