"""Conversion of an automaton to expressions in the paper's notation, one at a time.

Outside cycles there is one expression per path, as in the paper. Inside a strongly connected
component, a path from u to v is written around a hub h: the state whose removal leaves the least
cyclic rest. A path from u to v either

- avoids h, and is a path through the rest; or
- leads to h, repeats any number of cycles through h, and continues to v: head,
  `(cycle|cycle|...)+`, tail, where heads, cycles and tails are paths through the rest.

That is Kleene's construction with + in place of *, so paths with and without the cycles are two
expressions. They are one where the tail starts with the only cycle: `/b/c` and `(/b)+/b/c` are
`(/b)+/c`. States of a component with equal parents and children are written as alternatives, and so
are more than `_MAX_ALTERNATIVES` expressions between one pair of states.

Expressions are generated lazily: a recursive DTD may have millions. The expressions of a component
may grow exponentially (Ehrenfeucht and Zeiger 1976). Beyond its work budget the conversion raises
AdvertisementError; the automaton itself has no such limit.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd(
...     "<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)>"
...     "<!ELEMENT title (#PCDATA)>"
... )
>>> [str(expression) for expression in expressions(Advertisement.of(book))]
['/book(/section)+/title', '/book/title']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import networkx

from pathcast.budget import WorkBudget
from pathcast.errors import AdvertisementError
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits, closure, mask, transpose
from pathcast.routing.advertisement.budget_errors import budget_errors
from pathcast.routing.advertisement.notation.expression import (
    AdvertisementExpression,
    ElementStep,
    RecursionClass,
    group,
    recursion_class,
)

__all__ = ["expressions", "tally"]

_Shape: TypeAlias = tuple[int, int]  # recursive patterns and their nesting depth, each at most 2

_MAX_ALTERNATIVES = 8
_MAX_DEPTH = 200  # passages that are built from each other at once
_STEPS_PER_COUNT = 1
_STEPS_PER_JOIN = 6  # besides the parts that are joined
_STEPS_PER_EDGE = 4  # of a component, for each node that is removed
_ENTANGLED = "its recursive elements are too entangled to be written as expressions"


def expressions(
    advertisement: Advertisement, longest: int | None = None, *, budget: WorkBudget | None = None
) -> Iterator[AdvertisementExpression]:
    """Yield expressions whose paths together are exactly those of the advertisement.

    `longest` is the largest number of names of an expression. Raise AdvertisementError if the
    recursion is too entangled for the budget.
    """
    with budget_errors(_ENTANGLED):
        converter = _Converter(advertisement, WorkBudget() if budget is None else budget)
        for root in bits(converter.roots):
            yield from converter.expressions_from(root, longest)


def tally(
    advertisement: Advertisement, longest: int | None = None, *, budget: WorkBudget | None = None
) -> Counter[RecursionClass]:
    """Count the expressions of each class without building them; raise AdvertisementError."""
    totals: Counter[RecursionClass] = Counter()
    with budget_errors(_ENTANGLED):
        converter = _Converter(advertisement, WorkBudget() if budget is None else budget)
        for root in bits(converter.roots):
            shapes = converter.count_from(root, longest)
            for (patterns, nested), count in shapes.items():
                totals[recursion_class(patterns, nested)] += count
    return totals


class _Converter:
    """The quotient automaton and the memo tables of one conversion.

    A node is a set of states with equal neighbours, usually a single state.
    """

    def __init__(self, advertisement: Advertisement, budget: WorkBudget) -> None:
        self._budget = budget
        budget.spend(len(advertisement.labels))
        self._merge_equal_states(advertisement)
        self.above = transpose(self.below)
        self._passages: dict[tuple[int, int, int], list[AdvertisementExpression]] = {}
        self._depth = 0
        self._hubs: dict[int, int] = {}
        self._counts: dict[tuple[int, int | None], Counter[_Shape]] = {}

    def _merge_equal_states(self, advertisement: Advertisement) -> None:
        below, above = advertisement.below, transpose(advertisement.below)
        components = _components(below, (1 << len(below)) - 1)
        cyclic = mask(
            state
            for component in components
            for state in bits(component)
            if component & (component - 1) or below[state] & component
        )
        classes: dict[object, list[int]] = {}
        for state in range(len(below)):
            key: object = state
            if cyclic >> state & 1:
                root, leaf = advertisement.roots >> state & 1, advertisement.leaves >> state & 1
                key = (below[state], above[state], root, leaf)
            classes.setdefault(key, []).append(state)
        self.names: list[AdvertisementExpression] = []
        node_of = {}
        for node, states in enumerate(classes.values()):
            choices = [
                AdvertisementExpression((ElementStep(advertisement.labels[state]),))
                for state in states
            ]
            self.names.append(group(choices, repeated=False))
            node_of.update(dict.fromkeys(states, node))

        def nodes_of(states: int) -> int:
            return mask(node_of[state] for state in bits(states))

        self.below = [nodes_of(below[states[0]]) for states in classes.values()]
        self.roots, self.leaves = nodes_of(advertisement.roots), nodes_of(advertisement.leaves)
        self.component = {}
        for component in _components(self.below, (1 << len(self.below)) - 1):
            for node in bits(component):
                self.component[node] = component

    def expressions_from(
        self, node: int, max_names: int | None
    ) -> Iterator[AdvertisementExpression]:
        """Yield all expressions that start at a node and have at most `max_names` names."""
        for last, passage in self._passages_from(node, max_names):
            self._budget.spend(1)
            if self.leaves >> last & 1:
                yield passage
            for following in bits(self.below[last] & ~self.component[node]):
                for suffix in self.expressions_from(following, _remaining(max_names, passage)):
                    yield passage + suffix

    def count_from(self, node: int, max_names: int | None) -> Counter[_Shape]:
        """Count the expressions of `expressions_from` by shape."""
        key = (node, max_names)
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = Counter()
            for last, passage in self._passages_from(node, max_names):
                self._budget.spend(_STEPS_PER_COUNT)
                if self.leaves >> last & 1:
                    counts[min(passage.patterns, 2), min(passage.nested, 2)] += 1
                for following in bits(self.below[last] & ~self.component[node]):
                    suffixes = self.count_from(following, _remaining(max_names, passage))
                    self._budget.spend(_STEPS_PER_COUNT * (1 + len(suffixes)))
                    for (patterns, nested), count in suffixes.items():
                        shape = (
                            min(passage.patterns + patterns, 2),
                            min(max(passage.nested, nested), 2),
                        )
                        counts[shape] += count
        return counts

    def _passages_from(
        self, node: int, max_names: int | None
    ) -> Iterator[tuple[int, AdvertisementExpression]]:
        """Yield the paths through the node's component, with the node at which each ends."""
        component = self.component[node]
        for last in bits(component):
            if self.below[last] & ~component or self.leaves >> last & 1:
                for passage in self._passage(component, node, last):
                    if max_names is None or passage.size <= max_names:
                        yield last, passage

    def _passage(self, nodes: int, first: int, last: int) -> list[AdvertisementExpression]:
        """Return all paths from `first` to `last` within some nodes, as few expressions."""
        key = (nodes, first, last)
        passage = self._passages.get(key)
        if passage is None:
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise AdvertisementError("too-deep", _ENTANGLED)
            passage = list(self._paths(nodes, first, last))
            self._depth -= 1
            if len(passage) > _MAX_ALTERNATIVES:
                passage = [group(passage, repeated=False)]
            self._passages[key] = passage
        return passage

    def _paths(self, nodes: int, first: int, last: int) -> Iterator[AdvertisementExpression]:
        within = [states & nodes for states in self.below]
        edges = sum(states.bit_count() for states in within)
        self._budget.spend((len(within) + edges) // 2)
        reached = closure(within, 1 << first)
        if not reached >> last & 1:
            return
        component = reached & closure(transpose(within), 1 << first)
        if component == 1 << first and not within[first] >> first & 1:
            yield from self._tails(nodes & ~component, first, last)
            return
        hub = self._hub(component, first)
        rest = nodes & ~(1 << hub)
        heads: list[AdvertisementExpression] = []
        if hub != first:
            yield from self._passage(rest, first, last) if hub != last else ()
            for before in bits(self.above[hub] & rest):
                heads += self._passage(rest, first, before)
        inner = component & ~(1 << hub)
        cycles = [self.names[hub]] if self.below[hub] >> hub & 1 else []
        for before in bits(self.above[hub] & inner):
            cycles += self._tails(inner, hub, before)
        for tail in self._tails(rest, hub, last):
            for ending in _with_cycles(cycles, tail):
                if hub == first:
                    yield ending
                for head in heads:
                    yield self._join(head, ending)

    def _tails(self, nodes: int, first: int, last: int) -> Iterator[AdvertisementExpression]:
        """Yield all paths from `first` to `last` that do not return to `first`."""
        if first == last:
            yield self.names[first]
            return
        for following in bits(self.below[first] & nodes):
            for path in self._passage(nodes, following, last):
                yield self._join(self.names[first], path)

    def _join(
        self, head: AdvertisementExpression, tail: AdvertisementExpression
    ) -> AdvertisementExpression:
        self._budget.spend(_STEPS_PER_JOIN + len(head.parts) + len(tail.parts))
        return head + tail

    def _hub(self, component: int, first: int) -> int:
        """Return the node whose removal leaves the least cyclic rest, preferably `first`."""
        best = self._hubs.get(component)
        if best is None:
            edges = sum((self.below[node] & component).bit_count() for node in bits(component))
            self._budget.spend(_STEPS_PER_EDGE * edges * component.bit_count())
            cyclic_rest = {}
            for node in bits(component):
                parts = _components(self.below, component & ~(1 << node))
                cyclic_rest[node] = sum(
                    part.bit_count() ** 2 for part in parts if part & (part - 1)
                )
            least = min(cyclic_rest.values())
            best = mask(node for node in cyclic_rest if cyclic_rest[node] == least)
            self._hubs[component] = best
        return first if best >> first & 1 else next(bits(best))


def _remaining(max_names: int | None, passage: AdvertisementExpression) -> int | None:
    return None if max_names is None else max_names - passage.size


def _with_cycles(
    cycles: list[AdvertisementExpression], tail: AdvertisementExpression
) -> Iterator[AdvertisementExpression]:
    """Yield a tail on its own and after repetitions of the cycles."""
    if len(cycles) == 1:
        body = cycles[0].parts
        if tail.parts[: len(body)] == body:
            yield AdvertisementExpression(group(cycles).parts + tail.parts[len(body) :])
            return
    yield tail
    yield group(cycles) + tail


def _components(below: list[int] | tuple[int, ...], nodes: int) -> list[int]:
    """Return the strongly connected components of some nodes, as sets."""
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(bits(nodes))
    for node in bits(nodes):
        graph.add_edges_from((node, child) for child in bits(below[node] & nodes))
    return [mask(part) for part in networkx.strongly_connected_components(graph)]
