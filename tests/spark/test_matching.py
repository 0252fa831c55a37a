"""Tests of `match`, `deliveries`, `hops` and `matcher` on Spark DataFrames."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.files import Subscription
from pathcast.spark import deliveries, hops, match, matcher, subscriptions

ROWS = [
    Subscription("a", "//a", subscriber="ann"),
    Subscription("b", "//b", subscriber="ann"),
    Subscription("c", "//c", subscriber="cid"),
]


def test_rows_keep_their_columns_and_order(spark: SparkSession) -> None:
    time = datetime(2026, 7, 1, 12, tzinfo=UTC)
    df = spark.createDataFrame(
        [
            ("<a/>", 1, time, Decimal("1.50"), {"k": [1, None]}, (1, "x"), None),
            ("<a", 2, None, None, None, None, None),
        ],
        "body string, `a.b` int, time timestamp, price decimal(5, 2), "
        "more map<string, array<int>>, pair struct<x: int, y: string>, `odd ``name` string",
    )
    result = match(df, {"a": "//a"})
    assert result.columns == [*df.columns, "subscriptions", "error"]
    assert result.drop("subscriptions", "error").schema == df.schema
    assert result.drop("subscriptions", "error").collect() == df.collect()
    rows = result.collect()
    assert [row["subscriptions"] for row in rows] == [["a"], None]
    assert [row["error"] and row["error"]["kind"] for row in rows] == [None, "malformed"]
    kept = match(df, {"a": "//a"}, keep=["a.b"])
    assert kept.columns == ["a.b", "subscriptions", "error"]
    assert [row["a.b"] for row in kept.collect()] == [1, 2]


def test_a_string_that_declares_another_encoding_is_not_misread(spark: SparkSession) -> None:
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><title>é</title>"
    df = spark.createDataFrame([(text,)], "body string")
    both = df.union(df.select(F.encode("body", "ISO-8859-1").cast("string")))  # not UTF-8
    subs = subscriptions({"e": "//title[. = 'é']"})
    for rows in (
        match(both, subs).collect(),
        both.select(matcher(subs)("body").alias("subscriptions")).collect(),
    ):
        assert [row["subscriptions"] for row in rows] == [["e"], None]


def test_functions_for_columns_can_be_combined(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, "<a/>"), (2, "<b/>"), (3, "<c/>")], "id int, body string")
    first, second = matcher({"a": "//a", "x": "/*"}), matcher({"b": "//b"})
    rows = (
        df.select("id", first("body").alias("first"), second("body").alias("second"))
        .where(F.size("second") == 0)
        .collect()
    )
    assert {row["id"]: sorted(row["first"]) for row in rows} == {1: ["a", "x"], 3: ["x"]}


def test_deliveries_and_hops(spark: SparkSession) -> None:
    df = spark.createDataFrame(
        [(1, "<a><b/></a>"), (2, "<c/>"), (3, "<oops"), (4, "<d/>")], "key int, body string"
    )
    rows = deliveries(df, subscriptions(ROWS), id="key").collect()
    assert sorted(tuple(row) for row in rows) == [
        ("1", "ann", ["a", "b"], 2),
        ("2", "cid", ["c"], 1),
    ]
    next_hops = hops(df, subscriptions(ROWS, hops=True), keep=["key"]).collect()
    assert {row["key"]: row["hops"] for row in next_hops} == {
        1: ["ann"],
        2: ["cid"],
        3: None,
        4: [],
    }


def test_streams_and_foreach_batch(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("stream")
    (folder / "in").mkdir()
    (folder / "in" / "1.jsonl").write_text(
        '{"id": "1", "body": "<a/>"}\n{"id": "2", "body": "<"}\n'
    )
    stream = spark.readStream.schema("id string, body string").json(str(folder / "in"))
    subs = subscriptions(ROWS)
    rows: dict[str, list[str] | None] = {}

    def match_batch(batch: DataFrame, number: int) -> None:
        rows.update({row["id"]: row["subscriptions"] for row in match(batch, subs).collect()})

    query = stream.writeStream.foreachBatch(match_batch).trigger(availableNow=True).start()
    query.awaitTermination()
    assert rows == {"1": ["a"], "2": None}
    target = Path(folder / "out")
    query = (
        deliveries(stream, subs)
        .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(target), format="parquet")
    )
    query.awaitTermination()
    assert [tuple(row) for row in spark.read.parquet(str(target)).collect()] == [
        ("1", "ann", ["a"], 1)
    ]
