"""Aggregates: of the subscriptions that are there, those that stand for all the others.

A pattern hides another if it covers it; of two that cover each other the one with the oldest id hides the other. What nobody hides is a *root*, and a
routing table needs the roots alone: `add` and `remove` say which ids became roots (`exposed`) and which no longer are (`hidden`). Equal
patterns are one, and its oldest id stands for it.

Every hidden pattern has a keeper, one that hides it. Adding asks the index twice at most: is the new one covered; if not, which roots does
it cover. Removing asks once for every pattern whose keeper goes: another keeper is found, or it is a root again. So after everything but some subscriptions
has been removed, the roots are the same as if there had never been others.

>>> from pathcast.xpath import parse
>>> table = Aggregate.of()
>>> table.add("one", parse("/a/b"))
Change(exposed=frozenset({'one'}), hidden=frozenset())
>>> table.add("all", parse("//b"))
Change(exposed=frozenset({'all'}), hidden=frozenset({'one'}))
>>> table.remove("all")
Change(exposed=frozenset({'one'}), hidden=frozenset({'all'}))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pathcast.covering.change import Change
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.core.twigs import HomomorphismTest
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.exactness_gap import missed
from pathcast.covering.indexes import CoveringIndex, feature_index
from pathcast.xpath import Pattern, parse

__all__ = ["Aggregate"]

Id = TypeVar("Id", bound=Hashable)


@dataclass(slots=True, eq=False)
class _Entry(Generic[Id]):
    """A pattern that is there, with its ids and when they came, the oldest first."""

    key: int
    name: tuple[str, tuple[tuple[str, str], ...]]
    twigs: list[EncodedTwig]
    ids: dict[Id, int]
    keeper: int | None = None
    keeps: set[int] = field(default_factory=set)

    @property
    def oldest(self) -> Id:
        return next(iter(self.ids))

    @property
    def age(self) -> int:
        return self.ids[self.oldest]


class Aggregate(Generic[Id]):
    """Subscriptions by id over an index of patterns."""

    def __init__(self, encoder: TwigEncoder, index: CoveringIndex) -> None:
        self._encoder = encoder
        self._index = index
        self._entries: dict[int, _Entry[Id]] = {}
        self._named: dict[tuple[str, tuple[tuple[str, str], ...]], _Entry[Id]] = {}
        self._holding: dict[Id, _Entry[Id]] = {}
        self._roots: dict[int, Id] = {}  # of each root the id that stands for it
        self._exposed: set[Id] = set()  # by the change that is being made
        self._hidden: set[Id] = set()
        self._mapper = HomomorphismTest(encoder.labels)
        self._keys = 0
        self._clock = 0

    @classmethod
    def of(cls, index: Callable[[LabelTable], CoveringIndex] = feature_index) -> Aggregate[Id]:
        """An empty one over an index of this sort."""
        encoder = TwigEncoder()
        return cls(encoder, index(encoder.labels))

    def __len__(self) -> int:
        return len(self._holding)

    def __contains__(self, id: Id) -> bool:
        return id in self._holding

    # changes

    def add(self, id: Id, pattern: Pattern) -> Change[Id]:
        """Take a subscription in; an id that is there already is a KeyError."""
        if id in self._holding:
            raise KeyError(f"{id!r} is there already")
        self._clock += 1
        name = (pattern.text, pattern.namespaces)
        entry = self._named.get(name)
        if entry is not None:
            entry.ids[id] = self._clock
            self._holding[id] = entry
            return Change()
        self._keys += 1
        entry = _Entry(self._keys, name, self._encoder.encode(pattern), {id: self._clock})
        self._named[name] = self._holding[id] = entry
        self._enter(entry)
        return self._told()

    def remove(self, id: Id) -> Change[Id]:
        """Take a subscription out; KeyError if it is not there."""
        entry = self._holding.pop(id)
        was_oldest = entry.oldest == id
        if was_oldest:
            self._leave(entry)
        del entry.ids[id]
        if not entry.ids:
            del self._named[entry.name]
        elif was_oldest:
            self._enter(entry)  # with an age that is another now
        return self._told()

    def _enter(self, entry: _Entry[Id]) -> None:
        keeper = self._keeper(entry)
        self._entries[entry.key] = entry
        self._index.add(entry.key, entry.twigs)
        if keeper is not None:
            self._keep(keeper, entry)
            return
        for key in self._index.covered_by(entry.twigs, flagged=True):
            other = self._entries[key]
            self._unroot(other)
            self._keep(entry, other)
        self._root(entry)

    def _leave(self, entry: _Entry[Id]) -> None:
        self._unroot(entry)
        self._index.remove(entry.key)
        del self._entries[entry.key]
        if entry.keeper is not None:
            self._entries[entry.keeper].keeps.discard(entry.key)
            entry.keeper = None
        orphans, entry.keeps = entry.keeps, set()
        for key in sorted(orphans):
            orphan = self._entries[key]
            keeper = self._keeper(orphan)
            if keeper is None:
                orphan.keeper = None
                self._root(orphan)
            else:
                self._keep(keeper, orphan)

    def _keeper(self, entry: _Entry[Id]) -> _Entry[Id] | None:
        """One that hides a pattern; a root if there is one, or it would soon need another."""
        found = None
        for key in self._index.covering(entry.twigs):
            other = self._entries.get(key)
            if other is None or other is entry or not self._hides(other, entry):
                continue
            if key in self._roots:
                return other
            found = other
        return found

    def _hides(self, wide: _Entry[Id], narrow: _Entry[Id]) -> bool:
        """Whether one that covers another hides it: not if it is covered as well, and younger."""
        return wide.age < narrow.age or not self._mapper.covers(narrow.twigs, wide.twigs)

    def _keep(self, keeper: _Entry[Id], entry: _Entry[Id]) -> None:
        entry.keeper = keeper.key
        keeper.keeps.add(entry.key)

    def _root(self, entry: _Entry[Id]) -> None:
        id = self._roots[entry.key] = entry.oldest
        self._index.flag(entry.key, True)
        (self._hidden.remove if id in self._hidden else self._exposed.add)(id)

    def _unroot(self, entry: _Entry[Id]) -> None:
        if entry.key in self._roots:
            id = self._roots.pop(entry.key)
            self._index.flag(entry.key, False)
            (self._exposed.remove if id in self._exposed else self._hidden.add)(id)

    def _told(self) -> Change[Id]:
        change = Change(frozenset(self._exposed), frozenset(self._hidden))
        self._exposed.clear()
        self._hidden.clear()
        return change

    # questions

    def roots(self) -> Iterator[Id]:
        """The ids that stand for all."""
        return iter(self._roots.values())

    def root_of(self, id: Id) -> Id:
        """A root that stands for a subscription, perhaps itself."""
        entry = self._holding[id]
        while entry.keeper is not None:
            entry = self._entries[entry.keeper]
        return entry.oldest

    def keeper_of(self, id: Id) -> Id | None:
        """The subscription that hides one: with an equal pattern, or one that covers it; None for a root."""
        entry = self._holding[id]
        if entry.oldest != id:
            return entry.oldest
        return None if entry.keeper is None else self._entries[entry.keeper].oldest

    def covered_by(self, pattern: Pattern) -> set[Id]:
        """The ids of all subscriptions that a pattern covers."""
        return self._ids(self._index.covered_by(self._encoder.encode(pattern)))

    def covering(self, pattern: Pattern) -> set[Id]:
        """The ids of all subscriptions that cover a pattern."""
        return self._ids(self._index.covering(self._encoder.encode(pattern)))

    def _ids(self, keys: set[int]) -> set[Id]:
        return {id for key in keys for id in self._entries[key].ids}

    def stats(self, *, exact: bool = False) -> dict[str, int]:
        """Figures about what is there. `exact` adds how many roots `covers` would hide besides (`missed`), and of how many that is
        not known (`undecided`); that takes a while."""
        found = {
            "subscriptions": len(self._holding),
            "patterns": len(self._entries),
            "roots": len(self._roots),
            **self._index.stats(),
        }
        if exact:
            more = missed(self._root_patterns())
            found |= {"missed": more.covered, "undecided": more.undecided}
        return found

    def _root_patterns(self) -> list[Pattern]:
        roots = sorted((self._entries[key] for key in self._roots), key=lambda entry: entry.age)
        return [parse(text, dict(namespaces)) for text, namespaces in (one.name for one in roots)]
