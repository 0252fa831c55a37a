"""The parts of the folder source, without Spark: ids, listing, journal and planner.

The references are naive: a walk over the whole folder, and a list of all files in memory.
"""

from __future__ import annotations

import errno
import json
import os
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathcast.containers.contents import FileContents
from pathcast.containers.ids import path_id
from pathcast.errors import PipelineError
from pathcast.pipeline.sources import journal as journal_module
from pathcast.pipeline.sources.after_reading import AfterReading, take_away
from pathcast.pipeline.sources.file_source_log import adopt_file_source_log
from pathcast.pipeline.sources.files import FileReader, group_files
from pathcast.pipeline.sources.folder_planner import FolderPlanner
from pathcast.pipeline.sources.journal import Journal, JournalReader, JournalStart
from pathcast.pipeline.sources.listing import (
    SETTLING_SECONDS,
    FileLocation,
    FolderScanner,
    ListedFile,
    list_files,
)
from pathcast.pipeline.storage import LocalStorage
from tests.containers.test_unpacking import make_tar, make_zip

PARTS = st.sampled_from(
    [
        *("a", ".zip", ".ZIP", ".tar", ".tar.gz", ".tgz", ".csv", ".json", ".jsonl.gz", "!", ":"),
        *("%", "%21", "%3A", "%25", "#2", "2", "-", "/", "\\", "\\x5C", "\\xFF", "x5C"),
        *("\udcff", "é"),
    ]
)
PATHS = st.lists(PARTS, min_size=1, max_size=6).map("".join)
WRITTEN = b"<a/>"


def naive_listing(folder: Path) -> set[str]:
    """Return all paths that are not hidden."""
    return {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file()
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    }


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# --- ids ------------------------------------------------------------------------------------------


@given(st.lists(PATHS, max_size=8, unique=True))
def test_ids_of_paths_are_distinct(paths: list[str]) -> None:
    ids = [path_id(path) for path in paths]
    assert len(set(ids)) == len(paths)
    for id in ids:
        id.encode()  # valid text


@given(st.lists(PATHS, min_size=1, max_size=6, unique=True), PATHS, st.integers(1, 3))
def test_derived_ids_equal_no_path_and_no_other_derived_id(
    paths: list[str], member: str, line: int
) -> None:
    """For every container, any member and any line."""
    ids = [path_id(path) for path in paths]
    for path, id in zip(paths, list(ids), strict=True):
        if path.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz")):
            ids.append(f"{id}!{member}")
        if path.lower().endswith((".csv", ".json", ".jsonl.gz")):
            ids += [f"{id}:{line}", f"{id}:{line}-{line + 1}"]
    assert len(set(ids)) == len(ids)


MEMBERS = st.sampled_from(["m", "m#2", "m#3", "m#2#2", "n"])


@given(st.lists(MEMBERS, max_size=8))
def test_member_ids_are_distinct(members: list[str]) -> None:
    contents = FileContents("files", 100)
    archive = make_zip([(member, b"<a/>") for member in members])
    ids = [document.id for document in contents.unpack("a.zip", archive, 100)]
    assert len(set(ids)) == len(members)
    assert {f"a.zip!{member}" for member in members} <= set(ids)  # the first keeps its name


# --- reading --------------------------------------------------------------------------------------


def read_documents(
    folder: Path, paths: list[str], kind: str = "files", limit: int = 100
) -> dict[str, bytes | str]:
    """Return id -> body, or the kind of the fault."""
    contents = FileContents(kind, limit)  # type: ignore[arg-type]
    documents: dict[str, bytes | str] = {}
    for batch in FileReader(str(folder), "in", contents).read(paths):
        for row in batch.to_pylist():
            assert row["id"] not in documents
            documents[row["id"]] = row["fault"]["kind"] if row["fault"] else row["body"]
    return documents


