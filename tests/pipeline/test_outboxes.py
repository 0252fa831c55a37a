"""Outboxes as files and segments, without Spark: dictionaries are the reference."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from pathcast.errors import FormatError
from pathcast.files import read_outbox
from pathcast.files.file_names import file_name, id_of_file
from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.routes import SubscriptionRoute, save_routes
from pathcast.pipeline.sinks import Outbox, segments
from pathcast.pipeline.sinks.files import FileOutboxes
from pathcast.pipeline.sinks.segments import SegmentOutboxes
from pathcast.pipeline.task_files import TASK_FOLDER
from tests.cli.running import run

NO_SESSION = cast(SparkSession, None)
NAMES = st.sampled_from(["", "a", "b", "a/b", "..", "batch=0", "%", "é", "猫" * 90, "x\n", "_y"])
Entry = tuple[str, bytes, frozenset[str]]
ENTRIES = st.lists(
    st.tuples(NAMES, st.binary(min_size=1, max_size=9), st.frozensets(NAMES, max_size=4)),
    unique_by=lambda entry: entry[0],
    max_size=6,
)
"""Documents of a task, with their subscribers."""
BATCHES = st.lists(st.lists(ENTRIES, max_size=3), max_size=3)


def delivery_pairs(entries: Sequence[Entry]) -> DeliveryPairs:
    names = sorted({name for entry in entries for name in entry[2]})
    pairs = [
        (number, names.index(name)) for number, entry in enumerate(entries) for name in entry[2]
    ]
    documents, codes = np.array(pairs, np.int32).reshape(-1, 2).T
    return DeliveryPairs(documents, codes, pa.array(names, pa.string()))


def deliver(outbox: Outbox, staging: Path, batch: int, tasks: Sequence[Sequence[Entry]]) -> None:
    """Stage tasks, each in steps of two documents, as the workers and the driver do; publish."""
    (staging / TASK_FOLDER).mkdir(parents=True)
    for number, entries in enumerate(tasks):
        writer = outbox.staging().open(staging, f"{number:05}-{number}", "v")
        for start in range(0, len(entries), 2):
            part = entries[start : start + 2]
            documents = pa.array([entry[0] for entry in part], pa.string())
            writer.add(documents, [entry[1] for entry in part], delivery_pairs(part))
        for file in writer.close():
            (staging / file.table).mkdir(parents=True, exist_ok=True)
            (staging / TASK_FOLDER / file.name).rename(staging / file.table / file.name)
    outbox.publish(NO_SESSION, f"file:{staging}/mail", batch)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def make_outbox(kind: str, out: Path) -> Outbox:
    if kind == "segments":
        return SegmentOutboxes(out / "segments")
    return FileOutboxes(out / "outboxes", links=kind == "links")


def unique_documents(tasks: list[list[Entry]]) -> list[list[Entry]]:
    """Leave out the documents of a batch that have the id of an earlier one."""
    seen: set[str] = set()
    return [
        [entry for entry in entries if not (entry[0] in seen or seen.add(entry[0]))]  # type: ignore[func-returns-value]
        for entries in tasks
    ]


@pytest.mark.parametrize("kind", ["segments", "files", "links"])
@given(batches=BATCHES, run_rows=st.integers(1, 5), since=st.integers(0, 3))
def test_outboxes_equal_dictionaries(
    kind: str, batches: list[list[list[Entry]]], run_rows: int, since: int
) -> None:
    """Also with equal ids in later batches, odd names, and indexes of several runs."""
    expected: dict[str, list[tuple[int | None, str, bytes]]] = {}
    with temporary_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_RUN_ROWS", run_rows)
        patch.setattr(os, "sync", lambda: None)
        outbox = make_outbox(kind, folder / "out")
        outbox.prepare()
        for batch, tasks in enumerate(map(unique_documents, batches)):
            deliver(outbox, folder / f"staging-{batch}", batch, tasks)
            outbox.publish(NO_SESSION, f"file:{folder}/staging-{batch}/mail", batch)
            for entries in tasks:
                for document, body, subscribers in entries:
                    for name in subscribers:
                        expected.setdefault(name, []).append((batch, document, body))
        for name, deliveries in expected.items():
            entries_read = list(read_outbox(folder / "out", name))
            documents = [(entry.batch, entry.document, entry.read()) for entry in entries_read]
            if kind == "segments":
                assert documents == deliveries
            else:  # long names are cut
                by_file = {(entry.batch, entry.path.name): entry.read() for entry in entries_read}
                assert by_file == {
                    (batch, f"{batch}#{file_name(document)}"): body
                    for batch, document, body in deliveries
                }
            later = [entry for entry in entries_read if (entry.batch or 0) >= since]
            if later:
                assert list(read_outbox(folder / "out", name, since=since)) == later


def test_a_body_is_written_once(tmp_path: Path) -> None:
    no_names: frozenset[str] = frozenset()
    entries = [
        ("1", b"one", frozenset("abc")),
        ("2", b"two", frozenset("a")),
        ("3", b"3", no_names),
    ]
    deliver(make_outbox("segments", tmp_path), tmp_path / "staging", 7, [entries])
    folder = tmp_path / "segments/batch=7"
    assert sorted(os.listdir(folder)) == ["00000-0.parquet", "_00000-0.bodies"]
    assert (folder / "_00000-0.bodies").read_bytes() == b"onetwo"
    index = pq.read_table(tmp_path / "segments").to_pylist()  # bodies are hidden from readers
    assert [(row["subscriber"], row["document"], row["batch"]) for row in index] == [
        ("a", "1", 7),
        ("a", "2", 7),
        ("b", "1", 7),
        ("c", "1", 7),
    ]


def test_an_index_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statistics of a row group tell which subscribers it may have."""
    monkeypatch.setattr(segments, "_ROW_GROUP_ROWS", 10)
    entries = [(str(n), b"x", frozenset(f"{m:03}" for m in range(50))) for n in range(4)]
    deliver(make_outbox("segments", tmp_path), tmp_path / "staging", 0, [entries])
    metadata = pq.read_metadata(tmp_path / "segments/batch=0/00000-0.parquet")
    ranges = [
        (statistics.min, statistics.max)
        for group in range(metadata.num_row_groups)
        for statistics in [metadata.row_group(group).column(0).statistics]
    ]
    assert len(ranges) == 20
    assert sum(low <= "017" <= high for low, high in ranges) <= 2


