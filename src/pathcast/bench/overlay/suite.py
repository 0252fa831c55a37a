"""The overlay suite: one function per part, and the lines of its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from pathcast.bench.memory import measure_peak
from pathcast.bench.overlay.decision import decision_ratio
from pathcast.bench.overlay.inputs import as_paths, news_paths, psd_documents, whole_documents
from pathcast.bench.overlay.routing import build_tables, engine_ratio, entry_ratio
from pathcast.bench.overlay.scale import run_large_overlay
from pathcast.bench.overlay.sizes import FULL, QUICK, OverlaySizes, TableReading
from pathcast.bench.overlay.traffic import PUBLISHED, StrategyRun, inversions, run_strategies
from pathcast.bench.report import Progress, ReportLine, fingerprint
from pathcast.bench.suite import Suite
from pathcast.sim.costs import read_costs

__all__ = ["SUITE", "OverlayContext"]

_PLAIN, _BOTH = "no-Adv-no-Cov", "with-Adv-with-Cov"
_PUBLISHED_SHARES = {"2": 0.662, "3": 0.499}  # of the traffic of no-Adv-no-Cov; section 5
_PUBLISHED_TIMES = {  # Li 2008, table 1, ms
    "li2008-a": {"none": 13.96, "covering": 2.15, "D <= 0": 1.87, "D <= 0.1": 1.27},
    "li2008-b": {"none": 14.23, "covering": 7.47, "D <= 0": 6.88, "D <= 0.1": 6.38},
}


@dataclass(slots=True, eq=False)
class OverlayContext:
    """The sizes of a run and the fingerprints of its inputs."""

    sizes: OverlaySizes
    progress: Progress
    inputs: dict[str, str] = field(default_factory=dict)


def _traffic(bench: OverlayContext) -> Iterator[ReportLine]:
    bodies = psd_documents(bench.sizes.documents)
    bench.inputs[f"{len(bodies)} documents"] = fingerprint(bodies)
    published = [as_paths(bodies), whole_documents(bodies)]
    costs = {"theirs": read_costs("li2008"), "ours": read_costs("engine")}
    for reading in bench.sizes.readings:
        runs: dict[str, StrategyRun] = {}
        for run in run_strategies(reading, published, costs):
            runs[run.strategy] = run
            yield from _run_lines(reading, run)
        yield from _order_lines(reading, runs)


def _run_lines(reading: TableReading, run: StrategyRun) -> list[ReportLine]:
    messages, delay = PUBLISHED[reading.table][run.strategy]
    return [
        ReportLine(
            f"{reading.name}: {run.strategy}",
            run.traffic("paths"),
            "messages",
            note=f"published {messages:,}; {run.control:,} before documents;"
            f" whole documents {run.traffic('documents'):,};"
            f" {run.entries:,} entries; {run.wasted:,} wasted",
        ),
        ReportLine(
            f"  delay of a path, their costs: {run.strategy}",
            run.delay["paths", "theirs"],
            "ms",
            note=f"published {delay:g}; a document {run.delay['documents', 'theirs']:.3g};"
            f" with our costs {run.delay['paths', 'ours']:.3g},"
            f" a document {run.delay['documents', 'ours']:.3g}",
        ),
    ]


def _order_lines(reading: TableReading, runs: dict[str, StrategyRun]) -> list[ReportLine]:
    table = PUBLISHED[reading.table]
    plain, both = runs[_PLAIN], runs[_BOTH]
    share = both.traffic("paths") / plain.traffic("paths")
    whole_share = both.traffic("documents") / plain.traffic("documents")
    lines = [
        ReportLine(
            f"{reading.name}: traffic, with-Adv-with-Cov / no-Adv-no-Cov",
            share,
            "x",
            note=f"published {_PUBLISHED_SHARES[reading.table]:.3f};"
            f" with whole documents {whole_share:.3f}",
        ),
        ReportLine(
            f"{reading.name}: the same, if equal subscriptions were forwarded without covering",
            both.traffic("paths") / (plain.resent_control + plain.publications["paths"]),
            "x",
            target=_PUBLISHED_SHARES[reading.table] + 0.005 if reading.target else None,
            at_least=False,
            note=f"published {_PUBLISHED_SHARES[reading.table]:.3f}",
        ),
    ]
    for quantity, ours, column in (
        ("traffic", {name: float(run.traffic("paths")) for name, run in runs.items()}, 0),
        ("delay", {name: run.delay["paths", "theirs"] for name, run in runs.items()}, 1),
    ):
        theirs = {name: float(row[column]) for name, row in table.items()}
        lines.append(
            ReportLine(
                f"{reading.name}: pairs in another order than published, {quantity}",
                inversions(ours, theirs),
                "of 15",
                target=1,
                at_least=False,
                note="pairs that differ by less than 2% are not counted",
            )
        )
    return lines


def _routing(bench: OverlayContext) -> Iterator[ReportLine]:
    paths = news_paths(bench.sizes.paths)
    bench.inputs[f"{len(paths)} paths of news"] = fingerprint(
        "/".join(path).encode() for path in paths
    )
    for preset, target in (("li2008-a", 0.8), ("li2008-b", 0.4)):
        bench.progress(f"{preset}: {bench.sizes.entries:,} subscriptions, merged")
        tables = build_tables(preset, bench.sizes.entries, (0.0, 0.1))
        bench.inputs[f"{preset}: {len(tables.texts):,}"] = fingerprint(
            text.encode() for text in tables.texts
        )
        rows = {"covering": tables.covered}
        rows.update({f"D <= {limit:g}": index for limit, index in tables.merged.items()})
        before = _PUBLISHED_TIMES[preset]["none"]
        for name, index in rows.items():
            bench.progress(f"{preset}: {name}")
            ratio = entry_ratio(tables, index, paths, bench.sizes.rounds)
            ours, theirs = (1e6 * seconds / len(paths) for seconds in (ratio.ours, ratio.theirs))
            yield ReportLine(
                f"{preset}: time saved by {name}, each entry tested",
                1 - 1 / ratio.figure,
                "",
                target=target if name == "covering" and bench.sizes.entries >= 100_000 else None,
                note=f"{theirs:,.0f} -> {ours:,.1f} us a path,"
                f" {tables.sizes['none']:,} -> {tables.sizes[name]:,} entries;"
                f" published {1 - _PUBLISHED_TIMES[preset][name] / before:.3f}",
            )
        ratio = engine_ratio(tables, tables.covered, paths, bench.sizes.rounds)
        yield ReportLine(
            f"{preset}: engine with all / each covered entry tested",
            ratio.figure,
            "x",
            spread=ratio.spread,
            note=f"{1e6 * ratio.ours / len(paths):,.1f} us a path, parsing included",
        )


def _decision(bench: OverlayContext) -> Iterator[ReportLine]:
    bench.progress(f"a decision among {bench.sizes.entries:,} entries")
    ratio = decision_ratio(bench.sizes.entries, 50, bench.sizes.rounds)
    yield ReportLine(
        f"a broker's decision / match_hops, 10 KB, {bench.sizes.entries:,} entries",
        1 / ratio.figure,
        "x",
        target=1.5,
        at_least=False,
        spread=(1 / ratio.spread[1], 1 / ratio.spread[0]),
        note=f"{1e6 * ratio.ours / 50:,.0f} us, match_hops {1e6 * ratio.theirs / 50:,.0f}",
    )


def _scale(bench: OverlayContext) -> Iterator[ReportLine]:
    sizes = bench.sizes
    bench.progress(f"a large overlay, {sizes.subscriptions:,} subscriptions")
    usage = measure_peak(
        run_large_overlay, sizes.transits, sizes.stubs, sizes.stub_size, sizes.subscriptions
    )
    facts = cast("dict[str, Any]", usage.result)
    yield ReportLine(
        f"{facts['brokers']:,} brokers, {sizes.subscriptions:,} subscriptions",
        usage.peak / 1e9,
        "GB",
        target=16.0,
        at_least=False,
        note=f"{facts['traffic']:,} messages, {facts['entries']:,} entries,"
        f" {facts['deliveries']:,} deliveries, {facts['wasted']:,} wasted;"
        f" {facts['seconds']:,.0f} s of CPU, {facts['set up']:,.0f} of it to set up",
    )


SUITE = Suite(
    summary="messages and delay of an overlay of brokers, and what a broker's decision costs",
    quick=QUICK,
    full=FULL,
    context=lambda sizes, options: OverlayContext(sizes, options.progress),
    inputs=lambda bench: bench.inputs,
    parts={
        "traffic": _traffic,
        "routing": _routing,
        "decision": _decision,
        "scale": _scale,
    },
)
