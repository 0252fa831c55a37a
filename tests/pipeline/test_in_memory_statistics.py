"""Statistics in memory equal those of Spark and those of loops, and start no Java."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.report.content import ReportContent, read_content
from pathcast.pipeline.statistics import (
    TABLES,
    StatisticsSettings,
    StatisticsSummary,
    compute,
    compute_in_memory,
    is_small_run,
    read_statistics,
)
from pathcast.pipeline.statistics.in_memory import columns, small_run, subscription_tables
from pathcast.pipeline.statistics.saved import reduce_table
from pathcast.pipeline.storage import HadoopStorage, LocalStorage
from tests.cli.running import run as run_command
from tests.pipeline.loop_statistics import LoopStatistics, assert_rows, groups_of
from tests.pipeline.made_runs import SampleDocument, SampleRun, random_run
from tests.pipeline.test_partial_statistics import assert_close, plant_records

FORMAT_1 = Path(__file__).parent / "data" / "format-1"


# --- against Spark ------------------------------------------------------------------------------


def write_random_run(out: Path) -> None:
    """The last version has matched no document."""
    run = random_run(11)
    SampleRun(run.docs, {**run.routes, "v3": {"s1": "u1", "latest": "u9"}}).write(out)


def write_run_without_deliveries(out: Path) -> None:
    """Rates then come from matches and routes."""
    random_run(12).write(out, part=3, deliveries=False)


def write_untimed_run(out: Path) -> None:
    """Neither times, nor routes, nor deliveries: each subscription is a group."""
    SampleRun(random_run(13, timed=0).docs).write(out, deliveries=False)


def write_format_1(out: Path) -> None:
    shutil.copytree(FORMAT_1, out, dirs_exist_ok=True)


def write_interrupted_compaction(out: Path) -> None:
    """The folders have an old file beside those that records name, and an unfinished batch."""
    run = random_run(14)
    run.write(out)
    plant_records(out, run, out.with_name("staging"))
    (out / "done/0000000006.json").unlink()
    shutil.copy(out / "matches/0000000002-part-0.parquet", out / "matches/0000000003-old.parquet")
    (out / "compaction.json").write_text("{}")


def write_empty_run(out: Path) -> None:
    (out / "pathcast.json").write_text("{}")


CASES: dict[str, tuple[Callable[[Path], None], StatisticsSettings]] = {
    "time": (write_random_run, StatisticsSettings(window=300, decay=0.5, kept=39, top=5)),
    "untimed": (write_untimed_run, StatisticsSettings(entries=(1, 3))),
    "interrupted compaction": (write_interrupted_compaction, StatisticsSettings(by="batch")),
    "without deliveries": (
        write_run_without_deliveries,
        StatisticsSettings(subscriptions=("s3", "s1", "s8", "s3", "gone"), decay=1.0),
    ),
    "format 1": (write_format_1, StatisticsSettings()),
    "empty": (write_empty_run, StatisticsSettings(subscriptions=("gone",))),
    "top 0": (write_random_run, StatisticsSettings(by="batch", window=4, top=0)),
}
DEEP = CASES.keys() - {"time"}
ORDERED = ("traffic", "structures", "cache")


def saved_values(out: Path, summary: StatisticsSummary) -> tuple[dict[str, Any], ReportContent]:
    """Return the rows of saved tables, and what the page shows."""
    storage = LocalStorage(out)
    tables = {
        name: reduce_table(storage, name, lambda rows: rows).to_pylist()
        if name in ORDERED
        else sorted(reduce_table(storage, name, lambda rows: rows).to_pylist(), key=repr)
        for name in TABLES
    }
    return tables, read_content(storage, summary, BatchLog(storage).last_outcomes(10))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.deep] if n in DEEP else []) for n in CASES]
)
def test_both_ways_give_equal_statistics(spark: SparkSession, tmp_path: Path, name: str) -> None:
    write, settings = CASES[name]
    out = tmp_path / "out"
    out.mkdir()
    write(out)
    expected = compute(spark, str(out), settings=settings)
    tables, content = saved_values(out, expected.summary)
    types = {name: expected.table(spark, name).dtypes for name in TABLES}
    summary = compute_in_memory(str(out), settings=settings)
    assert_close(asdict(summary), asdict(expected.summary))
    memory_tables, memory_content = saved_values(out, summary)
    assert_close(memory_tables, tables)
    assert_close(asdict(memory_content), asdict(content))
    statistics = read_statistics(spark, str(out))
    assert {name: statistics.table(spark, name).dtypes for name in TABLES} == types
    assert not list(out.glob("_statistics*"))


# --- against loops, without Spark -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("by", ["time", "batch"])
def test_random_runs_against_loops(tmp_path: Path, seed: int, by: Literal["time", "batch"]) -> None:
    run = random_run(seed, documents=40 + 30 * seed, timed=(seed + 1) / 6)
    if seed == 3:
        run = SampleRun(run.docs)
    settings = StatisticsSettings(
        by=by,
        window=2 if by == "batch" else 10.0 ** (seed - 1),
        decay=1 - seed / 10,
        kept=None if seed % 2 else 2,
        top=1_000,
    )
    out = Path(run.write(tmp_path, part=1 + seed, deliveries=seed % 3 > 0))
    summary = compute_in_memory(str(out), settings=settings)
    loops = LoopStatistics(run, settings, by)

    def rows(name: str) -> list[dict[str, Any]]:
        table: list[dict[str, Any]] = pq.read_table(out / "statistics" / name).to_pylist()
        return table

    selectivity = loops.selectivity()
    assert_rows(rows("selectivity"), "subscription", selectivity)
    assert_rows(rows("rates"), "group", loops.rates(groups_of(run)))
    compared = {row["subscription"] for row in rows("chosen")}
    assert len(compared) > 5
    assert_rows(rows("overlap"), "a b", loops.overlap(compared))
    totals = loops.totals(run.docs)
    assert {name: getattr(summary, name) for name in totals} == totals
    assert sum(row["matches"] for row in rows("traffic")) == totals["matches"]
    assert summary.windows == loops.windows


def saved_tables(out: Path) -> dict[str, Any]:
    return {name: pq.read_table(out / "statistics" / name).to_pylist() for name in TABLES}


def test_overlap_does_not_depend_on_how_pairs_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a product of matrices, or pair by pair; for all documents, or seven at a time."""
    out = random_run(8).write(tmp_path)
    tables = []
    for documents, cost in ((512, math.inf), (7, math.inf), (512, 0), (7, 0)):
        monkeypatch.setattr(subscription_tables, "_DOCUMENTS_PER_STEP", documents)
        monkeypatch.setattr(subscription_tables, "_PAIR_COST", cost)
        compute_in_memory(out)
        tables.append(saved_tables(tmp_path)["overlap"])
    assert len(tables[0]) > 20
    for others in tables[1:]:
        assert_close(others, tables[0])


