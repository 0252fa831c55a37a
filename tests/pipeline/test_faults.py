"""Faults around a run: dead workers, full disks, changed sources and checkpoints."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline import one_pass
from pathcast.pipeline.batches import BatchRunner, BatchSettings
from pathcast.pipeline.multi_pass import MultiPassStaging
from pathcast.pipeline.running import PipelineRun, RunEvent, RunSpec
from pathcast.pipeline.sources import Source
from pathcast.pipeline.subscriptions import SubscriptionSource
from tests.pipeline.test_running import (
    DOCUMENTS,
    LIMITS,
    SUBSCRIPTIONS,
    expected_deliveries,
    read_deliveries,
    read_outboxes,
    run_spec,
    write_documents,
    write_subscriptions,
)

pytestmark = pytest.mark.usefixtures("staging")


def ignore_event(_: RunEvent) -> None:
    pass


def processes() -> Iterator[tuple[int, int, str]]:
    """Yield (pid, parent, command) of all processes."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                stat = (entry / "stat").read_text()
            except (OSError, UnicodeDecodeError):
                continue
            yield int(entry.name), int(stat.rpartition(")")[2].split()[1]), command


def busy_workers(java: int) -> list[int]:
    """Return the Python workers of a driver that have a sandbox process, and so are matching."""
    process_table = {pid: (parent, command) for pid, parent, command in processes()}

    def is_descendant(pid: int) -> bool:
        while pid in process_table:
            if pid == java:
                return True
            pid = process_table[pid][0]
        return False

    return [
        parent
        for parent, command in process_table.values()
        if "pathcast.sandbox.worker" in command and is_descendant(parent)
    ]


def test_task_of_a_killed_worker_is_retried(spark: SparkSession, tmp_path: Path) -> None:
    """Another worker repeats its task, with the same result."""
    file = tmp_path / "s.jsonl"
    write_subscriptions(
        file, [{"id": "slow", "xpath": "//*[//*=//*]"}, {"id": "b", "xpath": "//b"}]
    )
    bodies = {f"{n}.xml": b"<a>" + b"<b>%d</b>" % n * 3000 + b"</a>" for n in range(4)}
    write_documents(tmp_path / "in", bodies)
    spec = replace(
        run_spec(tmp_path, deadline=60.0),
        subscriptions=SubscriptionSource(file, allow_expensive=True),
    )
    proc = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.is_set() and not killed:
            for worker in busy_workers(proc.pid)[:1]:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        outcome = PipelineRun(spark, spec, ignore_event).run_once()
    finally:
        over.set()
        thread.join()
    assert killed
    assert (outcome.documents, outcome.matched, outcome.matches) == (4, 4, 8)
    assert read_deliveries(spark, tmp_path / "out") == {
        (name, subscriber): [subscriber] for name in bodies for subscriber in ("b", "slow")
    }
    assert len(read_outboxes(tmp_path / "out")) == 8


def test_full_disk(spark: SparkSession, tmp_path: Path) -> None:
    """The run fails with a clear error, and resumes when there is space."""
    mount = tmp_path / "small"
    mount.mkdir()
    if os.system(f"mount -t tmpfs -o size=1m tmpfs {mount} 2>/dev/null"):
        pytest.skip("no file system can be mounted here")
    try:
        file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
        bodies = {f"{number}.xml": b"<a>%s</a>" % (b"x" * 100_000) for number in range(20)}
        write_documents(tmp_path / "in", bodies)
        spec = replace(
            run_spec(tmp_path),
            out=str(mount / "out"),
            batch_size=100,
        )
        with pytest.raises(PipelineError) as caught:
            PipelineRun(spark, spec, ignore_event).run_stream(
                threading.Event(), until_caught_up=True
            )
        assert caught.value.kind == "disk"
        assert "No space left" in caught.value.message
        os.system(f"mount -o remount,size=20m {mount}")
        PipelineRun(spark, spec, ignore_event).run_stream(threading.Event(), until_caught_up=True)
        assert read_deliveries(spark, mount / "out") == expected_deliveries(file, bodies)
    finally:
        os.system(f"umount {mount}")