def test_every_listed_file_is_a_document_or_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(WRITTEN)
    (tmp_path / "empty.xml").touch()
    (tmp_path / "large.xml").write_bytes(b" " * 101)
    (tmp_path / "full.xml").write_bytes(b" " * 100)
    (tmp_path / "dangling.xml").symlink_to(tmp_path / "none")
    (tmp_path / "loop.xml").symlink_to(tmp_path / "loop.xml")
    (tmp_path / "link.xml").symlink_to(tmp_path / "a.xml")
    (tmp_path / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "a.zip").write_bytes(make_zip([("m.xml", WRITTEN), ("m.xml", b"")]))
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.xml")).write_bytes(WRITTEN)
    files = [file.path for file in list_files(FileLocation.find(str(tmp_path)))]
    assert read_documents(tmp_path, [*files, "later/gone.xml", "a.xml/gone.xml"]) == {
        "a.xml": WRITTEN,
        "a.zip!m.xml": WRITTEN,
        "a.zip!m.xml#2": b"",
        "caf\\xE9.xml": WRITTEN,
        "dangling.xml": "gone",
        "empty.xml": b"",
        "full.xml": b" " * 100,
        "large.xml": "size",
        "link.xml": WRITTEN,
        "loop.xml": "unreadable",
        "pipe.xml": "unreadable",
        "later/gone.xml": "gone",
        "a.xml/gone.xml": "gone",
    }


