"""Indexes: of many patterns, those that one covers and those that cover it.

All answer the same two questions with the same relation (a mapping for every alternative, see `homomorphism`):

    scan       asks each, which is what the others are measured and tested graft_negations
    walk       the factorization tree with XSearch (Chand and Felber 2004)
    regions    the same tree with region codes and label lists (Cao 2012)
    features   lists by names that a pattern cannot do without; the quickest, and what brokers use

The subscription tree of Li et al. (`subscription_tree`) is the fourth.

Patterns have keys, small numbers that their owner gives. A pattern with several alternatives is covered if all of them are, each by any of the other's; one
without any matches nothing, and so is covered by all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pathcast.covering.core.features import FeatureIndex
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.core.twigs import HomomorphismTest, TwigScan
from pathcast.covering.encode import EncodedTwig
from pathcast.covering.published_indexes.factorization_search import FactorizationIndex

__all__ = [
    "FEW",
    "CoveringIndex",
    "TwigIndex",
    "factorization_index",
    "feature_index",
    "region_index",
    "scan_index",
]

FEW = 8


class CoveringIndex(Protocol):
    """What every index can do. `flagged` keeps to the keys that were flagged."""

    def add(self, key: int, pattern: Sequence[EncodedTwig]) -> None: ...
    def remove(self, key: int) -> None: ...
    def flag(self, key: int, wanted: bool) -> None: ...
    def covered_by(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]: ...
    def covering(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]: ...
    def stats(self) -> dict[str, int]: ...


def scan_index(labels: LabelTable) -> TwigIndex:
    """Asks each pattern."""
    return TwigIndex(TwigScan(HomomorphismTest(labels)))


def factorization_index(labels: LabelTable, few: int = FEW) -> TwigIndex:
    """The factorization tree, searched by walking it; where only a few patterns are left they are asked one by one."""
    return TwigIndex(FactorizationIndex(labels, False, few))


def region_index(labels: LabelTable, few: int = FEW) -> TwigIndex:
    """The same tree, searched by region codes."""
    return TwigIndex(FactorizationIndex(labels, True, few))


def feature_index(labels: LabelTable) -> TwigIndex:
    """Lists by the names, pairs of names and values that patterns cannot do without."""
    return TwigIndex(FeatureIndex(labels))


class TwigIndex:
    """Patterns in a store of twigs."""

    def __init__(self, store: FeatureIndex | FactorizationIndex | TwigScan) -> None:
        self.store: FeatureIndex | FactorizationIndex | TwigScan = store
        self._numbers: dict[int, list[int]] = {}  # of each pattern, its alternatives
        self._owners: list[int] = []  # of each alternative, its pattern
        self._several: set[int] = set()
        self._never: set[int] = set()
        self._flagged: set[int] = set()
        self._flags = bytearray()

    def add(self, key: int, pattern: Sequence[EncodedTwig]) -> None:
        numbers = self._numbers[key] = []
        for twig in pattern:
            number = self.store.add(*twig)
            numbers.append(number)
            while number >= len(self._owners):
                self._owners.append(-1)
                self._flags.append(0)
            self._owners[number] = key
        if len(numbers) != 1:
            (self._several if numbers else self._never).add(key)

    def remove(self, key: int) -> None:
        self.flag(key, False)
        for number in self._numbers.pop(key):
            self.store.remove(number)
            self._owners[number] = -1
        self._several.discard(key)
        self._never.discard(key)

    def flag(self, key: int, wanted: bool) -> None:
        (self._flagged.add if wanted else self._flagged.discard)(key)
        for number in self._numbers[key]:
            self._flags[number] = wanted

    def covered_by(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        found: set[int] = set()
        for twig in pattern:
            found.update(self.store.covered_by(*twig, self._flags if flagged else None))
        keys = {self._owners[number] for number in found}
        for key in keys & self._several:
            if not found.issuperset(self._numbers[key]):
                keys.discard(key)
        return keys | (self._never & self._flagged if flagged else self._never)

    def covering(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        if not pattern:
            return set(self._flagged if flagged else self._numbers)
        flags = self._flags if flagged else None
        first, *others = (
            {self._owners[number] for number in self.store.covering(*twig, flags)}
            for twig in pattern
        )
        return first.intersection(*others)

    def may_cover(self, pattern: Sequence[EncodedTwig]) -> set[int]:
        """The keys of those that may cover a pattern, be it without a mapping; everybody, if the store has no features."""
        if not isinstance(self.store, FeatureIndex) or not pattern:
            return set(self._numbers)
        first, *others = (
            {self._owners[number] for number in self.store.may_cover(*twig)} for twig in pattern
        )
        return first.intersection(*others)

    def stats(self) -> dict[str, int]:
        if isinstance(self.store, FeatureIndex):
            return {"features": self.store.feature_count}
        if isinstance(self.store, TwigScan):
            return {}
        return {"nodes": self.store.node_count, "relabelled": self.store.relabelled}
