"""The parts of the benchmark, one function each, and what it takes to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pathcast.bench.memory import peak
from pathcast.bench.options import Wish
from pathcast.bench.overlay.decision import decision_ratio
from pathcast.bench.overlay.inputs import as_paths, news_paths, psd_documents, whole
from pathcast.bench.overlay.routing import engine_ratio, entry_ratio, tables
from pathcast.bench.overlay.scale import large
from pathcast.bench.overlay.sizes import FULL, QUICK, Reading, Sizes
from pathcast.bench.overlay.traffic import PUBLISHED, Run, inversions, runs
from pathcast.bench.report import Findings, Line, Tell, fingerprint
from pathcast.sim.costs import read_costs

__all__ = ["PARTS", "measured", "overlay"]

_PLAIN, _BOTH = "no-Adv-no-Cov", "with-Adv-with-Cov"
_SHARES = {"2": 0.662, "3": 0.499}  # of the traffic of no-Adv-no-Cov; section 5
_TABLE_1 = {  # ms
    "li2008-a": {"none": 13.96, "covering": 2.15, "D <= 0": 1.87, "D <= 0.1": 1.27},
    "li2008-b": {"none": 14.23, "covering": 7.47, "D <= 0": 6.88, "D <= 0.1": 6.38},
}


def overlay(wish: Wish) -> Findings:
    """The benchmark."""
    return measured(QUICK if wish.quick else FULL, wish)


def measured(sizes: Sizes, wish: Wish) -> Findings:
    """All lines, or those of some parts, for inputs of these sizes."""
    bench = Bench(sizes, wish.tell)
    return wish.gather(PARTS, bench), bench.inputs


@dataclass(slots=True, eq=False)
class Bench:
    """The numbers of a run, its inputs, and whom to tell."""

    sizes: Sizes
    tell: Tell
    inputs: dict[str, str] = field(default_factory=dict)


def _traffic(bench: Bench) -> Iterator[Line]:
    bodies = psd_documents(bench.sizes.documents)
    bench.inputs[f"{len(bodies)} documents"] = fingerprint(bodies)
    published = [as_paths(bodies), whole(bodies)]
    costs = {"theirs": read_costs("li2008"), "ours": read_costs("engine")}
    for reading in bench.sizes.readings:
        found: dict[str, Run] = {}
        for run in runs(reading, published, costs):
            found[run.strategy] = run
            yield from _run_lines(reading, run)
        yield from _order_lines(reading, found)


def _run_lines(reading: Reading, run: Run) -> list[Line]:
    messages, delay = PUBLISHED[reading.published][run.strategy]
    return [
        Line(
            f"{reading.name}: {run.strategy}",
            run.traffic("paths"),
            "messages",
            note=f"published {messages:,}; {run.control:,} before documents; whole documents {run.traffic('documents'):,};"
            f" {run.entries:,} entries; {run.vain:,} in vain",
        ),
        Line(
            f"  delay of a path, their costs: {run.strategy}",
            run.delay["paths", "theirs"],
            "ms",
            note=f"published {delay:g}; a document {run.delay['documents', 'theirs']:.3g}; with our"
            f" costs {run.delay['paths', 'ours']:.3g}, a document {run.delay['documents', 'ours']:.3g}",
        ),
    ]


def _order_lines(reading: Reading, found: dict[str, Run]) -> list[Line]:
    table = PUBLISHED[reading.published]
    plain = found[_PLAIN]
    share = found[_BOTH].traffic("paths") / found[_PLAIN].traffic("paths")
    whole_share = found[_BOTH].traffic("documents") / found[_PLAIN].traffic("documents")
    lines = [
        Line(
            f"{reading.name}: traffic, with-Adv-with-Cov / no-Adv-no-Cov",
            share,
            "x",
            note=f"published {_SHARES[reading.published]:.3f}; with whole documents {whole_share:.3f}",
        ),
        Line(
            f"{reading.name}: the same, if equal ones were told again without covering",
            found[_BOTH].traffic("paths") / (plain.told_again + plain.publications["paths"]),
            "x",
            target=_SHARES[reading.published] + 0.005 if reading.target else None,
            at_least=False,
            note=f"published {_SHARES[reading.published]:.3f}",
        ),
    ]
    for what, ours, place in (
        ("traffic", {name: float(run.traffic("paths")) for name, run in found.items()}, 0),
        ("delay", {name: run.delay["paths", "theirs"] for name, run in found.items()}, 1),
    ):
        theirs = {name: float(row[place]) for name, row in table.items()}
        lines.append(
            Line(
                f"{reading.name}: pairs in another order than published, {what}",
                inversions(ours, theirs),
                "of 15",
                target=1,
                at_least=False,
                note="pairs that differ by less than 2% are in any order",
            )
        )
    return lines


def _routing(bench: Bench) -> Iterator[Line]:
    paths = news_paths(bench.sizes.paths)
    bench.inputs[f"{len(paths)} paths of news"] = fingerprint(
        "/".join(one).encode() for one in paths
    )
    for preset, target in (("li2008-a", 0.8), ("li2008-b", 0.4)):
        bench.tell(f"{preset}: {bench.sizes.entries:,} subscriptions, merged")
        found = tables(preset, bench.sizes.entries, (0.0, 0.1))
        bench.inputs[f"{preset}: {len(found.texts):,}"] = fingerprint(
            text.encode() for text in found.texts
        )
        rows = {"covering": found.covered}
        rows.update({f"D <= {limit:g}": index for limit, index in found.merged.items()})
        before = _TABLE_1[preset]["none"]
        for name, index in rows.items():
            bench.tell(f"{preset}: {name}")
            ratio = entry_ratio(found, index, paths, bench.sizes.rounds)
            each, plain = (1e6 * one / len(paths) for one in (ratio.ours, ratio.theirs))
            yield Line(
                f"{preset}: time saved by {name}, each entry tested",
                1 - 1 / ratio.figure,
                "",
                target=target if name == "covering" and bench.sizes.entries >= 100_000 else None,
                note=f"{plain:,.0f} -> {each:,.1f} us a path, {found.sizes['none']:,} -> {found.sizes[name]:,}"
                f" entries; published {1 - _TABLE_1[preset][name] / before:.3f}",
            )
        ratio = engine_ratio(found, found.covered, paths, bench.sizes.rounds)
        yield Line(
            f"{preset}: engine with all / each covered entry tested",
            ratio.figure,
            "x",
            spread=ratio.spread,
            note=f"{1e6 * ratio.ours / len(paths):,.1f} us a path, parsing included",
        )


def _decision(bench: Bench) -> Iterator[Line]:
    bench.tell(f"a decision among {bench.sizes.entries:,} entries")
    ratio = decision_ratio(bench.sizes.entries, 50, bench.sizes.rounds)
    yield Line(
        f"a broker's decision / match_hops, 10 KB, {bench.sizes.entries:,} entries",
        1 / ratio.figure,
        "x",
        target=1.5,
        at_least=False,
        spread=(1 / ratio.spread[1], 1 / ratio.spread[0]),
        note=f"{1e6 * ratio.ours / 50:,.0f} us, match_hops {1e6 * ratio.theirs / 50:,.0f}",
    )


def _scale(bench: Bench) -> Iterator[Line]:
    sizes = bench.sizes
    bench.tell(f"a large overlay, {sizes.subscriptions:,} subscriptions")
    found = peak(large, sizes.transits, sizes.stubs, sizes.stub_size, sizes.subscriptions)
    facts = cast("dict[str, Any]", found.result)
    yield Line(
        f"{facts['brokers']:,} brokers, {sizes.subscriptions:,} subscriptions",
        found.most / 1e9,
        "GB",
        target=16.0,
        at_least=False,
        note=f"{facts['traffic']:,} messages, {facts['entries']:,} entries, {facts['deliveries']:,} deliveries,"
        f" {facts['vain']:,} in vain; {facts['seconds']:,.0f} s of CPU, {facts['set up']:,.0f} of it to set up",
    )


PARTS: Mapping[str, Callable[[Bench], Iterator[Line]]] = {
    "traffic": _traffic,
    "routing": _routing,
    "decision": _decision,
    "scale": _scale,
}