def test_files_beside_containers_keep_their_own_ids(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(make_zip([("m.xml", b"<m/>")]))
    (tmp_path / "a.zip!m.xml").write_bytes(WRITTEN)
    (tmp_path / "f.csv").write_bytes(b"a\n1\n2\n")
    (tmp_path / "f.csv:3").write_bytes(WRITTEN)
    files = [file.path for file in list_files(FileLocation.find(str(tmp_path)))]
    assert set(read_documents(tmp_path, files, "rows")) == {
        *("a.zip!m.xml", "a.zip%21m.xml", "f.csv:2", "f.csv:3", "f.csv%3A3")
    }


def test_folder_that_a_worker_does_not_see(tmp_path: Path) -> None:
    """It is no fault of the documents, so they must not be refused."""
    with pytest.raises(PipelineError, match="does not see"):
        read_documents(tmp_path / "elsewhere", ["a.xml"])


def test_member_names_of_any_bytes(tmp_path: Path) -> None:
    """Arrow accepts valid text only."""
    packed = make_tar([("caf\udce9.xml", WRITTEN), ("caf\\xE9.xml", WRITTEN)], "w")
    (tmp_path / "a.tar").write_bytes(packed)
    assert set(read_documents(tmp_path, ["a.tar"])) == {
        *("a.tar!caf\\xE9.xml", "a.tar!caf\\x5CxE9.xml")
    }


@given(st.lists(st.integers(0, 300 << 20), max_size=50), st.integers(1, 8))
def test_groups_hold_every_file_once_within_bounds(sizes: list[int], parallelism: int) -> None:
    files = [ListedFile(str(number), size, 0) for number, size in enumerate(sizes)]
    groups = group_files(files, parallelism)
    assert [path for group in groups for path in group] == [file.path for file in files]
    for group in groups:
        total = sum(sizes[int(path)] for path in group)
        assert len(group) == 1 or total <= 128 << 20


# --- listing --------------------------------------------------------------------------------------


@contextmanager
def count_listings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the folders that are listed."""
    listed: list[str] = []
    scandir = os.scandir

    def scan(path: str) -> object:
        listed.append(path)
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr("os.scandir", scan)
        yield listed


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_scans_find_every_file_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int, steps: int
) -> None:
    """Files and folders appear, move and disappear between scans, within any step of time."""
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("in")
    clock = Clock()
    scanner = FolderScanner(FileLocation(str(folder)), clock)
    seen: set[str] = set()
    names = ["a", "b", "_c", ".d", "e.xml", "f.xml"]

    def random_path(depth: int) -> Path:
        return folder.joinpath(*(rng.choice(names) for _ in range(rng.randint(1, depth))))

    for _ in range(steps):
        path = random_path(3)
        match rng.randrange(5):
            case 0 | 1:
                if not any(parent.is_file() for parent in [path, *path.parents]) and (
                    not path.exists()
                ):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(WRITTEN)
            case 2:
                target = random_path(2)
                if path.exists() and target.parent.is_dir() and not target.exists():
                    if not target.is_relative_to(path):
                        path.rename(target)
            case 3:
                if path.is_file():
                    path.unlink()
            case _:
                clock.now += rng.choice([0.0, 0.1, 3.0])
                new = [file.path for file in scanner.scan(seen)]
                assert len(set(new)) == len(new)
                assert not seen & set(new)
                seen |= set(new)
    clock.now += SETTLING_SECONDS  # no later step of time can hide a file
    seen |= {file.path for file in scanner.scan(seen)}
    assert naive_listing(folder) <= seen
    assert {file.path for file in list_files(FileLocation(str(folder)))} == naive_listing(folder)


def test_change_without_a_change_of_time_is_found(tmp_path: Path) -> None:
    """As on a file system that counts time in steps of two seconds."""
    clock = Clock()
    scanner = FolderScanner(FileLocation(str(tmp_path)), clock)
    (tmp_path / "1.xml").touch()
    assert [file.path for file in scanner.scan(set())] == ["1.xml"]
    (tmp_path / "2.xml").touch()
    state = scanner._states[""]
    status = os.stat(tmp_path)
    state.times = (status.st_mtime_ns, status.st_ctime_ns)  # as if the time had not changed
    assert scanner.scan({"1.xml"}) == []
    clock.now += SETTLING_SECONDS
    assert [file.path for file in scanner.scan({"1.xml"})] == ["2.xml"]


def test_idle_scans_list_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10_000):
        (tmp_path / f"{number % 3}").mkdir(exist_ok=True)
        (tmp_path / f"{number % 3}" / f"{number}.xml").touch()
    clock = Clock()
    scanner = FolderScanner(FileLocation(str(tmp_path)), clock)
    seen = {file.path for file in scanner.scan(set())}
    assert len(seen) == 10_000
    clock.now += SETTLING_SECONDS
    scanner.scan(seen)
    assert scanner.listings == 8
    with count_listings(monkeypatch) as listed:
        for _ in range(100):
            clock.now += 1
            assert scanner.scan(seen) == []
        assert listed == []
        (tmp_path / "1" / "new.xml").touch()
        assert [file.path for file in scanner.scan(seen)] == ["1/new.xml"]
        assert listed == [str(tmp_path / "1")]


def test_folder_whose_name_is_not_text(tmp_path: Path) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    with pytest.raises(PipelineError, match="not UTF-8"):
        FileLocation.find(str(folder))


def test_missing_folder_is_an_error_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as caught:
        FileLocation.find(str(tmp_path / "none"))
    assert caught.value.kind == "source"
    folder = tmp_path / "in"
    folder.mkdir()
    scanner = FolderScanner(FileLocation.find(str(folder)))
    folder.rmdir()
    with pytest.raises(PipelineError):
        scanner.scan(())


# --- journal --------------------------------------------------------------------------------------


def make_files(first: int, count: int) -> list[ListedFile]:
    return [
        ListedFile(f"{number}\udcff é\n.xml", number, number)
        for number in range(first, first + count)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 9), max_size=12))
def test_journal_keeps_files_in_order(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sizes: list[int]
) -> None:
    """Against a list; the journal may be opened again after any append."""
    rng = random.Random(seed)
    root = tmp_path_factory.mktemp("out") / "journal"
    expected: list[ListedFile] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module, "SMALL_SEGMENT", 4)
        patch.setattr(journal_module, "LARGE_SEGMENT", 6)
        journal = Journal(root)
        for size in sizes:
            files = make_files(len(expected), size)
            journal.append(files)
            expected += files
            if rng.random() < 0.5:
                journal.close()
                journal = Journal(root)
            assert len(journal) == len(expected)
            assert journal.paths == {file.path for file in expected}
            start, end = sorted(rng.randint(0, len(expected)) for _ in range(2))
            assert journal.files(start, end) == expected[start:end]
            assert JournalReader(root).files(start, end) == expected[start:end]
        journal.close()


def test_journal_in_use(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(PipelineError, match="another stream"):
        Journal(tmp_path, lock_seconds=0)
    journal.close()
    Journal(tmp_path, lock_seconds=0).close()


def test_damaged_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(make_files(0, 2_000))
    journal.append(make_files(2_000, 5))
    journal.close()
    with pytest.raises(PipelineError, match="of the files"):
        JournalReader(tmp_path).files(2_000, 2_006)
    (tmp_path / "000000000000.jsonl").unlink()
    with pytest.raises(PipelineError, match="missing") as caught:
        Journal(tmp_path)
    assert caught.value.kind == "checkpoint"


# --- planner --------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_batches_cover_every_file_once_under_crashes(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Files appear at any time; the planner crashes before or after it wrote its journal.

    The list `ends` is Spark's log of offsets: a planned batch is never planned anew.
    """
    rng = random.Random(seed)
    folder, root = tmp_path_factory.mktemp("in"), tmp_path_factory.mktemp("out") / "journal"
    clock = Clock()
    ends = [0]
    written = 0
    max_files, max_bytes = rng.choice([1, 3, 100]), rng.choice([None, 1, 10])

    def open_planner() -> FolderPlanner:
        return FolderPlanner(FolderScanner(FileLocation(str(folder)), clock), Journal(root), clock)

    planner = open_planner()
    for _ in range(rng.randint(1, 30)):
        clock.now += rng.choice([0.1, SETTLING_SECONDS])
        for _ in range(rng.randrange(4)):
            (folder / f"{rng.random()}").write_bytes(b"x" * rng.randrange(12))
            written += 1
        action = rng.randrange(5)
        if action == 0:  # a crash of the process
            planner._journal.close()
            planner = open_planner()
        elif action == 1:  # a crash after the journal was written, before the offset was
            planner.batch_end(ends[-1], max_files, max_bytes)
            planner._journal.close()
            planner = open_planner()
        else:
            end = planner.batch_end(ends[-1], max_files, max_bytes)
            assert ends[-1] <= end <= ends[-1] + max_files
            sizes = [file.size for file in planner._journal.files(ends[-1], end)]
            assert max_bytes is None or len(sizes) <= 1 or sum(sizes) <= max_bytes
            if end > ends[-1]:
                ends.append(end)
    clock.now += 2 * SETTLING_SECONDS
    while (end := planner.batch_end(ends[-1], max_files, max_bytes)) > ends[-1]:
        ends.append(end)
    paths = [file.path for file in planner._journal.files(0, ends[-1])]
    assert len(set(paths)) == len(paths) == written
    assert set(paths) == naive_listing(folder)
    planner._journal.close()


def test_fixed_end_leaves_later_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.xml").touch()
    with closing(Journal(tmp_path / "journal")) as journal:
        planner = FolderPlanner(FolderScanner(FileLocation(str(folder))), journal)
        planner.fix_end()
        (folder / "later.xml").touch()
        assert [planner.batch_end(start, 2, None) for start in (0, 2, 4, 5)] == [2, 4, 5, 5]


def test_planned_batch_of_an_earlier_stream_comes_first(tmp_path: Path) -> None:
    """Whatever the limits are now."""
    with closing(Journal(tmp_path / "journal")) as journal:
        journal.append(make_files(0, 7))
        journal.begin(JournalStart(batch=3, position=2, first_end=6))
        planner = FolderPlanner(FolderScanner(FileLocation(str(tmp_path / "none"))), journal)
        assert planner.first_position() == 2
        assert planner.batch_end(2, 1, 1) == 6
        assert planner.batch_end(6, 1, 1) == 7


def test_journal_shorter_than_the_checkpoint(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "journal")) as journal:
        planner = FolderPlanner(FolderScanner(FileLocation(str(tmp_path))), journal)
        with pytest.raises(PipelineError) as caught:
            planner.batch_end(7, 10, None)
    assert caught.value.kind == "checkpoint"


