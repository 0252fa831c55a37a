"""Solver: the smallest valid tree that meets demands, as a least fixpoint.

A *goal* is an element name with a set of demands. A disjunct of the demands (see `demands`)
requires children. The dynamic program of `words` assigns the requirements to the children of the
content model. A child may take any subset of them, at the cost of the goal that this makes of it.

Goals depend on each other cyclically, because a // requirement is passed down to a child of the
same name. So costs are a least fixpoint: all goals start as unreachable and improve until nothing
changes. No finite tree meets a goal that stays unreachable.

There are at most (elements x subsets of the pattern's suffixes) goals. Twigs with many // branches
have many, so the work is bounded; beyond the bound the solver raises `SearchLimitExceeded`. In a
path without branches every goal has one requirement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pathcast.schema.model import Child, Choice, Content, ContentKind, Element, Occurs
from pathcast.schema.satisfiability.demands import (
    ChildRequirement,
    Demand,
    Disjunct,
    SearchLimitExceeded,
    Steps,
    disjuncts,
)
from pathcast.schema.satisfiability.fill import Filling, fill
from pathcast.schema.satisfiability.namespaces import DtdNamespaces
from pathcast.schema.schema import Schema
from pathcast.schema.words import Vector, WordTable, cheapest_words
from pathcast.xpath.syntax import Axis, Test, TestKind

__all__ = ["DOCUMENT", "Goal", "Solver", "TreePlan"]

DOCUMENT = ""  # name of the document node, whose only child is a root
_MAX_GOALS = 4000
_MAX_REQUIREMENTS = 8  # at one element at once
_MAX_OPTIONS = 2000  # subsets of requirements that one child may take
_MAX_TABLE_SIZE = 1024  # vectors of one content model

Goal = tuple[str, frozenset[Demand]]


@dataclass(frozen=True, slots=True)
class TreePlan:
    """How a goal is met: the element's local content, and the goals of its children in order."""

    filling: Filling
    children: tuple[Goal, ...]


