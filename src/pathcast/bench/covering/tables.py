"""Tables: how fast they change, how small they get by sharing, covering and merging, and what mappings miss."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from pathcast.bench.covering.inputs import Bench
from pathcast.bench.measure import compared
from pathcast.bench.report import Line
from pathcast.covering import Aggregate
from pathcast.covering.indexes import factorization_index, scan_index
from pathcast.covering.merging import MergeOrder, PathDistribution, merge
from pathcast.covering.published_indexes.factorization_search import FactorizationIndex
from pathcast.generators.bundled import bundled_schema

__all__ = ["changes", "merging", "missed", "rates", "tree_sizes"]

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


def changes(bench: Bench) -> Iterator[Line]:
    """Subscriptions that leave and come back, with the default aggregate and with one that asks each."""
    found = bench.patterns("li2008-a")
    bench.tell(f"changes among {bench.sizes.table:,}")
    ours: Aggregate[int] = Aggregate.of()
    theirs: Aggregate[int] = Aggregate.of(scan_index)
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
    yield Line(f"add and remove, {bench.sizes.table:,}", rate, "/s", target=2_000.0, note=note)


def tree_sizes(bench: Bench) -> Iterator[Line]:
    """Nodes of the tree for nodes of the patterns; a // is a node of its own in both, as in the paper."""
    found = bench.patterns("xnet2004")
    for count in bench.sizes.tree:
        store = found.filled(factorization_index, count).store
        assert isinstance(store, FactorizationIndex)
        twigs = [twig for one in found.encoded[:count] for twig in one]
        nodes = sum(len(labels) - 1 + sum(deeper) for labels, _, deeper in twigs)
        published = f"; published {TREE_SHARES[count]:.3f}" if count in TREE_SHARES else ""
        yield Line(
            f"tree nodes / pattern nodes, {count:,}",
            store.node_count / nodes,
            "x",
            note=f"{store.node_count:,} for {nodes:,}{published}",
        )


def rates(bench: Bench) -> Iterator[Line]:
    """How many subscriptions a table needs, as it grows."""
    for preset, published in (("li2008-a", 0.9), ("li2008-b", 0.5)):
        found = bench.patterns(preset)
        table: Aggregate[int] = Aggregate.of()
        bench.tell(f"{preset}: covering")
        for key, pattern in enumerate(found.patterns[: bench.sizes.table], 1):
            table.add(key, pattern)
            if key in (1_000, 10_000, 50_000, bench.sizes.table):
                roots = table.stats()["roots"]
                yield Line(
                    f"{preset}: covered, of {key:,}",
                    1 - roots / key,
                    "",
                    note=f"{roots:,} roots; published about {published:.0%} of 100,000",
                )


def missed(bench: Bench) -> Iterator[Line]:
    """Roots that exact containment would hide as well."""
    for preset in ("li2008-a", "li2008-b", "xnet2004", "cao2012-aggregation"):
        found = bench.patterns(preset)
        for count in bench.sizes.patterns:
            bench.tell(f"{preset}: what mappings miss among {count:,}")
            stats = found.aggregated(count).stats(exact=True)
            yield Line(
                f"{preset}: roots that exact containment hides, of {count:,}",
                stats["missed"] / stats["roots"],
                "",
                note=f"{stats['missed']:,} of {stats['roots']:,}; {stats['undecided']:,} undecided",
            )


def merging(bench: Bench) -> Iterator[Line]:
    """How much smaller a table of uncovered paths gets, in the two orders of merging."""
    found = bench.patterns("li2008-a")
    paths = PathDistribution.uniform(bundled_schema("news"))
    for count in bench.sizes.merged:
        roots = [found.patterns[key] for key in found.aggregated(count).roots()]
        for limit, published in ((0.0, "87%"), (0.1, "67%")):
            for order in (MergeOrder.SAVING, MergeOrder.GREEDY):
                bench.tell(
                    f"merging {len(roots):,} roots of {count:,}, D <= {limit:g}, {order.value}"
                )
                start = time.process_time()
                merged = merge(roots, paths, limit, order)
                yield Line(
                    f"merged / covered, D <= {limit:g}, {order.value}, {count:,}",
                    len(merged) / len(roots),
                    "x",
                    note=f"{len(merged):,} of {len(roots):,}; published {published}; {time.process_time() - start:.0f} s",
                )
