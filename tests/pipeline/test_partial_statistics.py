"""Statistics from partials equal those from tables, also after a compaction."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any, Literal

import pytest
from pyspark.sql import SparkSession

from pathcast.pipeline.batch_log import BatchLog, BatchOutcome
from pathcast.pipeline.compaction import CompactionSettings, compact
from pathcast.pipeline.partials import write_partials
from pathcast.pipeline.statistics import TABLES, StatisticsSettings, compute, job
from pathcast.pipeline.statistics.partial_rows import windowed_partials
from pathcast.pipeline.storage import LocalStorage
from tests.pipeline.made_runs import SampleRun, random_run

Rows = list[tuple[Any, ...]]


def plant_records(out: Path, run: SampleRun, staging: Path) -> None:
    """Write the partials and the records of the batches."""
    store = BatchLog(LocalStorage(out))
    store.claim({"run": "stream"})
    for batch in {document.batch for document in run.docs}:
        documents = [document for document in run.docs if document.batch == batch]
        SampleRun(documents, run.routes).write(staging)
        write_partials(staging, batch, documents[0].version)
        store.storage.move_all(
            [(str(staging / "partials/part-0.parquet"), f"partials/{batch:010}-part-0.parquet")]
        )
        shutil.rmtree(staging)
        files = {
            table: tuple(name for name in store.storage.names(table) if f"{batch:010}-" in name)
            for table in ("documents", "matches", "errors", "deliveries", "partials")
        }
        outcome = BatchOutcome(documents[0].version, files=files, tables=tuple(files))
        store.write_done_outcome(batch, outcome)


def compute_rows(
    spark: SparkSession, out: Path, settings: StatisticsSettings
) -> tuple[dict[str, Rows], dict[str, object]]:
    statistics = compute(spark, str(out), settings=settings)
    tables = {
        name: sorted((tuple(row) for row in statistics.table(spark, name).collect()), key=repr)
        for name in TABLES
    }
    summary = statistics.summary
    return tables, {name: getattr(summary, name) for name in summary.__slots__}


def assert_close(left: Any, right: Any) -> None:
    """Compare values; sums of weights may differ in their last digits."""
    if isinstance(left, float) and isinstance(right, float):
        assert math.isclose(left, right, rel_tol=1e-9)
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for pair in zip(left, right, strict=True):
            assert_close(*pair)
    elif isinstance(left, dict):
        assert left.keys() == right.keys()
        for name in left:
            assert_close(left[name], right[name])
    else:
        assert left == right


@pytest.mark.parametrize(
    ("by", "timed"),
    [
        ("time", 1.0),
        pytest.param("time", 0.8, marks=pytest.mark.deep),
        pytest.param("batch", 0.8, marks=pytest.mark.deep),
    ],
)
def test_partials_give_the_statistics_of_tables(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by: Literal["time", "batch"],
    timed: float,
) -> None:
    uses: list[bool] = []

    def observe(*arguments: Any) -> Any:
        partials = windowed_partials(*arguments)
        uses.append(partials is not None)
        return partials

    monkeypatch.setattr(job, "windowed_partials", observe)
    run = random_run(3, timed=timed)
    out = tmp_path / "out"
    run.write(out)
    settings = StatisticsSettings(by=by, window=3600.0 if by == "time" else 2.0, decay=0.5)
    expected = compute_rows(spark, out, settings)
    plant_records(out, run, tmp_path / "staging")
    assert_close(compute_rows(spark, out, settings), expected)
    compact(out, CompactionSettings())
    assert_close(compute_rows(spark, out, settings), expected)
    assert uses == [False, True, timed == 1.0]
