"""Unusual document folders: empty files, names with glob characters, results inside them."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pathcast.containers.rows import BodyField
from pathcast.errors import PipelineError
from pathcast.files import read_outbox
from pathcast.pipeline.batch_log import BatchOutcome
from pathcast.pipeline.batches import BatchRunner
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.report import write_report
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent
from pathcast.pipeline.sources import Source, SourceKind, files
from pathcast.pipeline.sources.journal import Journal
from pathcast.pipeline.sources.listing import FileLocation, ListedFile, list_files
from pathcast.pipeline.statistics import StatisticsSettings, compute
from tests.containers.test_unpacking import make_zip
from tests.pipeline.test_running import (
    DOCUMENTS,
    LIMITS,
    SUBSCRIPTIONS,
    expected_deliveries,
    read_deliveries,
    run_spec,
    write_documents,
    write_subscriptions,
)

pytestmark = pytest.mark.usefixtures("staging")

BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["batch", "stream"])


def run(
    spark: SparkSession, folder: Path, stream: bool, documents: Path, kind: SourceKind = "files"
) -> list[BatchOutcome]:
    """Run over `documents` and return the outcomes of the batches."""
    events: list[RunEvent] = []
    source = Source(str(documents), kind, LIMITS.size)
    pipeline_run = PipelineRun(
        spark, replace(run_spec(folder), source=source, batch_size=5), events.append
    )
    if stream:
        pipeline_run.run_stream(threading.Event(), until_caught_up=True)
    else:
        pipeline_run.run_once()
    return [event.outcome for event in events if isinstance(event, BatchDone)]


@BOTH_WAYS
def test_empty_files_are_refused(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    empty = ("empty.xml", "deeper/100% [no] thing.xml", "empty.zip", "empty.xml.gz")
    write_documents(tmp_path / "in", DOCUMENTS | dict.fromkeys(empty, b""))
    write_documents(tmp_path / "in", {"_hidden.xml": b""})
    done = run(spark, tmp_path, stream, tmp_path / "in")
    assert sum(outcome.documents for outcome in done) == len(DOCUMENTS) + len(empty)
    rows = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    kinds = {row.document: row.kind for row in rows}
    assert len(kinds) == len(rows)
    assert kinds == {
        "broken.xml": "malformed",
        "empty.xml": "empty",
        "deeper/100% [no] thing.xml": "empty",
        "empty.zip": "archive",
        "empty.xml.gz": "empty",
    }
    sources = spark.read.parquet(str(tmp_path / "out/documents")).collect()
    assert {row.source for row in sources} == {str(tmp_path / "in")}
    assert all(row.time is not None for row in sources)
    assert read_deliveries(spark, tmp_path / "out") == expected_deliveries(file, DOCUMENTS)


@BOTH_WAYS
def test_single_empty_file(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path, {"1.xml": b"", "none.csv": b""})
    (outcome,) = run(spark, tmp_path, stream, tmp_path / "1.xml")
    assert (outcome.documents, outcome.refused) == (1, 1)
    (row,) = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert row.document == "1.xml"


@BOTH_WAYS
def test_every_file_of_a_folder_is_accounted_for(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    """Members and files with colliding ids, names that are not UTF-8, a file that disappears."""
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    packed = make_zip([("m.xml#2", b"<a><b>7</b></a>"), ("m.xml", b"<c/>"), ("m.xml", b"<a/>")])
    odd_name = os.fsdecode(b"deeper/caf\xe9.xml")
    documents = DOCUMENTS | {"a.zip": packed, "a.zip!m.xml": b"<b/>", odd_name: b"<c/>"}
    write_documents(tmp_path / "in", documents)
    if stream:
        with closing(Journal(tmp_path / "out/journal")) as journal:
            journal.append([ListedFile("gone.xml", 9, 9)])
    else:
        write_documents(tmp_path / "in", {"gone.xml": b"<c/>"})

        def list_and_remove(location: FileLocation) -> list[ListedFile]:
            listed = list_files(location)
            (tmp_path / "in/gone.xml").unlink()
            return listed

        monkeypatch.setattr(files, "list_files", list_and_remove)
    done = run(spark, tmp_path, stream, tmp_path / "in")
    assert sum(outcome.documents for outcome in done) == len(DOCUMENTS) + 6
    rows = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert {row.document: row.kind for row in rows} == {
        "broken.xml": "malformed",
        "gone.xml": "gone",
    }
    expected = DOCUMENTS | {
        "a.zip!m.xml#2": b"<a><b>7</b></a>",
        "a.zip!m.xml": b"<c/>",
        "a.zip!m.xml#3": b"<a/>",
        "a.zip%21m.xml": b"<b/>",
        "deeper/caf\\xE9.xml": b"<c/>",
    }
    assert read_deliveries(spark, tmp_path / "out") == expected_deliveries(file, expected)


def test_empty_row_file_has_no_documents(spark: SparkSession, tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path, {"none.csv": b""})
    (outcome,) = run(spark, tmp_path, False, tmp_path / "none.csv", "rows")
    assert (outcome.documents, outcome.refused) == (0, 0)


@BOTH_WAYS
def test_document_path_is_no_glob(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    """As a glob, the name would match `feed1`, which exists."""
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    name = "feed[1] {a,b} *"
    names = (
        "12:00.xml",
        "a:b/:.xml",
        "100%.xml",
        "%41.xml",
        "?#.xml",
        "[1].xml",
        "a,b;'.xml",
        "ü.xml",
    )
    documents = DOCUMENTS | dict.fromkeys(names, b"<c/>")
    write_documents(tmp_path / name, documents)
    write_documents(tmp_path / "feed1 a x", {"other.xml": b"<c/>"})
    run(spark, tmp_path, stream, tmp_path / name)
    assert read_deliveries(spark, tmp_path / "out") == expected_deliveries(file, documents)


@pytest.mark.deep
def test_output_path_is_no_glob(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS | {"again.xml": DOCUMENTS["1.xml"]})
    out = tmp_path / "out [1] {a,b}"
    spec = replace(run_spec(tmp_path, dedupe=3600.0), out=str(out), batch_size=10)
    PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)
    write_documents(tmp_path / "in", {"later.xml": DOCUMENTS["2.xml"]})
    PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)
    matched = {entry.document for entry in read_outbox(out, "archive")}
    assert len(matched) == len(
        expected_deliveries(file, DOCUMENTS).keys() & {(id, "archive") for id in DOCUMENTS}
    )
    (row,) = spark.read.parquet(escape_glob(str(out / "repeats"))).where("batch = 1").collect()
    assert (row.document, row.of) == ("later.xml", "2.xml")
    compute(spark, str(out), settings=StatisticsSettings())
    assert "<svg" in write_report(spark, str(out), tmp_path / "report.html").read_text()


@BOTH_WAYS
def test_table_with_unusable_rows(spark: SparkSession, tmp_path: Path, stream: bool) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    rows = {
        "id": [1, 2, 3, None, 5, 6],
        "body": ["<c/>", "<a><b>7</b></a>", None, "<c/>", "<x", "<c/>"],
        "time": ["2024-01-01T00:00:00Z", None, None, "2024-01-01", None, "soon"],
    }
    pq.write_table(pa.table(rows), tmp_path / "12:00.parquet")
    (outcome,) = run(spark, tmp_path, stream, tmp_path / "12:00.parquet", "parquet")
    assert (outcome.documents, outcome.matched, outcome.refused) == (6, 3, 3)
    assert outcome.refusals == {"row": 2, "malformed": 1}
    assert list(outcome.steps) == ["plan", "stage", "publish"]
    assert outcome.lag is not None  # since 2024
    errors = spark.read.parquet(str(tmp_path / "out/errors")).collect()
    assert {(row.document, row.kind) for row in errors} == {
        ("3", "row"),
        ("5", "malformed"),
        ("6", "row"),
    }
    good = {"1": b"<c/>", "2": b"<a><b>7</b></a>", "12:00.parquet:3": b"<c/>"}
    assert read_deliveries(spark, tmp_path / "out") == expected_deliveries(file, good)


def test_table_with_named_columns(spark: SparkSession, tmp_path: Path) -> None:
    rows = {"id": ["a", "b"], "my.text": ["<c/>", "<d/>"], "`nr": [7, None]}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    fields = BodyField("my.text", "`nr")
    source = Source(str(tmp_path / "t.parquet"), "parquet", 100, fields=fields)
    documents = source.documents(spark).select("id", "body").collect()
    assert {(row.id, bytes(row.body)) for row in documents} == {
        ("7", b"<c/>"),
        ("t.parquet:1", b"<d/>"),
    }


def test_unreadable_table_fails_before_parallel_jobs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark could deadlock if it failed while several threads use the table."""
    calls: list[object] = []

    def run_parallel(*steps: object) -> None:
        calls.append(steps)
        raise PipelineError("test", "it has begun")

    monkeypatch.setattr("pathcast.pipeline.multi_pass.run_parallel", run_parallel)
    monkeypatch.setattr(BatchRunner, "_allows_one_pass", lambda *_: False)
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    table = pa.table({"id": [str(n) for n in range(500)], "body": ["<c/>" + " " * 100] * 500})
    pq.write_table(table, tmp_path / "t.parquet", compression="none", use_dictionary=False)
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[4:2000] = bytes(1996)  # its footer with the schema is intact
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(PipelineError):
        run(spark, tmp_path, False, tmp_path / "t.parquet", "parquet")
    assert not calls
    assert not (tmp_path / "out/matches").exists()


@pytest.mark.parametrize("out", ["in/out", "in", "link/out"])
def test_output_inside_the_document_folder_is_rejected(
    spark: SparkSession, tmp_path: Path, out: str
) -> None:
    """A stream would deliver its own deliveries forever."""
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    (tmp_path / "link").symlink_to(tmp_path / "in")
    spec = replace(run_spec(tmp_path), out=str(tmp_path / out))
    with pytest.raises(PipelineError, match="would be read as documents") as caught:
        PipelineRun(spark, spec, lambda _: None).run_once()
    assert caught.value.kind == "output"
    assert not (tmp_path / "in/out").exists()


def test_hidden_output_inside_the_document_folder(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    spec = replace(run_spec(tmp_path), out=str(tmp_path / "in/_out"))
    for _ in range(2):
        PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)
    assert read_deliveries(spark, tmp_path / "in/_out") == expected_deliveries(file, DOCUMENTS)