def test_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [("1", b"one", frozenset(f"{n}" for n in range(6)))]
    limit = 4
    link = os.link

    def limited_link(file: Path, target: Path) -> None:
        if os.stat(file).st_nlink == limit:
            raise OSError(31, "Too many links")
        link(file, target)

    monkeypatch.setattr(os, "link", limited_link)
    deliver(make_outbox("links", tmp_path), tmp_path / "staging", 0, [entries])
    files = sorted((tmp_path / "outboxes").glob("*/0#1"))
    assert [file.read_bytes() for file in files] == [b"one"] * 6
    assert sorted({file.stat().st_ino: file.stat().st_nlink for file in files}.values()) == [2, 4]


@pytest.mark.parametrize("kind", ["segments", "files"])
def test_readers_take_deliveries_away(tmp_path: Path, kind: str) -> None:
    """Publishing again after a crash does not deliver again what was taken."""
    outbox = make_outbox(kind, tmp_path)
    entries = [("1", b"one", frozenset({"desk"})), ("2", b"two", frozenset({"desk"}))]
    deliver(outbox, tmp_path / "staging", 0, [entries])
    iterator = read_outbox(tmp_path, "desk")
    first = next(iterator)
    assert first.read() == b"one"
    for file in [*tmp_path.glob("outboxes/*/*"), *tmp_path.glob("segments/*/*")]:
        file.unlink()
    with pytest.raises(FormatError, match="No such file"):
        first.read()
    for folder in tmp_path.glob("segments/*"):
        folder.rmdir()
    outbox.publish(NO_SESSION, f"file:{tmp_path}/staging/mail", 0)
    save_routes([SubscriptionRoute("s", "desk")], _versions(tmp_path) / "v.routes.parquet")
    assert list(read_outbox(tmp_path, "desk")) == []


