"""Streams over folders on Spark: continued, limited, taken away, and as a format of Spark."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pathcast.containers.contents import CONTENT_KINDS, FileContents
from pathcast.errors import PathcastError, PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.running import BatchDone, PipelineRun, RunEvent, RunSpec
from pathcast.pipeline.sources import AfterReading, DocumentSource, Source
from pathcast.pipeline.sources.files import folder_documents
from pathcast.pipeline.sources.hadoop_files import file_documents
from pathcast.pipeline.storage import LocalStorage
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


class Crash(Exception):
    pass


def crash(*_: object) -> None:
    raise Crash


def run_stream(spark: SparkSession, spec: RunSpec) -> list[int]:
    """Process the present documents; return the numbers of the batches."""
    events: list[RunEvent] = []
    PipelineRun(spark, spec, events.append).run_stream(threading.Event(), until_caught_up=True)
    return [event.batch for event in events if isinstance(event, BatchDone)]


def test_stream_of_the_file_source_is_continued(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's own source ran one batch, and was killed in the second, which is run again as it was
    planned; then new files follow.
    """
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", {"1.xml": DOCUMENTS["1.xml"]})
    spec = run_spec(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "local_folder", lambda *_: None)
        assert run_stream(spark, spec) == [0]
        write_documents(tmp_path / "in", {"2.xml": DOCUMENTS["2.xml"], "12:00.xml": b"<c/>"})
        patch.setattr(BatchLog, "write_staged_outcome", crash)
        with pytest.raises(PathcastError):
            run_stream(spark, spec)
    assert (tmp_path / "out/checkpoint/sources/0").exists()
    write_documents(tmp_path / "in", DOCUMENTS)
    assert run_stream(spark, replace(spec, batch_size=1)) == [1, 2, 3]
    batches = spark.read.parquet(str(tmp_path / "out/documents")).collect()
    assert {row.document for row in batches if row.batch == 1} == {"2.xml", "12:00.xml"}
    expected = expected_deliveries(file, DOCUMENTS | {"12:00.xml": b"<c/>"})
    assert read_deliveries(spark, tmp_path / "out") == expected
    assert run_stream(spark, spec) == []


@pytest.mark.parametrize("method", ["write_done_outcome", "take"])
def test_files_are_taken_away_after_their_batch_is_done(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The run is killed before the batch is done, or after that and before its files moved."""
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    spec = replace(
        run_spec(tmp_path),
        batch_size=10,
        batch_bytes=len(DOCUMENTS["1.xml"]) + len(DOCUMENTS["2.xml"]),
        after_reading=AfterReading(folder=str(tmp_path / "in/_read")),
    )
    with monkeypatch.context() as patch:
        if method == "take":
            patch.setattr("pathcast.pipeline.sources.streamed_folder.take_away", crash)
        else:
            patch.setattr(BatchLog, method, crash)
        with pytest.raises((PathcastError, Crash)):
            run_stream(spark, spec)
    present = {str(path.relative_to(tmp_path / "in")) for path in (tmp_path / "in").rglob("*.xml")}
    assert present == set(DOCUMENTS)
    assert len(run_stream(spark, spec)) == (1 if method == "take" else 2)
    assert read_deliveries(spark, tmp_path / "out") == expected_deliveries(file, DOCUMENTS)
    moved = tmp_path / "in/_read"
    assert {str(path.relative_to(moved)) for path in moved.rglob("*.xml")} == set(DOCUMENTS)
    assert [path.name for path in (tmp_path / "in").iterdir() if path.is_file()] == []


def test_folder_for_moved_files_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    spec = replace(run_spec(tmp_path), after_reading=AfterReading(folder=str(tmp_path / "in/read")))
    with pytest.raises(PipelineError, match="would be read as documents"):
        run_stream(spark, spec)
    nats = Source("nats://127.0.0.1:1/S", "nats", LIMITS.size)
    with pytest.raises(PipelineError, match="only files"):
        run_stream(spark, replace(run_spec(tmp_path), source=nats, batch_bytes=1))


def test_hadoop_and_local_reading_agree(spark: SparkSession, tmp_path: Path) -> None:
    """Apart from the times of empty files, which Spark does not return."""
    names = ("a.zip!m.xml", "f.csv:3", "f.CSV%x", "empty.xml", "empty.zip", "12:00.xml", "[1].xml")
    contents = dict.fromkeys(names, b"") | {
        **DOCUMENTS,
        "a.zip": make_zip([("m.xml", b"<a/>"), ("m.xml", b""), ("_n.xml", b"")]),
        "f.csv": b"a\n1\n2\n3,4\n",
        "large.xml": b" " * 200,
        "deeper/_hidden/1.xml": b"<a/>",
    }
    write_documents(tmp_path / "in", contents)
    for kind in CONTENT_KINDS:
        reading = (spark, str(tmp_path / "in"), FileContents(kind, 150))
        tables = [folder_documents(*reading), file_documents(*reading)]
        columns = ("id", "body", "source", "fault")
        local, hadoop = (sorted(map(str, table.select(*columns).collect())) for table in tables)
        assert local == hadoop, kind
        assert len(local) > len(contents) - 2


def test_format(spark: SparkSession, tmp_path: Path) -> None:
    """`spark.read` and `spark.readStream` give the documents that a run reads."""
    spark.dataSource.register(DocumentSource)
    write_documents(tmp_path / "in", DOCUMENTS | {"rows.csv": b"a\n1\n2\n"})
    folder = str(tmp_path / "in")
    source = Source(folder, "rows", LIMITS.size).documents(spark)
    table = spark.read.format("pathcast").option("kind", "rows").load(folder)
    assert table.schema == source.schema
    expected = sorted(map(str, source.collect()))
    assert sorted(map(str, table.collect())) == expected
    assert len(expected) == len(DOCUMENTS) + 2
    batches: list[list[str]] = []

    def keep(batch: DataFrame, _: int) -> None:
        batches.append([str(row) for row in batch.collect()])

    for _ in range(2):
        stream = (
            spark.readStream.format("pathcast")
            .options(kind="rows", batchDocuments="2", journal=str(tmp_path / "journal"))
            .load(folder)
            .writeStream.foreachBatch(keep)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
        )
        stream.trigger(availableNow=True).start().awaitTermination()
        assert sorted(row for batch in batches for row in batch) == expected
        assert len(batches) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "parquet"}, "does not read 'parquet'"),
        ({"maxBytes": "-1"}, "a positive number"),
        ({"path": "none"}, "No such file"),
    ],
)
def test_wrong_options_of_the_format(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], message: str
) -> None:
    spark.dataSource.register(DocumentSource)
    with pytest.raises(Exception, match=message):
        spark.read.format("pathcast").options(**{"path": str(tmp_path), **options}).load().collect()
