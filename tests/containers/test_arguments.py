"""Documents of command arguments equal those of `pathcast run` for the same files."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathcast.containers.arguments import DocumentArgument, read_arguments
from pathcast.containers.contents import FileContents
from pathcast.containers.kinds import FileKind, file_kind
from pathcast.containers.rows import BodyField
from pathcast.errors import FormatError
from pathcast.pipeline.sources.files import FileReader
from pathcast.pipeline.sources.listing import FileLocation, list_files
from tests.containers.test_unpacking import make_tar, make_zip

MAX_BYTES = 100
Document = tuple[str, bytes | None, str | None]


def read(
    *names: str | Path,
    kind: FileKind | None = None,
    record: str | None = None,
    fields: BodyField | None = None,
) -> list[Document]:
    """Return (id, body, kind of fault) of the documents of arguments."""
    arguments = [
        DocumentArgument(
            str(name), kind or file_kind(str(name)), MAX_BYTES, None, fields or BodyField(), record
        )
        for name in names
    ]
    documents = read_arguments(arguments)
    return [(item.id, item.body, item.fault[0] if item.fault else None) for item in documents]


def read_by_run(path: Path, contents: FileContents) -> list[Document]:
    """Return the documents that a worker of `pathcast run` reads, without Spark."""
    location = FileLocation.find(str(path))
    reader = FileReader(location.folder, str(path), contents)
    rows = [
        row
        for batch in reader.read([file.path for file in list_files(location)])
        for row in batch.to_pylist()
    ]
    return [(row["id"], row["body"], row["fault"] and row["fault"]["kind"]) for row in rows]


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder of everything that a file can hold."""
    folder = tmp_path / "feed"
    members = [("m.xml", b"<m/>"), ("_x/m.xml", b"<h/>"), ("m.xml", b"<m2/>"), ("big", b"x" * 101)]
    files = {
        "a.xml": b"<a/>",
        "large.xml": b"x" * 101,
        "empty.xml": b"",
        "a.zip": make_zip(members),
        "a.zip!m.xml": b"<b/>",
        "deeper/b.tar.gz": make_tar(members[:2], "w:gz"),
        "deeper/c.xml.gz": gzip.compress(b"<c/>"),
        "deeper/broken.zip": b"PK?",
        "rows.jsonl": b'{"id": "own", "body": "<r/>"}\n{"body": "<s/>"}\n{"body": 1}\n',
        "rows.csv": b"a,b\n1,2\n",
        ".hidden.xml": b"<no/>",
        "_unfinished/d.xml": b"<no/>",
        os.fsdecode(b"deeper/caf\xe9.xml"): b"<e/>",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "far").mkdir()
    (tmp_path / "far/l.xml").write_bytes(b"<l/>")
    (folder / "link").symlink_to(tmp_path / "far")
    (folder / "circle").symlink_to(folder)
    return folder


@pytest.mark.parametrize("kind", ["files", "rows", "bodies"])
@pytest.mark.parametrize("record", [None, "m"])
def test_a_folder_equals_that_of_a_run(feed: Path, kind: FileKind, record: str | None) -> None:
    assert kind != "parquet"
    documents = read(feed, kind=kind, record=record)
    expected = read_by_run(feed, FileContents(kind, MAX_BYTES, record=record))
    own = {"own", "own#1"}
    prefixed = [(id if id in own else f"{feed}/{id}", body, fault) for id, body, fault in expected]
    assert sorted(documents, key=str) == sorted(prefixed, key=str)
    assert len(documents) > 9


@pytest.mark.parametrize(
    "name", ["a.xml", "a.zip", "deeper/b.tar.gz", "deeper/c.xml.gz", "rows.jsonl", "rows.csv"]
)
def test_a_file_equals_that_of_a_run(feed: Path, name: str) -> None:
    kind = file_kind(name)
    assert kind != "parquet"
    path = feed / name
    expected = read_by_run(path, FileContents(kind, MAX_BYTES))
    prefixed = [
        (id if id == "own" else f"{path.parent}/{id}", body, fault) for id, body, fault in expected
    ]
    assert read(path) == prefixed


def test_a_hidden_file_is_read_as_an_argument(feed: Path) -> None:
    assert read(feed / ".hidden.xml") == [(f"{feed}/.hidden.xml", b"<no/>", None)]


