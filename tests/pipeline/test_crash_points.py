"""A fault of the driver at every rename of a batch: each delivery exists once.

All state changes of the protocol are renames: records, files of tasks, tables, outbox entries. A
test counts them in one run. Then it crashes before and after each of them, or lets the disk be full
at it, in a run of its own, and resumes.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from pathcast.errors import PathcastError
from pathcast.pipeline.running import PipelineRun, RunSpec
from pathcast.spark import write_stream
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

Moment = Literal["before", "after", "full disk"]
MOMENTS: tuple[Moment, ...] = ("before", "after", "full disk")
POINTS_TESTED = 3
"""In a short run: the first, the last, and one in the middle."""


class Crash(Exception):
    pass


class FaultyRenames:
    """Replaces `os.rename` and `os.replace`; fails before or after the n-th call for `folder`.

    After a crash no later call succeeds: the process is gone. A full disk fails one call.
    """

    def __init__(self, folder: Path, at: int | None, moment: Moment) -> None:
        self._folder = str(folder)
        self._at = at
        self._moment = moment
        self.count = 0

    def wrap(self, rename: Callable[..., None]) -> Callable[..., None]:
        def fail_or_rename(source: Any, target: Any, **options: Any) -> None:
            concerned = os.fspath(target).startswith(self._folder)
            self.count += concerned
            is_reached = concerned and self._at is not None and self.count >= self._at
            is_first = is_reached and self.count == self._at
            if is_first and self._moment == "full disk":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if is_reached and self._moment != "full disk":
                if is_first and self._moment == "after":
                    rename(source, target, **options)
                raise Crash
            rename(source, target, **options)

        return fail_or_rename


@contextmanager
def faulty_renames(folder: Path, at: int | None, moment: Moment) -> Iterator[FaultyRenames]:
    """Let the renames of the block fail; errors of the block are expected if `at` is given."""
    renames = FaultyRenames(folder, at, moment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "rename", renames.wrap(os.rename))
        patch.setattr(os, "replace", renames.wrap(os.replace))
        try:
            yield renames
        except (PathcastError, Crash, OSError, StreamingQueryException):
            assert at is not None
    assert at is None or renames.count >= at


def fault_points(renames: int, deep: bool) -> list[tuple[int, Moment]]:
    points = [(number, moment) for number in range(1, renames + 1) for moment in MOMENTS]
    return points if deep else points[:: (len(points) - 1) // (POINTS_TESTED - 1)]


def run_stream(spark: SparkSession, spec: RunSpec) -> None:
    PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)


@pytest.mark.deep
def test_fault_at_every_rename(spark: SparkSession, tmp_path: Path) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    expected = expected_deliveries(file, DOCUMENTS)
    spec = replace(run_spec(tmp_path), batch_size=10)
    with faulty_renames(tmp_path / "clean", None, "before") as renames:
        run_stream(spark, replace(spec, out=str(tmp_path / "clean")))
    for number, moment in fault_points(renames.count, deep=True):
        out = tmp_path / f"out-{number}-{moment}"
        with faulty_renames(out, number, moment):
            run_stream(spark, replace(spec, out=str(out)))
        run_stream(spark, replace(spec, out=str(out)))
        assert read_deliveries(spark, out) == expected, (number, moment)
        assert read_outboxes(out).keys() == expected.keys(), (number, moment)
        assert not list((out / "_staging").iterdir())


@pytest.mark.parametrize(
    "deep", [False, pytest.param(True, marks=pytest.mark.deep)], ids=["short", "deep"]
)
def test_fault_at_every_rename_of_write_stream(
    spark: SparkSession, tmp_path: Path, deep: bool
) -> None:
    (tmp_path / "in").mkdir()
    rows = [{"id": name, "body": body.decode()} for name, body in DOCUMENTS.items()]
    (tmp_path / "in/rows").write_text("\n".join(map(json.dumps, rows)))
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    expected = expected_deliveries(file, DOCUMENTS)

    def run(out: Path) -> None:
        stream = spark.readStream.schema("id string, body string").json(str(tmp_path / "in"))
        query = write_stream(stream, file, out, deliver="segments", trigger={"availableNow": True})
        query.awaitTermination()

    with faulty_renames(tmp_path / "clean", None, "before") as renames:
        run(tmp_path / "clean")
    for number, moment in fault_points(renames.count, deep):
        out = tmp_path / f"out-{number}-{moment}"
        with faulty_renames(out, number, moment):
            run(out)
        run(out)
        assert read_deliveries(spark, out) == expected, (number, moment)
        assert read_outboxes(out).keys() == expected.keys(), (number, moment)
