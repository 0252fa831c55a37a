from __future__ import annotations

import re
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchOutcome
from pathcast.pipeline.report import write_report
from pathcast.pipeline.report.content import (
    OverlapMatrix,
    ReportContent,
    TrafficPoint,
    batch_quantiles,
    count_selectivities,
    merge_traffic,
    pick_different,
    sum_bars,
)
from pathcast.pipeline.report.page import render_page
from pathcast.pipeline.report.plots import plot_matches, plot_overlap, plot_traffic
from pathcast.pipeline.report.texts import (
    format_bytes,
    format_rate,
    format_share,
    format_times,
    shorten,
)
from pathcast.pipeline.statistics import (
    TABLES,
    Statistics,
    StatisticsSettings,
    StatisticsSummary,
    compute,
    compute_in_memory,
    read_statistics,
)
from tests.pipeline.made_runs import EPOCH, START, SampleDocument, SampleRun

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$\\frac{1}$ & ]]> 日本語 🎉",
    "\u202eturned \x1b[31m around\u0000"[:-1],
    "x" * 5_000,
    "url(#clip) style='fill: #040404'",
)
FORBIDDEN = {"script", "iframe", "object", "embed", "link", "base", "form", "img"}
PLOTS = ("traffic", "matches", "selectivity", "structures", "overlap", "busiest", "errors")


def parse_safe_page(text: str) -> html.HtmlElement:
    """Parse the page; check that it has no scripts and no external references."""
    root = html.document_fromstring(text)
    for part in root.iter(etree.Element):
        assert part.tag not in FORBIDDEN
        for name, value in part.attrib.items():
            assert not name.startswith("on"), (part.tag, name)
            if name in {"href", "src", "xlink:href", "data", "action"}:
                assert value.startswith("#"), value
            for target in re.findall(r"url\(([^)]*)\)", value):
                assert target.startswith("#"), value
    [style] = root.xpath("//style")
    assert style.text is not None
    assert "url(" not in style.text
    assert "@import" not in style.text
    ids = [str(id) for id in root.xpath("//@id")]
    assert len(ids) == len(set(ids)), "an id is there twice"
    links = [str(link)[1:] for link in root.xpath("//@*[name() = 'xlink:href']")]
    assert set(links) <= set(ids)
    return root


def tables(root: html.HtmlElement) -> dict[str, list[list[str]]]:
    return {
        str(section.xpath("string(h2)")): [
            [cell.text_content() for cell in row.xpath("td")]
            for row in section.xpath(".//tbody/tr")
        ]
        for section in root.xpath("//section")
    }


def untrusted_run() -> SampleRun:
    docs = [
        SampleDocument(
            batch=n // 10,
            id=f"{HOSTILE[n % 2]}{n}",
            time=START + timedelta(seconds=n),
            matches=None if n % 15 == 7 else HOSTILE[: n % 5 + 1],
            source=HOSTILE[n % 3],
            structure=f"s{n % 4}",
            kind=HOSTILE[1],
            message=HOSTILE[0] + HOSTILE[3],
        )
        for n in range(30)
    ]
    routes = {id: id for id in HOSTILE}
    return SampleRun(docs, {"v": routes})


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("hostile")
    settings = StatisticsSettings(window=1, decay=1.0)
    compute_in_memory(untrusted_run().write(out), settings=settings)
    return write_report(None, str(out), out / "report.html").read_text(encoding="utf-8")


def test_untrusted_text_is_escaped(report: str) -> None:
    root = parse_safe_page(report)
    assert "default-src 'none'" in report
    shown = root.text_content()
    assert "<script>alert(1)</script>" in shown  # as text
    assert not re.search(r"[\u202e\x1b]", report)
    assert "x" * 200 not in report


def test_all_plots_are_present(report: str) -> None:
    root = parse_safe_page(report)
    assert [svg.get("id") or svg.get("aria-label") for svg in root.xpath("//svg")]
    names = {str(id).split("-")[0] for id in root.xpath("//svg//@id")}
    assert names == set(PLOTS)
    assert "var(--accent)" in report
    # Placeholder colours are replaced, except where an id looks like one.
    assert "#040404" not in "".join(map(str, root.xpath("//svg//@style")))


