"""Checks that come before Spark starts: a bad call fails without it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathcast.containers.rows import BodyField
from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.checks import check_inputs, run_identity
from pathcast.pipeline.sources import Source, SourceKind
from pathcast.pipeline.storage import LocalStorage
from tests.cli.running import Result, run

LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathcast.pipeline.session.session_for", None)


def run_without_spark(folder: Path, documents: Path, *options: str) -> Result:
    (folder / "s.txt").write_text("//a\n")
    return run("run", "-s", folder / "s.txt", "-d", documents, "-o", folder / "out", *options)


def check(source: Source, out: Path, *, streaming: bool = False) -> None:
    check_inputs(source, str(out), {}, streaming=streaming)


def source(path: Path, kind: SourceKind, **options: object) -> Source:
    return Source(str(path), kind, LIMIT, **options)  # type: ignore[arg-type]


def test_missing_group_column(tmp_path: Path) -> None:
    (tmp_path / "winds.csv").write_text("time,station,wind\n09:00,A,5\n")
    result = run_without_spark(tmp_path, tmp_path / "winds.csv", "--group-by", "tme")
    assert (result.code, result.stdout) == (2, "")
    assert "winds.csv has no column tme" in result.stderr
    assert "its columns are time, station, wind" in result.stderr
    assert not (tmp_path / "out").exists()


def test_missing_body(tmp_path: Path) -> None:
    (tmp_path / "all.jsonl").write_text('{"id": "a", "text": "<a/>"}\n{"number": 3}\n')
    result = run_without_spark(tmp_path, tmp_path / "all.jsonl")
    assert result.code == 2
    assert "all.jsonl has no column body" in result.stderr
    assert "its columns are id, text, number" in result.stderr


@pytest.mark.parametrize("options", [(), ("--stream",)], ids=["batch", "stream"])
def test_missing_columns_of_parquet(tmp_path: Path, options: tuple[str, ...]) -> None:
    table = tmp_path / "all.parquet" / "day=3"
    table.mkdir(parents=True)
    pq.write_table(pa.table({"text": ["<a/>"], "number": [1]}), table / "part-0.parquet")
    path = tmp_path / "all.parquet"
    result = run_without_spark(tmp_path, path, *options)
    assert result.code == 2
    assert "has no column body" in result.stderr
    assert "its columns are text, number, day" in result.stderr
    check(source(path, "parquet", fields=BodyField("text")), tmp_path / "out")  # without id
    result = run_without_spark(tmp_path, path, "--body", "text", "--id", "nr", *options)
    assert "has no column nr" in result.stderr
    result = run_without_spark(tmp_path, path, "--body", "number", *options)
    assert "the column number is int64, not text or binary" in result.stderr


def test_a_column_of_any_of_the_first_files_counts(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.jsonl").write_text("[]\n\n{]\n")
    (folder / "2.csv").write_text("a,b\n")
    (folder / "3.xml").write_text("<a/>")
    check(source(folder, "bodies"), tmp_path / "out")  # no record yet
    (folder / "4.jsonl.gz").write_bytes(gzip.compress(b'{"text": "<a/>"}\n'))
    (folder / "_5.jsonl").write_text('{"body": "<a/>"}\n')
    with pytest.raises(PipelineError, match="no column body"):
        check(source(folder, "bodies"), tmp_path / "out")
    check(source(folder, "bodies", fields=BodyField("text")), tmp_path / "out")
    (folder / "6.json").write_text(json.dumps([{"a": 1}, {"body": "<a/>"}]))
    check(source(folder, "bodies"), tmp_path / "out")


def test_columns_of_an_empty_folder_are_not_checked(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    check(source(tmp_path / "in", "rows", group="time"), tmp_path / "out", streaming=True)
    check(source(tmp_path / "in", "parquet"), tmp_path / "out", streaming=True)


def test_column_options_need_columns(tmp_path: Path) -> None:
    result = run_without_spark(tmp_path, tmp_path, "--body", "text")
    assert result.code == 2
    assert "only JSON lines and tables" in result.stderr


@pytest.mark.parametrize("options", [(), ("--stream",)], ids=["batch", "stream"])
def test_missing_input(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = run_without_spark(tmp_path, tmp_path / "none", *options)
    assert (result.code, result.stdout) == (2, "")
    assert "none: there is no such file or folder" in result.stderr
    assert not (tmp_path / "out").exists()


def test_output_inside_the_input(tmp_path: Path) -> None:
    result = run_without_spark(tmp_path, tmp_path)
    assert result.code == 2
    assert "would be read as documents" in result.stderr
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(PipelineError, match="would be read as documents"):
        check(source(tmp_path, "files"), tmp_path / "link" / "out")
    check(source(tmp_path, "files"), tmp_path / "_out")


def test_used_output(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    files = source(tmp_path / "in", "files")
    log = BatchLog(LocalStorage(tmp_path / "out"))
    log.claim(run_identity(files, streaming=False))
    check(files, tmp_path / "out")  # a killed batch run is started again
    log.storage.write("done/0000000000.json", b"{}")
    result = run_without_spark(tmp_path, tmp_path / "in")
    assert result.code == 2
    assert "holds the results of an earlier run" in result.stderr
    result = run_without_spark(tmp_path, tmp_path / "in", "--stream")
    assert "belongs to another run (run: batch, here stream)" in result.stderr
    (tmp_path / "file").touch()
    with pytest.raises(PipelineError, match="is a file"):
        check(files, tmp_path / "file")


def test_output_of_a_running_run(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    storage = LocalStorage(tmp_path / "out")
    storage.lock()
    with pytest.raises(PipelineError, match="another run has"):
        check(source(tmp_path / "in", "files"), tmp_path / "out", streaming=True)
    storage.close()
    check(source(tmp_path / "in", "files"), tmp_path / "out", streaming=True)


def test_other_file_systems_are_left_to_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = Source("hdfs://head/in", "files", LIMIT)
    check_inputs(elsewhere, "hdfs://head/in/out", {}, streaming=False)
    check_inputs(Source("nats://host:1/FEED", "nats", LIMIT), str(tmp_path), {}, streaming=True)
    missing = source(tmp_path / "none", "files")
    other = {"spark.hadoop.fs.defaultFS": "hdfs://head"}
    check_inputs(missing, "out", other, streaming=False)
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    check_inputs(missing, "out", {}, streaming=False)
    with pytest.raises(PipelineError):
        check_inputs(Source(f"file:{tmp_path}/none", "files", LIMIT), "out", {}, streaming=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--after-reading", "delete"), "needs --stream"),
        (("--stream", "--after-reading", "remove"), "neither keep, delete nor move:FOLDER"),
        (("--stream", "--batch-bytes", "0"), "at least 1"),
        (("--stream", "--after-reading", "move:{0}/in/read"), "would be read as documents"),
        (("--stream", "--after-reading", "move:s3a://read"), "not a folder that this machine"),
        (("--stream", "--read", "parquet", "--batch-bytes", "1K"), "only files are limited"),
    ],
)
def test_options_for_files(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    (tmp_path / "in").mkdir()
    words = [option.format(tmp_path) for option in options]
    result = run_without_spark(tmp_path, tmp_path / "in", *words)
    assert result.code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "out").exists()
