from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.statistics import (
    Statistics,
    StatisticsSettings,
    compute,
    read_statistics,
)
from pathcast.pipeline.statistics.counts import outcomes
from pathcast.pipeline.statistics.overlap import count_single, overlap, select_subscriptions
from pathcast.pipeline.statistics.rates import group_pairs, rates, subscriber_pairs
from pathcast.pipeline.statistics.saved import swap_in
from pathcast.pipeline.statistics.selectivity import (
    least_matching,
    most_matching,
    selectivity,
    silent_subscriptions,
)
from pathcast.pipeline.statistics.tables import read_tables
from pathcast.pipeline.statistics.windows import (
    WindowAxis,
    assign_windows,
    join_windows,
    window_axis,
)
from pathcast.pipeline.storage import LocalStorage
from tests.pipeline.made_runs import EPOCH, START, SampleDocument, SampleRun, random_run

MICRO = timedelta(microseconds=1)


# --- the reference: loops over documents ------------------------------------------------------


class LoopStatistics:
    """All statistics of a run by plain loops, for a given window length (seconds or batches)."""

    def __init__(self, run: SampleRun, settings: StatisticsSettings, by: str) -> None:
        assert settings.window is not None
        self.run = run
        self.by = by
        self.length = settings.window
        self.at = {doc.id: self._at(doc) for doc in run.docs}
        self.window = {doc.id: self._window(doc) for doc in run.docs}
        self.newest = max(self.window.values())
        self.windows = self.newest - min(self.window.values()) + 1
        self.settings = settings
        self.weight = {id: self.weight_of(k) for id, k in self.window.items()}
        self.read = [doc for doc in run.docs if doc.matches is not None]

    def _at(self, doc: SampleDocument) -> datetime | None:
        if doc.time is not None or self.by == "batch":
            return doc.time
        latest: dict[int, datetime] = {}
        for other in self.run.docs:
            if other.time is not None:
                latest[other.batch] = max(other.time, latest.get(other.batch, other.time))
        before = [batch for batch in latest if batch <= doc.batch]
        return latest[max(before) if before else min(latest)]

    def _window(self, doc: SampleDocument) -> int:
        if self.by == "batch":
            return doc.batch // int(self.length)
        at = self.at[doc.id]
        assert at is not None
        return ((at - EPOCH) // MICRO) // round(self.length * 1_000_000)

    def weight_of(self, window: int) -> float:
        age = self.newest - window
        kept = self.settings.kept
        return 0.0 if kept is not None and age >= kept else self.settings.decay**age

    def has_subscription(self, subscription: str, doc: SampleDocument) -> bool:
        return not self.run.routes or subscription in self.run.routes[doc.version]

    def selectivity(self) -> dict[str, dict[str, Any]]:
        ids = {subscription for doc in self.read for subscription in doc.matches or ()}
        ids |= {subscription for routes in self.run.routes.values() for subscription in routes}
        rows = {}
        for subscription in ids:
            matched_against = [doc for doc in self.read if self.has_subscription(subscription, doc)]
            hits = [doc for doc in matched_against if subscription in (doc.matches or ())]
            mass = sum(self.weight[doc.id] for doc in matched_against)
            rows[subscription] = {
                "matched": len(hits),
                "documents": len(matched_against),
                "share": len(hits) / len(matched_against) if matched_against else None,
                "selectivity": sum(self.weight[doc.id] for doc in hits) / mass if mass else None,
                "windows": len(self.recent() & {self.window[doc.id] for doc in hits}),
                "since": self._edge(min, matched_against),
                "first": self._edge(min, hits),
                "last": self._edge(max, hits),
            }
        return rows

    def recent(self) -> set[int]:
        return set(range(self.newest - 63, self.newest + 1))

    def _edge(self, choose: Any, docs: list[SampleDocument]) -> datetime | None:
        times = [at for doc in docs if (at := self.at[doc.id]) is not None]
        return choose(times) if times else None

    def overlap(self, subscriptions: set[str]) -> dict[tuple[str, str], dict[str, Any]]:
        rows = {}
        for a in sorted(subscriptions):
            for b in sorted(subscriptions):
                if a >= b:
                    continue
                matched_against = [
                    doc
                    for doc in self.read
                    if self.has_subscription(a, doc) and self.has_subscription(b, doc)
                ]
                of_a = {doc.id for doc in matched_against if a in (doc.matches or ())}
                of_b = {doc.id for doc in matched_against if b in (doc.matches or ())}
                if of_a & of_b:
                    rows[a, b] = {
                        "both": len(of_a & of_b),
                        "documents_a": len(of_a),
                        "documents_b": len(of_b),
                        "jaccard": self._ratio(of_a & of_b, of_a | of_b),
                        "given_a": self._ratio(of_a & of_b, of_a),
                        "given_b": self._ratio(of_a & of_b, of_b),
                    }
        return rows

    def _ratio(self, part: set[str], total: set[str]) -> float | None:
        mass = sum(self.weight[id] for id in total)
        return sum(self.weight[id] for id in part) / mass if mass else None

    def rates(self, groups: dict[str, set[SampleDocument]]) -> dict[str, dict[str, Any]]:
        rows = {}
        length = float(self.length)
        fading = length * sum(self.weight_of(self.newest - age) for age in range(self.windows))
        for group, docs in groups.items():
            per = Counter(self.window[doc.id] for doc in docs)
            peak = min(per, key=lambda k: (-per[k], k))
            total = sum(doc.bytes or 0 for doc in docs)
            rows[group] = {
                "documents": len(docs),
                "bytes": total,
                "windows": len(per),
                "documents_rate": len(docs) / (self.windows * length),
                "bytes_rate": total / (self.windows * length),
                "recent_documents_rate": sum(self.weight[doc.id] for doc in docs) / fading,
                "recent_bytes_rate": sum(self.weight[d.id] * (d.bytes or 0) for d in docs) / fading,
                "peak_window": peak,
                "peak_start": EPOCH + timedelta(seconds=peak * length)
                if self.by == "time"
                else None,
                "peak_documents": per[peak],
                "peak_documents_rate": per[peak] / length,
            }
        return rows

    def totals(self, docs: list[SampleDocument]) -> dict[str, int]:
        return {
            "documents": len(docs),
            "bytes": sum(doc.bytes or 0 for doc in docs),
            "read": sum(doc.matches is not None for doc in docs),
            "matched": sum(bool(doc.matches) for doc in docs),
            "matches": sum(len(doc.matches or ()) for doc in docs),
            "refused": sum(doc.matches is None for doc in docs),
        }


def by_key(table: DataFrame, *keys: str) -> dict[Any, dict[str, Any]]:
    rows = [
        {
            name: value.astimezone(UTC) if isinstance(value, datetime) else value
            for name, value in row.asDict(recursive=True).items()
        }
        for row in table.collect()
    ]
    rows_by_key = {
        (row[keys[0]] if len(keys) == 1 else tuple(row[k] for k in keys)): row for row in rows
    }
    assert len(rows_by_key) == len(rows), "a key is there twice"
    return rows_by_key


def assert_rows(table: DataFrame, keys: str, expected: dict[Any, dict[str, Any]]) -> None:
    """Check that the table has exactly these keys, with the values of `expected`."""
    rows = by_key(table, *keys.split())
    assert rows.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            message = f"{name} of {key}: {rows[key][name]}, not {value}"
            if isinstance(value, float):
                assert math.isclose(rows[key][name], value, rel_tol=1e-9), message
            else:
                assert rows[key][name] == value, message


Groups = list[tuple[str, str]]


def groups_of(run: SampleRun, group_rows: Groups | None = None) -> dict[str, set[SampleDocument]]:
    groups: dict[str, set[SampleDocument]] = {}
    for doc in run.docs:
        matching_groups = {
            group for subscription, group in group_rows or () if subscription in (doc.matches or ())
        }
        for group in run.deliveries(doc) if group_rows is None else matching_groups:
            groups.setdefault(group, set()).add(doc)
    return groups


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


@pytest.fixture(scope="module", params=list(CASES))
def case(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Case:
    run, settings, by, group_rows = CASES[request.param]
    settings = replace(settings, top=6, entries=(1, 2, 1_000))
    out = run.write(tmp_path_factory.mktemp(request.param))
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
    table = case.table("selectivity")
    rows = loops.selectivity()
    hit = {subscription: row["selectivity"] for subscription, row in rows.items() if row["matched"]}
    by_share = sorted(value for value in hit.values() if value is not None)
    assert [row.selectivity for row in least_matching(table, 3).collect()] == pytest.approx(
        by_share[:3]
    )
    assert [row.selectivity for row in most_matching(table, 3).collect()] == pytest.approx(
        by_share[::-1][:3]
    )
    assert {
        row.subscription for row in silent_subscriptions(table).collect()
    } == rows.keys() - hit.keys()


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