def test_tables_agree_with_the_statistics(report: str) -> None:
    rows_by_table = tables(parse_safe_page(report))
    docs = untrusted_run().docs
    read = [doc for doc in docs if doc.matches is not None]
    counts = {id: sum(id in (doc.matches or ()) for doc in read) for id in HOSTILE}
    shown = [(row[0], row[1], row[3], row[4]) for row in rows_by_table["Most matching"]]
    order = sorted((id for id in HOSTILE if counts[id]), key=lambda id: (-counts[id], id))
    assert shown == [
        (shorten(id, 160), shorten(f"//{id}", 160), str(counts[id]), str(len(read))) for id in order
    ]
    assert rows_by_table["Never matched"][0][1] == shorten(f"//{HOSTILE[5]}", 160)
    assert [row[0] for row in rows_by_table["Never matched"]] == [shorten(HOSTILE[5], 160)]
    assert [row[1] for row in rows_by_table["Errors by kind"]] == [str(len(docs) - len(read))]
    assert sum(int(row[1]) for row in rows_by_table["Sources"]) == len(docs)
    assert [row[0] for row in rows_by_table["Compared subscriptions"]] == list("12345")
    assert rows_by_table["Most frequent structures"][-1][3] == "100%"


@pytest.mark.parametrize("in_memory", [False, True])
def test_an_empty_run_has_statistics_and_a_report(
    spark: SparkSession, tmp_path: Path, in_memory: bool
) -> None:
    session = None if in_memory else spark

    def compute_statistics(settings: StatisticsSettings) -> Statistics:
        if in_memory:
            compute_in_memory(str(tmp_path), settings=settings)
            return read_statistics(spark, str(tmp_path))
        return compute(spark, str(tmp_path), settings=settings)

    with pytest.raises(PipelineError, match="holds no run"):
        compute_statistics(StatisticsSettings())
    (tmp_path / "pathcast.json").write_text("{}")  # as in a run without documents
    with pytest.raises(PipelineError, match="compute them first"):
        write_report(session, str(tmp_path), tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
    statistics = compute_statistics(StatisticsSettings(subscriptions=("no", "no")))
    assert (
        statistics.summary.documents,
        statistics.summary.windows,
        statistics.summary.silent,
    ) == (0, 0, None)
    assert {name for name in TABLES if not statistics.table(spark, name).isEmpty()} == {"chosen"}
    assert statistics.table(spark, "chosen").collect() == [("no", 0, None)]
    assert read_statistics(spark, str(tmp_path)) == statistics
    assert not list(tmp_path.glob("_statistics*"))
    page = write_report(session, str(tmp_path), tmp_path / "report.html")
    root = parse_safe_page(page.read_text(encoding="utf-8"))
    with pytest.raises(PipelineError, match="cannot write"):
        write_report(session, str(tmp_path), tmp_path / "nowhere" / "report.html")
    assert not root.xpath("//svg")
    for empty_text in ("There are no documents.", "Nothing matched.", "There were no errors."):
        assert empty_text in root.text_content()


# --- without Spark --------------------------------------------------------------------------------


def content(
    traffic: tuple[TrafficPoint, ...], *, by: str = "time", windows_per_point: int = 1
) -> ReportContent:
    summary = StatisticsSummary(
        documents=sum(point.documents for point in traffic),
        bytes=0,
        read=sum(point.documents - point.refused for point in traffic),
        matched=sum(point.matched for point in traffic),
        matches=sum(point.matches for point in traffic),
        refused=sum(point.refused for point in traffic),
        errors=0,
        deliveries=0,
        groups=0,
        subscriptions=0,
        silent=None,
        sampled=0,
        structures=0,
        batches=1,
        first=None,
        last=None,
        by=by,
        window=60.0 if by == "time" else 1.0,
        windows=1,
        decay=0.9,
        kept=7,
        effective=0.0,
    )
    return ReportContent(
        summary=summary,
        windows_per_point=windows_per_point,
        traffic=traffic,
        selectivity_histogram={},
        most_matching=(),
        least_matching=(),
        silent_subscriptions=(),
        busiest=(),
        structures=(),
        cache=(),
        overlap=OverlapMatrix((), (), ()),
        errors=(),
        sources=(),
    )


@pytest.mark.parametrize("by", ["time", "batch"])
@pytest.mark.parametrize("windows", [(-3,), (5, 6), (0, 40, 59), (100, 103, 106)])
def test_traffic_plot_of_any_windows(by: str, windows: tuple[int, ...]) -> None:
    points = tuple(
        TrafficPoint(
            window=at,
            start=EPOCH + timedelta(minutes=at) if by == "time" else None,
            documents=3,
            matched=1,
            matches=4,
            refused=1,
            bytes=10,
        )
        for at in windows
    )
    page_content = content(points, by=by, windows_per_point=3 if windows[-1] == 106 else 1)
    traffic, matches = plot_traffic(page_content), plot_matches(page_content)
    assert traffic is not None
    assert matches is not None
    texts = [
        str(text) for text in etree.fromstring(traffic).xpath("//*[local-name()='text']/text()")
    ]
    assert {"matched", "matched by none", "refused"} <= set(texts)
    if by == "batch":
        assert "batch" in texts
    parse_safe_page(render_page(page_content, "here"))


def test_traffic_plot_of_refused_documents() -> None:
    page_content = content((TrafficPoint(0, None, 2, 0, 0, 2, 10),), by="batch")
    assert plot_traffic(page_content) is not None
    assert plot_matches(page_content) is None


def test_overlap_plot_with_unknown_shares() -> None:
    matrix = OverlapMatrix(("a", "b"), (1, 1), ((1.0, None), (0.5, 1.0)))
    assert plot_overlap(matrix) is not None
    assert plot_overlap(OverlapMatrix(("a",), (1,), ((1.0,),))) is None


def test_quantiles_of_batches() -> None:
    outcomes = [
        BatchOutcome("v", documents=10, seconds=float(n), lag=None if n % 2 else n / 10)
        for n in range(1, 101)
    ]
    rows = {row["measure"]: row for row in batch_quantiles(outcomes)}
    assert list(rows) == ["seconds", "documents", "documents/s", "lag in seconds"]
    assert rows["seconds"] == {"measure": "seconds", "median": 50.5, "most": 95, "maximum": 100}
    assert rows["documents/s"]["maximum"] == 10
    assert rows["lag in seconds"]["maximum"] == 10
    assert batch_quantiles([]) == ()
    assert [row["measure"] for row in batch_quantiles([BatchOutcome("v")])] == [
        "seconds",
        "documents",
    ]


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), st.floats(0, 1)
    ),
    st.integers(1, 8),
)
def test_picked_subscriptions_differ(
    ids: list[str], shares: dict[tuple[str, str], float], count: int
) -> None:
    """They are as many as asked for, the first among them, in the order given."""
    picked = pick_different(ids, shares, count)
    assert len(picked) == min(count, len(ids))
    assert picked == [id for id in ids if id in picked]
    assert picked[:1] == ids[:1]


