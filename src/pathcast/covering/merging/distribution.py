"""Path distributions: the paths that a publisher sends, with weights.

A publication in the sense of Li 2008 is one path from the root of a document to a leaf. A path
matches a linear pattern if the pattern accepts one of its prefixes. There are two distributions:
all leaf paths of a DTD up to a depth with equal weights (section 4.3, "if the publications are
distributed uniformly"), and observed paths with their rates.

Both are acyclic graphs with weighted nodes. For a DTD, a node is an element with the number of
levels left below it, so that half a million paths are some hundred nodes; for observed paths, the
graph is their prefix tree. A query walks down the graph with the state of an automaton
(`ShiftAndNfa`) for all its patterns, and visits each pair of node and state once. Weights are
integers (rates are brought to a common denominator), so results are exact.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd('''<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)>
...     <!ELEMENT title (#PCDATA)>''')
>>> paths = PathDistribution.uniform(book, depth=4)  # book/title, book/section/title, ...
>>> paths.total, paths.weight(("//section", "/title")), paths.weight(("//title",), [("//section",)])
(3, 2, 1)
>>> PathDistribution.from_rates({("a", "b"): 0.5, ("a",): 0.25}).degree(("/a",), [("/a", "/b")])
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

MAX_CACHED_WEIGHTS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class _WeightNode:
    own: int  # the weight of the path that ends here
    total: int  # with all paths that continue
    children: tuple[tuple[str, _WeightNode], ...]
    height: int
    names: frozenset[str]  # of all nodes below

    @classmethod
    def of(cls, own: int, children: Mapping[str, _WeightNode]) -> _WeightNode:
        kept = {name: node for name, node in children.items() if node.total}
        return cls(
            own,
            own + sum(node.total for node in kept.values()),
            tuple(kept.items()),
            1 + max((node.height for node in kept.values()), default=-1),
            frozenset(kept).union(*(node.names for node in kept.values())),
        )


@dataclass(frozen=True, slots=True)
class PathDistribution:
    """Weights of paths: integers in a unit of their own, to be compared with `total`."""

    _top: _WeightNode
    _weights: dict[Steps, int] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def uniform(cls, schema: Schema, depth: int = 10) -> PathDistribution:
        """Return all leaf paths of at most `depth` elements, with weight 1."""
        automaton = PathAutomaton.of(schema)
        level: dict[str, _WeightNode] = {}  # each element with the levels built so far below it
        for _ in range(depth):
            level = {
                name: _WeightNode.of(
                    int(name in automaton.ends),
                    {child: level[child] for child in children if child in level},
                )
                for name, children in automaton.transitions.items()
            }
        roots = automaton.transitions[START] if level else ()
        return cls(_WeightNode.of(0, {name: level[name] for name in roots}))

    @classmethod
    def from_rates(cls, rates: Mapping[tuple[str, ...], float | Fraction]) -> PathDistribution:
        """Return paths from the root with their rates, in any unit."""
        exact = {path: Fraction(rate) for path, rate in rates.items()}
        unit = lcm(*(rate.denominator for rate in exact.values()))
        return cls(_prefix_tree({path: int(rate * unit) for path, rate in exact.items()}, 0))

    @property
    def total(self) -> int:
        """The weight of all paths."""
        return self._top.total

    def weight(self, pattern: Steps, without: Collection[Steps] = ()) -> int:
        """Return the weight of the paths that match a pattern and none of the others."""
        if without:
            return self._walk(pattern, without)
        weight = self._weights.get(pattern)
        if weight is None:
            if len(self._weights) >= MAX_CACHED_WEIGHTS:
                self._weights.clear()
            weight = self._weights[pattern] = self._walk(pattern, ())
        return weight

    def degree(self, merger: Steps, members: Collection[Steps]) -> Fraction:
        """Return the imperfect degree: the share of a merger's paths that match no member.

        It is 0 for a merger that no path matches, which wastes nothing.
        """
        total = self.weight(merger)
        return Fraction(self.weight(merger, members), total) if total else Fraction(0)

    def degree_within(
        self, merger: Steps, members: Collection[Steps], limit: Fraction
    ) -> Fraction | None:
        """Return the imperfect degree, or None if it exceeds a limit, which mostly shows early."""
        total = self.weight(merger)
        if sum(self.weight(member) for member in members) < (1 - limit) * total:
            return None
        try:
            wasted = self._walk(merger, members, int(limit * total))
        except _WeightLimitExceeded:
            return None
        return Fraction(wasted, total or 1)

    def _walk(
        self, pattern: Steps, without: Collection[Steps], max_weight: int | None = None
    ) -> int:
        """Return the weight of the paths that match a pattern and none of the others.

        Raises _WeightLimitExceeded as soon as it exceeds `max_weight`.
        """
        nfa = ShiftAndNfa.of([pattern, *without])
        live = _LiveStates([pattern, *without])
        end = nfa.ends[0]
        own_states = 2 * end - 1  # of the pattern itself
        rejecting = sum(nfa.ends[1:])
        memo: dict[tuple[int, int], int] = {}
        budget = self.total if max_weight is None else max_weight

        def spend(weight: int) -> int:
            nonlocal budget
            budget -= weight
            if budget < 0:
                raise _WeightLimitExceeded
            return weight

        def walk(node: _WeightNode, states: int) -> int:
            """Return the weight of the paths that continue below a node."""
            key = (id(node), states)
            if key in memo:
                return spend(memo[key])
            weight = 0
            for name, child in node.children:
                after = nfa.read(states, name) | states & end
                if after & rejecting:
                    continue
                after &= live.at(child)
                if after == end:
                    weight += spend(child.total)
                elif after & end:
                    # The pattern has matched: its other states have no effect.
                    weight += spend(child.own) + walk(child, after & ~own_states | end)
                elif after & own_states:
                    weight += walk(child, after)
            memo[key] = weight
            return weight

        return walk(self._top, nfa.start)


class _WeightLimitExceeded(Exception):
    """The weight exceeds the caller's bound."""


