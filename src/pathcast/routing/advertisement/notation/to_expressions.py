"""An automaton -> its expressions in the paper's notation, one after the other.

Outside cycles there is an expression for each way, as in the paper. A component of states that lead to each other is passed on a way in, say from u
to v. One state of it is chosen, its hub h, so that without h as little as possible is cyclic. Then a way from u to v

- does not touch h, and is a way through the rest; or
- leads to h, perhaps round and round back to h, and on to v: head, `(round|round|...)+`, tail, where heads, rounds and tails are ways through
  the rest.

That is Kleene's construction, with + in place of *, so that a way with and a way without the rounds are two expressions. They are one where
the tail starts as the only round does: `/b/c` and `(/b)+/b/c` are `(/b)+/c`. States of a component that are alike in all ways (same
parents, same children) are written as alternatives, and so is what would be more than `_SEVERAL` expressions for one passage.

Expressions come lazily: a recursive DTD may have millions. A component may also be so entangled that its expressions grow beyond
all bounds (exponentially, for some: Ehrenfeucht and Zeiger 1976). Then the error says so; the automaton itself has no such trouble.

>>> from pathcast.schema import parse_dtd
>>> book = parse_dtd("<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)><!ELEMENT title (#PCDATA)>")
>>> [str(one) for one in expressions(Advertisement.of(book))]
['/book(/section)+/title', '/book/title']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import networkx

from pathcast.errors import AdvertisementError
from pathcast.routing.advertisement.advertisement import Advertisement
from pathcast.routing.advertisement.bits import bits, closure, mask, transpose
from pathcast.routing.advertisement.notation.expression import (
    AdvertisementExpression,
    ElementStep,
    RecursionClass,
    group,
    recursion_class,
)

__all__ = ["expressions", "tally"]

_Shape: TypeAlias = tuple[int, int]  # recursive patterns, and how deep they are nested

_SEVERAL = 8
_PASSAGES = 4_000  # that are looked into, for one advertisement


def expressions(
    advertisement: Advertisement, longest: int | None = None
) -> Iterator[AdvertisementExpression]:
    """Expressions that together stand for all paths, and only these; raises AdvertisementError if that is too much.

    `longest`: only those of at most so many names.
    """
    writer = _Writer(advertisement)
    for root in bits(writer.roots):
        yield from writer.starting(root, longest)


def tally(advertisement: Advertisement, longest: int | None = None) -> Counter[RecursionClass]:
    """How many expressions there are of each kind, without making them; raises AdvertisementError."""
    writer = _Writer(advertisement)
    found: Counter[RecursionClass] = Counter()
    for root in bits(writer.roots):
        shapes = writer.counted(root, longest)
        for (patterns, nested), many in shapes.items():
            found[recursion_class(patterns, nested)] += many
    return found


class _Writer:
    """Nodes are sets of states that are alike, a single state mostly."""

    def __init__(self, advertisement: Advertisement) -> None:
        self._group(advertisement)
        self.above = transpose(self.below)
        self._passages: dict[tuple[int, int, int], list[AdvertisementExpression]] = {}
        self._hubs: dict[int, int] = {}
        self._counts: dict[tuple[int, int | None], Counter[_Shape]] = {}

    def _group(self, advertisement: Advertisement) -> None:
        below, above = advertisement.below, transpose(advertisement.below)
        parts = _components(below, (1 << len(below)) - 1)
        cyclic = mask(
            state
            for part in parts
            for state in bits(part)
            if part & (part - 1) or below[state] & part
        )
        alike: dict[object, list[int]] = {}
        for state in range(len(below)):
            key: object = state
            if cyclic >> state & 1:
                root, leaf = advertisement.roots >> state & 1, advertisement.leaves >> state & 1
                key = (below[state], above[state], root, leaf)
            alike.setdefault(key, []).append(state)
        self.names: list[AdvertisementExpression] = []
        number = {}
        for node, states in enumerate(alike.values()):
            choices = [
                AdvertisementExpression((ElementStep(advertisement.labels[one]),)) for one in states
            ]
            self.names.append(group(choices, repeated=False))
            number.update(dict.fromkeys(states, node))

        def moved(states: int) -> int:
            return mask(number[one] for one in bits(states))

        self.below = [moved(below[states[0]]) for states in alike.values()]
        self.roots, self.leaves = moved(advertisement.roots), moved(advertisement.leaves)
        self.component = {}
        for part in _components(self.below, (1 << len(self.below)) - 1):
            for node in bits(part):
                self.component[node] = part

    def starting(self, node: int, room: int | None) -> Iterator[AdvertisementExpression]:
        """All that start with a node and have at most so many names."""
        for last, passage in self._through(node, room):
            if self.leaves >> last & 1:
                yield passage
            for following in bits(self.below[last] & ~self.component[node]):
                for rest in self.starting(following, _left(room, passage)):
                    yield passage + rest

    def counted(self, node: int, room: int | None) -> Counter[_Shape]:
        """How many of these there are, by recursive patterns and how deep they are nested (2: or more)."""
        key = (node, room)
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = Counter()
            for last, passage in self._through(node, room):
                if self.leaves >> last & 1:
                    found[min(passage.patterns, 2), min(passage.nested, 2)] += 1
                for following in bits(self.below[last] & ~self.component[node]):
                    rest = self.counted(following, _left(room, passage))
                    for (patterns, nested), many in rest.items():
                        shape = (
                            min(passage.patterns + patterns, 2),
                            min(max(passage.nested, nested), 2),
                        )
                        found[shape] += many
        return found

    def _through(
        self, node: int, room: int | None
    ) -> Iterator[tuple[int, AdvertisementExpression]]:
        """The ways through the component of a node, with the node where they leave it or end."""
        part = self.component[node]
        for last in bits(part):
            if self.below[last] & ~part or self.leaves >> last & 1:
                for passage in self._passage(part, node, last):
                    if room is None or passage.size <= room:
                        yield last, passage

    def _passage(self, nodes: int, first: int, last: int) -> list[AdvertisementExpression]:
        """All ways from one node to another among these nodes, at most `_SEVERAL` expressions."""
        key = (nodes, first, last)
        found = self._passages.get(key)
        if found is None:
            if len(self._passages) >= _PASSAGES:
                raise AdvertisementError(
                    "too-large",
                    "its recursive elements are too entangled to be written as expressions",
                    hint="the automaton is exact; its paths can be listed to any depth",
                )
            found = list(self._ways(nodes, first, last))
            if len(found) > _SEVERAL:
                found = [group(found, repeated=False)]
            self._passages[key] = found
        return found

    def _ways(self, nodes: int, first: int, last: int) -> Iterator[AdvertisementExpression]:
        within = [states & nodes for states in self.below]
        reached = closure(within, 1 << first)
        if not reached >> last & 1:
            return
        cycle = reached & closure(transpose(within), 1 << first)
        if cycle == 1 << first and not within[first] >> first & 1:
            yield from self._tails(nodes & ~cycle, first, last)
            return
        hub = self._hub(cycle, first)
        rest = nodes & ~(1 << hub)
        heads: list[AdvertisementExpression] = []
        if hub != first:
            yield from self._passage(rest, first, last) if hub != last else ()
            for before in bits(self.above[hub] & rest):
                heads += self._passage(rest, first, before)
        inner = cycle & ~(1 << hub)
        rounds = [self.names[hub]] if self.below[hub] >> hub & 1 else []
        for before in bits(self.above[hub] & inner):
            rounds += self._tails(inner, hub, before)
        for tail in self._tails(rest, hub, last):
            for ending in _repeated(rounds, tail):
                if hub == first:
                    yield ending
                for head in heads:
                    yield head + ending

    def _tails(self, nodes: int, first: int, last: int) -> Iterator[AdvertisementExpression]:
        """All ways from one node to another that do not come back to the first."""
        if first == last:
            yield self.names[first]
            return
        for following in bits(self.below[first] & nodes):
            for way in self._passage(nodes, following, last):
                yield self.names[first] + way

    def _hub(self, cycle: int, first: int) -> int:
        """The node without which the least is cyclic; the first one if it is as good as any."""
        found = self._hubs.get(cycle)
        if found is None:
            left = {}
            for node in bits(cycle):
                parts = _components(self.below, cycle & ~(1 << node))
                left[node] = sum(part.bit_count() ** 2 for part in parts if part & (part - 1))
            least = min(left.values())
            best = mask(node for node in left if left[node] == least)
            found = self._hubs[cycle] = best
        return first if found >> first & 1 else next(bits(found))


def _left(room: int | None, passage: AdvertisementExpression) -> int | None:
    return None if room is None else room - passage.size


def _repeated(
    rounds: list[AdvertisementExpression], tail: AdvertisementExpression
) -> Iterator[AdvertisementExpression]:
    """A tail, and the same after rounds."""
    if len(rounds) == 1:
        body = rounds[0].parts
        if tail.parts[: len(body)] == body:
            yield AdvertisementExpression(group(rounds).parts + tail.parts[len(body) :])
            return
    yield tail
    yield group(rounds) + tail


def _components(below: list[int] | tuple[int, ...], nodes: int) -> list[int]:
    """The strongly connected components of some nodes, as sets."""
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(bits(nodes))
    for node in bits(nodes):
        graph.add_edges_from((node, one) for one in bits(below[node] & nodes))
    return [mask(part) for part in networkx.strongly_connected_components(graph)]
