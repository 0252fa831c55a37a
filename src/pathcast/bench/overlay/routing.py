"""Routing time per publication, each entry tested, with and without covering (Li 2008, table 1).

The compiled pair test of `covering` tests a path against each entry, the same for all tables:
plain, covered and merged. Our engine, which holds all entries, is measured beside it. Tables with
more than `_MAX_MERGED_ROOTS` covering roots (50,000 in set B) are not merged: that would take far
longer than the rest of the benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice

from pathcast.bench.measure import Ratio, compare
from pathcast.covering import Aggregate
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.index_registry import PatternIndex, scan_index
from pathcast.covering.merging import PathDistribution, merge
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.presets import PRESETS
from pathcast.matching import Matcher
from pathcast.xpath import Pattern, parse

__all__ = ["RoutingTables", "build_tables", "engine_ratio", "entry_ratio"]

_MAX_MERGED_ROOTS = 15_000


@dataclass(frozen=True, slots=True)
class RoutingTables:
    """The same subscriptions as a plain, a covered and two merged tables."""

    encoder: TwigEncoder
    texts: list[str]
    plain: PatternIndex
    covered: PatternIndex
    merged: dict[float, PatternIndex]
    sizes: dict[str, int]


def build_tables(preset: str, count: int, limits: tuple[float, ...]) -> RoutingTables:
    texts = list(islice(PRESETS[preset].texts(seed=1, count=count), count))
    patterns = [parse(text) for text in texts]
    aggregate: Aggregate[int] = Aggregate.of()
    for key, pattern in enumerate(patterns):
        aggregate.add(key, pattern)
    roots = [patterns[key] for key in aggregate.roots()]
    encoder = TwigEncoder()
    paths = PathDistribution.uniform(bundled_schema("news"))
    merged = {}
    sizes = {"none": len(patterns), "covering": len(roots)}
    for limit in limits if len(roots) <= _MAX_MERGED_ROOTS else ():
        entries = [
            parse(entry) if isinstance(entry, str) else entry
            for entry in sorted(merge(roots, paths, limit).entries, key=str)
        ]
        merged[limit] = _index(encoder, entries)
        sizes[f"D <= {limit:g}"] = len(entries)
    return RoutingTables(
        encoder, texts, _index(encoder, patterns), _index(encoder, roots), merged, sizes
    )


def _index(encoder: TwigEncoder, patterns: list[Pattern]) -> PatternIndex:
    index = scan_index(encoder.labels)
    for key, pattern in enumerate(patterns):
        index.add(key, encoder.encode(pattern))
    return index


def _encode(encoder: TwigEncoder, paths: list[tuple[str, ...]]) -> list[EncodedTwig]:
    """Encode paths as patterns: a pattern that covers `/a/b` matches a document of this path."""
    return [twig for path in paths for twig in encoder.encode(parse("/" + "/".join(path)))]


def _test_entries(index: PatternIndex, paths: list[EncodedTwig]) -> None:
    for path in paths:
        index.store.covering(*path)


def entry_ratio(
    tables: RoutingTables, index: PatternIndex, paths: list[tuple[str, ...]], rounds: int
) -> Ratio:
    """Return the time without covering divided by the time with this table."""
    encoded = _encode(tables.encoder, paths)
    return compare(
        partial(_test_entries, index, encoded),
        partial(_test_entries, tables.plain, encoded),
        rounds=rounds,
    )


def engine_ratio(
    tables: RoutingTables, index: PatternIndex, paths: list[tuple[str, ...]], rounds: int
) -> Ratio:
    """Return the time of testing each entry divided by our engine's with all subscriptions."""
    matcher = Matcher()
    matcher.add_many((number, text, None, number % 8) for number, text in enumerate(tables.texts))
    bodies = [
        (
            "".join(f"<{name}>" for name in path) + "".join(f"</{name}>" for name in path[::-1])
        ).encode()
        for path in paths
    ]
    encoded = _encode(tables.encoder, paths)

    def route() -> None:
        for body in bodies:
            matcher.match_hops(body)

    return compare(route, partial(_test_entries, index, encoded), rounds=rounds)
