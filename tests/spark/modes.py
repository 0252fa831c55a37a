"""Every way in which `pathcast.spark` matches a table of documents, with comparable results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pathcast.spark import Compiled, match, matcher, register

__all__ = ["MODES", "Outcomes", "read_documents"]

Outcomes = dict[str, list[str] | str | None]
"""By document: sorted ids, or the kind of its error; None if refused without an error."""


def read_documents(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the table (id string, body binary) that the tests match."""
    return spark.read.parquet(str(folder))


def outcomes(rows: list[Any]) -> Outcomes:
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: _outcome(row.asDict()) for row in rows}


def _outcome(row: Mapping[str, Any]) -> list[str] | str | None:
    error = row.get("error")
    if row["subscriptions"] is None:
        return None if error is None else str(error["kind"])
    assert error is None
    return sorted(row["subscriptions"])


def by_match(spark: SparkSession, folder: Path, subs: Compiled) -> Outcomes:
    return outcomes(match(read_documents(spark, folder), subs, keep=["id"]).collect())


def by_stream(spark: SparkSession, folder: Path, subs: Compiled) -> Outcomes:
    documents = spark.readStream.schema("id string, body binary").parquet(str(folder))
    matches = match(documents, subs, keep=["id"])
    query = (
        matches.writeStream.format("memory")
        .queryName("streamed")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return outcomes(spark.table("streamed").collect())


def by_column_function(spark: SparkSession, folder: Path, subs: Compiled) -> Outcomes:
    ids = matcher(subs)("body").alias("subscriptions")
    return outcomes(read_documents(spark, folder).select("id", ids).collect())


def by_sql(spark: SparkSession, folder: Path, subs: Compiled) -> Outcomes:
    register(spark, subs)
    read_documents(spark, folder).createOrReplaceTempView("docs")
    return outcomes(
        spark.sql("SELECT * FROM pathcast_match(TABLE(SELECT id, body FROM docs))").collect()
    )


MODES: Mapping[str, Callable[[SparkSession, Path, Compiled], Outcomes]] = {
    "batch": by_match,
    "stream": by_stream,
    "column": by_column_function,
    "SQL": by_sql,
}