class Solver:
    """All goals of one satisfiability question."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.names = DtdNamespaces(schema.elements.values())
        self.plans: dict[Goal, TreePlan] = {}
        self._graph = schema.graph
        roots = tuple(Child(root) for root in schema.roots if root in self._graph.size)
        self._document = Element(DOCUMENT, ContentKind.CHILDREN, Choice(roots))
        self._costs: dict[Goal, int] = {}
        self._disjuncts: dict[Goal, list[tuple[Disjunct, Filling]]] = {}
        self._waiting: list[Goal] = []
        self._below: dict[str, tuple[str, ...]] = {}
        self._can_lead: dict[tuple[str, Steps], bool] = {}

    def solve(self, demands: frozenset[Demand]) -> Goal | None:
        """Return the goal at the document node if it can be met; `plans` then holds its tree."""
        top = (DOCUMENT, demands)
        self._cost(top)
        changed = True
        # Stop at the first tree, which need not be the smallest.
        while changed and top not in self._costs:
            opened = len(self._waiting)
            changed = False
            for goal in self._waiting[::-1]:  # goals without dependencies were opened last
                changed |= self._improve(goal)
            changed |= len(self._waiting) > opened
        return top if top in self._costs else None

    def element(self, name: str) -> Element:
        return self._document if name == DOCUMENT else self.schema.elements[name]

    def _cost(self, goal: Goal) -> int | None:
        name, demands = goal
        if not demands and name != DOCUMENT:
            return self._graph.size.get(name)
        if goal not in self._disjuncts:
            self._open_goal(goal)
        return self._costs.get(goal)

    def _open_goal(self, goal: Goal) -> None:
        name, demands = goal
        if len(self._disjuncts) >= _MAX_GOALS:
            raise SearchLimitExceeded("there are too many combinations of branches")
        element = self.element(name)
        text = name == DOCUMENT or name in self._graph.with_text
        filled_disjuncts = []
        for disjunct in disjuncts(demands, document=name == DOCUMENT):
            for filled, filling in fill(element, disjunct, self.names, text_below=text):
                if len(filled.requirements) > _MAX_REQUIREMENTS:
                    raise SearchLimitExceeded("one element has too many branches")
                filled_disjuncts.append((filled, filling))
        self._disjuncts[goal] = filled_disjuncts
        if filled_disjuncts:
            self._waiting.append(goal)

    def _improve(self, goal: Goal) -> bool:
        name = goal[0]
        changed = False
        for disjunct, filling in self._disjuncts[goal]:
            content = self._content(self.element(name))
            if (
                math.prod(requirement.siblings + 2 for requirement in disjunct.requirements)
                > _MAX_TABLE_SIZE
            ):
                raise SearchLimitExceeded("one element has too many branches and positions")
            target = tuple(
                n
                for requirement in disjunct.requirements
                for n in ((1, requirement.siblings) if requirement.siblings else (1,))
            )

            def leaf(
                child: str, disjunct: Disjunct = disjunct, size: int = len(target)
            ) -> WordTable[Goal]:
                return self._child_options(child, disjunct, size)

            word = cheapest_words(content, leaf, target).get(target)
            if word is None:
                continue
            cost = word[0] + 1
            if cost < self._costs.get(goal, cost + 1):
                self._costs[goal] = cost
                self.plans[goal] = TreePlan(filling, self._order_children(disjunct, word[1]))
                changed = True
        return changed

    def _content(self, element: Element) -> Content | None:
        if element.kind is ContentKind.ANY:
            return Choice(tuple(Child(name) for name in self._graph.size), Occurs.ANY)
        return element.content

    def _child_options(self, child: str, disjunct: Disjunct, size: int) -> WordTable[Goal]:
        """Return the subsets of the requirements that one child may take, with their costs."""
        if child not in self._graph.size:
            return {}
        if any(self.names.must_match(test, child) for test in disjunct.no_children):
            return {}
        options: dict[tuple[Vector, frozenset[Demand]], None] = {((0,) * size, frozenset()): None}
        at = 0
        for requirement in disjunct.requirements:
            for vector, demands in list(options):
                for offset, added in self._roles_of(child, requirement):
                    advanced = tuple(1 if i == at + offset else n for i, n in enumerate(vector))
                    options[advanced, demands | added] = None
            if len(options) > _MAX_OPTIONS:
                raise SearchLimitExceeded("one element has too many branches")
            at += 2 if requirement.siblings else 1
        table: WordTable[Goal] = {}
        for vector, demands in options:
            cost = self._cost((child, demands))
            if cost is not None and (vector not in table or cost < table[vector][0]):
                table[vector] = (cost, ((child, demands),))
        return table

    def _roles_of(
        self, child: str, requirement: ChildRequirement
    ) -> list[tuple[int, frozenset[Demand]]]:
        """Return (offset, demands) pairs: the child itself (0), a sibling (1), an ancestor (0)."""
        roles: list[tuple[int, frozenset[Demand]]] = []
        if self.names.may_match(requirement.test, child):
            if self._may_meet(child, requirement.demands):
                roles.append((0, requirement.demands))
            if requirement.siblings and self._may_meet(child, requirement.sibling_demands):
                roles.append((1, requirement.sibling_demands))
        if requirement.at_any_depth and self._may_meet(
            child, pushed_down := frozenset([requirement.steps])
        ):
            roles.append((0, pushed_down))
        return roles

    def _may_meet(self, name: str, demands: frozenset[Demand]) -> bool:
        return all(
            not isinstance(demand, tuple) or self.can_lead(name, demand) for demand in demands
        )

    def can_lead(self, name: str, steps: Steps) -> bool:
        """Return whether the steps without their conditions lead anywhere from such an element."""
        if not steps:
            return True
        key = (name, steps)
        reachable = self._can_lead.get(key)
        if reachable is None:
            reachable = self._can_lead[key] = bool(self.frontier([name], steps))
        return reachable

    def frontier(self, names: list[str], steps: Steps) -> list[str]:
        """Return the elements that the steps without conditions may reach from these.

        For a path to an attribute or text, these are the elements that own it.
        """
        for step in steps:
            if step.axis is Axis.ATTRIBUTE:
                return [name for name in names if self._has_attribute(name, step.test)]
            if step.test.kind in (TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION):
                return names
            reached: dict[str, None] = {}
            for name in names:
                if step.axis is Axis.CHILD:
                    below = self.children(name)
                else:
                    below = self.descendants(name)
                    if step.axis is Axis.DESCENDANT_OR_SELF:
                        below = (name, *below)
                reached.update(dict.fromkeys(below))
            node = step.test.kind is TestKind.NODE
            after = [
                reached_name
                for reached_name in reached
                if node or (reached_name and self.names.may_match(step.test, reached_name))
            ]
            if node and step.axis is not Axis.DESCENDANT_OR_SELF:
                return after or names  # texts and comments are nodes as well
            names = after
            if not names:
                return []
        return names

    def _has_attribute(self, name: str, test: Test) -> bool:
        return any(
            self.names.may_match(test, attribute.name, attribute=True)
            for attribute in self.element(name).attributes
            if not attribute.declares_namespace
        )

    def children(self, name: str) -> tuple[str, ...]:
        """Return the elements that may be children of this one."""
        if name == DOCUMENT:
            return tuple(root for root in self.schema.roots if root in self._graph.size)
        return self._graph.children[name]

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return the elements that may be descendants of this one."""
        cached = self._below.get(name)
        if cached is None:
            names = dict.fromkeys(self.children(name))
            waiting = list(names)
            for ancestor in waiting:
                for child in self._graph.children[ancestor]:
                    if child not in names:
                        names[child] = None
                        waiting.append(child)
            cached = self._below[name] = tuple(names)
        return cached

    def _order_children(self, disjunct: Disjunct, children: tuple[Goal, ...]) -> tuple[Goal, ...]:
        """Swap children of one name so that a child with a required position has it."""
        order = list(children)
        for requirement in disjunct.requirements:
            if requirement.position is None or not requirement.siblings:
                continue
            passing = [
                i for i, goal in enumerate(order) if self.names.may_match(requirement.test, goal[0])
            ]
            chosen = [i for i in passing if requirement.demands <= order[i][1]]
            if not chosen or len(passing) < requirement.position:
                continue
            source, target = chosen[0], passing[requirement.position - 1]
            if order[source][0] == order[target][0]:
                order[source], order[target] = order[target], order[source]
        return tuple(order)