def test_unreadable_source(spark: SparkSession, tmp_path: Path) -> None:
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    for name, kind in (("none", "files"), ("none.parquet", "parquet"), ("x.parquet", "parquet")):
        (tmp_path / "x.parquet").write_bytes(b"PAR?")
        source = Source(str(tmp_path / name), kind, LIMITS.size)  # type: ignore[arg-type]
        spec = RunSpec(
            SubscriptionSource(tmp_path / "s.jsonl"),
            source,
            str(tmp_path / "out"),
            BatchSettings(LIMITS),
        )
        with pytest.raises(PipelineError) as caught:
            PipelineRun(spark, spec, ignore_event).run_once()
        assert caught.value.kind == "source", name
        assert name in caught.value.message
        shutil.rmtree(tmp_path / "out")


def test_missing_version(spark: SparkSession, tmp_path: Path) -> None:
    """A batch planned under it cannot be repeated, and is not run under another version."""
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    spec = replace(run_spec(tmp_path), batch_size=10)
    PipelineRun(spark, spec, ignore_event).run_stream(threading.Event(), until_caught_up=True)
    out = tmp_path / "out"
    for name in ("done", "matches", "documents", "errors", "deliveries", "checkpoint/commits"):
        shutil.rmtree(out / name)
    shutil.rmtree(out / "versions")
    write_subscriptions(tmp_path / "s.jsonl", [{"id": "c", "xpath": "//c"}])
    with pytest.raises(PipelineError) as caught:
        PipelineRun(spark, spec, ignore_event).run_stream(threading.Event(), until_caught_up=True)
    assert caught.value.kind == "version"
    assert not (out / "matches").exists()


def lose_rows_of_matches(out: Path, patch: pytest.MonkeyPatch) -> str:
    """Let a staged file of Spark's writers vanish."""
    write = MultiPassStaging._write

    def elsewhere(self: MultiPassStaging, staging: str, name: str, table: DataFrame) -> None:
        write(self, staging, name, table)
        if name == "matches":
            next((out / staging / name).glob("part-*")).unlink()

    patch.setattr(MultiPassStaging, "_write", elsewhere)
    patch.setattr(BatchRunner, "_allows_one_pass", lambda *_: False)
    return r"wrote 3 rows of matches to .*, and [0-2] are"


def lose_file_of_task(out: Path, patch: pytest.MonkeyPatch) -> str:
    """Let the file of a task vanish before the driver moves it."""
    move = one_pass._move

    def elsewhere(folder: Path, table: str, name: str) -> None:
        assert folder.is_relative_to(out)
        (folder / "tasks" / name).unlink()
        move(folder, table, name)

    patch.setattr(one_pass, "_move", elsewhere)
    patch.setattr(BatchRunner, "_allows_one_pass", lambda *_: True)
    return r"a worker wrote .*, and it is not there"


@pytest.mark.parametrize("lose", [lose_rows_of_matches, lose_file_of_task])
def test_output_folder_not_shared_by_workers(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lose: Callable[[Path, pytest.MonkeyPatch], str],
) -> None:
    """Some of the workers' files are invisible to the driver, as if OUT were a local disk of each
    machine.
    """
    write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    with monkeypatch.context() as patch:
        message = lose(tmp_path / "out", patch)
        with pytest.raises(PipelineError, match=message):
            PipelineRun(spark, run_spec(tmp_path), ignore_event).run_once()
    assert not (tmp_path / "out" / "matches").exists()
    assert read_outboxes(tmp_path / "out") == {}
    PipelineRun(spark, run_spec(tmp_path), ignore_event).run_once()
    assert read_deliveries(spark, tmp_path / "out") == expected_deliveries(
        tmp_path / "s.jsonl", DOCUMENTS
    )
