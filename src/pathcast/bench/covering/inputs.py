"""What the parts measure with: how much, the patterns of the presets, and what was found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from pathcast.bench.report import Tell, fingerprint
from pathcast.covering import Aggregate
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.indexes import TwigIndex
from pathcast.generators.presets import PRESETS
from pathcast.xpath import Pattern, parse

__all__ = ["FULL", "QUICK", "Bench", "PatternSet", "Sizes"]

_SEED = 1
_PATIENCE = 20  # a preset with duplicates is asked for so many times what is needed, at most


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the targets are for the numbers that are here."""

    patterns: tuple[int, ...] = (10_000, 100_000)
    searches: int = 500
    tree: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
    changes: int = 2_000
    table: int = 100_000
    merged: tuple[int, ...] = (10_000, 100_000)
    rounds: int = 3


FULL = Sizes()
QUICK = Sizes(
    patterns=(10_000,),
    searches=300,
    tree=(1_000, 2_000, 5_000, 10_000),
    changes=500,
    table=10_000,
    merged=(2_000,),
    rounds=3,
)


@dataclass(slots=True, eq=False)
class Bench:
    """What has been made and found so far."""

    sizes: Sizes
    tell: Tell
    inputs: dict[str, str] = field(default_factory=dict)
    _sets: dict[str, PatternSet] = field(default_factory=dict)

    def patterns(self, preset: str) -> PatternSet:
        """The patterns of a preset, all different, as many as the largest table needs and some to search for."""
        if preset not in self._sets:
            count = max(*self.sizes.patterns, self.sizes.table) + self.sizes.searches
            self.tell(f"{preset}: {count:,} patterns")
            every = PRESETS[preset].texts(seed=_SEED, count=_PATIENCE * count)
            texts = list(islice(_different(every), count))
            self.inputs[f"{preset}: {len(texts):,} patterns"] = fingerprint(
                text.encode() for text in texts
            )
            self._sets[preset] = PatternSet([parse(text) for text in texts], self.sizes.searches)
        return self._sets[preset]


def _different(texts: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


class PatternSet:
    """Different patterns, the last of which are for searching."""

    def __init__(self, patterns: list[Pattern], searches: int) -> None:
        self.patterns = patterns[:-searches]
        self._searches = patterns[-searches:]
        self.encoder = TwigEncoder()

    @cached_property
    def encoded(self) -> list[list[EncodedTwig]]:
        return [self.encoder.encode(pattern) for pattern in self.patterns]

    @cached_property
    def searches(self) -> list[list[EncodedTwig]]:
        return [self.encoder.encode(pattern) for pattern in self._searches]

    def filled(self, made: Callable[[LabelTable], TwigIndex], count: int) -> TwigIndex:
        index = made(self.encoder.labels)
        for key, pattern in enumerate(self.encoded[:count]):
            index.add(key, pattern)
        return index

    def aggregated(self, count: int) -> Aggregate[int]:
        """The default aggregate of the first of them; the id of each is its number."""
        table: Aggregate[int] = Aggregate.of()
        for key, pattern in enumerate(self.patterns[:count]):
            table.add(key, pattern)
        return table