# --- streams of earlier versions ------------------------------------------------------------------


def write_file_source_log(storage: LocalStorage, folder: Path, committed: int) -> None:
    """Write a checkpoint of Spark's file source: batches 0 to 3, of which some are committed.

    A batch may have no log offset or several; every tenth log file repeats those before it.
    """

    def lines(*entries: tuple[str, int]) -> bytes:
        records = [{"path": f"{folder.as_uri()}/{name}", "batchId": n} for name, n in entries]
        return "\n".join(["v1", *map(json.dumps, records)]).encode()

    eighth, ninth = ("a%20b.xml", 8), [("2.xml", 9), ("deeper/4.xml", 9)]
    storage.write("checkpoint/sources/0/8", lines(eighth))
    storage.write("checkpoint/sources/0/9.compact", lines(eighth, *ninth))
    storage.write("checkpoint/sources/0/.9.compact.crc", b"crc")
    storage.write("checkpoint/sources/0/10", lines(("3.xml", 10)))
    storage.write("checkpoint/sources/0/11", lines(("unplanned.xml", 11)))
    ends = ["-", '{"logOffset":8}', '{"logOffset":8}', '{"logOffset":10}']
    for batch, end in enumerate(ends):
        storage.write(f"checkpoint/offsets/{batch}", f"v1\n{{}}\n{end}\n-".encode())
        if batch <= committed:
            storage.write(f"checkpoint/commits/{batch}", b"v1\n{}")


