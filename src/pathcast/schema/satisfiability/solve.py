"""The smallest valid tree that meets demands, or the certainty that there is none.

A *goal* is an element name with a set of demands. One way to meet it (see `demands`) asks for children; which children of
the content model take over which wants is decided by the dynamic program of `words`, a child taking any subset of the wants at
the cost of the goal that it thereby becomes. Goals refer to each other in circles (a // want is handed down to
a child of the same name), so their costs are found as a least fixpoint: all start as unreachable, and are improved until
nothing changes. A goal that stays unreachable cannot be met by any finite tree.

There are at most (elements x subsets of the pattern's suffixes) goals; twigs with many // branches have many, so the work
is bounded, and beyond the bound nothing is said (`SearchLimitExceeded`). For a path without branches every goal has one want.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pathcast.schema.model import Child, Choice, Content, ContentKind, Element, Occurs
from pathcast.schema.satisfiability.demands import (
    Demand,
    SearchLimitExceeded,
    Steps,
    Want,
    Way,
    ways,
)
from pathcast.schema.satisfiability.fill import Filling, fill
from pathcast.schema.satisfiability.namespaces import DtdNamespaces
from pathcast.schema.schema import Schema
from pathcast.schema.words import Vector, WordTable, reachable_words
from pathcast.xpath.syntax import Axis, Test, TestKind

__all__ = ["DOCUMENT", "Goal", "Solver", "TreePlan"]

DOCUMENT = ""  # the name of the document node, whose one child is a root
_GOALS = 4000
_WANTS = 8  # at one element at once
_OPTIONS = 2000  # subsets of wants that one child may take over
_TABLE = 1024  # combinations of wants and places that are kept for one content model

Goal = tuple[str, frozenset[Demand]]


@dataclass(frozen=True, slots=True)
class TreePlan:
    """How a goal is met: what stands in the element itself, and the goals of its children in order."""

    filling: Filling
    children: tuple[Goal, ...]


class Solver:
    """All goals of one question."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.names = DtdNamespaces(schema.elements.values())
        self.plans: dict[Goal, TreePlan] = {}
        self._graph = schema.graph
        roots = tuple(Child(root) for root in schema.roots if root in self._graph.size)
        self._document = Element(DOCUMENT, ContentKind.CHILDREN, Choice(roots))
        self._costs: dict[Goal, int] = {}
        self._goals: dict[Goal, list[tuple[Way, Filling]]] = {}
        self._waiting: list[Goal] = []
        self._below: dict[str, tuple[str, ...]] = {}
        self._leads: dict[tuple[str, Steps], bool] = {}

    def solve(self, demands: frozenset[Demand]) -> Goal | None:
        """The goal at the document node if it can be met; `plans` then says how."""
        top = (DOCUMENT, demands)
        self._cost(top)
        changed = True
        while changed and top not in self._costs:  # the smallest of all trees is not promised
            known = len(self._waiting)
            changed = False
            for goal in self._waiting[::-1]:  # those that depend on none were found last
                changed |= self._improve(goal)
            changed |= len(self._waiting) > known
        return top if top in self._costs else None

    def element(self, name: str) -> Element:
        return self._document if name == DOCUMENT else self.schema.elements[name]

    def _cost(self, goal: Goal) -> int | None:
        name, demands = goal
        if not demands and name != DOCUMENT:
            return self._graph.size.get(name)
        if goal not in self._goals:
            self._open(goal)
        return self._costs.get(goal)

    def _open(self, goal: Goal) -> None:
        name, demands = goal
        if len(self._goals) >= _GOALS:
            raise SearchLimitExceeded("there are too many combinations of branches")
        element = self.element(name)
        text = name == DOCUMENT or name in self._graph.texts
        found = []
        for way in ways(demands, document=name == DOCUMENT):
            for filled, filling in fill(element, way, self.names, text_below=text):
                if len(filled.wants) > _WANTS:
                    raise SearchLimitExceeded("one element has too many branches")
                found.append((filled, filling))
        self._goals[goal] = found
        if found:
            self._waiting.append(goal)

    def _improve(self, goal: Goal) -> bool:
        name = goal[0]
        changed = False
        for way, filling in self._goals[goal]:
            content = self._content(self.element(name))
            if math.prod(want.others + 2 for want in way.wants) > _TABLE:
                raise SearchLimitExceeded("one element has too many branches and places")
            target = tuple(
                n for want in way.wants for n in ((1, want.others) if want.others else (1,))
            )

            def leaf(child: str, way: Way = way, size: int = len(target)) -> WordTable[Goal]:
                return self._leaf(child, way, size)

            found = reachable_words(content, leaf, target).get(target)
            if found is None:
                continue
            cost = found[0] + 1
            if cost < self._costs.get(goal, cost + 1):
                self._costs[goal] = cost
                self.plans[goal] = TreePlan(filling, self._in_place(way, found[1]))
                changed = True
        return changed

    def _content(self, element: Element) -> Content | None:
        if element.kind is ContentKind.ANY:
            return Choice(tuple(Child(name) for name in self._graph.size), Occurs.ANY)
        return element.content

    def _leaf(self, child: str, way: Way, size: int) -> WordTable[Goal]:
        """What one child can take over: every subset of the wants, as far as that is not hopeless."""
        if child not in self._graph.size:
            return {}
        if any(self.names.must_match(test, child) for test in way.no_children):
            return {}
        options: dict[tuple[Vector, frozenset[Demand]], None] = {((0,) * size, frozenset()): None}
        at = 0
        for want in way.wants:
            for vector, demands in list(options):
                for place, more in self._takes(child, want):
                    one = tuple(1 if i == at + place else n for i, n in enumerate(vector))
                    options[one, demands | more] = None
            if len(options) > _OPTIONS:
                raise SearchLimitExceeded("one element has too many branches")
            at += 2 if want.others else 1
        table: WordTable[Goal] = {}
        for vector, demands in options:
            cost = self._cost((child, demands))
            if cost is not None and (vector not in table or cost < table[vector][0]):
                table[vector] = (cost, ((child, demands),))
        return table

    def _takes(self, child: str, want: Want) -> list[tuple[int, frozenset[Demand]]]:
        """As what a child may serve a want: itself (0), one of the others (1), or the way to it (0)."""
        found: list[tuple[int, frozenset[Demand]]] = []
        if self.names.may_match(want.test, child):
            if self._hopeful(child, want.demands):
                found.append((0, want.demands))
            if want.others and self._hopeful(child, want.other_demands):
                found.append((1, want.other_demands))
        if want.deeper and self._hopeful(child, push := frozenset([want.steps])):
            found.append((0, push))
        return found

    def _hopeful(self, name: str, demands: frozenset[Demand]) -> bool:
        return all(not isinstance(demand, tuple) or self.leads(name, demand) for demand in demands)

    def leads(self, name: str, steps: Steps) -> bool:
        """Whether the bare steps, without their conditions, lead anywhere from such an element."""
        if not steps:
            return True
        key = (name, steps)
        known = self._leads.get(key)
        if known is None:
            known = self._leads[key] = bool(self.frontier([name], steps))
        return known

    def frontier(self, names: list[str], steps: Steps) -> list[str]:
        """The elements to which the bare steps may lead from these; theirs, if they end in a leaf node."""
        for step in steps:
            if step.axis is Axis.ATTRIBUTE:
                return [name for name in names if self._has_attribute(name, step.test)]
            if step.test.kind in (TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION):
                return names
            found: dict[str, None] = {}
            for name in names:
                if step.axis is Axis.CHILD:
                    below = self.children(name)
                else:
                    below = self.descendants(name)
                    if step.axis is Axis.DESCENDANT_OR_SELF:
                        below = (name, *below)
                found.update(dict.fromkeys(below))
            node = step.test.kind is TestKind.NODE
            after = [one for one in found if node or (one and self.names.may_match(step.test, one))]
            if node and step.axis is not Axis.DESCENDANT_OR_SELF:
                return after or names  # text and comments are nodes too
            names = after
            if not names:
                return []
        return names

    def _has_attribute(self, name: str, test: Test) -> bool:
        return any(
            self.names.may_match(test, one.name, attribute=True)
            for one in self.element(name).attributes
            if not one.declares_namespace
        )

    def children(self, name: str) -> tuple[str, ...]:
        """The elements that may stand in this one."""
        if name == DOCUMENT:
            return tuple(root for root in self.schema.roots if root in self._graph.size)
        return self._graph.children[name]

    def descendants(self, name: str) -> tuple[str, ...]:
        """The elements that may stand in this one, at any depth."""
        known = self._below.get(name)
        if known is None:
            found = dict.fromkeys(self.children(name))
            waiting = list(found)
            for one in waiting:
                for child in self._graph.children[one]:
                    if child not in found:
                        found[child] = None
                        waiting.append(child)
            known = self._below[name] = tuple(found)
        return known

    def _in_place(self, way: Way, children: tuple[Goal, ...]) -> tuple[Goal, ...]:
        """Children of one name may change places: the one that is wanted third goes to the third place."""
        order = list(children)
        for want in way.wants:
            if want.place is None or not want.others:
                continue
            passing = [
                i for i, goal in enumerate(order) if self.names.may_match(want.test, goal[0])
            ]
            wanted = [i for i in passing if want.demands <= order[i][1]]
            if not wanted or len(passing) < want.place:
                continue
            here, there = wanted[0], passing[want.place - 1]
            if order[here][0] == order[there][0]:
                order[here], order[there] = order[there], order[here]
        return tuple(order)
