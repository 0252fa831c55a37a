"""Indexes of patterns: search for those that a pattern covers and those that cover it.

All indexes decide the same relation, a homomorphism for every alternative (see `homomorphism`), so
they return the same keys. `INDEXES` lists those that a user can select:

    features            postings by the features of a pattern; the fastest, used in production
    factorization       the factorization tree with XSearch (Chand 2004)
    regions             the same tree with region codes and label lists (Cao 2012)
    subscription-tree   patterns below patterns that cover them (Li 2008)

`scan_index` tests every pattern in turn; the others are measured and tested against it.

The owner of an index gives each pattern a key, a small integer. A pattern with several alternatives
is covered if each of them is, by any alternative of the other pattern. A pattern without
alternatives matches nothing and is covered by all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from pathcast.covering.core.feature_index import FeatureIndex
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.core.twigs import HomomorphismTest, TwigScan
from pathcast.covering.encode import EncodedTwig
from pathcast.covering.published_indexes.factorization_search import FactorizationIndex
from pathcast.covering.published_indexes.subscription_tree import SubscriptionTree

__all__ = [
    "INDEXES",
    "SCAN_LIMIT",
    "CoveringIndex",
    "IndexFactory",
    "PatternIndex",
    "factorization_index",
    "feature_index",
    "region_index",
    "scan_index",
]

SCAN_LIMIT = 8  # a tree search tests the twigs of a subtree one by one from here down


class CoveringIndex(Protocol):
    """Patterns by key. With `flagged`, a search returns only keys that were flagged."""

    def add(self, key: int, pattern: Sequence[EncodedTwig]) -> None: ...
    def remove(self, key: int) -> None: ...
    def flag(self, key: int, wanted: bool) -> None: ...
    def covered_by(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]: ...
    def covering(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]: ...
    def stats(self) -> dict[str, int]: ...


IndexFactory: TypeAlias = Callable[[LabelTable], CoveringIndex]


def scan_index(labels: LabelTable) -> PatternIndex:
    """Return an index that tests every pattern."""
    return PatternIndex(TwigScan(HomomorphismTest(labels)))


def factorization_index(labels: LabelTable, scan_limit: int = SCAN_LIMIT) -> PatternIndex:
    """Return a factorization tree that is searched by XSearch (Chand 2004)."""
    return PatternIndex(FactorizationIndex(labels, False, scan_limit))


def region_index(labels: LabelTable, scan_limit: int = SCAN_LIMIT) -> PatternIndex:
    """Return a factorization tree that is searched by region codes (Cao 2012)."""
    return PatternIndex(FactorizationIndex(labels, True, scan_limit))


def feature_index(labels: LabelTable) -> PatternIndex:
    """Return the production index (docs/decisions/0011-feature-index-for-covering.md)."""
    return PatternIndex(FeatureIndex(labels))


INDEXES: Final[Mapping[str, IndexFactory]] = {
    "features": feature_index,
    "factorization": factorization_index,
    "regions": region_index,
    "subscription-tree": SubscriptionTree,
}


class PatternIndex:
    """Patterns by key over a store of single twigs, their alternatives."""

    def __init__(self, store: FeatureIndex | FactorizationIndex | TwigScan) -> None:
        self.store: FeatureIndex | FactorizationIndex | TwigScan = store
        self._twig_ids: dict[int, list[int]] = {}  # pattern key -> its alternatives
        self._keys: list[int] = []  # twig id -> pattern key, or -1
        self._disjunctive: set[int] = set()  # keys of patterns with several alternatives
        self._unsatisfiable: set[int] = set()  # keys of patterns without alternatives
        self._flagged: set[int] = set()
        self._flags = bytearray()  # by twig id

    def add(self, key: int, pattern: Sequence[EncodedTwig]) -> None:
        twig_ids = self._twig_ids[key] = []
        for twig in pattern:
            twig_id = self.store.add(*twig)
            twig_ids.append(twig_id)
            while twig_id >= len(self._keys):
                self._keys.append(-1)
                self._flags.append(0)
            self._keys[twig_id] = key
        if len(twig_ids) != 1:
            (self._disjunctive if twig_ids else self._unsatisfiable).add(key)

    def remove(self, key: int) -> None:
        self.flag(key, False)
        for twig_id in self._twig_ids.pop(key):
            self.store.remove(twig_id)
            self._keys[twig_id] = -1
        self._disjunctive.discard(key)
        self._unsatisfiable.discard(key)

    def flag(self, key: int, wanted: bool) -> None:
        (self._flagged.add if wanted else self._flagged.discard)(key)
        for twig_id in self._twig_ids[key]:
            self._flags[twig_id] = wanted

    def covered_by(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        twig_ids: set[int] = set()
        for twig in pattern:
            twig_ids.update(self.store.covered_by(*twig, self._flags if flagged else None))
        keys = {self._keys[twig_id] for twig_id in twig_ids}
        for key in keys & self._disjunctive:
            if not twig_ids.issuperset(self._twig_ids[key]):
                keys.discard(key)
        return keys | (self._unsatisfiable & self._flagged if flagged else self._unsatisfiable)

    def covering(self, pattern: Sequence[EncodedTwig], *, flagged: bool = False) -> set[int]:
        if not pattern:
            return set(self._flagged if flagged else self._twig_ids)
        flags = self._flags if flagged else None
        first, *others = (
            {self._keys[twig_id] for twig_id in self.store.covering(*twig, flags)}
            for twig in pattern
        )
        return first.intersection(*others)

    def may_cover(self, pattern: Sequence[EncodedTwig]) -> set[int]:
        """Return a superset of the keys that cover a pattern, with or without a homomorphism.

        Only the feature index narrows the result; other stores return all keys.
        """
        if not isinstance(self.store, FeatureIndex) or not pattern:
            return set(self._twig_ids)
        first, *others = (
            {self._keys[twig_id] for twig_id in self.store.may_cover(*twig)} for twig in pattern
        )
        return first.intersection(*others)

    def stats(self) -> dict[str, int]:
        if isinstance(self.store, FeatureIndex):
            return {"features": self.store.feature_count}
        if isinstance(self.store, TwigScan):
            return {}
        return {"nodes": self.store.node_count, "relabelled": self.store.relabelled}
