"""Folders as people have them: with empty files, under names that Spark takes for patterns, around the results themselves."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.report import write_report
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent
from pathcast.pipeline.sources import Source, SourceKind
from pathcast.pipeline.sources.empty_files import empty_paths_in_batch
from pathcast.pipeline.statistics import StatisticsSettings, compute
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.store import BatchOutcome
from tests.pipeline.test_running import (
    DOCUMENTS,
    LIMITS,
    SUBSCRIPTIONS,
    delivered,
    order,
    twin,
    write_documents,
    write_subscriptions,
)

BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["batch", "stream"])


def run(
    spark: SparkSession, folder: Path, stream: bool, documents: Path, kind: SourceKind = "files"
) -> list[BatchOutcome]:
    """The outcomes of the batches of a run over `documents`."""
    heard: list[RunEvent] = []
    source = Source(str(documents), kind, LIMITS.size)
    made = PipelineRun(spark, replace(order(folder), source=source, batch_size=5), heard.append)
    if stream:
        made.run_stream(threading.Event(), until_caught_up=True)
    else:
        made.run_once()
    return [event.outcome for event in heard if isinstance(event, BatchDone)]


@BOTH_WAYS
def test_empty_files_are_refused_and_not_passed_over(
    spark: SparkSession, tmp_path: Path, stream: bool
) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    empty = ("empty.xml", "deeper/100% [no] thing.xml", "empty.zip", "empty.xml.gz")
    write_documents(tmp_path / "in", DOCUMENTS | dict.fromkeys(empty, b""))
    write_documents(tmp_path / "in", {"_hidden.xml": b""})
    done = run(spark, tmp_path, stream, tmp_path / "in")
    assert sum(one.documents for one in done) == len(DOCUMENTS) + len(empty)
    rows = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    found = {row.document: row.kind for row in rows}
    assert len(found) == len(rows)
    assert found == {
        "broken.xml": "malformed",
        "empty.xml": "empty",
        "deeper/100% [no] thing.xml": "empty",
        "empty.zip": "archive",
        "empty.xml.gz": "empty",
    }
    sources = spark.read.parquet(str(tmp_path / "out/documents")).collect()
    assert {row.source for row in sources} == {str(tmp_path / "in")}
    assert all(row.time is not None for row in sources)
    assert delivered(spark, tmp_path / "out") == twin(file, DOCUMENTS)


@BOTH_WAYS
def test_an_empty_file_alone(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path, {"1.xml": b"", "none.csv": b""})
    (outcome,) = run(spark, tmp_path, stream, tmp_path / "1.xml")
    assert (outcome.documents, outcome.refused) == (1, 1)
    (row,) = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert row.document == "1.xml"


def test_which_files_a_batch_has(tmp_path: Path) -> None:
    """By Spark's records: a batch may have none of the source's numbers, or several; every tenth holds those before it."""
    write_documents(
        tmp_path, dict.fromkeys(("a b.xml", "2.xml", "3.xml"), b"") | {"4.xml": b"<a/>"}
    )
    storage = LocalStorage(tmp_path / "out")

    def lines(*entries: tuple[str, int]) -> bytes:
        address = tmp_path.as_uri()
        made = [{"path": f"{address}/{name}", "batchId": number} for name, number in entries]
        return "\n".join(["v1", *map(json.dumps, made)]).encode()

    eighth, ninth = ("a%20b.xml", 8), [("2.xml", 9), ("4.xml", 9)]
    storage.write("checkpoint/sources/0/8", lines(eighth))
    storage.write("checkpoint/sources/0/9.compact", lines(eighth, *ninth))
    storage.write("checkpoint/sources/0/10", lines(("3.xml", 10)))
    for batch, end in enumerate(["-", '{"logOffset":8}', '{"logOffset":8}', '{"logOffset":10}']):
        storage.write(f"checkpoint/offsets/{batch}", f"v1\n{{}}\n{end}\n-".encode())
    place = f"file:{tmp_path}"
    assert [empty_paths_in_batch(storage, batch) for batch in range(4)] == [
        [],
        [f"{place}/a b.xml"],
        [],
        [f"{place}/2.xml", f"{place}/3.xml"],
    ]


def test_an_empty_file_of_rows_has_none(spark: SparkSession, tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path, {"none.csv": b""})
    (outcome,) = run(spark, tmp_path, False, tmp_path / "none.csv", "rows")
    assert (outcome.documents, outcome.refused) == (0, 0)


@BOTH_WAYS
def test_a_name_means_itself(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    """Spark would look for `feed1`, and there is one."""
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    name = "feed[1] {a,b} *"
    odd = (
        "12:00.xml",
        "a:b/:.xml",
        "100%.xml",
        "%41.xml",
        "?#.xml",
        "[1].xml",
        "a,b;'.xml",
        "ü.xml",
    )
    documents = DOCUMENTS | dict.fromkeys(odd, b"<c/>")
    write_documents(tmp_path / name, documents)
    write_documents(tmp_path / "feed1 a x", {"other.xml": b"<c/>"})
    run(spark, tmp_path, stream, tmp_path / name)
    assert delivered(spark, tmp_path / "out") == twin(file, documents)


def test_the_name_of_results_means_itself(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS | {"again.xml": DOCUMENTS["1.xml"]})
    out = tmp_path / "out [1] {a,b}"
    asked = replace(order(tmp_path, dedupe=3600.0), out=str(out), batch_size=10)
    PipelineRun(spark, asked, lambda _: None).run_stream(threading.Event(), until_caught_up=True)
    write_documents(tmp_path / "in", {"later.xml": DOCUMENTS["2.xml"]})
    PipelineRun(spark, asked, lambda _: None).run_stream(threading.Event(), until_caught_up=True)
    matched = {file.name for file in (out / "outboxes/archive").iterdir()}
    assert len(matched) == len(twin(file, DOCUMENTS).keys() & {(id, "archive") for id in DOCUMENTS})
    (row,) = spark.read.parquet(escape_glob(str(out / "repeats/batch=1"))).collect()
    assert (row.document, row.of) == ("later.xml", "2.xml")
    compute(spark, str(out), settings=StatisticsSettings())
    assert "<svg" in write_report(spark, str(out), tmp_path / "report.html").read_text()


@BOTH_WAYS
def test_a_table_with_rows_that_are_no_documents(
    spark: SparkSession, tmp_path: Path, stream: bool
) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    rows = {
        "id": [1, 2, 3, None, 5, 6],
        "body": ["<c/>", "<a><b>7</b></a>", None, "<c/>", "<x", "<c/>"],
        "time": ["2024-01-01T00:00:00Z", None, None, "2024-01-01", None, "soon"],
    }
    pq.write_table(pa.table(rows), tmp_path / "12:00.parquet")
    (outcome,) = run(spark, tmp_path, stream, tmp_path / "12:00.parquet", "parquet")
    assert (outcome.documents, outcome.matched, outcome.refused) == (6, 3, 3)
    errors = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert {(row.document, row.kind) for row in errors} == {
        ("3", "row"),
        ("5", "malformed"),
        ("6", "row"),
    }
    good = {"1": b"<c/>", "2": b"<a><b>7</b></a>", "12:00.parquet:3": b"<c/>"}
    assert delivered(spark, tmp_path / "out") == twin(file, good)


def test_a_table_that_cannot_be_read_ends_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails before several threads want it: Spark would, now and then, wait for itself for ever."""
    began: list[object] = []

    def together(*steps: object) -> None:
        began.append(steps)
        raise PipelineError("test", "it has begun")

    monkeypatch.setattr("pathcast.pipeline.batches.run_parallel", together)
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    table = pa.table({"id": [str(n) for n in range(500)], "body": ["<c/>" + " " * 100] * 500})
    pq.write_table(table, tmp_path / "t.parquet", compression="none", use_dictionary=False)
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[4:2000] = bytes(1996)  # its end, which says what it has, is whole
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(PipelineError):
        run(spark, tmp_path, False, tmp_path / "t.parquet", "parquet")
    assert not began
    assert not (tmp_path / "out/matches").exists()


@pytest.mark.parametrize("out", ["in/out", "in", "link/out"])
def test_results_among_the_documents(spark: SparkSession, tmp_path: Path, out: str) -> None:
    """A stream would deliver its deliveries, and never end."""
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    (tmp_path / "link").symlink_to(tmp_path / "in")
    asked = replace(order(tmp_path), out=str(tmp_path / out))
    with pytest.raises(PipelineError, match="would be read as documents") as caught:
        PipelineRun(spark, asked, lambda _: None).run_once()
    assert caught.value.kind == "output"
    assert not (tmp_path / "in/out").exists()


def test_results_that_are_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    asked = replace(order(tmp_path), out=str(tmp_path / "in/_out"))
    for _ in range(2):
        PipelineRun(spark, asked, lambda _: None).run_stream(
            threading.Event(), until_caught_up=True
        )
    assert delivered(spark, tmp_path / "in/_out") == twin(file, DOCUMENTS)
