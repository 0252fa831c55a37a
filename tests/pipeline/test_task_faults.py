"""Faults of a worker at every sync of a one-pass task: each delivery exists once.

A task writes the files of its tables and of the outbox, and syncs each before its manifest lists
it. The test counts the syncs of a run, then lets the first attempt at every task fail at each of
them: the worker process ends, or the disk is full. The last point is after all syncs, before the
manifest reaches the driver.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline import one_pass, stage_worker
from pathcast.pipeline.running import PipelineRun, RunSpec
from pathcast.pipeline.stage_worker import StageTask
from tests.pipeline.test_running import (
    DOCUMENTS,
    SUBSCRIPTIONS,
    expected_deliveries,
    read_deliveries,
    read_outboxes,
    run_spec,
    write_documents,
    write_subscriptions,
)

COUNT_FILE = "syncs"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at a sync; `kind` None only counts the syncs, in a file of `folder`."""

    folder: str
    kind: Literal["killed", "full disk"] | None = None
    at: int = 0


def stage_with_fault(
    batches: Iterator[pa.RecordBatch], task: StageTask, fault: Fault
) -> Iterator[pa.RecordBatch]:
    """Stage as always; stop at the sync that `fault` names."""
    context = TaskContext.get()
    assert context is not None
    sync, count = os.fsync, 0

    def reach_point() -> None:
        if fault.kind == "killed" and context.attemptNumber() == 0:
            os._exit(1)
        if fault.kind == "full disk":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def count_sync(handle: int) -> None:
        nonlocal count
        count += 1
        if count == fault.at:
            reach_point()
        sync(handle)

    with patch.object(os, "fsync", count_sync):
        manifest = list(stage_worker.stage_batches(batches, task))
    if fault.kind is None:
        Path(fault.folder, f"{COUNT_FILE}-{context.partitionId()}").write_text(str(count))
    if count < fault.at:
        reach_point()
    yield from manifest


def run_stream(spark: SparkSession, spec: RunSpec) -> None:
    PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)


@pytest.mark.parametrize(
    ("kind", "deep"),
    [
        ("killed", False),
        pytest.param("killed", True, marks=pytest.mark.deep),
        pytest.param("full disk", True, marks=pytest.mark.deep),
    ],
)
def test_fault_at_every_sync_of_a_task(
    spark: SparkSession, tmp_path: Path, kind: Literal["killed", "full disk"], deep: bool
) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    expected = expected_deliveries(file, DOCUMENTS)
    spec = replace(run_spec(tmp_path), batch_size=10)

    def run_with(fault: Fault) -> None:
        with patch.object(one_pass, "stage_batches", partial(stage_with_fault, fault=fault)):
            run_stream(spark, replace(spec, out=fault.folder))

    counted = tmp_path / "counted"
    run_with(Fault(str(counted)))
    syncs = max(int(path.read_text()) for path in counted.glob(f"{COUNT_FILE}-*"))
    assert syncs >= 6  # documents, matches, deliveries, partials, bodies, index
    for at in range(1, syncs + 2) if deep else (1, syncs + 1):
        out = tmp_path / f"out-{at}"
        if kind == "full disk":
            with pytest.raises(PipelineError) as caught:
                run_with(Fault(str(out), kind, at))
            assert caught.value.kind == "disk"
            assert not (out / "matches").exists()
            run_stream(spark, replace(spec, out=str(out)))
        else:
            run_with(Fault(str(out), kind, at))
        assert read_deliveries(spark, out) == expected, at
        assert read_outboxes(out).keys() == expected.keys(), at
        assert not list((out / "_staging").iterdir())
