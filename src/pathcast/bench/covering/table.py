"""The parts of the benchmark, one function each, and what it takes to run them."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice

from pathcast.bench.measure import compared
from pathcast.bench.report import Findings, Line, Tell, fingerprint
from pathcast.bench.wish import Wish
from pathcast.covering import Aggregate
from pathcast.covering.core.labels import Labels
from pathcast.covering.core.tree import Tree
from pathcast.covering.encode import Encoded, Encoder
from pathcast.covering.indexes import TwigIndex, features, regions, scan, walk
from pathcast.covering.merging import Order, PathDistribution, merge
from pathcast.pattern import Pattern, parse
from pathcast.workload.bundled import bundled
from pathcast.workload.presets import PRESETS

__all__ = ["PARTS", "Sizes", "covering", "measured"]

_SEED = 1
_TIMES = 20  # a single search is too short for the clock


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the targets are for the numbers that are here."""

    patterns: tuple[int, ...] = (10_000, 100_000)
    searches: int = 100
    tree: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
    changes: int = 2_000
    table: int = 100_000
    merged: tuple[int, ...] = (10_000, 100_000)
    rounds: int = 5


_FULL = Sizes()
_QUICK = Sizes(
    patterns=(10_000,),
    tree=(1_000, 2_000, 5_000, 10_000),
    changes=500,
    table=10_000,
    merged=(2_000,),
    rounds=3,
)

# Cao 2012, table 4.1, in the names of the bundled schema; nobody has an element xt.
QUERIES = {
    "Q1": "/news/body/body.content",
    "Q2": "/news/head",
    "Q3": "/news//head",
    "Q4": "/news[body/body.content]/head",
    "Q5": "/news[body//body.content]//head",
    "Q6": "/news[body/body.content//hr]/head/docdata/doc-scope/xt",
}

# Chand and Felber 2004, table 2: nodes of the tree / nodes of the patterns
TREE_SHARES = {
    1_000: 1.9 / 7.6,
    2_000: 3.6 / 15.8,
    5_000: 8.2 / 42.1,
    10_000: 15.1 / 88.1,
    20_000: 28.1 / 183.3,
    50_000: 62.1 / 481.8,
    100_000: 112.6 / 998.6,
}


def covering(wish: Wish) -> Findings:
    """The benchmark."""
    return measured(_QUICK if wish.quick else _FULL, wish.tell, wish.only)


def measured(sizes: Sizes, tell: Tell, only: Sequence[str] = ()) -> Findings:
    """All lines, or those of some parts, for inputs of these sizes."""
    bench = Bench(sizes, tell)
    for name, part in PARTS.items():
        if not only or name in only:
            part(bench)
    return bench.lines, bench.inputs


@dataclass(slots=True, eq=False)
class Bench:
    """What has been made and found so far."""

    sizes: Sizes
    tell: Tell
    lines: list[Line] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    _sets: dict[str, PatternSet] = field(default_factory=dict)

    def patterns(self, preset: str) -> PatternSet:
        """The patterns of a preset, as many as the largest table needs and some to search for."""
        if preset not in self._sets:
            count = max(*self.sizes.patterns, self.sizes.table)
            self.tell(f"{preset}: {count:,} patterns")
            every = PRESETS[preset].texts(seed=_SEED, count=count + self.sizes.searches)
            texts = list(dict.fromkeys(islice(every, count + self.sizes.searches)))
            self.inputs[f"{preset}: {len(texts):,} patterns"] = fingerprint(
                text.encode() for text in texts
            )
            self._sets[preset] = PatternSet([parse(text) for text in texts], self.sizes.searches)
        return self._sets[preset]


class PatternSet:
    """Different patterns, the last of which are for searching."""

    def __init__(self, patterns: list[Pattern], searches: int) -> None:
        self.patterns = patterns[:-searches]
        self._searches = patterns[-searches:]
        self.encoder = Encoder()

    @cached_property
    def encoded(self) -> list[list[Encoded]]:
        return [self.encoder.encoded(pattern) for pattern in self.patterns]

    @cached_property
    def searches(self) -> list[list[Encoded]]:
        return [self.encoder.encoded(pattern) for pattern in self._searches]

    def filled(self, made: Callable[[Labels], TwigIndex], count: int) -> TwigIndex:
        index = made(self.encoder.labels)
        for key, pattern in enumerate(self.encoded[:count]):
            index.add(key, pattern)
        return index


def _search(bench: Bench) -> None:
    """Every index against asking each pattern, in both directions."""
    found = bench.patterns("xnet2004")
    for count in bench.sizes.patterns:
        target = {10_000: 100.0, 100_000: 200.0}.get(count)
        plain = found.filled(scan, count)
        for name, made in (("XSearch", walk), ("regions", regions), ("features", features)):
            bench.tell(f"{name}, {count:,} patterns")
            index = found.filled(made, count)
            for mode, ours, theirs in (
                ("covered", index.store.covered, plain.store.covered),
                ("covering", index.store.covering, plain.store.covering),
            ):
                ratio = compared(
                    partial(_asked, ours, found.searches),
                    partial(_asked, theirs, found.searches),
                    rounds=bench.sizes.rounds,
                )
                each = ratio.ours / len(found.searches)
                bench.lines.append(
                    Line(
                        f"{name}, {mode}, {count:,} / asking each",
                        ratio.figure,
                        "x",
                        target=target if name == "XSearch" else None,
                        spread=ratio.spread,
                        note=f"{each * 1e6:,.0f} us a search, asking each {ratio.theirs / len(found.searches) * 1e6:,.0f}",
                    )
                )