class _LiveStates:
    """The states of an automaton from which an end is reachable below a node.

    Masking out the other states reduces the number of distinct states per node.
    """

    __slots__ = ("_by_node", "_by_requirement", "_names", "_remaining")

    def __init__(self, patterns: Iterable[Steps]) -> None:
        self._remaining: list[tuple[int, frozenset[str]]] = []  # steps and names, by state
        for steps in patterns:
            self._remaining += _remaining_by_state(steps)
        self._names: frozenset[str] = frozenset().union(*(names for _, names in self._remaining))
        self._by_requirement: dict[tuple[int, frozenset[str]], int] = {}
        self._by_node: dict[int, int] = {}

    def at(self, node: _WeightNode) -> int:
        states = self._by_node.get(id(node))
        if states is None:
            key = (node.height, self._names & node.names)
            if key not in self._by_requirement:
                self._by_requirement[key] = self._states_for(*key)
            states = self._by_node[id(node)] = self._by_requirement[key]
        return states

    def _states_for(self, height: int, names_below: frozenset[str]) -> int:
        states = 0
        for state, (steps, names) in enumerate(self._remaining):
            if steps <= height and names <= names_below:
                states |= 1 << state
        return states


@lru_cache(maxsize=1 << 15)
def _remaining_by_state(steps: Steps) -> tuple[tuple[int, frozenset[str]], ...]:
    names = [step_name(step) for step in steps]
    states = range(len(names) + 1)
    return tuple((len(names) - at, frozenset(names[at:]) - {"*"}) for at in states)


def _prefix_tree(weights: Mapping[tuple[str, ...], int], depth: int) -> _WeightNode:
    """Return the tree of paths that agree in their first `depth` names."""
    children: dict[str, dict[tuple[str, ...], int]] = {}
    own = 0
    for path, weight in weights.items():
        if len(path) == depth:
            own = weight
        else:
            children.setdefault(path[depth], {})[path] = weight
    return _WeightNode.of(
        own, {name: _prefix_tree(paths, depth + 1) for name, paths in children.items()}
    )
