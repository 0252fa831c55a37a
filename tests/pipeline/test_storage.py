"""Both kinds of storage give the same guarantees."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome, Plan
from pathcast.pipeline.storage import (
    HadoopStorage,
    LocalStorage,
    Storage,
    local_path,
    open_storage,
)


@pytest.fixture(params=["local", "hadoop"])
def storage(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> Iterator[Storage]:
    root = tmp_path / "with a blank, and %20"
    root.mkdir()
    created: Storage = HadoopStorage(spark, f"file:{root}", tmp_path / "cache")
    if request.param == "local":
        created = LocalStorage(root)
    yield created
    created.close()


def test_write_and_read(storage: Storage) -> None:
    assert storage.read("a/b") is None
    assert storage.names("a") == []
    storage.write("a/b", b"1")
    storage.write("a/b", b"2")
    storage.write("a/c", b"")
    assert (storage.read("a/b"), storage.read("a/c")) == (b"2", b"")
    assert [name for name in storage.names("a") if not name.startswith(".")] == ["b", "c"]
    storage.remove("a/b")
    storage.remove("a/b")
    assert storage.read("a/b") is None
    storage.sync()


def test_move(storage: Storage) -> None:
    storage.write("x/batch=1/part", b"1")
    storage.move("x/batch=1", "y/deeper/batch=1")
    storage.move("x/batch=1", "y/deeper/batch=1")  # a retry after a crash
    assert storage.read("y/deeper/batch=1/part") == b"1"
    assert "batch=1" not in storage.names("x")
    with pytest.raises((PipelineError, OSError)):
        storage.move("x/batch=2", "y/deeper/batch=2")


def test_put_and_get_file(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"123")
    assert storage.get_file("kept/file") is None
    storage.put_file(tmp_path / "file", "kept/file")
    copy = storage.get_file("kept/file")
    assert copy is not None
    assert copy.read_bytes() == b"123"
    assert copy.name == "file"


def test_spark_reads_storage_paths(storage: Storage, spark: SparkSession) -> None:
    spark.range(3).write.parquet(storage.path("t"))
    assert spark.read.parquet(storage.path("t")).count() == 3
    assert "_SUCCESS" in storage.names("t")


def test_lock_excludes_other_runs(tmp_path: Path) -> None:
    first, second = LocalStorage(tmp_path), LocalStorage(tmp_path)
    first.lock()
    with pytest.raises(PipelineError, match="another run has"):
        second.lock()
    first.close()
    second.lock()
    second.close()


def test_failed_write_keeps_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LocalStorage(tmp_path)
    storage.write("a", b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        storage.write("a", b"new")
    monkeypatch.undo()
    assert storage.read("a") == b"old"
    assert storage.names(".") == ["a"]


def test_addresses(spark: SparkSession, tmp_path: Path) -> None:
    assert local_path(f"file://{tmp_path}") == local_path(f"file:{tmp_path}") == tmp_path
    with pytest.raises(PipelineError, match="not a folder that this machine sees"):
        local_path("hdfs://there/x")
    assert isinstance(open_storage(spark, f"file:{tmp_path}/new", tmp_path), LocalStorage)
    with pytest.raises(PipelineError, match="nowhere"):
        open_storage(spark, "nowhere://x/y", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(PipelineError):
        open_storage(spark, str(tmp_path / "file"), tmp_path)


def test_records(storage: Storage) -> None:
    store = BatchLog(storage)
    belongs = {"run": "stream", "documents": "in"}
    store.lock({**belongs, "documents": "bad"}, resume=False)  # this run did not start
    store.lock(belongs, resume=True)
    store.claim(belongs)
    store.lock(belongs, resume=False)
    store.claim(belongs)
    with pytest.raises(PipelineError, match=r"another run \(documents: in, here other\)"):
        store.lock({**belongs, "documents": "other"}, resume=True)
    assert store.plan(3) is None
    store.write_plan(3, Plan("v", 1.5))
    assert store.plan(3) == Plan("v", 1.5)
    outcome = BatchOutcome(
        "v", documents=3, matched=3, latest=2.5, tables=("matches",), staging="s"
    )
    store.write_staged_outcome(3, outcome)
    assert (store.staged_outcome(3), store.done_outcome(3)) == (outcome, None)
    store.write_done_outcome(3, outcome)
    assert (store.staged_outcome(3), store.done_outcome(3), store.outcomes()) == (
        None,
        outcome,
        {3: outcome},
    )
    with pytest.raises(PipelineError, match="results of an earlier run"):
        store.lock(belongs, resume=False)


def test_records_without_later_fields(storage: Storage) -> None:
    storage.write(
        "done/0000000003.json",
        b'{"batch": 3, "version": "v", "documents": 3, "matched": 3, "seconds": 0.5,'
        b' "latest": 2.5, "tables": ["matches"], "staging": "s"}',
    )
    outcome = BatchOutcome(
        "v", documents=3, matched=3, seconds=0.5, latest=2.5, tables=("matches",), staging="s"
    )
    assert BatchLog(storage).outcomes() == {3: outcome}
    assert (outcome.refusals, outcome.steps, outcome.lag) == ({}, {}, None)


def test_damaged_records_and_other_formats(storage: Storage) -> None:
    store = BatchLog(storage)
    storage.write("pathcast.json", b'{"format": 99}')
    with pytest.raises(PipelineError, match="written in format 99") as caught:
        store.lock({}, resume=True)
    assert caught.value.kind == "checkpoint"
    storage.write("pathcast.json", b"{]")
    with pytest.raises(PipelineError, match="is damaged"):
        store.lock({}, resume=True)
    storage.remove("pathcast.json")
    storage.write("log/0000000001.json", b"{}")
    with pytest.raises(PipelineError, match="not the record of a run"):
        store.lock({}, resume=True)