def _asked(search: Callable[..., array[int]], patterns: list[list[Encoded]]) -> None:
    for one in patterns:
        for twig in one:
            search(*twig)


def _both(index: TwigIndex, query: list[Encoded]) -> None:
    store = index.store
    for _ in range(_TIMES):
        for twig in query:
            store.covered(*twig)
            store.covering(*twig)


def _queries(bench: Bench) -> None:
    """Region codes against walking, for the queries of Cao's table 4.1, both directions together."""
    found = bench.patterns("cao2012-aggregation")
    for count in bench.sizes.patterns:
        walking, jumping = (found.filled(made, count) for made in (walk, regions))
        for name, text in QUERIES.items():
            bench.tell(f"{name}, {count:,} patterns")
            query = found.encoder.encoded(parse(text))

            ratio = compared(
                partial(_both, jumping, query),
                partial(_both, walking, query),
                rounds=bench.sizes.rounds,
            )
            bench.lines.append(
                Line(
                    f"regions / XSearch, {name}, {count:,}",
                    ratio.figure,
                    "x",
                    target=1.2,
                    spread=ratio.spread,
                    note=f"{ratio.ours / _TIMES * 1e6:,.0f} us and {ratio.theirs / _TIMES * 1e6:,.0f} us for both",
                )
            )


def _changes(bench: Bench) -> None:
    """Subscriptions that leave and come back, with the default aggregate and with one that asks each."""
    found = bench.patterns("li2008-a")
    bench.tell(f"changes among {bench.sizes.table:,}")
    ours: Aggregate[int] = Aggregate.of()
    theirs: Aggregate[int] = Aggregate.of(scan)
    for table in (ours, theirs) if bench.sizes.table <= 10_000 else (ours,):
        for key, pattern in enumerate(found.patterns[: bench.sizes.table]):
            table.add(key, pattern)
    step = max(1, bench.sizes.table // bench.sizes.changes)
    chosen = range(0, bench.sizes.table, step)

    def changed(table: Aggregate[int], keys: Sequence[int]) -> None:
        for key in keys:
            table.remove(key)
        for key in keys:
            table.add(key, found.patterns[key])

    few = chosen[:: max(1, len(chosen) // 20)]
    ratio = compared(
        lambda: changed(ours, chosen),
        lambda: changed(theirs, few) if theirs.stats()["patterns"] else None,
        rounds=bench.sizes.rounds,
    )
    rate = 2 * len(chosen) / ratio.ours
    note = f"{ours.stats()['roots']:,} roots of {bench.sizes.table:,}"
    if theirs.stats()["patterns"]:
        slow = 2 * len(few) / ratio.theirs
        note += f"; asking each {slow:,.0f} a second"
    bench.lines.append(
        Line(f"add and remove, {bench.sizes.table:,}", rate, "/s", target=2_000.0, note=note)
    )


def _sizes(bench: Bench) -> None:
    """Nodes of the tree for nodes of the patterns."""
    found = bench.patterns("xnet2004")
    for count in bench.sizes.tree:
        store = found.filled(walk, count).store
        assert isinstance(store, Tree)
        nodes = sum(len(twig[0]) - 1 for one in found.encoded[:count] for twig in one)
        published = f"; published {TREE_SHARES[count]:.3f}" if count in TREE_SHARES else ""
        bench.lines.append(
            Line(
                f"tree nodes / pattern nodes, {count:,}",
                store.node_count / nodes,
                "x",
                note=f"{store.node_count:,} for {nodes:,}{published}",
            )
        )


def _rates(bench: Bench) -> None:
    """How many subscriptions a table needs, as it grows."""
    for preset, published in (("li2008-a", 0.9), ("li2008-b", 0.5)):
        found = bench.patterns(preset)
        table: Aggregate[int] = Aggregate.of()
        bench.tell(f"{preset}: covering")
        for key, pattern in enumerate(found.patterns[: bench.sizes.table], 1):
            table.add(key, pattern)
            if key in (1_000, 10_000, 50_000, bench.sizes.table):
                roots = table.stats()["roots"]
                bench.lines.append(
                    Line(
                        f"{preset}: covered, of {key:,}",
                        1 - roots / key,
                        "",
                        note=f"{roots:,} roots; published about {published:.0%} of 100,000",
                    )
                )


def _merging(bench: Bench) -> None:
    """How much smaller a table of uncovered paths gets, in the two orders of merging."""
    found = bench.patterns("li2008-a")
    paths = PathDistribution.uniform(bundled("news"))
    for count in bench.sizes.merged:
        table: Aggregate[int] = Aggregate.of()
        for key, pattern in enumerate(found.patterns[:count]):
            table.add(key, pattern)
        roots = [found.patterns[key] for key in table.roots()]
        for limit, published in ((0.0, "87%"), (0.1, "67%")):
            for order in (Order.SAVING, Order.GREEDY):
                bench.tell(
                    f"merging {len(roots):,} roots of {count:,}, D <= {limit:g}, {order.value}"
                )
                start = time.process_time()
                merged = merge(roots, paths, limit, order)
                bench.lines.append(
                    Line(
                        f"merged / covered, D <= {limit:g}, {order.value}, {count:,}",
                        len(merged) / len(roots),
                        "x",
                        note=f"{len(merged):,} of {len(roots):,}; published {published}; {time.process_time() - start:.0f} s",
                    )
                )


PARTS: Mapping[str, Callable[[Bench], None]] = {
    "search": _search,
    "queries": _queries,
    "changes": _changes,
    "sizes": _sizes,
    "rates": _rates,
    "merging": _merging,
}
