from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.report.content import (
    least_matching,
    most_matching,
    silent_subscriptions,
)
from pathcast.pipeline.statistics import (
    Statistics,
    StatisticsSettings,
    compute,
    compute_in_memory,
    read_statistics,
)
from pathcast.pipeline.statistics.counts import outcomes
from pathcast.pipeline.statistics.overlap import count_single, overlap, select_subscriptions
from pathcast.pipeline.statistics.rates import group_pairs, rates, subscriber_pairs
from pathcast.pipeline.statistics.saved import swap_in
from pathcast.pipeline.statistics.selectivity import selectivity
from pathcast.pipeline.statistics.tables import read_tables
from pathcast.pipeline.statistics.windows import (
    WindowAxis,
    assign_windows,
    join_windows,
    window_axis,
)
from pathcast.pipeline.storage import LocalStorage
from tests.pipeline.loop_statistics import (
    Groups,
    LoopStatistics,
    assert_rows,
    by_key,
    groups_of,
)
from tests.pipeline.made_runs import EPOCH, START, SampleDocument, SampleRun, random_run

# --- all tables, against the loops --------------------------------------------------------------

CASES: dict[str, tuple[SampleRun, StatisticsSettings, str, Groups | None]] = {
    # The run has a gap of three hours, so the first windows are not kept.
    "time": (random_run(1), StatisticsSettings(window=300, decay=0.9, kept=39), "time", None),
    "untimed": (
        SampleRun(random_run(3, timed=0).docs),
        StatisticsSettings(window=2, decay=0.5, kept=2),
        "batch",
        [(f"s{n}", f"channel-{n % m}") for n in range(14) for m in (2, 5)],
    ),
}


@dataclass(frozen=True)
class Case:
    statistics: Statistics
    loops: LoopStatistics
    groups: dict[str, set[SampleDocument]]
    spark: SparkSession

    def table(self, name: str) -> DataFrame:
        return self.statistics.table(self.spark, name)


