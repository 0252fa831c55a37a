"""What routing a publication costs, each entry tested, with and without covering (Li, Hou and Jacobsen 2008, table 1); and our engine beside it.

A path is tested against each entry by the compiled test of `covering`, the same for all tables: none, covered, merged. The engine
has all entries and does not care. Tables of more than `_MERGED` uncovered subscriptions (set B's 50,000) are not merged: it would take far longer than all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice

from pathcast.bench.measure import Ratio, compared
from pathcast.covering import Aggregate
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.indexes import TwigIndex, scan_index
from pathcast.covering.merging import PathDistribution, merge
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.presets import PRESETS
from pathcast.matching import Matcher
from pathcast.xpath import Pattern, parse

__all__ = ["Tables", "engine_ratio", "entry_ratio", "tables"]

_MERGED = 15_000


@dataclass(frozen=True, slots=True)
class Tables:
    """The same subscriptions as four tables."""

    encoder: TwigEncoder
    texts: list[str]
    plain: TwigIndex
    covered: TwigIndex
    merged: dict[float, TwigIndex]
    sizes: dict[str, int]


def tables(preset: str, count: int, limits: tuple[float, ...]) -> Tables:
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
    for limit in limits if len(roots) <= _MERGED else ():
        entries = [
            parse(one) if isinstance(one, str) else one
            for one in sorted(merge(roots, paths, limit).entries, key=str)
        ]
        merged[limit] = _index(encoder, entries)
        sizes[f"D <= {limit:g}"] = len(entries)
    return Tables(encoder, texts, _index(encoder, patterns), _index(encoder, roots), merged, sizes)


def _index(encoder: TwigEncoder, patterns: list[Pattern]) -> TwigIndex:
    index = scan_index(encoder.labels)
    for key, pattern in enumerate(patterns):
        index.add(key, encoder.encode(pattern))
    return index


def _encoded(encoder: TwigEncoder, paths: list[tuple[str, ...]]) -> list[EncodedTwig]:
    """Paths as patterns: what covers `/a/b` matches a document that is this path alone."""
    return [twig for path in paths for twig in encoder.encode(parse("/" + "/".join(path)))]


def _tested(index: TwigIndex, paths: list[EncodedTwig]) -> None:
    for path in paths:
        index.store.covering(*path)


def entry_ratio(
    found: Tables, index: TwigIndex, paths: list[tuple[str, ...]], rounds: int
) -> Ratio:
    """The time without covering divided by that of a table."""
    encoded = _encoded(found.encoder, paths)
    return compared(
        partial(_tested, index, encoded), partial(_tested, found.plain, encoded), rounds=rounds
    )


def engine_ratio(
    found: Tables, index: TwigIndex, paths: list[tuple[str, ...]], rounds: int
) -> Ratio:
    """The time of testing each entry of a table divided by that of our engine with all subscriptions."""
    matcher = Matcher()
    matcher.add_many((number, text, None, number % 8) for number, text in enumerate(found.texts))
    bodies = [
        (
            "".join(f"<{name}>" for name in path) + "".join(f"</{name}>" for name in path[::-1])
        ).encode()
        for path in paths
    ]
    encoded = _encoded(found.encoder, paths)

    def routed() -> None:
        for body in bodies:
            matcher.match_hops(body)

    return compared(routed, partial(_tested, index, encoded), rounds=rounds)
