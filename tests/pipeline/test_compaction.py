"""Compaction keeps every row, whatever interrupts it; readers follow the records of batches."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline import compaction
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome, Plan
from pathcast.pipeline.compaction import CompactionSettings, compact
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from tests.cli.running import run

DAY = 86_400.0
Rows = Counter[str]


@pytest.fixture(autouse=True)
def without_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses no written bytes, so syncing only costs time here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def read_rows(files: Sequence[Path]) -> Rows:
    return Counter(
        json.dumps(row, default=str) for file in files for row in pq.read_table(file).to_pylist()
    )


def read_done_rows(out: Path, table: str = "matches") -> Rows:
    """Read as the promise to readers says: the files that the records of done batches name."""
    store = BatchLog(LocalStorage(out))
    return read_rows([out / name for name in store.table_files(table)])


def read_folder(out: Path, table: str = "matches") -> Rows:
    return read_rows(sorted((out / table).glob("*.parquet")))


@dataclass
class PlantedRun:
    """A result folder without Spark: batches are planted by the steps of `batches`."""

    out: Path
    batches: dict[int, Rows] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = BatchLog(LocalStorage(self.out))
        self.store.claim({"run": "stream", "documents": "here"})

    def plant(
        self, started: float = 0.0, rows: int = 2, files: int = 1, version: str = "v", pad: int = 0
    ) -> int:
        batch = max(self.batches, default=-1) + 1
        self.store.write_plan(batch, Plan(version, started))
        for suffix in (".json", ".subscriptions", ".routes.parquet"):
            self.store.storage.write(f"versions/{version}{suffix}", b"{}")
        staging = self.store.start_attempt(batch)
        table = pa.Table.from_pylist(
            [
                {
                    "document": f"d{row}{'x' * pad}",
                    "part": 0,
                    "subscriptions": [f"s{batch}", f"s{row}"],
                    "version": version,
                    "batch": batch,
                }
                for row in range(rows)
            ],
            TABLE_SCHEMAS["matches"],
        )
        folder = self.out / staging / "matches"
        folder.mkdir(parents=True)
        for number in range(files):
            start, end = number * rows // files, (number + 1) * rows // files
            pq.write_table(table.slice(start, end - start), folder / f"{number}.parquet")
        outcome = BatchOutcome(
            version,
            documents=rows,
            matched=rows,
            matches=2 * rows,
            latest=started,
            tables=("matches",),
            staging=staging,
            files=self.store.staged_files(batch, staging, ["matches"]),
            started=started,
        )
        self.store.write_staged_outcome(batch, outcome)
        self.store.publish_tables(batch, outcome)
        self.store.write_done_outcome(batch, outcome)
        self.batches[batch] = read_rows([self.out / n for n in self.names(batch)])
        self.started[batch] = started
        return batch

    def names(self, batch: int) -> list[str]:
        outcome = self.store.done_outcome(batch)
        assert outcome is not None
        return [f"matches/{name}" for name in outcome.files["matches"]]

    def rows(self) -> Rows:
        total: Rows = Counter()
        for rows in self.batches.values():
            total.update(rows)
        return total


def test_batches_become_one_file_and_one_record(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    for number in range(20):
        run.plant(started=10.0 + number, files=3, version="v" if number < 5 else "w")
    summary = compact(tmp_path, CompactionSettings())
    assert (summary.batches, summary.merged, summary.dropped) == (20, 20, 0)
    assert (summary.files_before, summary.files_after) == (60, 1)
    assert summary.bytes_after < summary.bytes_before
    assert read_done_rows(tmp_path) == read_folder(tmp_path) == run.rows()
    (outcome,) = run.store.outcomes().values()
    assert run.store.done_outcome(19) == outcome
    assert (outcome.first, outcome.batches, outcome.documents) == (0, 20, 40)
    assert (outcome.version, outcome.all_versions, outcome.started) == ("w", ("v", "w"), 29.0)
    assert LocalStorage(tmp_path).names("log") == []
    assert not (tmp_path / "compaction.json").exists()
    assert list((tmp_path / "_staging").iterdir()) == []


def test_second_compaction_changes_nothing(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    for _ in range(30):
        run.plant(rows=20, pad=200)
    compact(tmp_path, CompactionSettings(file_bytes=10_000))
    files = sorted((tmp_path / "matches").iterdir())
    assert 1 < len(files) < 30
    summary = compact(tmp_path, CompactionSettings(file_bytes=10_000))
    assert summary.merged == 0
    assert sorted((tmp_path / "matches").iterdir()) == files
    assert read_done_rows(tmp_path) == read_folder(tmp_path) == run.rows()


def test_spark_reads_old_and_merged_files(tmp_path: Path, spark: SparkSession) -> None:
    run = PlantedRun(tmp_path)
    for _ in range(3):
        run.plant()
    compact(tmp_path, CompactionSettings())
    run.plant()
    rows = spark.read.parquet(str(tmp_path / "matches")).where("batch > 1").collect()
    assert sorted((row.document, row.batch) for row in rows) == [
        (f"d{row}", batch) for row in range(2) for batch in (2, 3)
    ]


def test_batches_beyond_the_limit_are_dropped(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    for day in range(10):
        for _ in range(3):
            run.plant(started=(day + 0.5) * DAY, version=f"v{day}")
    outboxes = [tmp_path / f"segments/batch={batch}" for batch in (0, 29)]
    for outbox in outboxes:
        outbox.mkdir(parents=True)
    compact(tmp_path, CompactionSettings())
    assert len(run.store.outcomes()) == 10  # days are not merged
    plan = CompactionSettings(keep=3.0, dry_run=True)
    assert compact(tmp_path, plan, now=10 * DAY).dropped == 21
    assert read_done_rows(tmp_path) == run.rows()
    keep = CompactionSettings(keep=3.0)
    summary = compact(tmp_path, keep, now=10 * DAY)
    assert (summary.dropped, summary.versions_dropped) == (21, 7)
    assert list(run.store.outcomes()) == [23, 26, 29]
    assert {name.split(".")[0] for name in LocalStorage(tmp_path).names("versions")} == {
        *("v7", "v8", "v9")
    }
    assert outboxes[0].exists()
    summary = compact(tmp_path, CompactionSettings(keep=1.0, outboxes=True), now=100 * DAY)
    assert list(run.store.outcomes()) == [29]  # the newest stays
    assert outboxes[1].exists()
    assert read_done_rows(tmp_path) == read_folder(tmp_path)


def test_outboxes_are_dropped_on_request(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    for _ in range(3):
        batch = run.plant(started=DAY)
        (tmp_path / f"segments/batch={batch}").mkdir(parents=True)
    run.plant(started=9 * DAY)
    settings_ = CompactionSettings(keep=2.0, outboxes=True)
    compact(tmp_path, settings_, now=10 * DAY)
    assert not list((tmp_path / "segments").iterdir())


def test_a_run_excludes_a_compaction(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    run.plant()
    run.store.storage.lock()
    try:
        with pytest.raises(PipelineError, match="another run has"):
            compact(tmp_path, CompactionSettings())
    finally:
        run.store.storage.close()
    with pytest.raises(PipelineError, match="holds no run"):
        compact(tmp_path / "matches", CompactionSettings())


def test_unfinished_batch_stays(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    for _ in range(3):
        run.plant()
    run.store.write_plan(3, Plan("next", 1.0))
    run.store.storage.write("versions/next.json", b"{}")
    staged = tmp_path / "_staging/batch=3/abcd/matches/part"
    staged.parent.mkdir(parents=True)
    staged.touch()
    compact(tmp_path, CompactionSettings(keep=0.0))
    assert run.store.plan(3) == Plan("next", 1.0)
    assert staged.exists()
    assert (tmp_path / "versions/next.json").exists()


def test_folder_of_format_1_is_converted(tmp_path: Path) -> None:
    run = PlantedRun(tmp_path)
    for _ in range(4):
        run.plant(started=5.0)
    expected = run.rows()
    for batch in range(4):  # the layout and the records of format 1
        record = tmp_path / f"done/{batch:010}.json"
        fields = json.loads(record.read_text())
        for name in ("files", "started", "first", "batches", "versions"):
            del fields[name]
        record.write_text(json.dumps(fields))
        (old,) = (tmp_path / "matches").glob(f"{batch:010}-*")
        folder = tmp_path / f"matches/batch={batch}"
        folder.mkdir()
        table = pq.read_table(old).drop_columns(["batch"])
        pq.write_table(table, folder / "part-0.parquet")
        old.unlink()
    record = tmp_path / "pathcast.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"format": 1}))
    with pytest.raises(PipelineError, match="`pathcast compact` converts it"):
        run.store.lock({}, resume=True)
    run.store.storage.close()
    compact(tmp_path, CompactionSettings())
    assert read_done_rows(tmp_path) == read_folder(tmp_path) == expected
    assert not list(tmp_path.rglob("batch=*"))
    run.store.lock({"run": "stream"}, resume=True)
    run.store.storage.close()


class Killed(BaseException):
    """The process ends."""


class FaultyStorage(LocalStorage):
    """Kills the process before action number `fatal`; a move is one action per file."""

    fatal = -1
    actions = 0
    after_action: Callable[[], None] = staticmethod(lambda: None)

    @classmethod
    def act(cls) -> None:
        cls.after_action()
        if cls.actions == cls.fatal:
            raise Killed
        cls.actions += 1

    def write(self, name: str, content: bytes) -> None:
        self.act()
        super().write(name, content)

    def move_all(self, moves: Sequence[tuple[str, str]]) -> None:
        for move in moves:
            self.act()
            super().move_all([move])

    def remove(self, name: str) -> None:
        self.act()
        super().remove(name)


def kill(
    patch: pytest.MonkeyPatch, fatal: int, after_action: Callable[[], None] = lambda: None
) -> None:
    patch.setattr(FaultyStorage, "fatal", fatal)
    patch.setattr(FaultyStorage, "actions", 0)
    patch.setattr(FaultyStorage, "after_action", staticmethod(after_action))
    patch.setattr(compaction, "LocalStorage", FaultyStorage)


def test_kill_at_every_action(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise to readers holds before every action, after the kill, and when it continues."""
    fatal = 0
    while True:
        out = tmp_path / str(fatal)
        run = PlantedRun(out)
        for day in range(3):
            for _ in range(2):
                run.plant(started=day * DAY, files=2, rows=4, version=f"v{day}")
        dropped = Counter[str]()
        for batch in (0, 1):
            dropped.update(run.batches[batch])

        def check(run: PlantedRun = run, dropped: Rows = dropped) -> None:
            rows = read_done_rows(run.out)
            assert run.rows() - dropped <= rows <= run.rows()

        options = CompactionSettings(keep=2.5)
        with monkeypatch.context() as patch:
            kill(patch, fatal, check)
            try:
                compact(out, options, now=3 * DAY)
                break
            except Killed:
                pass
        check()
        if fatal % 2:
            run.store.lock({"run": "stream"}, resume=True)  # a run finishes the step
            run.store.storage.close()
            assert not (out / "compaction.json").exists()
            check()
        compact(out, options, now=3 * DAY)
        assert read_done_rows(out) == read_folder(out) == run.rows() - dropped
        assert list(run.store.outcomes()) == [3, 5]
        assert min(LocalStorage(out).names("versions")) == "v1.json"
        fatal += 1
    assert fatal > 20


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_histories(data: st.DataObject) -> None:
    """Batches, compactions, kills and limits in any order."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        run = PlantedRun(Path(folder))
        now = 1.0
        limit = -1.0  # the latest moment that any compaction may have dropped
        for _ in range(data.draw(st.integers(1, 6), "rounds")):
            for _ in range(data.draw(st.integers(0, 5), "batches")):
                now += data.draw(st.sampled_from([1.0, DAY / 3, DAY]), "pause")
                run.plant(
                    now,
                    rows=data.draw(st.integers(1, 6), "rows"),
                    files=data.draw(st.integers(1, 3), "files"),
                    version=data.draw(st.sampled_from("vw"), "version"),
                    pad=data.draw(st.sampled_from([0, 400]), "pad"),
                )
            keep = data.draw(st.sampled_from([None, 0.5, 2.0]), "keep")
            options = CompactionSettings(
                keep, file_bytes=data.draw(st.sampled_from([1500, 5000, 1 << 27]), "file size")
            )
            if keep is not None:
                limit = max(limit, now - keep * DAY)
            kill(patch, data.draw(st.integers(0, 40), "fatal"))
            try:
                compact(run.out, options, now=now)
                assert read_folder(run.out) == read_done_rows(run.out)
            except Killed:
                pass
            present = read_done_rows(run.out)
            for batch, rows in run.batches.items():
                if rows <= present:
                    present = present - rows
                else:
                    assert not rows & present
                    assert run.started[batch] < limit
                    assert batch != max(run.batches)
            assert not present
        kill(patch, -1)
        compact(run.out, CompactionSettings(), now=now)
        assert read_folder(run.out) == read_done_rows(run.out)


def test_command(tmp_path: Path) -> None:
    planted = PlantedRun(tmp_path / "out")
    for number in range(4):
        planted.plant(started=number * DAY, rows=3)
    (plan,) = run("compact", planted.out, "--keep", "1", "--dry-run", "--json").rows
    assert (plan["dropped"], plan["files_after"]) == (3, 4)
    result = run("compact", planted.out, "--json")
    assert (result.code, result.rows[0]["files_after"]) == (0, 4)
    table = run("compact", planted.out, "--keep", "1").stdout
    assert "dropped         3\nfiles           4 -> 1\n" in table
    for arguments, message in [
        (("--outboxes", planted.out), "--outboxes needs --keep"),
        ((tmp_path / "none",), "holds no run"),
    ]:
        result = run("compact", *arguments)
        assert (result.code, message in result.stderr) == (2, True)