def test_json_lines_have_other_fields(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl.gz"
    rows = [{"text": "<a/>", "number": 7}, {"text": "<b/>"}]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert read(path, fields=BodyField("text", "number")) == [
        ("7", b"<a/>", None),
        (f"{path}:2", b"<b/>", None),
    ]


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    bodies = [b"<a/>", None, b"x" * 101, b"<?xml version='1.0' encoding='latin-1'?><b/>"]
    pq.write_table(pa.table({"id": ["own", None, None, None], "body": bodies}), path)
    assert read(path) == [
        ("own", b"<a/>", None),
        (f"{path}:1", None, "row"),
        (f"{path}:2", None, "size"),
        (f"{path}:3", bodies[3], None),
    ]
    texts = pa.array(["<a>\u00e9</a>", "<?xml version='1.0' encoding='latin-1'?><b/>"])
    columns = {"text": texts.dictionary_encode(), "key": [1, 2]}
    pq.write_table(pa.table(columns), path)
    assert read(path, fields=BodyField("text", "key")) == [
        ("1", "<a>\u00e9</a>".encode(), None),
        ("2", b"\xef\xbb\xbf<?xml version='1.0' encoding='latin-1'?><b/>", None),
    ]


def test_a_folder_of_tables(tmp_path: Path) -> None:
    folder = tmp_path / "t.parquet"
    (folder / "day=1").mkdir(parents=True)
    for name in ("day=1/a.parquet", "b.parquet", "_hidden.parquet"):
        pq.write_table(pa.table({"body": [f"<{name[0]}/>", "<x/>"]}), folder / name)
    (folder / "c.parquet").write_bytes(b"PAR?")
    assert [(id, fault) for id, _, fault in read(folder)] == [
        (f"{folder}/b.parquet:0", None),
        (f"{folder}/b.parquet:1", None),
        (f"{folder}/c.parquet:0", "unreadable"),
        (f"{folder}/day=1/a.parquet:0", None),
        (f"{folder}/day=1/a.parquet:1", None),
    ]


@pytest.mark.parametrize(
    ("columns", "fields", "message"),
    [
        ({"text": ["<a/>"]}, BodyField(), "has no column body"),
        ({"body": ["<a/>"]}, BodyField("body", "key"), "has no column key"),
        ({"body": [1]}, BodyField(), "is int64, not text or binary"),
    ],
)
def test_wrong_columns_are_an_error_before_reading(
    tmp_path: Path, columns: dict[str, list[object]], fields: BodyField, message: str
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(FormatError, match=message) as caught:
        read_arguments([DocumentArgument(str(path), "parquet", MAX_BYTES, fields=fields)])
    assert caught.value.hint is not None


def test_a_file_that_is_no_table_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"<a/>")
    with pytest.raises(FormatError, match="not readable as parquet"):
        read(path)


def test_standard_input_and_pipes_are_read() -> None:
    arguments = [DocumentArgument("-", "files", MAX_BYTES)]
    (document,) = read_arguments(arguments, io.BytesIO(b"<a/>"))
    assert (document.id, document.body) == ("-", b"<a/>")
    arguments = [DocumentArgument("-", "files", MAX_BYTES, record="b")]
    records = read_arguments(arguments, io.BytesIO(b"<a><b/><b/></a>"))
    assert [(item.id, item.body) for item in records] == [("-#1", b"<b/>"), ("-#2", b"<b/>")]


def test_a_pipe_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"<a/>")
    os.close(writing)
    try:
        assert [body for _, body, _ in read(f"/dev/fd/{reading}")] == [b"<a/>"]
    finally:
        os.close(reading)


def test_matching_archives_loads_neither_spark_nor_pyarrow(feed: Path, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("//m\n")
    program = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from pathcast.cli.app import app\n"
        f"result = CliRunner().invoke(app, ['match', '{tmp_path}/s.txt', '{feed}/a.zip',"
        f" '{feed}/rows.jsonl'])\n"
        "assert result.stdout.count('\"document\"') == 6, result.output\n"
        "sys.exit(', '.join({'pyspark', 'pyarrow', 'py4j', 'pandas'} & sys.modules.keys()) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_argument_that_disappears_is_a_bad_document(feed: Path) -> None:
    names = [feed / "a.xml", feed / "deeper/c.xml.gz"]
    documents = read_arguments([DocumentArgument(str(name), "files", MAX_BYTES) for name in names])
    assert next(documents).body == b"<a/>"
    names[1].unlink()
    (gone,) = documents
    assert (gone.id, gone.fault and gone.fault[0]) == (str(names[1]), "gone")
