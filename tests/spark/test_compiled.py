"""Tests of compiled subscriptions: sources, errors on the driver, and the way to the workers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pathcast.documents import Limits
from pathcast.errors import PipelineError, SubscriptionError
from pathcast.files import Subscription
from pathcast.pipeline.worker_files import InlineFile, SharedFile
from pathcast.spark import compiled as module
from pathcast.spark import deliveries, hops, match, matcher, register, subscriptions, worker

NEWS = {"n": "urn:news"}


def test_all_sources_give_the_same_version(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("source") / "all.tsv"
    file.write_text("a\t//n:a\nb\t//b\n")
    rows = [Subscription("a", "//n:a"), Subscription("b", "//b")]
    table = spark.createDataFrame([("a", "//n:a"), ("b", "//b")], "id string, xpath string")
    versions = {
        subscriptions(source, namespaces=NEWS)
        for source in (str(file), file, {"a": "//n:a", "b": "//b"}, rows, iter(rows), table)
    }
    assert len(versions) == 1
    (compiled,) = versions
    assert len(compiled) == 2
    assert pickle.loads(pickle.dumps(compiled)) == compiled


def test_a_table_may_have_namespaces_and_subscribers(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        [(1, "//n:a", NEWS, "ann")],
        "id int, xpath string, namespaces map<string, string>, subscriber string",
    )
    row = Subscription(1, "//n:a", NEWS, "ann")
    assert subscriptions(table) == subscriptions([row])


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({"a": "//a[b==1]"}, SubscriptionError, "syntax"),
        ({"a": "//*[//* = //*]"}, SubscriptionError, "expensive"),
        ({"a": ""}, PipelineError, "the xpath is empty"),
        ({"": "//a"}, PipelineError, "the id is empty"),
        ({"a": 7}, PipelineError, "the xpath is a number"),
        (["//a"], PipelineError, "entry 1 is a str, not a Subscription"),
        ([Subscription(7, "//a"), Subscription("7", "//b")], SubscriptionError, "duplicate"),
        ("/no/such/file.tsv", PipelineError, "No such file"),
    ],
)
def test_invalid_subscriptions_are_errors_of_the_driver(
    source: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        subscriptions(source)


def test_the_invalid_subscription_is_named() -> None:
    with pytest.raises(SubscriptionError) as raised:
        subscriptions({"good": "//a", "bad": "//a["})
    assert raised.value.__notes__ == ["in subscription 'bad'"]


def test_a_table_needs_its_columns(spark: SparkSession) -> None:
    with pytest.raises(PipelineError, match="no column 'xpath'"):
        subscriptions(spark.createDataFrame([("a",)], "id string"))


def test_hops_and_matches_are_not_confused(spark: SparkSession) -> None:
    table, plain = subscriptions({"a": "//a"}, hops=True), subscriptions({"a": "//a"})
    assert table.hops == ("a",)
    assert table.version != plain.version
    df = spark.createDataFrame([("<a/>",)], "body string")
    with pytest.raises(PipelineError, match="compiled as a table of hops"):
        match(df, table)
    with pytest.raises(PipelineError, match="for matches, not for hops"):
        hops(df, plain)


def test_limits_and_deadline_reach_the_workers() -> None:
    task = subscriptions({"a": "//a"}, limits=Limits(size=7)).task()
    assert task.limits == Limits(size=7)
    assert task.deadline is None
    assert subscriptions({"a": "//a"}, allow_expensive=True, deadline=3).task().deadline == 3


# --- files


def test_small_versions_travel_in_the_closure() -> None:
    assert isinstance(subscriptions({"a": "//a"}).snapshot, InlineFile)


def test_large_versions_need_a_folder_that_workers_see(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(module, "MAX_INLINE_BYTES", 10)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(PipelineError, match="0 MB of compiled subscriptions") as raised:
        subscriptions({"a": "//a"})
    assert "folder=" in (raised.value.hint or "")
    folder = tmp_path_factory.mktemp("shared") / "deep"
    compiled = subscriptions({"a": "//a"}, folder=folder)
    assert isinstance(compiled.snapshot, SharedFile)
    assert Path(compiled.snapshot.path).parent == folder
    assert subscriptions({"a": "//a"}, folder=folder) == compiled
    assert len(list(folder.iterdir())) == 2
    loaded = worker.load(compiled.task(routes=True))
    (results,) = worker.match_columns(loaded, pa.array([b"<a/>"]))
    assert results.subscriptions.to_pylist() == [["a"]]


def test_large_versions_use_a_temporary_folder_in_a_local_session(
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.setattr(module, "MAX_INLINE_BYTES", 10)
    df = spark.createDataFrame([("1", "<a/>")], "id string, body string")
    compiled = subscriptions({"a": "//a"})
    assert isinstance(compiled.snapshot, SharedFile)
    assert [row.asDict() for row in deliveries(df, compiled).collect()] == [
        {"document": "1", "subscriber": "a", "subscriptions": ["a"], "count": 1}
    ]


# --- columns


def test_wrong_columns_are_errors_of_the_driver(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, "<a/>", 2)], "id int, body string, error int")
    subs = subscriptions({"a": "//a"})
    for call, message in (
        (lambda: match(df, subs, "bdy"), "no column 'bdy'"),
        (lambda: match(df, subs, "id"), "'id' is int, not binary or string"),
        (lambda: match(df, subs), "a column 'error' already"),
        (lambda: match(df, subs, keep=["ID"]), "no column 'ID'"),
        (lambda: match(df.select("body", "body"), subs), "2 columns 'body'"),
        (lambda: deliveries(df, subs, id="key"), "no column 'key'"),
        (lambda: deliveries(df, subs, "x"), "no column 'x'"),
        (lambda: hops(df, {"a": "//a"}, "x"), "no column 'x'"),
        (lambda: register(spark, subs, "two words"), "name of a function"),
    ):
        with pytest.raises(PipelineError, match=message):
            call()
    with pytest.raises(SubscriptionError):
        matcher({"a": "//a["})
