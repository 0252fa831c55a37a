"""The parts of the benchmark, in the order of its report, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pathcast.bench.covering.inputs import FULL, QUICK, Bench, Sizes
from pathcast.bench.covering.searching import first, queries, search
from pathcast.bench.covering.tables import changes, merging, missed, rates, tree_sizes
from pathcast.bench.report import Findings, Tell
from pathcast.bench.wish import Wish

__all__ = ["PARTS", "covering", "measured"]

PARTS: Mapping[str, Callable[[Bench], None]] = {
    "search": search,
    "queries": queries,
    "first": first,
    "changes": changes,
    "sizes": tree_sizes,
    "rates": rates,
    "missed": missed,
    "merging": merging,
}


def covering(wish: Wish) -> Findings:
    """The benchmark."""
    return measured(QUICK if wish.quick else FULL, wish.tell, wish.only)


def measured(sizes: Sizes, tell: Tell, only: Sequence[str] = ()) -> Findings:
    """All lines, or those of some parts, for inputs of these sizes."""
    bench = Bench(sizes, tell)
    for name, part in PARTS.items():
        if not only or name in only:
            part(bench)
    return bench.lines, bench.inputs
