"""Searches: each index against a linear scan, region codes against XSearch, and their order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from functools import partial

from pathcast.bench.covering.context import CoveringContext
from pathcast.bench.measure import compare
from pathcast.bench.report import ReportLine
from pathcast.covering.encode import EncodedTwig
from pathcast.covering.index_registry import (
    PatternIndex,
    factorization_index,
    feature_index,
    region_index,
    scan_index,
)
from pathcast.xpath import parse

__all__ = ["QUERIES", "first", "queries", "search"]

_MAX_PAIRS = 10_000_000  # a linear scan tests about ten million pairs per second
_REPETITIONS = 20  # a single search is too short for the clock

# Cao 2012, table 4.1, in the names of the bundled schema; no document has an element xt.
QUERIES = {
    "Q1": "/news/body/body.content",
    "Q2": "/news/head",
    "Q3": "/news//head",
    "Q4": "/news[body/body.content]/head",
    "Q5": "/news[body//body.content]//head",
    "Q6": "/news[body/body.content//hr]/head/docdata/doc-scope/xt",
}


def search(bench: CoveringContext) -> Iterator[ReportLine]:
    """Every index against a linear scan, in both directions."""
    patterns = bench.patterns("xnet2004")
    for count in bench.sizes.patterns:
        target = {10_000: 100.0, 100_000: 200.0}.get(count)
        searches = patterns.searches[: max(1, _MAX_PAIRS // count)]
        scan = patterns.build_index(scan_index, count)
        for name, make in (
            ("XSearch", factorization_index),
            ("regions", region_index),
            ("features", feature_index),
        ):
            bench.progress(f"{name}, {count:,} patterns")
            index = patterns.build_index(make, count)
            for mode, ours, theirs in (
                ("covered", index.store.covered_by, scan.store.covered_by),
                ("covering", index.store.covering, scan.store.covering),
            ):
                ratio = compare(
                    partial(_search_all, ours, searches),
                    partial(_search_all, theirs, searches),
                    rounds=bench.sizes.rounds,
                )
                ours_each, theirs_each = (
                    seconds / len(searches) * 1e6 for seconds in (ratio.ours, ratio.theirs)
                )
                yield ReportLine(
                    f"{name}, {mode}, {count:,} / linear scan",
                    ratio.figure,
                    "x",
                    target=target if name == "XSearch" else None,
                    spread=ratio.spread,
                    note=f"{ours_each:,.0f} us a search, linear scan {theirs_each:,.0f}",
                )


def _search_all(search: Callable[..., array[int]], patterns: list[list[EncodedTwig]]) -> None:
    for twigs in patterns:
        for twig in twigs:
            search(*twig)


def _search_both_ways(index: PatternIndex, query: list[EncodedTwig]) -> None:
    store = index.store
    for _ in range(_REPETITIONS):
        for twig in query:
            store.covered_by(*twig)
            store.covering(*twig)


def queries(bench: CoveringContext) -> Iterator[ReportLine]:
    """Region codes against XSearch for the queries of Cao 2012, table 4.1, both directions."""
    patterns = bench.patterns("cao2012-aggregation")
    for count in bench.sizes.patterns:
        xsearch, regions = (
            patterns.build_index(make, count) for make in (factorization_index, region_index)
        )
        for name, text in QUERIES.items():
            bench.progress(f"{name}, {count:,} patterns")
            query = patterns.encoder.encode(parse(text))

            ratio = compare(
                partial(_search_both_ways, regions, query),
                partial(_search_both_ways, xsearch, query),
                rounds=bench.sizes.rounds,
            )
            yield ReportLine(
                f"regions / XSearch, {name}, {count:,}",
                ratio.figure,
                "x",
                target=1.2,
                spread=ratio.spread,
                note=f"{ratio.ours / _REPETITIONS * 1e6:,.0f} us and"
                f" {ratio.theirs / _REPETITIONS * 1e6:,.0f} us for both",
            )


def first(bench: CoveringContext) -> Iterator[ReportLine]:
    """Which search to do first for a new pattern: container or containee (Cao 2012, chapter 6).

    A pattern that a root covers can cover no other root, except an equivalent one, which is hidden
    in either order. So a search with a result makes the other one unnecessary.
    """
    for preset in ("li2008-a", "li2008-b", "xnet2004", "cao2012-aggregation"):
        patterns = bench.patterns(preset)
        roots = list(patterns.build_aggregate(bench.sizes.table).roots())
        for name, make in (("regions", region_index), ("features", feature_index)):
            bench.progress(f"{preset}: which search first, {name}")
            index = patterns.build_index(make, bench.sizes.table)
            for key in roots:
                index.flag(key, True)
            covered, covering = (
                [bool(search(pattern, flagged=True)) for pattern in patterns.searches]
                for search in (index.covering, index.covered_by)
            )
            ratio = compare(
                partial(_search_until_result, index.covering, index.covered_by, patterns.searches),
                partial(_search_until_result, index.covered_by, index.covering, patterns.searches),
                rounds=bench.sizes.rounds,
            )
            count = len(patterns.searches)
            yield ReportLine(
                f"{preset}, {name}: container first / containee first",
                ratio.figure,
                "x",
                spread=ratio.spread,
                note=f"{ratio.ours / count * 1e6:,.0f} us and"
                f" {ratio.theirs / count * 1e6:,.0f} us for a new one; "
                f"{sum(covered) / count:.0%} are covered, {sum(covering) / count:.0%} cover a root",
            )


def _search_until_result(
    first: Callable[..., set[int]],
    second: Callable[..., set[int]],
    patterns: list[list[EncodedTwig]],
) -> None:
    """Run the second search only where the first has no result."""
    for pattern in patterns:
        if not first(pattern, flagged=True):
            second(pattern, flagged=True)