@pytest.mark.parametrize(
    ("committed", "done", "start"),
    [
        (3, 3, JournalStart(batch=4, position=4)),
        (2, 3, JournalStart(batch=4, position=4)),
        (2, 2, JournalStart(batch=3, position=1, first_end=4)),
    ],
    ids=["finished", "done", "planned"],
)
def test_log_of_the_file_source_begins_a_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: int, done: int, start: JournalStart
) -> None:
    folder = tmp_path / "in"
    (folder / "deeper").mkdir(parents=True)
    (folder / "deeper/4.xml").write_bytes(WRITTEN)
    storage = LocalStorage(tmp_path / "out")
    write_file_source_log(storage, folder, committed)
    root = tmp_path / "out/journal"

    def adopt() -> None:
        adopt_file_source_log(storage, root, FileLocation(str(folder)), lambda batch: batch <= done)

    crashes = [(Journal, "append"), (Journal, "begin"), (LocalStorage, "move")]
    for owner, method in crashes:
        with monkeypatch.context() as patch:
            patch.setattr(owner, method, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                adopt()
    for _ in range(2):
        adopt()
    with closing(Journal(root)) as journal:
        assert journal.start() == start
        files = journal.files(0, len(journal))
        assert [file.path for file in files] == ["a b.xml", "2.xml", "deeper/4.xml", "3.xml"]
        if start.first_end is not None:
            assert files[2].size == len(WRITTEN)
    assert storage.names("checkpoint") == []
    assert storage.names("checkpoint-1") == ["commits", "offsets", "sources"]


def test_unreadable_log_of_the_file_source(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "out")
    storage.write("checkpoint/sources/0/0", b"v1\n{]")
    with pytest.raises(PipelineError) as caught:
        adopt_file_source_log(
            storage, tmp_path / "out/journal", FileLocation(str(tmp_path)), lambda _: False
        )
    assert caught.value.kind == "checkpoint"
    assert storage.names("checkpoint") == ["sources"]


# --- after reading --------------------------------------------------------------------------------


def read_tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("action", ["delete", "move"])
def test_files_are_taken_away_once(tmp_path: Path, action: str) -> None:
    folder, target = tmp_path / "in", tmp_path / "read"
    for name in ("1.xml", "deeper/2.xml", "changed.xml", "gone.xml", "other.xml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(WRITTEN)
    files = [file for file in list_files(FileLocation(str(folder))) if file.path != "other.xml"]
    (folder / "changed.xml").write_bytes(WRITTEN * 2)
    (folder / "gone.xml").unlink()
    (target / "deeper").mkdir(parents=True)
    (target / "deeper/2.xml").write_bytes(b"earlier")
    text = "delete" if action == "delete" else f"move:{target}"
    for _ in range(2):
        take_away(AfterReading.parse(text), str(folder), files)
    assert read_tree(folder) == {"changed.xml": WRITTEN * 2, "other.xml": WRITTEN}
    taken = {} if action == "delete" else {"1.xml": WRITTEN, "deeper/2.xml#2": WRITTEN}
    assert read_tree(target) == {"deeper/2.xml": b"earlier", **taken}


def test_move_to_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is copied, and exists once even if the run was killed before it removed it."""
    folder, target = tmp_path / "in", tmp_path / "read"
    folder.mkdir()
    (folder / "1.xml").write_bytes(WRITTEN)
    files = list_files(FileLocation(str(folder)))
    rename = Path.rename

    def refuse(self: Path, new: Path) -> Path:
        if self.parent == folder:
            raise OSError(errno.EXDEV, "another device")
        return rename(self, new)

    monkeypatch.setattr(Path, "rename", refuse)
    take_away(AfterReading(folder=str(target)), str(folder), files)
    assert (read_tree(folder), read_tree(target)) == ({}, {"1.xml": WRITTEN})


@pytest.mark.parametrize("text", ["", "move", "move:", "remove"])
def test_unknown_action(text: str) -> None:
    with pytest.raises(ValueError, match="neither keep"):
        AfterReading.parse(text)
