"""Searches: every index against asking each pattern, region codes against walking, and which of two searches to do first."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from functools import partial

from pathcast.bench.covering.inputs import Bench
from pathcast.bench.measure import compared
from pathcast.bench.report import Line
from pathcast.covering.encode import EncodedTwig
from pathcast.covering.indexes import (
    TwigIndex,
    factorization_index,
    feature_index,
    region_index,
    scan_index,
)
from pathcast.xpath import parse

__all__ = ["QUERIES", "first", "queries", "search"]

_PAIRS = 10_000_000  # asking each takes a second for every ten million
_TIMES = 20  # a single search is too short for the clock

# Cao 2012, table 4.1, in the names of the bundled schema; nobody has an element xt.
QUERIES = {
    "Q1": "/news/body/body.content",
    "Q2": "/news/head",
    "Q3": "/news//head",
    "Q4": "/news[body/body.content]/head",
    "Q5": "/news[body//body.content]//head",
    "Q6": "/news[body/body.content//hr]/head/docdata/doc-scope/xt",
}


def search(bench: Bench) -> Iterator[Line]:
    """Every index against asking each pattern, in both directions."""
    found = bench.patterns("xnet2004")
    for count in bench.sizes.patterns:
        target = {10_000: 100.0, 100_000: 200.0}.get(count)
        searches = found.searches[: max(1, _PAIRS // count)]
        plain = found.filled(scan_index, count)
        for name, made in (
            ("XSearch", factorization_index),
            ("regions", region_index),
            ("features", feature_index),
        ):
            bench.tell(f"{name}, {count:,} patterns")
            index = found.filled(made, count)
            for mode, ours, theirs in (
                ("covered", index.store.covered_by, plain.store.covered_by),
                ("covering", index.store.covering, plain.store.covering),
            ):
                ratio = compared(
                    partial(_asked, ours, searches),
                    partial(_asked, theirs, searches),
                    rounds=bench.sizes.rounds,
                )
                each = ratio.ours / len(searches)
                yield Line(
                    f"{name}, {mode}, {count:,} / asking each",
                    ratio.figure,
                    "x",
                    target=target if name == "XSearch" else None,
                    spread=ratio.spread,
                    note=f"{each * 1e6:,.0f} us a search, asking each {ratio.theirs / len(searches) * 1e6:,.0f}",
                )


def _asked(search: Callable[..., array[int]], patterns: list[list[EncodedTwig]]) -> None:
    for one in patterns:
        for twig in one:
            search(*twig)


def _both(index: TwigIndex, query: list[EncodedTwig]) -> None:
    store = index.store
    for _ in range(_TIMES):
        for twig in query:
            store.covered_by(*twig)
            store.covering(*twig)


def queries(bench: Bench) -> Iterator[Line]:
    """Region codes against walking, for the queries of Cao's table 4.1, both directions together."""
    found = bench.patterns("cao2012-aggregation")
    for count in bench.sizes.patterns:
        walking, jumping = (
            found.filled(made, count) for made in (factorization_index, region_index)
        )
        for name, text in QUERIES.items():
            bench.tell(f"{name}, {count:,} patterns")
            query = found.encoder.encode(parse(text))

            ratio = compared(
                partial(_both, jumping, query),
                partial(_both, walking, query),
                rounds=bench.sizes.rounds,
            )
            yield Line(
                f"regions / XSearch, {name}, {count:,}",
                ratio.figure,
                "x",
                target=1.2,
                spread=ratio.spread,
                note=f"{ratio.ours / _TIMES * 1e6:,.0f} us and {ratio.theirs / _TIMES * 1e6:,.0f} us for both",
            )


def first(bench: Bench) -> Iterator[Line]:
    """Cao 2012, chapter 6: is it better to ask first who covers a new pattern (container), or whom it covers (containee)?

    Who is covered by a root covers no root, but for one that is equivalent: then it is hidden, whatever was asked first. So either answer spares
    the other search if it is not empty, and that decides.
    """
    for preset in ("li2008-a", "li2008-b", "xnet2004", "cao2012-aggregation"):
        found = bench.patterns(preset)
        roots = list(found.aggregated(bench.sizes.table).roots())
        for name, made in (("regions", region_index), ("features", feature_index)):
            bench.tell(f"{preset}: which search first, {name}")
            index = found.filled(made, bench.sizes.table)
            for key in roots:
                index.flag(key, True)
            covered, covering = (
                [bool(ask(one, flagged=True)) for one in found.searches]
                for ask in (index.covering, index.covered_by)
            )
            ratio = compared(
                partial(_in_turn, index.covering, index.covered_by, found.searches),
                partial(_in_turn, index.covered_by, index.covering, found.searches),
                rounds=bench.sizes.rounds,
            )
            count = len(found.searches)
            yield Line(
                f"{preset}, {name}: container first / containee first",
                ratio.figure,
                "x",
                spread=ratio.spread,
                note=f"{ratio.ours / count * 1e6:,.0f} us and {ratio.theirs / count * 1e6:,.0f} us for a new one; "
                f"{sum(covered) / count:.0%} are covered, {sum(covering) / count:.0%} cover a root",
            )


def _in_turn(
    one: Callable[..., set[int]], other: Callable[..., set[int]], patterns: list[list[EncodedTwig]]
) -> None:
    """The second search only where the first finds nobody."""
    for pattern in patterns:
        if not one(pattern, flagged=True):
            other(pattern, flagged=True)
