"""The covering suite: its parts, in the order of the report."""

from __future__ import annotations

from pathcast.bench.covering.context import FULL, QUICK, CoveringContext
from pathcast.bench.covering.search import first, queries, search
from pathcast.bench.covering.tables import changes, exactness_gap, merging, rates, tree_sizes
from pathcast.bench.suite import Suite

__all__ = ["SUITE"]

SUITE = Suite(
    summary="how fast covering subscriptions are found, and how much smaller tables get",
    quick=QUICK,
    full=FULL,
    context=lambda sizes, options: CoveringContext(sizes, options.progress),
    inputs=lambda bench: bench.inputs,
    parts={
        "search": search,
        "queries": queries,
        "first": first,
        "changes": changes,
        "sizes": tree_sizes,
        "rates": rates,
        "missed": exactness_gap,
        "merging": merging,
    },
)
