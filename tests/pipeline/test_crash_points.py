"""A crash of the driver before and after every rename of a batch: each delivery exists once.

All state changes of the protocol are renames: records, files of tasks, tables, outbox entries. The
test counts them in one run, then crashes at each of them in a run of its own and resumes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PathcastError
from pathcast.pipeline.running import PipelineRun, RunSpec
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

RENAMES_TESTED = 3
"""In a short run: the first, the last, and one in the middle."""


class Crash(Exception):
    pass


class CrashingRenames:
    """Replaces `os.rename` and `os.replace`; raises before or after the n-th call for `folder`."""

    def __init__(self, folder: Path, at: int | None, after: bool) -> None:
        self._folder = str(folder)
        self._at = at
        self._after = after
        self.count = 0

    def wrap(self, rename: Callable[..., None]) -> Callable[..., None]:
        def crash_or_rename(source: Any, target: Any, **options: Any) -> None:
            concerned = os.fspath(target).startswith(self._folder)
            self.count += concerned
            is_crash = concerned and self._at is not None and self.count >= self._at
            if is_crash and not (self._after and self.count == self._at):
                raise Crash  # and nothing more happens: the process is gone
            rename(source, target, **options)
            if is_crash:
                raise Crash

        return crash_or_rename


def run_stream(spark: SparkSession, spec: RunSpec) -> None:
    PipelineRun(spark, spec, lambda _: None).run_stream(threading.Event(), until_caught_up=True)


def crash_at(spark: SparkSession, spec: RunSpec, at: int | None, after: bool) -> int:
    """Run until the crash, or to the end; return the number of renames."""
    renames = CrashingRenames(Path(spec.out), at, after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "rename", renames.wrap(os.rename))
        patch.setattr(os, "replace", renames.wrap(os.replace))
        try:
            run_stream(spark, spec)
        except (PathcastError, Crash):
            assert at is not None
    return renames.count


@pytest.mark.parametrize("deep", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_crash_at_every_rename(spark: SparkSession, tmp_path: Path, deep: bool) -> None:
    file = write_subscriptions(tmp_path / "s.jsonl", SUBSCRIPTIONS)
    write_documents(tmp_path / "in", DOCUMENTS)
    expected = expected_deliveries(file, DOCUMENTS)
    spec = replace(run_spec(tmp_path), batch_size=10)
    renames = crash_at(spark, replace(spec, out=str(tmp_path / "clean")), None, False)
    points = [(number, after) for number in range(1, renames + 1) for after in (False, True)]
    if not deep:
        points = points[:: (len(points) - 1) // (RENAMES_TESTED - 1)]
    for number, after in points:
        out = tmp_path / f"out-{number}-{after}"
        crashed = replace(spec, out=str(out))
        assert crash_at(spark, crashed, number, after) >= number
        run_stream(spark, crashed)
        assert read_deliveries(spark, out) == expected, (number, after)
        assert read_outboxes(out).keys() == expected.keys(), (number, after)
        assert not list((out / "_staging").iterdir())
