"""Tests of `--record`: the records of files of any size as documents, of a source and in a run."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from pathcast.cli.app import app
from pathcast.containers.contents import FileContents
from pathcast.errors import PipelineError
from pathcast.pipeline.sources import Source
from pathcast.pipeline.sources.documents import FolderOptions
from pathcast.pipeline.sources.files import FileReader

FEED = b"<feed>" + b"".join(b"<item>%d</item>" % number for number in range(5)) + b"</feed>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    feed = tmp_path / "feed"
    feed.mkdir()
    (feed / "a.xml").write_bytes(FEED)
    (feed / "a.xml#2").write_bytes(b"<item>other</item>")
    (feed / "b.xml.gz").write_bytes(gzip.compress(FEED))
    (feed / "broken.xml").write_bytes(b"<feed><item>ok</item><item>")
    (feed / "damaged.xml.gz").write_bytes(gzip.compress(FEED * 1000)[:-20])
    with zipfile.ZipFile(feed / "c.zip", "w") as archive:
        archive.writestr("m.xml", FEED)
    (feed / "none.xml").write_bytes(b"<feed/>")
    return feed


def read(folder: Path, max_bytes: int = 1000) -> dict[str, tuple[bytes | None, str | None]]:
    contents = FileContents("files", max_bytes, record="item")
    reader = FileReader(str(folder), "feed", contents)
    names = sorted(path.name for path in folder.iterdir())
    table = pa.Table.from_batches(reader.read([*names, "gone.xml"]))
    rows = table.to_pylist()
    documents = {row["id"]: (row["body"], row["fault"] and row["fault"]["kind"]) for row in rows}
    assert len(documents) == len(rows), "two documents have the same id"
    return documents


def test_records_of_all_kinds_of_files(folder: Path) -> None:
    documents = read(folder)
    for name in ("a.xml", "b.xml.gz", "c.zip!m.xml"):
        for number in range(5):
            expected = b"<item>%d</item>" % number
            assert documents.pop(f"{name}#{number + 1}") == (expected, None)
    damaged = {id: documents.pop(id) for id in list(documents) if id.startswith("damaged")}
    assert {fault for _, fault in list(damaged.values())[:-1]} == {None}
    assert list(damaged.values())[-1][0] is None
    assert documents == {
        "a.xml#2#1": (b"<item>other</item>", None),
        "broken.xml#1": (b"<item>ok</item>", None),
        "broken.xml#2": (None, "malformed"),
        "none.xml#1": (None, "record"),
        "gone.xml#1": (None, "gone"),
    }


def test_a_file_may_be_larger_than_a_document(tmp_path: Path) -> None:
    (tmp_path / "large.xml").write_bytes(b"<feed>" + b"<item>x</item>" * 20_000 + b"</feed>")
    documents = read(tmp_path, max_bytes=100)
    assert sum(body == b"<item>x</item>" for body, _ in documents.values()) == 20_000


def test_a_source_gives_records_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "a.xml").write_bytes(FEED)
    source = Source(str(tmp_path / "feed"), "files", 1000, record="item")
    rows = source.documents(spark).collect()
    assert [(row["id"], bytes(row["body"])) for row in rows] == [
        (f"a.xml#{number + 1}", b"<item>%d</item>" % number) for number in range(5)
    ]
    options = FolderOptions("feed", FileContents("files", 9, record="item"))
    assert FolderOptions.parse(options.as_options()) == options
    with pytest.raises(PipelineError, match="no name of an element"):
        FolderOptions.parse({"path": "feed", "record": "a b"})


def test_match_splits_files_and_standard_input(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "subs.txt").write_text("//item[. = 3]\n")

    def run(*arguments: str, stdin: bytes | None = None) -> tuple[int, list[dict[str, object]]]:
        result = CliRunner().invoke(app, ["match", str(tmp_path / "subs.txt"), *arguments], stdin)
        return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]

    name = str(folder / "a.xml")
    code, rows = run(name, "--record", "item")
    assert code == 0
    assert rows == [
        {"document": f"{name}#{number + 1}", "matches": [1] if number == 3 else []}
        for number in range(5)
    ]
    code, rows = run(str(folder / "broken.xml"), "--record", "item")
    assert (code, [list(row)[1] for row in rows]) == (1, ["matches", "error"])
    assert run("-", "--record", "item", stdin=FEED)[1][3] == {"document": "-#4", "matches": [1]}
    assert run(name, "--record", "a b")[0] == 2
    assert run(str(folder / "missing.xml"), "--record", "item")[0] == 2


def test_a_stream_of_standard_input_stays_open() -> None:
    from pathcast.files import iter_documents

    stdin = io.BytesIO(FEED)
    (document,) = iter_documents(["-"], stdin=stdin)
    assert document.read() == FEED
    assert not stdin.closed