def test_files_of_several_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row group has a dictionary of its own, and lists are read in parts."""
    out = random_run(9).write(tmp_path, part=4)
    summary = compute_in_memory(out)
    tables = saved_tables(tmp_path)
    for file in (
        file for table in ("matches", "deliveries") for file in tmp_path.glob(f"{table}/*")
    ):
        pq.write_table(pq.read_table(file), file, row_group_size=3)
    monkeypatch.setattr(columns, "_IDS_PER_PART", 5)
    assert compute_in_memory(out) == summary
    assert saved_tables(tmp_path) == tables


def test_folder_of_format_1() -> None:
    """Batches are folders, and times are those of Spark's own writer."""
    run = small_run.read_run(LocalStorage(FORMAT_1))
    documents = run.documents
    names = run.strings["document"].decode(documents.document).to_pylist()
    assert dict(zip(names, documents.matches, strict=True)) == {"1.xml": 2, "2.xml": 1}
    assert documents.batch.tolist() == [0, 0]
    assert (documents.time > 0).all()
    assert run.deliveries == 3
    assert run.routes is not None
    assert run.strings["subscriber"].values.to_pylist() == ["archive", "desk"]


def test_unfinished_batches_are_excluded(tmp_path: Path) -> None:
    SampleRun([SampleDocument(n, f"d{n}", matches=("a",)) for n in range(3)]).write(tmp_path)
    for folder, batches in {"log": range(3), "done": range(2)}.items():
        (tmp_path / folder).mkdir()
        for batch in batches:
            (tmp_path / folder / f"{batch:010}.json").write_text("{}")
    summary = compute_in_memory(str(tmp_path))
    assert (summary.documents, summary.matches, summary.deliveries) == (2, 2, 2)