def test_equal_subscriptions_are_not_picked_together() -> None:
    equal = {(a, b): 1.0 for a in "abc" for b in "abc"}
    assert pick_different("abcde", equal | {("d", "e"): 0.5}, 3) == ["a", "d", "e"]


def test_plots_are_deterministic() -> None:
    page_content = content((TrafficPoint(0, None, 2, 1, 1, 0, 10),), by="batch")
    assert plot_traffic(page_content) == plot_traffic(page_content)


def test_missing_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PipelineError, match="matplotlib") as caught:
        write_report(None, str(tmp_path), tmp_path / "report.html")
    assert caught.value.hint == "pip install matplotlib"


def test_formats() -> None:
    assert [format_rate(value) for value in (None, 0, 0.01234, 12.3, 1234.5)] == [
        "-",
        "0",
        "0.0123",
        "12.3",
        "1,234",
    ]
    assert [format_bytes(value) for value in (0, 999, 1_000, 2.5e13)] == [
        "0 B",
        "999 B",
        "1 KB",
        "25 TB",
    ]
    assert [format_share(value) for value in (0, 1, 1e-5, 1e-9)] == [
        "0%",
        "100%",
        "0.001%",
        "<0.001%",
    ]
    start = EPOCH
    spans = {20: "00:00:00", 900: "00:00", 3 * 86_400: "01-01 00h", 30 * 86_400: "01-01"}
    for seconds, text in spans.items():
        assert format_times([start, start + timedelta(seconds=seconds)])[0] == text


def test_windows_and_selectivities_are_aggregated() -> None:
    """200 windows become 50 points; powers of ten belong to their own bar, 1.0 to the last bar."""
    counts = {"documents": 1, "matched": 1, "matches": 2, "refused": 0, "bytes": 5}
    windows = pa.Table.from_pylist(
        [
            {"window": n - 100, "start": EPOCH + timedelta(microseconds=n), **counts}
            for n in range(200)
        ]
    )
    points = [TrafficPoint(**row) for row in merge_traffic(windows, 4).to_pylist()]
    assert len(points) == 50
    assert {(point.documents, point.matches, point.bytes) for point in points} == {(4, 8, 20)}
    assert (points[0].window, points[0].start) == (-100, EPOCH)
    shares = pa.table({"selectivity": [0.001, 0.00099, 1.0, 0.9, 1e-30, 0.0, None]})
    bars = sum_bars(count_selectivities(shares)).to_pylist()
    assert [(bar["step"], bar["subscriptions"]) for bar in bars] == [
        (-32, 1),
        (-13, 1),
        (-12, 1),
        (-1, 2),
    ]
