"""The parts of the benchmark, in the order of its report, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pathcast.bench.covering.inputs import FULL, QUICK, Bench, Sizes
from pathcast.bench.covering.searching import first, queries, search
from pathcast.bench.covering.tables import changes, merging, missed, rates, tree_sizes
from pathcast.bench.options import Wish
from pathcast.bench.report import Findings, Line

__all__ = ["PARTS", "covering", "measured"]

PARTS: Mapping[str, Callable[[Bench], Iterator[Line]]] = {
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
    return measured(QUICK if wish.quick else FULL, wish)


def measured(sizes: Sizes, wish: Wish) -> Findings:
    """All lines, or those of some parts, for inputs of these sizes."""
    bench = Bench(sizes, wish.tell)
    return wish.gather(PARTS, bench), bench.inputs