def test_document_key_includes_the_batch(tmp_path: Path) -> None:
    docs = [
        SampleDocument(1, "d", matches=("a",), bytes=3),
        SampleDocument(2, "d", matches=("a", "b"), bytes=5),
        SampleDocument(2, "e", matches=None),
    ]
    summary = compute_in_memory(SampleRun(docs).write(tmp_path))
    assert (summary.documents, summary.matches, summary.bytes, summary.refused) == (3, 3, 108, 1)
    rates = {row["group"]: row for row in pq.read_table(tmp_path / "statistics/rates").to_pylist()}
    assert (rates["a"]["bytes"], rates["b"]["bytes"]) == (8, 5)


def test_matches_without_their_document_do_not_count(tmp_path: Path) -> None:
    run = SampleRun([SampleDocument(n, "d", matches=("a",)) for n in range(3)])
    run.write(tmp_path)
    (tmp_path / "documents/0000000001-part-0.parquet").unlink()
    summary = compute_in_memory(str(tmp_path))
    assert (summary.documents, summary.matches, summary.deliveries, summary.groups) == (2, 2, 3, 1)


def test_unreadable_table(tmp_path: Path) -> None:
    SampleRun([SampleDocument(0, "d", matches=("a",))]).write(tmp_path)
    file = tmp_path / "matches/0000000000-part-0.parquet"
    file.write_bytes(file.read_bytes()[:-8])
    for action in (compute_in_memory, lambda out: is_small_run(out, {})):
        with pytest.raises(PipelineError, match=r"0000000000-part-0\.parquet cannot be read"):
            action(str(tmp_path))
    assert not (tmp_path / "statistics").exists()


# --- the content of the page --------------------------------------------------------------------


