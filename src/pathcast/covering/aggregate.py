"""Aggregates: tables of subscriptions reduced to their covering roots.

A pattern hides another that it covers. Of two equivalent patterns, the one with the oldest id
hides the other. A pattern that no other hides is a *root*, and a routing table needs the roots
only: `add` and `remove` return the ids that became roots (`exposed`) and those that ceased to be
(`hidden`). Subscriptions with equal patterns share one entry, which its oldest id represents.

The entries form a forest: every hidden entry has a parent that hides it. `add` asks the index at
most twice: which patterns cover the new one and, if none does, which roots it covers. `remove`
asks once for every child of the entry that goes: it finds another parent, or the child becomes a
root. The roots depend only on the present subscriptions and their ages, not on those removed.

>>> from pathcast.xpath import parse
>>> table = Aggregate.of()
>>> table.add("narrow", parse("/a/b"))
Change(exposed=frozenset({'narrow'}), hidden=frozenset())
>>> table.add("wide", parse("//b"))
Change(exposed=frozenset({'wide'}), hidden=frozenset({'narrow'}))
>>> table.remove("wide")
Change(exposed=frozenset({'narrow'}), hidden=frozenset({'wide'}))
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from pathcast.covering.change import Change
from pathcast.covering.core.twigs import HomomorphismTest
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.exactness_gap import exactness_gap
from pathcast.covering.index_registry import CoveringIndex, IndexFactory, feature_index
from pathcast.xpath import Pattern, parse

__all__ = ["Aggregate"]

Id = TypeVar("Id", bound=Hashable)
_PatternName: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]  # canonical text, namespaces


@dataclass(slots=True, eq=False)
class _AggregateEntry(Generic[Id]):
    """A pattern with its ids and their ages, oldest first, and its place in the forest."""

    key: int
    name: _PatternName
    twigs: list[EncodedTwig]
    ids: dict[Id, int]
    parent: int | None = None
    children: set[int] = field(default_factory=set)

    @property
    def oldest(self) -> Id:
        return next(iter(self.ids))

    @property
    def age(self) -> int:
        """The serial number of the oldest id; older ids have lower ones."""
        return self.ids[self.oldest]


class Aggregate(Generic[Id]):
    """Subscriptions by id, with their covering roots, over an index of patterns."""

    def __init__(self, encoder: TwigEncoder, index: CoveringIndex) -> None:
        self._encoder = encoder
        self._index = index
        self._entries: dict[int, _AggregateEntry[Id]] = {}
        self._by_pattern: dict[_PatternName, _AggregateEntry[Id]] = {}
        self._by_id: dict[Id, _AggregateEntry[Id]] = {}
        self._roots: dict[int, Id] = {}  # key of each root -> the id that represents it
        self._exposed: set[Id] = set()  # by the current change
        self._hidden: set[Id] = set()
        self._homomorphism = HomomorphismTest(encoder.labels)
        self._last_key = 0
        self._clock = 0

    @classmethod
    def of(cls, index: IndexFactory = feature_index) -> Aggregate[Id]:
        """Return an empty aggregate over an index, say one of `indexes.INDEXES`."""
        encoder = TwigEncoder()
        return cls(encoder, index(encoder.labels))

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: Id) -> bool:
        return id in self._by_id

    # changes

    def add(self, id: Id, pattern: Pattern) -> Change[Id]:
        """Add a subscription. Raises KeyError if the id is present."""
        if id in self._by_id:
            raise KeyError(f"{id!r} is there already")
        self._clock += 1
        name = (pattern.text, pattern.namespaces)
        entry = self._by_pattern.get(name)
        if entry is not None:
            entry.ids[id] = self._clock
            self._by_id[id] = entry
            return Change()
        self._last_key += 1
        twigs = self._encoder.encode(pattern)
        entry = _AggregateEntry(self._last_key, name, twigs, {id: self._clock})
        self._by_pattern[name] = self._by_id[id] = entry
        self._insert(entry)
        return self._take_change()

    def remove(self, id: Id) -> Change[Id]:
        """Remove a subscription. Raises KeyError if the id is absent."""
        entry = self._by_id.pop(id)
        was_oldest = entry.oldest == id
        if was_oldest:
            self._delete(entry)
        del entry.ids[id]
        if not entry.ids:
            del self._by_pattern[entry.name]
        elif was_oldest:
            self._insert(entry)  # with the age of its next id
        return self._take_change()

    def _insert(self, entry: _AggregateEntry[Id]) -> None:
        parent = self._find_parent(entry)
        self._entries[entry.key] = entry
        self._index.add(entry.key, entry.twigs)
        if parent is not None:
            self._link(parent, entry)
            return
        for key in self._index.covered_by(entry.twigs, flagged=True):
            other = self._entries[key]
            self._unmake_root(other)
            self._link(entry, other)
        self._make_root(entry)

    def _delete(self, entry: _AggregateEntry[Id]) -> None:
        self._unmake_root(entry)
        self._index.remove(entry.key)
        del self._entries[entry.key]
        if entry.parent is not None:
            self._entries[entry.parent].children.discard(entry.key)
            entry.parent = None
        orphans, entry.children = entry.children, set()
        for key in sorted(orphans):
            orphan = self._entries[key]
            parent = self._find_parent(orphan)
            if parent is None:
                orphan.parent = None
                self._make_root(orphan)
            else:
                self._link(parent, orphan)

    def _find_parent(self, entry: _AggregateEntry[Id]) -> _AggregateEntry[Id] | None:
        """Return an entry that hides another: the first root, else the last of the others.

        A root is preferred, or the entry would soon need another parent. Keys are tried in order,
        so that all indexes yield the same forest.
        """
        parent = None
        for key in sorted(self._index.covering(entry.twigs)):
            other = self._entries.get(key)
            if other is None or other is entry or not self._hides(other, entry):
                continue
            if key in self._roots:
                return other
            parent = other
        return parent

    def _hides(self, wide: _AggregateEntry[Id], narrow: _AggregateEntry[Id]) -> bool:
        """Return whether a covering entry hides the covered one: it is older, or not equivalent."""
        return wide.age < narrow.age or not self._homomorphism.covers(narrow.twigs, wide.twigs)

    def _link(self, parent: _AggregateEntry[Id], child: _AggregateEntry[Id]) -> None:
        child.parent = parent.key
        parent.children.add(child.key)

    def _make_root(self, entry: _AggregateEntry[Id]) -> None:
        id = self._roots[entry.key] = entry.oldest
        self._index.flag(entry.key, True)
        (self._hidden.remove if id in self._hidden else self._exposed.add)(id)

    def _unmake_root(self, entry: _AggregateEntry[Id]) -> None:
        if entry.key in self._roots:
            id = self._roots.pop(entry.key)
            self._index.flag(entry.key, False)
            (self._exposed.remove if id in self._exposed else self._hidden.add)(id)

    def _take_change(self) -> Change[Id]:
        change = Change(frozenset(self._exposed), frozenset(self._hidden))
        self._exposed.clear()
        self._hidden.clear()
        return change

    # queries

    def roots(self) -> Iterator[Id]:
        """Yield the id of each root."""
        return iter(self._roots.values())

    def root_of(self, id: Id) -> Id:
        """Return the root above a subscription, possibly itself."""
        entry = self._by_id[id]
        while entry.parent is not None:
            entry = self._entries[entry.parent]
        return entry.oldest

    def parent_of(self, id: Id) -> Id | None:
        """Return the subscription that hides this one; None for a root.

        It has an equal pattern and is older, or its pattern covers this one.
        """
        entry = self._by_id[id]
        if entry.oldest != id:
            return entry.oldest
        return None if entry.parent is None else self._entries[entry.parent].oldest

    def covered_by(self, pattern: Pattern) -> set[Id]:
        """Return the ids of all subscriptions that a pattern covers."""
        return self._ids(self._index.covered_by(self._encoder.encode(pattern)))

    def covering(self, pattern: Pattern) -> set[Id]:
        """Return the ids of all subscriptions that cover a pattern."""
        return self._ids(self._index.covering(self._encoder.encode(pattern)))

    def _ids(self, keys: set[int]) -> set[Id]:
        return {id for key in keys for id in self._entries[key].ids}

    def stats(self, *, exact: bool = False) -> dict[str, int]:
        """Return figures about the table and its index.

        `exact` adds how many roots `covers` would hide (`missed`), and for how many it cannot
        decide (`undecided`); it is slow on large tables.
        """
        figures = {
            "subscriptions": len(self._by_id),
            "patterns": len(self._entries),
            "roots": len(self._roots),
            **self._index.stats(),
        }
        if exact:
            gap = exactness_gap(self._root_patterns())
            figures |= {"missed": gap.covered, "undecided": gap.undecided}
        return figures

    def _root_patterns(self) -> list[Pattern]:
        roots = sorted((self._entries[key] for key in self._roots), key=lambda entry: entry.age)
        return [parse(text, dict(namespaces)) for text, namespaces in (e.name for e in roots)]
