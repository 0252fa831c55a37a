"""The keys that a whole query is placed by, and the states that are stored with a key.

Each alternative has one home: of the paths that it needs, cut to `length` labels, the one that should be rarest, which
is the one with the most names; then the fewest //; then the longest; then with the most labels that tags tell; then
the first by its text. One that needs no path, `not(//a)`, lives at START, and so does everything for length 0.
Where one key of a query begins another, the longer one is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pathcast.matching.nfa import Edge, Label, Nfa
from pathcast.matching.paths import requirements
from pathcast.matching.sharding.key import START, Key, told
from pathcast.xpath import Pattern
from pathcast.xpath.syntax import TestKind

__all__ = ["fragment", "home", "keys", "rarity"]

T = TypeVar("T")


def keys(pattern: Pattern, length: int = 1) -> frozenset[Key]:
    """Where a query is placed, by at most `length` labels of a path."""
    if length < 0:
        raise ValueError(f"a key has 0 labels or more, not {length}")
    found = {home(one.paths, length) for one in requirements(pattern.condition)}
    return frozenset(key for key in found if not any(one in found for one in key.prefixes()))


def home(paths: Iterable[tuple[Label, ...]], length: int | None = None) -> Key:
    """The key of an alternative that needs these paths: of those that they begin with, the one that looks rarest."""
    found = {Key(path[:length]) for path in paths}
    return min(found, key=rarity) if found else START


def rarity(key: Key) -> tuple[int, int, int, int, str]:
    """The lower, the rarer should be the documents that have this path."""
    named = sum(
        bool(label.test.name) and label.test.kind is not TestKind.ANY_IN for label in key.labels
    )
    deep = sum(label.edge in (Edge.DESCENDANT, Edge.DEEP_ATTRIBUTE) for label in key.labels)
    return (-named, deep, -len(key), -len(told(key)), str(key))


def fragment(automaton: Nfa[T], key: Key, length: int) -> frozenset[Key]:
    """The states that the owner of a state stores: it, and all that `length` labels lead to from it.

    Raises KeyError if the automaton has no such state.
    """
    state = automaton.start
    for label in key.labels:
        state = state.edges[label]
    found = {key: state}
    last = found
    for _ in range(length):
        last = {
            Key((*before.labels, label)): following
            for before, state in last.items()
            for label, following in state.edges.items()
        }
        found.update(last)
    return frozenset(found)