def test_content_does_not_depend_on_how_tables_are_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables are read at once, in parts of three rows, and as copies of remote files."""
    run = random_run(21)
    many = {f"x{n:02}": f"u{n}" for n in range(50)}
    docs = [replace(doc, source=f"feed-{n % 30}") for n, doc in enumerate(run.docs)]
    routes = {version: {**routes, **many} for version, routes in run.routes.items()}
    out = SampleRun(docs, routes).write(tmp_path / "out")
    summary = compute_in_memory(out, settings=StatisticsSettings(window=7))
    assert summary.windows > 120
    local = LocalStorage(Path(out))
    content = read_content(local, summary)
    assert 1 < len(content.traffic) <= 61
    assert sum(point.matches for point in content.traffic) == summary.matches
    assert len(content.silent_subscriptions) == len(content.sources) == 20
    monkeypatch.setattr("pathcast.pipeline.statistics.saved._ROWS_PER_READ", 3)
    assert read_content(local, summary) == content
    remote = HadoopStorage(spark, f"file:{out}", tmp_path / "copies")
    assert read_content(remote, summary) == content


# --- the command --------------------------------------------------------------------------------


class JavaStartedError(Exception):
    """Stands for the start of Java."""


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise JavaStartedError

    for name in ("open_session", "java_home"):
        monkeypatch.setattr(f"pathcast.pipeline.session.{name}", refuse)
    monkeypatch.setattr("pyspark.core.context.launch_gateway", refuse)


@pytest.mark.usefixtures("no_java")
def test_report_of_a_small_run_starts_no_java(tmp_path: Path) -> None:
    run = random_run(5)
    out = run.write(tmp_path)
    result = run_command("report", out, "--window", "10m", "--master", "local[1]", "--json")
    assert result.code == 0, result.stderr
    (summary,) = result.rows
    assert (summary["documents"], summary["window"]) == (len(run.docs), 600.0)
    assert summary["busiest"][0]["documents"] > 0
    assert "<svg" in (tmp_path / "report.html").read_text()
    saved = json.loads((tmp_path / "statistics/summary.json").read_text())
    assert {name: summary[name] for name in saved} == saved


@pytest.mark.usefixtures("no_java")
def test_errors_of_a_small_run_need_no_java(tmp_path: Path) -> None:
    missing = run_command("report", tmp_path / "none")
    assert (missing.code, missing.stdout) == (2, "")
    assert "there is no folder" in missing.stderr
    SampleRun([SampleDocument(0, "d")]).write(tmp_path)
    untimed = run_command("report", tmp_path, "--by", "time")
    assert (untimed.code, untimed.stdout) == (2, "")
    assert "no document has a time" in untimed.stderr


@pytest.mark.usefixtures("no_java")
def test_report_of_a_large_run_starts_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = random_run(5).write(tmp_path)
    monkeypatch.setattr(small_run, "MAX_VALUES", 100)
    with pytest.raises(JavaStartedError):
        run_command("report", out)


def test_small_runs_are_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "HADOOP_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert not is_small_run("hdfs://head/results", {})
    assert is_small_run(str(tmp_path / "none"), {})  # reading it gives the error
    ids = tuple(f"s{n}" for n in range(1_000))
    out = SampleRun([SampleDocument(0, "d", matches=ids)]).write(tmp_path, part=2_000)
    assert is_small_run(out, {})
    assert is_small_run(f"file:{out}", {"spark.hadoop.fs.defaultFS": "hdfs://head"})
    assert not is_small_run(out, {"spark.hadoop.fs.defaultFS": "hdfs://head"})
    for limit, value in {"MAX_VALUES": 1_000, "MAX_BYTES": 1_000, "MAX_FILES": 2}.items():
        with monkeypatch.context() as patch:
            patch.setattr(small_run, limit, value)
            assert not is_small_run(out, {}), limit
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")  # under spark-submit
    assert not is_small_run(out, {})


def test_values_in_lists_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single row of matches may have 65,536 ids."""
    ids = ["s"] * 5_000
    (tmp_path / "matches").mkdir()
    pq.write_table(pa.table({"subscriptions": [ids]}), tmp_path / "matches/0-a.parquet")
    monkeypatch.setattr(small_run, "MAX_VALUES", 4_999)
    assert not is_small_run(str(tmp_path), {})
    monkeypatch.setattr(small_run, "MAX_VALUES", 5_000)
    assert is_small_run(str(tmp_path), {})


def test_old_statistics_stay_if_the_computation_fails(tmp_path: Path) -> None:
    out = random_run(5).write(tmp_path)
    first: StatisticsSummary = compute_in_memory(out)

    def fail(name: str) -> None:
        raise KeyboardInterrupt(name)

    with pytest.raises(KeyboardInterrupt):
        compute_in_memory(out, settings=StatisticsSettings(decay=0.1), on_table=fail)
    assert (tmp_path / "_statistics.new/selectivity").exists()
    assert first.decay == 0.9
    saved = json.loads((tmp_path / "statistics/summary.json").read_text())
    assert saved["decay"] == 0.9
    assert compute_in_memory(out, settings=StatisticsSettings(decay=0.1)).decay == 0.1
    assert not list(tmp_path.glob("_statistics*"))