def test_outboxes_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="has no outboxes"):
        read_outbox(tmp_path, "desk")
    (tmp_path / "segments").mkdir()
    with pytest.raises(FormatError, match="no subscriber 'desk'"):
        list(read_outbox(tmp_path, "desk"))
    save_routes([SubscriptionRoute("s", "desk")], _versions(tmp_path) / "v.routes.parquet")
    assert list(read_outbox(tmp_path, "desk")) == []
    with pytest.raises(FormatError, match="no subscriber"):
        list(read_outbox(tmp_path, "\udcff"))


def _versions(out: Path) -> Path:
    (out / "versions").mkdir(exist_ok=True)
    return out / "versions"


@given(st.text(max_size=30))
def test_file_names_roundtrip(id: str) -> None:
    name = file_name(id)
    assert name
    assert name[0] not in "._"
    assert "/" not in name
    assert "#" not in name
    if len(name) < 200:
        assert id_of_file(name) == id


class TestCommand:
    @pytest.fixture
    def out(self, tmp_path: Path) -> Path:
        outbox = make_outbox("segments", tmp_path)
        desk = frozenset({"desk"})
        deliver(outbox, tmp_path / "s0", 0, [[("a/1", b"<a/>", desk), ("x\n", b"<b/>\n", desk)]])
        deliver(outbox, tmp_path / "s4", 4, [[("a/1", b"<c/>", desk | {"archive"})]])
        return tmp_path

    def test_lists_documents(self, out: Path) -> None:
        result = run("outbox", out, "desk")
        assert (result.code, result.stderr) == (0, "")
        assert result.stdout == "0\t4\ta/1\n0\t5\tx\\n\n4\t4\ta/1\n"
        assert run("outbox", out, "desk", "--since", "1").stdout == "4\t4\ta/1\n"
        assert run("outbox", out, "desk", "--since", "4").stdout == "4\t4\ta/1\n"
        rows = run("outbox", out, "desk", "--json").rows
        assert [(row["batch"], row["document"], row["bytes"]) for row in rows] == [
            (0, "a/1", 4),
            (0, "x\n", 5),
            (4, "a/1", 4),
        ]
        body = Path(rows[1]["file"]).read_bytes()[rows[1]["offset"] :][: rows[1]["bytes"]]
        assert body == b"<b/>\n"

    def test_writes_documents(self, out: Path) -> None:
        assert run("outbox", out, "desk", "--bodies").stdout == "<a/>\n<b/>\n<c/>\n"
        assert run("outbox", out, "desk", "--save", out / "saved").code == 0
        assert {file.name: file.read_bytes() for file in (out / "saved").iterdir()} == {
            "0#a%2F1": b"<a/>",
            "0#x%0A": b"<b/>\n",
            "4#a%2F1": b"<c/>",
        }

    def test_nothing_to_list(self, out: Path) -> None:
        save_routes([SubscriptionRoute("s", "new")], _versions(out) / "v.routes.parquet")
        for arguments in (("new",), ("new", "--since", "9")):
            result = run("outbox", out, *arguments)
            assert (result.code, result.stdout) == (0, "")
            assert "0 documents for new" in result.stderr

    def test_bad_calls(self, out: Path) -> None:
        (out / "empty").mkdir()
        (out / "file").touch()
        for arguments, message in (
            ((out, "dsk"), "has no subscriber 'dsk'"),
            ((out / "empty", "desk"), "has no outboxes"),
            ((out / "none", "desk"), "has no outboxes"),
            ((out, "desk", "--json", "--bodies"), "not with --json"),
            ((out, "desk", "--save", out / "file"), "File exists"),
        ):
            result = run("outbox", *arguments)
            assert (result.code, result.stdout) == (2, ""), arguments
            assert message in result.stderr, arguments
