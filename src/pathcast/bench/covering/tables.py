"""Tables: the rate of changes, the sizes after sharing, covering and merging, the exactness gap."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from pathcast.bench.covering.context import CoveringContext
from pathcast.bench.measure import compare
from pathcast.bench.report import ReportLine
from pathcast.covering import Aggregate
from pathcast.covering.index_registry import factorization_index, scan_index
from pathcast.covering.merging import MergeOrder, PathDistribution, merge
from pathcast.covering.published_indexes.factorization_search import FactorizationIndex
from pathcast.generators.bundled import bundled_schema

__all__ = ["changes", "exactness_gap", "merging", "rates", "tree_sizes"]

# Chand 2004, table 2: nodes of the tree / nodes of the patterns
TREE_SHARES = {
    1_000: 1.9 / 7.6,
    2_000: 3.6 / 15.8,
    5_000: 8.2 / 42.1,
    10_000: 15.1 / 88.1,
    20_000: 28.1 / 183.3,
    50_000: 62.1 / 481.8,
    100_000: 112.6 / 998.6,
}


def changes(bench: CoveringContext) -> Iterator[ReportLine]:
    """Remove and add subscriptions, in the default aggregate and in one with a linear scan."""
    patterns = bench.patterns("li2008-a")
    bench.progress(f"changes among {bench.sizes.table:,}")
    ours: Aggregate[int] = Aggregate.of()
    theirs: Aggregate[int] = Aggregate.of(scan_index)
    for table in (ours, theirs) if bench.sizes.table <= 10_000 else (ours,):
        for key, pattern in enumerate(patterns.patterns[: bench.sizes.table]):
            table.add(key, pattern)
    step = max(1, bench.sizes.table // bench.sizes.changes)
    chosen = range(0, bench.sizes.table, step)

    def change(table: Aggregate[int], keys: Sequence[int]) -> None:
        for key in keys:
            table.remove(key)
        for key in keys:
            table.add(key, patterns.patterns[key])

    sample = chosen[:: max(1, len(chosen) // 20)]
    ratio = compare(
        lambda: change(ours, chosen),
        lambda: change(theirs, sample) if theirs.stats()["patterns"] else None,
        rounds=bench.sizes.rounds,
    )
    rate = 2 * len(chosen) / ratio.ours
    note = f"{ours.stats()['roots']:,} roots of {bench.sizes.table:,}"
    if theirs.stats()["patterns"]:
        slow = 2 * len(sample) / ratio.theirs
        note += f"; linear scan {slow:,.0f} a second"
    yield ReportLine(
        f"add and remove, {bench.sizes.table:,}", rate, "/s", target=2_000.0, note=note
    )


def tree_sizes(bench: CoveringContext) -> Iterator[ReportLine]:
    """Nodes of the factorization tree per pattern node; a // is a node in both, as in the paper."""
    patterns = bench.patterns("xnet2004")
    for count in bench.sizes.tree:
        store = patterns.build_index(factorization_index, count).store
        assert isinstance(store, FactorizationIndex)
        twigs = [twig for encoded in patterns.encoded_patterns[:count] for twig in encoded]
        nodes = sum(len(labels) - 1 + sum(deeper) for labels, _, deeper in twigs)
        published = f"; published {TREE_SHARES[count]:.3f}" if count in TREE_SHARES else ""
        yield ReportLine(
            f"tree nodes / pattern nodes, {count:,}",
            store.node_count / nodes,
            "x",
            note=f"{store.node_count:,} for {nodes:,}{published}",
        )


def rates(bench: CoveringContext) -> Iterator[ReportLine]:
    """The share of covered subscriptions as a table grows."""
    for preset, published in (("li2008-a", 0.9), ("li2008-b", 0.5)):
        patterns = bench.patterns(preset)
        table: Aggregate[int] = Aggregate.of()
        bench.progress(f"{preset}: covering")
        for key, pattern in enumerate(patterns.patterns[: bench.sizes.table], 1):
            table.add(key, pattern)
            if key in (1_000, 10_000, 50_000, bench.sizes.table):
                roots = table.stats()["roots"]
                yield ReportLine(
                    f"{preset}: covered, of {key:,}",
                    1 - roots / key,
                    "",
                    note=f"{roots:,} roots; published about {published:.0%} of 100,000",
                )


def exactness_gap(bench: CoveringContext) -> Iterator[ReportLine]:
    """Roots that exact containment would hide in addition to homomorphism."""
    for preset in ("li2008-a", "li2008-b", "xnet2004", "cao2012-aggregation"):
        patterns = bench.patterns(preset)
        for count in bench.sizes.patterns:
            bench.progress(f"{preset}: exactness gap among {count:,}")
            stats = patterns.build_aggregate(count).stats(exact=True)
            yield ReportLine(
                f"{preset}: roots that exact containment hides, of {count:,}",
                stats["missed"] / stats["roots"],
                "",
                note=f"{stats['missed']:,} of {stats['roots']:,}; {stats['undecided']:,} undecided",
            )


def merging(bench: CoveringContext) -> Iterator[ReportLine]:
    """The reduction of a table of covering roots by merging, in both merge orders."""
    patterns = bench.patterns("li2008-a")
    paths = PathDistribution.uniform(bundled_schema("news"))
    for count in bench.sizes.merged:
        roots = [patterns.patterns[key] for key in patterns.build_aggregate(count).roots()]
        for limit, published in ((0.0, "87%"), (0.1, "67%")):
            for order in (MergeOrder.SAVING, MergeOrder.GREEDY):
                bench.progress(
                    f"merging {len(roots):,} roots of {count:,}, D <= {limit:g}, {order.value}"
                )
                start = time.process_time()
                merged = merge(roots, paths, limit, order)
                yield ReportLine(
                    f"merged / covered, D <= {limit:g}, {order.value}, {count:,}",
                    len(merged) / len(roots),
                    "x",
                    note=f"{len(merged):,} of {len(roots):,}; published {published};"
                    f" {time.process_time() - start:.0f} s",
                )
