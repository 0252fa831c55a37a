"""Writing of documents: round trips, atomic replacement, refused ids and bounded memory."""

from __future__ import annotations

import errno
import gzip
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import FormatError
from pathcast.files import (
    DocumentFormat,
    Subscription,
    document_format_of,
    document_line,
    iter_documents,
    parquet_writer,
    read_subscriptions,
    write_documents,
    write_subscriptions,
)

IDS = st.text("aB7.-_ \"'\\é\n\u2028中", min_size=1, max_size=6)
ITEMS = st.dictionaries(IDS, st.binary(max_size=20)).map(lambda bodies: list(bodies.items()))
TEXTS = st.dictionaries(IDS, st.text(max_size=20).map(str.encode)).map(
    lambda bodies: list(bodies.items())
)


def read_back(path: Path) -> list[tuple[str, bytes]]:
    """Read documents independently of `pathcast.files`, except a folder."""
    if path.is_dir():
        documents = iter_documents([path])
        return [(Path(file.name).name.removesuffix(".xml"), file.read()) for file in documents]
    if path.suffix == ".parquet":
        table = pq.read_table(path).to_pylist()
        return [(row["id"], row["body"]) for row in table]
    octets = path.read_bytes()
    octets = gzip.decompress(octets) if path.suffix == ".gz" else octets
    rows = [json.loads(line) for line in octets.split(b"\n")[:-1]]
    return [(row["id"], row["body"].encode()) for row in rows]


@given(ITEMS)
def test_parquet_round_trip(items: list[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "all.parquet")
        assert write_documents(path, iter(items)) == len(items)
        assert read_back(path) == items


@given(st.sampled_from(["all.jsonl", "all.jsonl.gz"]), TEXTS)
def test_jsonl_round_trip(name: str, items: list[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        assert write_documents(path, iter(items)) == len(items)
        assert read_back(path) == items


@given(ITEMS)
def test_folder_round_trip(items: list[tuple[str, bytes]]) -> None:
    items = [(id, body) for id, body in items if id[0] not in "._"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "all")
        assert write_documents(path, iter(items)) == len(items)
        assert dict(read_back(path)) == dict(items)
        assert os.listdir(folder) == ["all"]


@pytest.mark.parametrize("name", ["all", "all.jsonl", "all.parquet"])
def test_failed_write_leaves_no_files(tmp_path: Path, name: str) -> None:
    def items() -> Iterator[tuple[str, bytes]]:
        yield "1", b"<a/>"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_documents(tmp_path / name, items())
    assert list(tmp_path.iterdir()) == []


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(FormatError, match="document '2': byte 4 is not UTF-8"):
        write_documents(path, [("1", b"<a/>"), ("2", b"<a>\xff</a>")])
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]
    assert path.read_bytes() == b"old"
    write_documents(path, [("1", b"<a/>")])
    assert path.read_bytes() == document_line("1", b"<a/>").encode() + b"\n"


def test_links_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_bytes(b"old")
    (tmp_path / "real.jsonl").chmod(0o600)
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    write_documents(tmp_path / "link.jsonl", [("1", b"<a/>")])
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "real.jsonl").read_bytes() == b'{"id": "1", "body": "<a/>"}\n'
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_documents(pipe, [("1", b"<a/>")])
        assert os.read(reader, 100) == b'{"id": "1", "body": "<a/>"}\n'
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_nonempty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / ".x").touch()
    with pytest.raises(FormatError, match="is not empty") as caught:
        write_documents(tmp_path / "hidden", [("1", b"<a/>")])
    assert caught.value.kind == "exists"
    assert os.listdir(tmp_path / "hidden") == [".x"]
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="is not a folder"):
        write_documents(tmp_path / "file", [("1", b"<a/>")])
    assert sorted(os.listdir(tmp_path)) == ["file", "hidden"]


def test_empty_folder_keeps_its_permissions_and_links(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    write_documents(tmp_path / "link", [("1", b"<a/>")])
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert read_back(folder) == [("1", b"<a/>")]


def test_working_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="is the working folder"):
        write_documents(".", [("1", b"<a/>")])


def test_folder_filled_by_another_process_is_kept(tmp_path: Path) -> None:
    def items() -> Iterator[tuple[str, bytes]]:
        yield "1", b"<a/>"
        (tmp_path / "all").mkdir()
        (tmp_path / "all" / "theirs").touch()

    with pytest.raises(FormatError, match="not empty"):
        write_documents(tmp_path / "all", items())
    assert os.listdir(tmp_path / "all") == ["theirs"]
    assert os.listdir(tmp_path) == ["all"]


