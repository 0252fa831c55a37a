"""The context of the covering benchmark: its sizes, and the patterns of the presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from pathcast.bench.report import Progress, fingerprint
from pathcast.covering import Aggregate
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.index_registry import PatternIndex
from pathcast.generators.presets import PRESETS
from pathcast.xpath import Pattern, parse

__all__ = ["FULL", "QUICK", "CoveringContext", "CoveringSizes", "PatternSet"]

_SEED = 1
_MAX_DRAWS = 20  # per pattern: a preset may generate duplicates


@dataclass(frozen=True, slots=True)
class CoveringSizes:
    """The amounts of a run; the targets are for the defaults."""

    patterns: tuple[int, ...] = (10_000, 100_000)
    searches: int = 500
    tree: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
    changes: int = 2_000
    table: int = 100_000
    merged: tuple[int, ...] = (10_000, 100_000)
    rounds: int = 3


FULL = CoveringSizes()
QUICK = CoveringSizes(
    patterns=(10_000,),
    searches=300,
    tree=(1_000, 2_000, 5_000, 10_000),
    changes=500,
    table=10_000,
    merged=(2_000,),
    rounds=3,
)


@dataclass(slots=True, eq=False)
class CoveringContext:
    """The sizes and inputs that all parts share."""

    sizes: CoveringSizes
    progress: Progress
    inputs: dict[str, str] = field(default_factory=dict)
    _sets: dict[str, PatternSet] = field(default_factory=dict)

    def patterns(self, preset: str) -> PatternSet:
        """Return distinct patterns of a preset, for the largest table and for the searches."""
        if preset not in self._sets:
            count = max(*self.sizes.patterns, self.sizes.table) + self.sizes.searches
            self.progress(f"{preset}: {count:,} patterns")
            drawn = PRESETS[preset].texts(seed=_SEED, count=_MAX_DRAWS * count)
            texts = list(islice(_distinct(drawn), count))
            self.inputs[f"{preset}: {len(texts):,} patterns"] = fingerprint(
                text.encode() for text in texts
            )
            self._sets[preset] = PatternSet([parse(text) for text in texts], self.sizes.searches)
        return self._sets[preset]


def _distinct(texts: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


class PatternSet:
    """Distinct patterns; the last ones are the patterns to search for."""

    def __init__(self, patterns: list[Pattern], searches: int) -> None:
        self.patterns = patterns[:-searches]
        self._searches = patterns[-searches:]
        self.encoder = TwigEncoder()

    @cached_property
    def encoded_patterns(self) -> list[list[EncodedTwig]]:
        return [self.encoder.encode(pattern) for pattern in self.patterns]

    @cached_property
    def searches(self) -> list[list[EncodedTwig]]:
        return [self.encoder.encode(pattern) for pattern in self._searches]

    def build_index(self, make: Callable[[LabelTable], PatternIndex], count: int) -> PatternIndex:
        index = make(self.encoder.labels)
        for key, pattern in enumerate(self.encoded_patterns[:count]):
            index.add(key, pattern)
        return index

    def build_aggregate(self, count: int) -> Aggregate[int]:
        """Return the default aggregate of the first `count` patterns, with their numbers as ids."""
        table: Aggregate[int] = Aggregate.of()
        for key, pattern in enumerate(self.patterns[:count]):
            table.add(key, pattern)
        return table
