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
from pathcast.pipeline.statistics.job import swap_in
from pathcast.pipeline.statistics.overlap import count_single, overlap, select_subscriptions
from pathcast.pipeline.statistics.rates import group_pairs, rates, subscriber_pairs
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
from tests.pipeline.made_runs import EPOCH, START, Doc, Run, random_run

MICRO = timedelta(microseconds=1)


# --- the twins: loops over documents --------------------------------------------------------------


class Twin:
    """All statistics of a run by plain loops, given the length of a window (seconds, or batches)."""

    def __init__(self, run: Run, settings: StatisticsSettings, by: str) -> None:
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

    def _at(self, doc: Doc) -> datetime | None:
        if doc.time is not None or self.by == "batch":
            return doc.time
        latest: dict[int, datetime] = {}
        for other in self.run.docs:
            if other.time is not None:
                latest[other.batch] = max(other.time, latest.get(other.batch, other.time))
        before = [batch for batch in latest if batch <= doc.batch]
        return latest[max(before) if before else min(latest)]

    def _window(self, doc: Doc) -> int:
        if self.by == "batch":
            return doc.batch // int(self.length)
        at = self.at[doc.id]
        assert at is not None
        return ((at - EPOCH) // MICRO) // round(self.length * 1_000_000)

    def weight_of(self, window: int) -> float:
        age = self.newest - window
        kept = self.settings.kept
        return 0.0 if kept is not None and age >= kept else self.settings.decay**age

    def knows(self, subscription: str, doc: Doc) -> bool:
        return not self.run.routes or subscription in self.run.routes[doc.version]

    def selectivity(self) -> dict[str, dict[str, Any]]:
        ids = {one for doc in self.read for one in doc.matches or ()}
        ids |= {one for routes in self.run.routes.values() for one in routes}
        rows = {}
        for one in ids:
            asked = [doc for doc in self.read if self.knows(one, doc)]
            hits = [doc for doc in asked if one in (doc.matches or ())]
            mass = sum(self.weight[doc.id] for doc in asked)
            rows[one] = {
                "matched": len(hits),
                "documents": len(asked),
                "share": len(hits) / len(asked) if asked else None,
                "selectivity": sum(self.weight[doc.id] for doc in hits) / mass if mass else None,
                "windows": len(self.recent() & {self.window[doc.id] for doc in hits}),
                "since": self._edge(min, asked),
                "first": self._edge(min, hits),
                "last": self._edge(max, hits),
            }
        return rows

    def recent(self) -> set[int]:
        return set(range(self.newest - 63, self.newest + 1))

    def _edge(self, choose: Any, docs: list[Doc]) -> datetime | None:
        times = [at for doc in docs if (at := self.at[doc.id]) is not None]
        return choose(times) if times else None

    def overlap(self, subscriptions: set[str]) -> dict[tuple[str, str], dict[str, Any]]:
        rows = {}
        for a in sorted(subscriptions):
            for b in sorted(subscriptions):
                if a >= b:
                    continue
                asked = [doc for doc in self.read if self.knows(a, doc) and self.knows(b, doc)]
                of_a = {doc.id for doc in asked if a in (doc.matches or ())}
                of_b = {doc.id for doc in asked if b in (doc.matches or ())}
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

    def _ratio(self, part: set[str], whole: set[str]) -> float | None:
        mass = sum(self.weight[id] for id in whole)
        return sum(self.weight[id] for id in part) / mass if mass else None

    def rates(self, groups: dict[str, set[Doc]]) -> dict[str, dict[str, Any]]:
        rows = {}
        each = float(self.length)
        fading = each * sum(self.weight_of(self.newest - age) for age in range(self.windows))
        for group, docs in groups.items():
            per = Counter(self.window[doc.id] for doc in docs)
            peak = min(per, key=lambda k: (-per[k], k))
            total = sum(doc.bytes or 0 for doc in docs)
            rows[group] = {
                "documents": len(docs),
                "bytes": total,
                "windows": len(per),
                "documents_rate": len(docs) / (self.windows * each),
                "bytes_rate": total / (self.windows * each),
                "recent_documents_rate": sum(self.weight[doc.id] for doc in docs) / fading,
                "recent_bytes_rate": sum(self.weight[d.id] * (d.bytes or 0) for d in docs) / fading,
                "peak_window": peak,
                "peak_start": EPOCH + timedelta(seconds=peak * each) if self.by == "time" else None,
                "peak_documents": per[peak],
                "peak_documents_rate": per[peak] / each,
            }
        return rows

    def totals(self, docs: list[Doc]) -> dict[str, int]:
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
    found = {(row[keys[0]] if len(keys) == 1 else tuple(row[k] for k in keys)): row for row in rows}
    assert len(found) == len(rows), "a key is there twice"
    return found


def same(table: DataFrame, keys: str, expected: dict[Any, dict[str, Any]]) -> None:
    """Rows with these keys and no others, and in the columns of `expected` these values."""
    found = by_key(table, *keys.split())
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            told = f"{name} of {key}: {found[key][name]}, not {value}"
            if isinstance(value, float):
                assert math.isclose(found[key][name], value, rel_tol=1e-9), told
            else:
                assert found[key][name] == value, told


Groups = list[tuple[str, str]]


def groups_of(run: Run, given: Groups | None = None) -> dict[str, set[Doc]]:
    groups: dict[str, set[Doc]] = {}
    for doc in run.docs:
        those = {group for one, group in given or () if one in (doc.matches or ())}
        for group in run.deliveries(doc) if given is None else those:
            groups.setdefault(group, set()).add(doc)
    return groups


# --- everything, against the twins ----------------------------------------------------------------

CASES: dict[str, tuple[Run, StatisticsSettings, str, Groups | None]] = {
    # Three hours lie between the two parts of it, so that the first of its windows are not kept.
    "time": (random_run(1), StatisticsSettings(window=300, decay=0.9, kept=39), "time", None),
    "untimed": (
        Run(random_run(3, timed=0).docs),
        StatisticsSettings(window=2, decay=0.5, kept=2),
        "batch",
        [(f"s{n}", f"channel-{n % m}") for n in range(14) for m in (2, 5)],
    ),
}


@dataclass(frozen=True)
class Case:
    found: Statistics
    twin: Twin
    groups: dict[str, set[Doc]]
    spark: SparkSession

    def table(self, name: str) -> DataFrame:
        return self.found.table(self.spark, name)


@pytest.fixture(scope="module", params=list(CASES))
def case(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Case:
    run, settings, by, given = CASES[request.param]
    settings = replace(settings, top=6, entries=(1, 2, 1_000))
    out = run.write(tmp_path_factory.mktemp(request.param))
    groups = None
    if given is not None:
        groups = spark.createDataFrame(given, "subscription string, group string")
    found = compute(spark, out, settings=settings, groups=groups)
    return Case(found, Twin(run, settings, by), groups_of(run, given), spark)


def test_selectivity_is_that_of_the_twin(case: Case) -> None:
    twin = case.twin
    expected = twin.selectivity()
    same(case.table("selectivity"), "subscription", expected)
    if twin.run.routes:
        assert {"s4", "s11"} <= {one for one, row in expected.items() if not row["matched"]}


def test_overlap_is_that_of_the_twin(case: Case) -> None:
    twin = case.twin
    matched = {one: row["matched"] for one, row in twin.selectivity().items() if row["matched"]}
    top = sorted(matched, key=lambda one: (-matched[one], one))[:6]
    expected = twin.overlap(set(top))
    assert expected
    same(case.table("overlap"), "a b", expected)
    same(
        case.table("chosen"),
        "subscription",
        {one: {"documents": matched[one]} for one in top},
    )


def test_rates_are_those_of_the_twin(case: Case) -> None:
    twin = case.twin
    expected = twin.rates(case.groups)
    same(case.table("rates"), "group", expected)
    assert all(row["peak_documents_rate"] >= row["documents_rate"] for row in expected.values())


def test_traffic_sources_and_errors_are_those_of_the_twin(case: Case) -> None:
    twin = case.twin
    docs = twin.run.docs
    windows: dict[int, list[Doc]] = {}
    origins: dict[str, list[Doc]] = {}
    kinds: dict[str, list[tuple[Doc, int]]] = {}
    for doc in docs:
        windows.setdefault(twin.window[doc.id], []).append(doc)
        origins.setdefault(doc.source, []).append(doc)
        if doc.matches is None:
            kinds.setdefault(doc.kind, []).append((doc, 0))
        for _ in doc.undecided:
            kinds.setdefault("deadline", []).append((doc, 1))
    same(
        case.table("traffic"),
        "window",
        {
            k: twin.totals(some) | {"documents_rate": len(some) / twin.length}
            for k, some in windows.items()
        },
    )
    same(
        case.table("sources"),
        "source",
        {k: twin.totals(some) for k, some in origins.items()},
    )
    same(
        case.table("errors"),
        "kind",
        {
            kind: {
                "errors": len(some),
                "documents": len({doc.id for doc, _ in some}),
                "undecided": sum(n for _, n in some),
            }
            for kind, some in kinds.items()
        },
    )


def test_structures_and_caches_are_those_of_the_twin(case: Case) -> None:
    twin = case.twin
    counts = Counter(doc.structure for doc in twin.run.docs if doc.structure is not None)
    total = sum(counts.values())
    order = sorted(counts, key=lambda one: (-counts[one], one))
    expected: dict[Any, dict[str, Any]] = {}
    running = 0
    for rank, one in enumerate(order, start=1):
        running += counts[one]
        expected[one] = {
            "rank": rank,
            "documents": counts[one],
            "share": counts[one] / total,
            "cumulative": running / total,
        }
    same(case.table("structures"), "structure", expected)
    caches = {}
    for n in (1, 2, len(order)):
        held = [counts[one] for one in order[:n]]
        caches[n] = {"warm": sum(held) / total, "cold": sum(c - 1 for c in held) / total}
    same(case.table("cache"), "entries", caches)
    for row in case.table("structures").collect():
        having = [doc for doc in twin.run.docs if doc.structure == row.structure]
        assert twin.window[row["first"]] == min(twin.window[doc.id] for doc in having)


def test_the_summary_adds_up(case: Case) -> None:
    twin = case.twin
    summary, docs = case.found.summary, twin.run.docs
    totals = twin.totals(docs)
    assert {name: getattr(summary, name) for name in totals} == totals
    assert summary.deliveries == sum(len(twin.run.deliveries(doc)) for doc in docs)
    assert summary.groups == len(case.groups)
    assert summary.errors == totals["refused"] + sum(len(doc.undecided) for doc in docs)
    rows = twin.selectivity()
    assert summary.subscriptions == len(rows)
    silent = sum(not row["matched"] for row in rows.values())
    assert summary.silent == (silent if twin.run.routes else None)
    assert (summary.by, summary.window, summary.windows) == (twin.by, twin.length, twin.windows)
    weights = [twin.weight[doc.id] for doc in twin.read]
    assert math.isclose(summary.effective, sum(weights) ** 2 / sum(w * w for w in weights))


def test_most_least_and_never(case: Case) -> None:
    twin = case.twin
    table = case.table("selectivity")
    rows = twin.selectivity()
    hit = {one: row["selectivity"] for one, row in rows.items() if row["matched"]}
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


# --- one thing at a time --------------------------------------------------------------------------


class Frames:
    """The tables of a run, and what statistics are made of, without the job."""

    def __init__(
        self, spark: SparkSession, run: Run, settings: StatisticsSettings, out: Path
    ) -> None:
        self.tables = read_tables(spark, LocalStorage(Path(run.write(out))))
        self.axis = window_axis(self.tables.documents, settings)
        places = assign_windows(self.tables.documents, self.axis)
        self.documents = outcomes(places, self.tables.matches, self.tables.errors)
        self.read = self.documents.where("matches is not null")
        self.seen = join_windows(self.tables.matches, self.documents)


def test_a_window_weighs_by_its_age_and_an_empty_one_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Windows 0, 1 and 3 of a minute: 4, 2 and 1 documents; a half, all and none of them match; decay 1/2."""
    minutes = [(0, "s"), (0, "s"), (0, ""), (0, ""), (1, "s"), (1, "s"), (3, "")]
    docs = [
        Doc(0, f"d{n}", time=EPOCH + timedelta(minutes=minute), matches=tuple(hit))
        for n, (minute, hit) in enumerate(minutes)
    ]
    made = Frames(spark, Run(docs), StatisticsSettings(window=60, decay=0.5), tmp_path)
    row = by_key(selectivity(made.seen, made.read, made.axis), "subscription")["s"]
    assert row["selectivity"] == pytest.approx(
        (2 * 0.5**3 + 2 * 0.5**2 + 0 * 1) / (4 * 0.5**3 + 2 * 0.5**2 + 1 * 1)
    )
    assert (row["matched"], row["documents"], row["windows"]) == (4, 7, 2)
    assert row["last"] == EPOCH + timedelta(minutes=1)


def test_only_the_newest_windows_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    """Windows 0 to 69, a document each: all match, and 64 of the windows are counted."""
    run = Run([Doc(n, f"d{n}", matches=("s",)) for n in range(70)])
    made = Frames(spark, run, StatisticsSettings(window=1), tmp_path)
    row = by_key(selectivity(made.seen, made.read, made.axis), "subscription")["s"]
    assert (row["matched"], row["windows"], made.axis.windows) == (70, 64, 70)


def test_the_overlap_of_a_contained_subscription_is_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As in SemCast's table 1, where the row covers the column: O_43 = 1 and O_34 = 0.6."""
    docs = [Doc(0, f"d{n}", matches=("P3", "P4") if n < 6 else ("P4",)) for n in range(10)]
    made = Frames(spark, Run(docs), StatisticsSettings(), tmp_path)
    met = select_subscriptions(made.seen, ["P4", "P3"])
    [row] = overlap(met, count_single(met)).collect()
    assert (row.a, row.b, row.both, row.documents_a, row.documents_b) == ("P3", "P4", 6, 6, 10)
    assert (row.given_a, row.given_b, row.jaccard) == pytest.approx((1.0, 0.6, 0.6))


def test_a_group_counts_a_document_once(spark: SparkSession, tmp_path: Path) -> None:
    run = Run(
        [Doc(0, "d", matches=("a", "b", "c"), bytes=10), Doc(1, "e", matches=("b",), bytes=1)]
    )
    made = Frames(spark, run, StatisticsSettings(window=1), tmp_path)
    groups = spark.createDataFrame(
        [("a", "east"), ("b", "east"), ("b", "west"), ("never", "north")],
        "subscription string, group string",
    )
    rows = by_key(rates(group_pairs(made.seen, groups), made.axis), "group")
    assert {group: (row["documents"], row["bytes"]) for group, row in rows.items()} == {
        "east": (2, 11),
        "west": (2, 11),
    }
    assert rows["east"]["documents_rate"] == 1.0  # a batch


def test_routes_say_what_deliveries_would(spark: SparkSession, tmp_path: Path) -> None:
    run, settings = random_run(6), StatisticsSettings(window=300)
    made = Frames(spark, run, settings, tmp_path)
    assert made.tables.routes is not None
    routes = made.tables.routes.withColumnRenamed("subscriber", "group")
    expected = Twin(run, settings, "time").rates(groups_of(run))
    same(rates(group_pairs(made.seen, routes), made.axis), "group", expected)


def test_an_id_that_comes_again_in_another_batch_is_another_document(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = Run([Doc(1, "d", matches=("a",), bytes=3), Doc(2, "d", matches=("a", "b"), bytes=5)])
    made = Frames(spark, run, StatisticsSettings(), tmp_path)
    rows = by_key(selectivity(made.seen, made.read, made.axis), "subscription")
    assert (rows["a"]["matched"], rows["a"]["documents"], rows["b"]["matched"]) == (2, 2, 1)
    pairs = subscriber_pairs(made.tables.deliveries, made.documents)
    assert by_key(rates(pairs, made.axis), "group")["a"]["bytes"] == 8


def test_subscriptions_without_documents_never_matched(spark: SparkSession, tmp_path: Path) -> None:
    run = Run([], {"v": {"a": "u", "b": "u"}})
    made = Frames(spark, run, StatisticsSettings(), tmp_path)
    table = selectivity(made.seen, made.read, made.axis, made.tables.routes)
    same(table, "subscription", {one: {"matched": 0, "selectivity": None} for one in "ab"})


def test_only_batches_that_are_done_count(spark: SparkSession, tmp_path: Path) -> None:
    Run([Doc(n, f"d{n}", matches=("a",)) for n in range(3)]).write(tmp_path)
    for folder, batches in {"log": range(3), "done": range(2)}.items():
        (tmp_path / folder).mkdir()
        for batch in batches:
            (tmp_path / folder / f"{batch:010}.json").write_text("{}")
    tables = read_tables(spark, LocalStorage(tmp_path))
    for table in (tables.documents, tables.matches, tables.deliveries):
        assert sorted(row.document for row in table.collect()) == ["d0", "d1"]


def test_new_statistics_take_the_place_of_the_old(tmp_path: Path) -> None:
    for folder in ("statistics/old", "_statistics.new/new", "_statistics.old/oldest"):
        (tmp_path / folder).mkdir(parents=True)
    swap_in(LocalStorage(tmp_path))
    assert [path.name for path in tmp_path.rglob("*")] == ["statistics", "new"]


def test_a_summary_of_another_format_is_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "statistics").mkdir()
    (tmp_path / "statistics" / "summary.json").write_text('{"documents": 1}')
    with pytest.raises(PipelineError, match="compute them again"):
        read_statistics(spark, str(tmp_path))


def test_windows_find_their_length(spark: SparkSession, tmp_path: Path) -> None:
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


def test_borders_and_times_before_1970(spark: SparkSession) -> None:
    times = [
        EPOCH + timedelta(microseconds=n) for n in (-60_000_001, -1, 0, 59_999_999, 60_000_000)
    ]
    rows = [(f"d{n}", time, 0) for n, time in enumerate(times)]
    documents = spark.createDataFrame(rows, "document string, time timestamp, batch int")
    found = (
        assign_windows(documents, WindowAxis("time", 60_000_000, -2, 1, 0.5, 3))
        .orderBy("document")
        .collect()
    )
    assert [row.window for row in found] == [-2, -1, 0, 0, 1]
    assert [row.weight for row in found] == [0.0, 0.25, 0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("settings", "told"),
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
def test_settings_are_checked(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        StatisticsSettings(**settings)


def test_a_folder_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="there is no folder"):
        compute(spark, str(tmp_path / "no"), settings=StatisticsSettings())
    assert not (tmp_path / "no").exists()
    with pytest.raises(PipelineError, match="compute them first"):
        read_statistics(spark, str(tmp_path))
