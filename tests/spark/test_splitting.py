"""Tests of `split`: rows of records from rows of documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.spark import match, split, splitting

FEED = "<?xml version='1.0' encoding='ISO-8859-1'?><f><i>é</i><o/><i n='2'><i/></i></f>"


def test_records_become_rows(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    df = spark.createDataFrame(
        [(1, FEED, "x"), (2, "<f><i>1</i><i", "y"), (3, "<f/>", "z"), (4, None, "n")],
        "id int, body string, `more.` string",
    )
    records = split(df, "i")
    assert records.columns == ["id", "body", "more.", "number", "fault"]
    rows = [
        (row["id"], row["body"] and bytes(row["body"]).decode(), row["more."], row["number"],
         row["fault"] and row["fault"]["kind"])
        for row in records.collect()
    ]  # fmt: skip
    assert rows == [
        ("1#1", "<i>é</i>", "x", 1, None),
        ("1#2", '<i n="2"><i/></i>', "x", 2, None),
        ("2#1", "<i>1</i>", "y", 1, None),
        ("2#2", None, "y", 2, "malformed"),
        ("3#1", None, "z", 1, "record"),
        ("4#1", None, "n", 1, "empty"),
    ]
    matches = match(records, {"e": "//i[. = 'é']", "two": "/i[@n = 2]"}, keep=["id"]).collect()
    assert {row["id"]: row["subscriptions"] for row in matches if row["subscriptions"]} == {
        "1#1": ["e"],
        "1#2": ["two"],
    }
    without_ids = split(df.select("body"), "i", id=None)
    assert without_ids.columns == ["body", "number", "fault"]


def test_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    monkeypatch.setattr(splitting, "_BATCH_ROWS", 3)
    batch = pa.record_batch({"id": ["a", "b"], "body": [b"<f>" + b"<i/>" * 5 + b"</f>"] * 2})
    task = splitting._SplitTask("i", splitting._DEFAULT_LIMITS, 1, 0, ("id", "body", "number", "f"))
    parts = list(splitting._split_batches(iter([batch]), task))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    ids = [id for part in parts for id in part.column("id").to_pylist()]
    assert ids == [f"{name}#{number}" for name in "ab" for number in range(1, 6)]


def test_wrong_arguments_are_errors_of_the_driver(spark: SparkSession) -> None:
    df = spark.createDataFrame([("<a/>", 1)], "body string, number int")
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: split(df, "a b"), "no name of an element"),
        (lambda: split(df, "a"), "no column 'id'"),
        (lambda: split(df, "a", id=None), "a column 'number' already"),
        (lambda: split(df, "a", "number", id=None), "int, not binary or string"),
    ]
    for call, message in calls:
        with pytest.raises(PipelineError, match=message):
            call()