@pytest.mark.parametrize("name", ["none/all", "none/all.jsonl", "none/all.parquet", "a\0b"])
def test_system_errors_are_format_errors(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match=r"No such file|is no name") as caught:
        write_documents(tmp_path / name, [("1", b"<a/>")])
    assert caught.value.kind == "file"


def test_full_disk(tmp_path: Path) -> None:
    def items() -> Iterator[tuple[str, bytes]]:
        yield "1", b"<a/>"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(FormatError, match="No space left on device"):
        write_documents(tmp_path / "all", items())
    with pytest.raises(FormatError, match="No space left on device"):
        write_subscriptions(tmp_path / "all.txt", (Subscription(1, str(item)) for item in items()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "items", "message"),
    [
        ("folder", [("a", b""), ("a", b"")], "comes twice"),
        ("folder", [("a/b", b"")], "cannot name a file"),
        ("folder", [("_a", b"")], "cannot name a file"),
        ("folder", [(".a", b"")], "begin with"),
        ("folder", [("a" * 300, b"")], "File name too long"),
        ("folder", [("", b"")], "is empty"),
        ("jsonl", [("", b"")], "is empty"),
        ("parquet", [("", b"")], "is empty"),
        ("parquet", [("\ud800", b"")], "surrogate"),
        ("jsonl", [("\ud800", b"")], "surrogate"),
    ],
)
def test_invalid_ids_are_refused(
    tmp_path: Path, kind: DocumentFormat, items: list[tuple[str, bytes]], message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        write_documents(tmp_path / "all", items, kind)
    assert list(tmp_path.iterdir()) == []


def test_format_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "v.2").mkdir()
    formats = [
        document_format_of(tmp_path / name)
        for name in ("a", "a.JSONL", "a.jsonl.gz", "a.parquet", "a.txt", "a.xml", "v.2", "v.3")
    ]
    assert formats == ["folder", "jsonl", "jsonl", "parquet", None, None, "folder", None]
    assert document_format_of("v.3/") == "folder"
    with pytest.raises(FormatError, match=r"format of .*a.txt' is not known"):
        write_documents(tmp_path / "a.txt", [])


def test_equal_documents_give_equal_bytes(tmp_path: Path) -> None:
    items = [("1", b"<a/>"), ("2", b"<b/>")]
    for name in ("a.jsonl.gz", "a.parquet"):
        bodies = set()
        for _ in range(2):
            write_documents(tmp_path / name, items)
            bodies.add((tmp_path / name).read_bytes())
        assert len(bodies) == 1


def test_parquet_row_groups_bound_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "MIN_GROUP_BYTES", 1000)
    body = b"<a>" + b"x" * 93 + b"</a>"
    items = [(str(number), body) for number in range(95)]
    write_documents(tmp_path / "a.parquet", items)
    file = pq.ParquetFile(tmp_path / "a.parquet")
    sizes = [file.metadata.row_group(index).num_rows for index in range(file.num_row_groups)]
    assert sizes == [10] * 9 + [5]
    assert read_back(tmp_path / "a.parquet") == items


@pytest.mark.parametrize("first", [0, 1, 5, 99, 100])
@pytest.mark.parametrize("subscriber", ["ann", 7])
def test_subscription_row_groups_before_the_first_subscriber(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, subscriber: str | int
) -> None:
    monkeypatch.setattr(parquet_writer, "MAX_GROUP_ROWS", 10)
    monkeypatch.setattr(parquet_writer, "_MAX_MEMORY_BYTES", 100)  # so that it spools to disk
    rows = [
        Subscription(-key - 1, f"//a{key}", {"n": "urn:n"} if key % 3 else None, subscriber)
        if key >= first
        else Subscription(-key - 1, f"//a{key}")
        for key in range(100)
    ]
    assert write_subscriptions(tmp_path / "a.parquet", iter(rows)) == 100
    assert list(read_subscriptions(tmp_path / "a.parquet")) == rows
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 10
    mixed = [*rows, Subscription("7", "//a")]
    with pytest.raises(FormatError, match="integers and texts among the id"):
        write_subscriptions(tmp_path / "b.parquet", mixed)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