@pytest.fixture(scope="module", params=[*CASES, "time in memory", "untimed in memory"])
def case(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Case:
    name = request.param.removesuffix(" in memory")
    run, settings, by, group_rows = CASES[name]
    settings = replace(settings, top=6, entries=(1, 2, 1_000))
    out = run.write(tmp_path_factory.mktemp(name))
    if request.param != name:
        compute_in_memory(out, settings=settings)
        statistics = read_statistics(spark, out)
        return Case(statistics, LoopStatistics(run, settings, by), groups_of(run), spark)
    groups = None
    if group_rows is not None:
        groups = spark.createDataFrame(group_rows, "subscription string, group string")
    statistics = compute(spark, out, settings=settings, groups=groups)
    return Case(statistics, LoopStatistics(run, settings, by), groups_of(run, group_rows), spark)


def test_selectivity_against_loops(case: Case) -> None:
    loops = case.loops
    expected = loops.selectivity()
    assert_rows(case.table("selectivity"), "subscription", expected)
    if loops.run.routes:
        assert {"s4", "s11"} <= {
            subscription for subscription, row in expected.items() if not row["matched"]
        }


def test_overlap_against_loops(case: Case) -> None:
    loops = case.loops
    matched = {
        subscription: row["matched"]
        for subscription, row in loops.selectivity().items()
        if row["matched"]
    }
    top = sorted(matched, key=lambda subscription: (-matched[subscription], subscription))[:6]
    expected = loops.overlap(set(top))
    assert expected
    assert_rows(case.table("overlap"), "a b", expected)
    assert_rows(
        case.table("chosen"),
        "subscription",
        {subscription: {"documents": matched[subscription]} for subscription in top},
    )


def test_rates_against_loops(case: Case) -> None:
    loops = case.loops
    expected = loops.rates(case.groups)
    assert_rows(case.table("rates"), "group", expected)
    assert all(row["peak_documents_rate"] >= row["documents_rate"] for row in expected.values())


def test_traffic_sources_and_errors_against_loops(case: Case) -> None:
    loops = case.loops
    docs = loops.run.docs
    windows: dict[int, list[SampleDocument]] = {}
    origins: dict[str, list[SampleDocument]] = {}
    kinds: dict[str, list[tuple[SampleDocument, int]]] = {}
    for doc in docs:
        windows.setdefault(loops.window[doc.id], []).append(doc)
        origins.setdefault(doc.source, []).append(doc)
        if doc.matches is None:
            kinds.setdefault(doc.kind, []).append((doc, 0))
        for _ in doc.undecided:
            kinds.setdefault("deadline", []).append((doc, 1))
    assert_rows(
        case.table("traffic"),
        "window",
        {
            k: loops.totals(docs_of_group) | {"documents_rate": len(docs_of_group) / loops.length}
            for k, docs_of_group in windows.items()
        },
    )
    assert_rows(
        case.table("sources"),
        "source",
        {k: loops.totals(docs_of_group) for k, docs_of_group in origins.items()},
    )
    assert_rows(
        case.table("errors"),
        "kind",
        {
            kind: {
                "errors": len(docs_of_group),
                "documents": len({doc.id for doc, _ in docs_of_group}),
                "undecided": sum(n for _, n in docs_of_group),
            }
            for kind, docs_of_group in kinds.items()
        },
    )


def test_structures_and_caches_against_loops(case: Case) -> None:
    loops = case.loops
    counts = Counter(doc.structure for doc in loops.run.docs if doc.structure is not None)
    total = sum(counts.values())
    order = sorted(counts, key=lambda structure: (-counts[structure], structure))
    expected: dict[Any, dict[str, Any]] = {}
    running = 0
    for rank, structure in enumerate(order, start=1):
        running += counts[structure]
        expected[structure] = {
            "rank": rank,
            "documents": counts[structure],
            "share": counts[structure] / total,
            "cumulative": running / total,
        }
    assert_rows(case.table("structures"), "structure", expected)
    caches = {}
    for n in (1, 2, len(order)):
        cached = [counts[structure] for structure in order[:n]]
        caches[n] = {"warm": sum(cached) / total, "cold": sum(c - 1 for c in cached) / total}
    assert_rows(case.table("cache"), "entries", caches)
    for row in case.table("structures").collect():
        having = [doc for doc in loops.run.docs if doc.structure == row.structure]
        assert loops.window[row["first"]] == min(loops.window[doc.id] for doc in having)


def test_summary_against_loops(case: Case) -> None:
    loops = case.loops
    summary, docs = case.statistics.summary, loops.run.docs
    totals = loops.totals(docs)
    assert {name: getattr(summary, name) for name in totals} == totals
    assert summary.deliveries == sum(len(loops.run.deliveries(doc)) for doc in docs)
    assert summary.groups == len(case.groups)
    assert summary.errors == totals["refused"] + sum(len(doc.undecided) for doc in docs)
    rows = loops.selectivity()
    assert summary.subscriptions == len(rows)
    silent = sum(not row["matched"] for row in rows.values())
    assert summary.silent == (silent if loops.run.routes else None)
    assert (summary.by, summary.window, summary.windows) == (loops.by, loops.length, loops.windows)
    weights = [loops.weight[doc.id] for doc in loops.read]
    assert math.isclose(summary.effective, sum(weights) ** 2 / sum(w * w for w in weights))


def test_most_least_and_silent(case: Case) -> None:
    loops = case.loops
    table = case.table("selectivity").toArrow()
    rows = loops.selectivity()
    hit = {subscription: row["selectivity"] for subscription, row in rows.items() if row["matched"]}
    by_share = sorted(value for value in hit.values() if value is not None)
    assert least_matching(table, 3)["selectivity"].to_pylist() == pytest.approx(by_share[:3])
    assert most_matching(table, 3)["selectivity"].to_pylist() == pytest.approx(by_share[::-1][:3])
    silent = silent_subscriptions(table, 100)["subscription"].to_pylist()
    assert set(silent) == rows.keys() - hit.keys()


# --- single statistics --------------------------------------------------------------------------


class StatisticsInput:
    """The tables of a run and the inputs of the statistics, without the job."""

    def __init__(
        self, spark: SparkSession, run: SampleRun, settings: StatisticsSettings, out: Path
    ) -> None:
        self.tables = read_tables(spark, LocalStorage(Path(run.write(out))))
        self.axis = window_axis(self.tables.documents, settings)
        windowed = assign_windows(self.tables.documents, self.axis)
        self.documents = outcomes(windowed, self.tables.matches, self.tables.errors)
        self.read = self.documents.where("matches is not null")
        self.matches = join_windows(self.tables.matches, self.documents)


def test_weights_decay_with_age(spark: SparkSession, tmp_path: Path) -> None:
    """Minutes 0, 1, 3 with 4, 2, 1 documents; half, all and none match; decay 1/2."""
    minutes = [(0, "s"), (0, "s"), (0, ""), (0, ""), (1, "s"), (1, "s"), (3, "")]
    docs = [
        SampleDocument(0, f"d{n}", time=EPOCH + timedelta(minutes=minute), matches=tuple(hit))
        for n, (minute, hit) in enumerate(minutes)
    ]
    inputs = StatisticsInput(
        spark, SampleRun(docs), StatisticsSettings(window=60, decay=0.5), tmp_path
    )
    row = by_key(selectivity(inputs.matches, inputs.read, inputs.axis), "subscription")["s"]
    assert row["selectivity"] == pytest.approx(
        (2 * 0.5**3 + 2 * 0.5**2 + 0 * 1) / (4 * 0.5**3 + 2 * 0.5**2 + 1 * 1)
    )
    assert (row["matched"], row["documents"], row["windows"]) == (4, 7, 2)
    assert row["last"] == EPOCH + timedelta(minutes=1)


def test_only_recent_windows_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    """70 windows with a matching document each, of which 64 are counted."""
    run = SampleRun([SampleDocument(n, f"d{n}", matches=("s",)) for n in range(70)])
    inputs = StatisticsInput(spark, run, StatisticsSettings(window=1), tmp_path)
    row = by_key(selectivity(inputs.matches, inputs.read, inputs.axis), "subscription")["s"]
    assert (row["matched"], row["windows"], inputs.axis.windows) == (70, 64, 70)


def test_overlap_of_a_contained_subscription_is_one(spark: SparkSession, tmp_path: Path) -> None:
    """SemCast (2004), table 1, where the row covers the column: O_43 = 1 and O_34 = 0.6."""
    docs = [
        SampleDocument(0, f"d{n}", matches=("P3", "P4") if n < 6 else ("P4",)) for n in range(10)
    ]
    inputs = StatisticsInput(spark, SampleRun(docs), StatisticsSettings(), tmp_path)
    selected = select_subscriptions(inputs.matches, ["P4", "P3"])
    [row] = overlap(selected, count_single(selected)).collect()
    assert (row.a, row.b, row.both, row.documents_a, row.documents_b) == ("P3", "P4", 6, 6, 10)
    assert (row.given_a, row.given_b, row.jaccard) == pytest.approx((1.0, 0.6, 0.6))


def test_group_counts_a_document_once(spark: SparkSession, tmp_path: Path) -> None:
    run = SampleRun(
        [
            SampleDocument(0, "d", matches=("a", "b", "c"), bytes=10),
            SampleDocument(1, "e", matches=("b",), bytes=1),
        ]
    )
    inputs = StatisticsInput(spark, run, StatisticsSettings(window=1), tmp_path)
    groups = spark.createDataFrame(
        [("a", "east"), ("b", "east"), ("b", "west"), ("never", "north")],
        "subscription string, group string",
    )
    rows = by_key(rates(group_pairs(inputs.matches, groups), inputs.axis), "group")
    assert {group: (row["documents"], row["bytes"]) for group, row in rows.items()} == {
        "east": (2, 11),
        "west": (2, 11),
    }
    assert rows["east"]["documents_rate"] == 1.0  # a batch


def test_rates_by_routes_equal_those_by_deliveries(spark: SparkSession, tmp_path: Path) -> None:
    run, settings = random_run(6), StatisticsSettings(window=300)
    inputs = StatisticsInput(spark, run, settings, tmp_path)
    assert inputs.tables.routes is not None
    routes = inputs.tables.routes.withColumnRenamed("subscriber", "group")
    expected = LoopStatistics(run, settings, "time").rates(groups_of(run))
    assert_rows(rates(group_pairs(inputs.matches, routes), inputs.axis), "group", expected)


def test_document_key_includes_the_batch(spark: SparkSession, tmp_path: Path) -> None:
    run = SampleRun(
        [
            SampleDocument(1, "d", matches=("a",), bytes=3),
            SampleDocument(2, "d", matches=("a", "b"), bytes=5),
        ]
    )
    inputs = StatisticsInput(spark, run, StatisticsSettings(), tmp_path)
    rows = by_key(selectivity(inputs.matches, inputs.read, inputs.axis), "subscription")
    assert (rows["a"]["matched"], rows["a"]["documents"], rows["b"]["matched"]) == (2, 2, 1)
    pairs = subscriber_pairs(inputs.tables.deliveries, inputs.documents)
    assert by_key(rates(pairs, inputs.axis), "group")["a"]["bytes"] == 8


def test_subscriptions_without_documents_never_matched(spark: SparkSession, tmp_path: Path) -> None:
    run = SampleRun([], {"v": {"a": "u", "b": "u"}})
    inputs = StatisticsInput(spark, run, StatisticsSettings(), tmp_path)
    table = selectivity(inputs.matches, inputs.read, inputs.axis, inputs.tables.routes)
    assert_rows(
        table,
        "subscription",
        {subscription: {"matched": 0, "selectivity": None} for subscription in "ab"},
    )


def test_unfinished_batches_are_excluded(spark: SparkSession, tmp_path: Path) -> None:
    SampleRun([SampleDocument(n, f"d{n}", matches=("a",)) for n in range(3)]).write(tmp_path)
    for folder, batches in {"log": range(3), "done": range(2)}.items():
        (tmp_path / folder).mkdir()
        for batch in batches:
            (tmp_path / folder / f"{batch:010}.json").write_text("{}")
    tables = read_tables(spark, LocalStorage(tmp_path))
    for table in (tables.documents, tables.matches, tables.deliveries):
        assert sorted(row.document for row in table.collect()) == ["d0", "d1"]


def test_new_statistics_replace_the_old(tmp_path: Path) -> None:
    for folder in ("statistics/old", "_statistics.new/new", "_statistics.old/oldest"):
        (tmp_path / folder).mkdir(parents=True)
    swap_in(LocalStorage(tmp_path))
    assert [path.name for path in tmp_path.rglob("*")] == ["statistics", "new"]


def test_summary_of_another_format(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "statistics").mkdir()
    (tmp_path / "statistics" / "summary.json").write_text('{"documents": 1}')
    with pytest.raises(PipelineError, match="compute them again"):
        read_statistics(spark, str(tmp_path))


def test_default_window_lengths(spark: SparkSession, tmp_path: Path) -> None:
    def axis(seconds: list[float | None], **settings: Any) -> WindowAxis:
        rows = [
            (None if s is None else START + timedelta(seconds=s), n) for n, s in enumerate(seconds)
        ]
        table = spark.createDataFrame(rows, "time timestamp, batch int")
        return window_axis(table, StatisticsSettings(**settings))

    hour = axis([0, 3_600, None])
    assert (hour.by, hour.window_length, hour.windows) == ("time", 120, 31)
    assert axis([0]).window_length == 1
    blink = axis([0, 0.02])
    assert (blink.window_length, blink.windows) == (0.001, 21)
    assert axis([0, 86_400 * 365 * 100]).windows <= 102
    batches = axis([None] * 120)
    assert (batches.by, batches.length, batches.windows) == ("batch", 3, 40)
    assert axis([0, 1], by="batch").unit == "batch"
    with pytest.raises(PipelineError, match="no document has a time"):
        axis([None], by="time")


def test_window_boundaries_and_times_before_1970(spark: SparkSession) -> None:
    times = [
        EPOCH + timedelta(microseconds=n) for n in (-60_000_001, -1, 0, 59_999_999, 60_000_000)
    ]
    rows = [(f"d{n}", time, 0) for n, time in enumerate(times)]
    documents = spark.createDataFrame(rows, "document string, time timestamp, batch int")
    placed = (
        assign_windows(documents, WindowAxis("time", 60_000_000, -2, 1, 0.5, 3))
        .orderBy("document")
        .collect()
    )
    assert [row.window for row in placed] == [-2, -1, 0, 0, 1]
    assert [row.weight for row in placed] == [0.0, 0.25, 0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "longer than 0"),
        ({"window": math.inf}, "longer than 0"),
        ({"by": "batch", "window": 1.5}, "whole number"),
        ({"by": "moon"}, "moon"),
        ({"decay": 0}, "decay"),
        ({"decay": 1.1}, "decay"),
        ({"kept": 0}, "at least 1"),
        ({"top": 1_001}, "1,001"),
        ({"top": -1}, "overlap"),
        ({"subscriptions": tuple(map(str, range(1_001)))}, "1,001"),
        ({"entries": (0,)}, "entry"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        StatisticsSettings(**settings)


def test_missing_folder(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="there is no folder"):
        compute(spark, str(tmp_path / "no"), settings=StatisticsSettings())
    assert not (tmp_path / "no").exists()
    with pytest.raises(PipelineError, match="compute them first"):
        read_statistics(spark, str(tmp_path))
