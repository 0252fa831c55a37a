"""What a publisher sends, as weights of paths: what share of it a pattern matches, and what share only that pattern does.

A publication, in Li, Hou and Jacobsen's sense (2008), is one path from the root of a document to a leaf. A path matches a linear pattern if the
pattern accepts one of its beginnings. Two distributions are known: all leaf paths of a DTD up to a depth, each as likely as
any other (section 4.3, "if the publications are distributed uniformly"), and paths with rates that somebody has observed.

Both are a graph without cycles whose nodes have weights: for a DTD a node is an element with the number of levels left below it, so that half a
million paths are some hundred nodes; for observed paths it is their tree. A question is a walk down the graph with the state of all its patterns
(`ShiftAndNfa`), each pair of node and state once. Weights are whole numbers (rates are brought to a common denominator), so answers
are exact.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd("<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)><!ELEMENT title (#PCDATA)>")
>>> paths = PathDistribution.uniform(book, depth=4)  # book/title, book/section/title, book/section/section/title
>>> paths.total, paths.weight(("//section", "/title")), paths.weight(("//title",), [("//section",)])
(3, 2, 1)
>>> PathDistribution.observed({("a", "b"): 0.5, ("a",): 0.25}).degree(("/a",), [("/a", "/b")])
Fraction(1, 3)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import lcm

from pathcast.covering.merging.linear import ShiftAndNfa, Steps, step_name
from pathcast.schema import PathAutomaton, Schema
from pathcast.schema.paths import START

__all__ = ["PathDistribution"]

_KNOWN = 200_000  # weights of single patterns that are kept


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """`own`: the weight of the path that ends here; `total`: with all that goes on from here."""

    own: int
    total: int
    below: tuple[tuple[str, _Node], ...]
    levels: int  # how far it goes on
    names: frozenset[str]  # that occur below

    @classmethod
    def of(cls, own: int, below: Mapping[str, _Node]) -> _Node:
        kept = {name: node for name, node in below.items() if node.total}
        return cls(
            own,
            own + sum(node.total for node in kept.values()),
            tuple(kept.items()),
            1 + max((node.levels for node in kept.values()), default=-1),
            frozenset(kept).union(*(node.names for node in kept.values())),
        )


@dataclass(frozen=True, slots=True)
class PathDistribution:
    """Weights of paths, whole numbers in a unit of their own: compare them with `total`."""

    _top: _Node
    _known: dict[Steps, int] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def uniform(cls, schema: Schema, depth: int = 10) -> PathDistribution:
        """Every leaf path of at most so many elements, with weight 1."""
        machine = PathAutomaton.of(schema)
        level: dict[str, _Node] = {}  # each element with all that may follow in the levels left
        for _ in range(depth):
            level = {
                name: _Node.of(
                    int(name in machine.ends), {one: level[one] for one in below if one in level}
                )
                for name, below in machine.transitions.items()
            }
        roots = machine.transitions[START] if level else ()
        return cls(_Node.of(0, {name: level[name] for name in roots}))

    @classmethod
    def observed(cls, rates: Mapping[tuple[str, ...], float | Fraction]) -> PathDistribution:
        """Root paths with their rates, in any unit."""
        exact = {path: Fraction(rate) for path, rate in rates.items()}
        unit = lcm(*(rate.denominator for rate in exact.values()))
        return cls(_tree({path: int(rate * unit) for path, rate in exact.items()}, 0))

    @property
    def total(self) -> int:
        """The weight of all paths."""
        return self._top.total

    def weight(self, pattern: Steps, without: Collection[Steps] = ()) -> int:
        """The weight of the paths that match a pattern and none of the others."""
        if without:
            return self._walked(pattern, without)
        known = self._known.get(pattern)
        if known is None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            known = self._known[pattern] = self._walked(pattern, ())
        return known

    def degree(self, merger: Steps, members: Collection[Steps]) -> Fraction:
        """The imperfect degree: what share of the paths that match a merger matches none of its members.

        0 for a merger that no path matches: nothing is sent on in vain.
        """
        whole = self.weight(merger)
        return Fraction(self.weight(merger, members), whole) if whole else Fraction(0)

    def within(self, merger: Steps, members: Collection[Steps], limit: Fraction) -> Fraction | None:
        """The imperfect degree if it is within a limit, else None: that is mostly seen sooner."""
        whole = self.weight(merger)
        if sum(self.weight(one) for one in members) < (1 - limit) * whole:
            return None
        try:
            wasted = self._walked(merger, members, int(limit * whole))
        except _Enough:
            return None
        return Fraction(wasted, whole or 1)

    def _walked(self, pattern: Steps, without: Collection[Steps], most: int | None = None) -> int:
        """The weight of the paths that match a pattern and none of the others; raises _Enough when it is over `most`."""
        machine = ShiftAndNfa.of([pattern, *without])
        hopes = _Hopes([pattern, *without])
        end = machine.ends[0]
        mine = 2 * end - 1  # the bits of the pattern
        denied = sum(machine.ends[1:])
        known: dict[tuple[int, int], int] = {}
        left = self.total if most is None else most

        def counted(weight: int) -> int:
            nonlocal left
            left -= weight
            if left < 0:
                raise _Enough
            return weight

        def walked(node: _Node, bits: int) -> int:
            """The weight of the paths that go on below a node."""
            key = (id(node), bits)
            if key in known:
                return counted(known[key])
            found = 0
            for element, below in node.below:
                after = machine.read(bits, element) | bits & end
                if after & denied:
                    continue
                after &= hopes.at(below)
                if after == end:
                    found += counted(below.total)
                elif after & end:
                    # It has matched: what else the pattern itself could do does not matter.
                    found += counted(below.own) + walked(below, after & ~mine | end)
                elif after & mine:
                    found += walked(below, after)
            known[key] = found
            return found

        return walked(self._top, machine.start)


class _Enough(Exception):
    """More than was asked for."""


class _Hopes:
    """Which places of a machine may still lead to an end below a node: the others are not worth a state."""

    __slots__ = ("_asked", "_known", "_nodes", "_places")

    def __init__(self, patterns: Iterable[Steps]) -> None:
        self._places: list[tuple[int, frozenset[str]]] = []  # steps and names still to come
        for steps in patterns:
            self._places += _to_come(steps)
        self._asked: frozenset[str] = frozenset().union(*(names for _, names in self._places))
        self._known: dict[tuple[int, frozenset[str]], int] = {}
        self._nodes: dict[int, int] = {}

    def at(self, node: _Node) -> int:
        found = self._nodes.get(id(node))
        if found is None:
            key = (node.levels, self._asked & node.names)
            if key not in self._known:
                self._known[key] = self._places_for(*key)
            found = self._nodes[id(node)] = self._known[key]
        return found

    def _places_for(self, levels: int, below: frozenset[str]) -> int:
        found = 0
        for place, (steps, names) in enumerate(self._places):
            if steps <= levels and names <= below:
                found |= 1 << place
        return found


@lru_cache(maxsize=1 << 15)
def _to_come(steps: Steps) -> tuple[tuple[int, frozenset[str]], ...]:
    names = [step_name(step) for step in steps]
    places = range(len(names) + 1)
    return tuple((len(names) - at, frozenset(names[at:]) - {"*"}) for at in places)


def _tree(weights: Mapping[tuple[str, ...], int], at: int) -> _Node:
    """The tree of paths that agree in their first `at` names."""
    below: dict[str, dict[tuple[str, ...], int]] = {}
    own = 0
    for path, weight in weights.items():
        if len(path) == at:
            own = weight
        else:
            below.setdefault(path[at], {})[path] = weight
    return _Node.of(own, {name: _tree(paths, at + 1) for name, paths in below.items()})
