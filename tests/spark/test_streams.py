"""Tests of `write_stream`, `Progress` and `Documents` on small streams."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.files import Subscription
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.storage import LocalStorage
from pathcast.spark import Documents, Progress, match, subscriptions, write_stream

ROWS = [Subscription("a", "//a", subscriber="ann"), Subscription("b", "//b", subscriber="ann")]
NOW = {"availableNow": True}


def write_rows(folder: Path, name: str, *rows: tuple[str | None, str]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"key": key, "text": text}) for key, text in rows]
    (folder / name).write_text("\n".join(lines))


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema("key string, text string").json(str(folder))


def table(spark: SparkSession, out: Path, name: str) -> list[tuple[object, ...]]:
    columns = ["document", "kind"] if name == "errors" else ["document", "subscriptions"]
    return sorted(
        tuple(row) for row in spark.read.parquet(str(out / name)).select(*columns).collect()
    )


def test_a_stream_continues_and_repeats_nothing(spark: SparkSession, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    subs = subscriptions(ROWS)
    latin = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"
    write_rows(source, "1", ("1", "<a><b/></a>"), ("2", "<"), (None, "<a/>"), ("3", latin))

    def run(deliver: str = "segments") -> None:
        query = write_stream(
            read_stream(spark, source), subs, out,
            column="text", id="key", deliver=deliver, trigger=NOW,
        )  # fmt: skip
        query.awaitTermination()

    run()
    write_rows(source, "2", ("4", "<b/>"), ("4", "<b/>"))
    run()
    run()
    assert table(spark, out, "matches") == [("1", ["a", "b"]), ("3", ["a"]), ("4", ["b"])]
    assert table(spark, out, "deliveries") == [("1", ["a", "b"]), ("3", ["a"]), ("4", ["b"])]
    kinds = [kind for _, kind in table(spark, out, "errors")]
    assert sorted(map(str, kinds)) == ["duplicate", "malformed", "row"]
    storage = LocalStorage(out)
    outcomes = BatchLog(storage).outcomes()
    assert sum(outcome.documents for outcome in outcomes.values()) == 6


def test_changed_files_of_subscriptions_take_effect(spark: SparkSession, tmp_path: Path) -> None:
    source, out, file = tmp_path / "in", tmp_path / "out", tmp_path / "subs.tsv"
    for xpath, name in (("//a", "1"), ("//b", "2")):
        file.write_text(f"x\t{xpath}\n")
        write_rows(source, name, (name, "<b/>"))
        stream = read_stream(spark, source)
        write_stream(stream, file, out, column="text", id="key", trigger=NOW).awaitTermination()
    assert table(spark, out, "matches") == [("1", []), ("2", ["x"])]
    assert not (out / "deliveries").exists()


def test_wrong_calls_are_errors_before_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    write_rows(tmp_path / "in", "1", ("1", "<a/>"))
    stream, out = read_stream(spark, tmp_path / "in"), tmp_path / "out"
    batch = spark.createDataFrame([("1", "<a/>")], "id string, body string")
    with pytest.raises(PipelineError, match="not a stream"):
        write_stream(batch, {"a": "//a"}, out)
    with pytest.raises(PipelineError, match="no column 'body'"):
        write_stream(stream, {"a": "//a"}, out, id="key")
    with pytest.raises(PipelineError, match="is not segments"):
        write_stream(stream, {"a": "//a"}, out, column="text", id="key", deliver="post")
    assert not out.exists()
    (out / "matches").mkdir(parents=True)
    (out / "matches" / "x").touch()
    with pytest.raises(PipelineError, match="holds results"):
        write_stream(stream, {"a": "//a"}, out, column="text", id="key")


def test_progress_adds_up_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(3):
        write_rows(tmp_path / "in", str(number), (str(number), "<a/>"))
    ended = threading.Event()

    class EndingProgress(Progress):
        def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
            super().onQueryTerminated(event)
            ended.set()

    progress = EndingProgress()
    spark.streams.addListener(progress)
    try:
        stream = read_stream(spark, tmp_path / "in")
        matches = match(stream, {"a": "//a"}, "text").observe(
            "pathcast", F.sum(F.size("subscriptions")).alias("matches")
        )
        query = (
            matches.writeStream.format("noop")
            .queryName("news")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert ended.wait(120)
    finally:
        spark.streams.removeListener(progress)
    values = {metric.name: metric.values for metric in progress.metrics()}
    assert values["query_rows_total"] == {(("query", "news"),): 3}
    assert values["query_observed_total"] == {(("query", "news"), ("name", "matches")): 3}
    assert 'pathcast_query_batches_total{query="news"} 1' in progress.text()


def test_documents_of_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_text("<f><a>1</a><a>2</a></f>")
    spark.dataSource.register(Documents)
    documents = spark.read.format("pathcast").option("record", "a").load(str(tmp_path / "feed"))
    rows = match(documents, {"two": "//a[. = 2]"}, keep=["id", "fault"]).collect()
    assert {row["id"]: row["subscriptions"] for row in rows} == {"1.xml#1": [], "1.xml#2": ["two"]}
