"""Solver: the smallest valid tree that meets demands, as a least fixpoint.

A *goal* is an element name with a set of demands. A disjunct of the demands (see `demands`)
requires children. The dynamic program of `words` assigns the requirements to the children of the
content model. A child may take any subset of them, at the cost of the goal that this makes of it.

Goals depend on each other cyclically, because a // requirement is passed down to a child of the
same name. So costs are a least fixpoint: all goals start as unreachable and improve until nothing
changes. No finite tree meets a goal that stays unreachable.

There are at most (elements x subsets of the pattern's suffixes) goals. Twigs with many // branches
have many, so the work is bounded; beyond the bound the solver raises `SearchLimitExceeded`. In a
path without branches every goal has one requirement. A pattern of such paths is replaced by a
shortest root path first (`shortest_path`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from pathcast.budget import WorkBudget
from pathcast.schema.model import (
    Child,
    Choice,
    Content,
    ContentKind,
    Element,
    Occurs,
    names_of,
)
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
from pathcast.schema.satisfiability.shortest_path import linear_paths, shortest_path
from pathcast.schema.schema import Schema
from pathcast.schema.words import Vector, WordTable, cheapest_words
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import Condition, Step

__all__ = ["DOCUMENT", "Goal", "Solver", "TreePlan"]

DOCUMENT = ""  # name of the document node, whose only child is a root
_MAX_GOALS = 4000
_MAX_REQUIREMENTS = 8  # at one element at once
_MAX_OPTIONS = 2000  # subsets of requirements that one child may take
_MAX_TABLE_SIZE = 1024  # vectors of one content model

_STEPS_PER_CHILD = 3  # of a content model, when its options are found

Goal = tuple[str, frozenset[Demand]]


@dataclass(frozen=True, slots=True)
class TreePlan:
    """How a goal is met: the element's local content, and the goals of its children in order."""

    filling: Filling
    children: tuple[Goal, ...]


_Options = list[tuple[Vector, Goal]]  # the requirements that a child takes, and its goal then


@dataclass(slots=True)
class _OpenDisjunct:
    """A disjunct of a goal's demands, and the options of each child of the content model."""

    disjunct: Disjunct
    filling: Filling
    options: dict[str, _Options] = field(default_factory=dict)


class Solver:
    """All goals of one satisfiability question."""

    def __init__(self, schema: Schema, budget: WorkBudget) -> None:
        self.schema = schema
        self.budget = budget
        self.names = DtdNamespaces(schema.elements.values())
        self.plans: dict[Goal, TreePlan] = {}
        self._graph = schema.graph
        roots = tuple(Child(root) for root in schema.roots if root in self._graph.size)
        self._document = Element(DOCUMENT, ContentKind.CHILDREN, Choice(roots))
        self._costs: dict[Goal, int] = {}
        self._disjuncts: dict[Goal, list[_OpenDisjunct]] = {}
        self._waiting: list[Goal] = []
        self._stale: set[Goal] = set()  # goals to compute again
        self._users: dict[Goal, set[Goal]] = {}  # goals that depend on the cost of a goal
        self._options: dict[tuple[object, object], dict[str, _Options]] = {}
        self._everywhere = frozenset([DOCUMENT, *self._graph.size])
        self._start_elements: dict[Steps, frozenset[str]] = {}
        self._passing_elements: dict[Test, frozenset[str]] = {}

    def solve(self, demands: frozenset[Demand]) -> Goal | None:
        """Return a goal at the document node that can be met; `plans` then holds its tree.

        The goal has the demands, or a shortest path that meets them if they are a linear pattern.
        """
        narrowed = self._narrow(demands)
        if narrowed is None:
            return None
        top = (DOCUMENT, narrowed)
        self._cost(top)
        # Stop at the first tree, which need not be the smallest.
        while self._stale and top not in self._costs:
            for goal in self._waiting[::-1]:  # goals without dependencies were opened last
                if goal in self._stale:
                    self._stale.remove(goal)
                    self._improve(goal)
        return top if top in self._costs else None

    def _narrow(self, demands: frozenset[Demand]) -> frozenset[Demand] | None:
        """Replace a linear pattern by a shortest path that it selects; None if there is none."""
        (demand, *others) = demands
        paths = linear_paths(demand) if isinstance(demand, Condition) and not others else None
        if paths is None:
            return demands
        path = shortest_path(
            paths, DOCUMENT, self.children, self._passing, self._has_attribute, self.budget
        )
        return None if path is None else frozenset([path])

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
        open_disjuncts = []
        for disjunct in disjuncts(demands, self.budget, document=name == DOCUMENT):
            filled_disjuncts = fill(element, disjunct, self.names, self.budget, text_below=text)
            for filled, filling in filled_disjuncts:
                if len(filled.requirements) > _MAX_REQUIREMENTS:
                    raise SearchLimitExceeded("one element has too many branches")
                open_disjuncts.append(_OpenDisjunct(filled, filling))
        self._disjuncts[goal] = open_disjuncts
        if open_disjuncts:
            self._waiting.append(goal)
            self._stale.add(goal)

    def _improve(self, goal: Goal) -> None:
        """Compute the cheapest words of a goal from the present costs of its children."""
        content = self._content(self.element(goal[0]))
        for open_disjunct in self._disjuncts[goal]:
            disjunct = open_disjunct.disjunct
            if not open_disjunct.options:
                self._find_options(goal, open_disjunct, content)
            target = _target(disjunct)
            words = cheapest_words(content, self._price(open_disjunct), target, self.budget)
            word = words.get(target)
            if word is None:
                continue
            cost = word[0] + 1
            if cost < self._costs.get(goal, cost + 1):
                self._costs[goal] = cost
                self.plans[goal] = TreePlan(
                    open_disjunct.filling, self._order_children(disjunct, word[1])
                )
                self._stale |= self._users.get(goal, set())

    def _find_options(
        self, goal: Goal, open_disjunct: _OpenDisjunct, content: Content | None
    ) -> None:
        """Find the goals that the children of a goal may have."""
        disjunct = open_disjunct.disjunct
        size = math.prod(requirement.siblings + 2 for requirement in disjunct.requirements)
        if size > _MAX_TABLE_SIZE:
            raise SearchLimitExceeded("one element has too many branches and positions")
        shared = self._options.setdefault((disjunct.requirements, disjunct.no_children), {})
        for child in dict.fromkeys(names_of(content)):
            self.budget.spend(_STEPS_PER_CHILD)
            options = shared.get(child)
            if options is None:
                options = shared[child] = self._child_options(child, disjunct)
            self.budget.spend(len(options))
            open_disjunct.options[child] = options
            for _, child_goal in options:
                self._users.setdefault(child_goal, set()).add(goal)

    def _price(self, open_disjunct: _OpenDisjunct) -> Callable[[str], WordTable[Goal]]:
        """Return the function from a child to its cheapest goals."""

        def leaf(child: str) -> WordTable[Goal]:
            table: WordTable[Goal] = {}
            options = open_disjunct.options[child]
            self.budget.spend(1 + len(options))
            for vector, goal in options:
                cost = self._cost(goal)
                if cost is not None and (vector not in table or cost < table[vector][0]):
                    table[vector] = (cost, (goal,))
            return table

        return leaf

    def _content(self, element: Element) -> Content | None:
        if element.kind is ContentKind.ANY:
            return Choice(tuple(Child(name) for name in self._graph.size), Occurs.ANY)
        return element.content

    def _child_options(self, child: str, disjunct: Disjunct) -> _Options:
        """Return the subsets of the requirements that one child may take, and its goal then."""
        if child not in self._graph.size:
            return []
        if any(self.names.must_match(test, child) for test in disjunct.no_children):
            return []
        nothing = (0,) * len(_target(disjunct))
        options: dict[tuple[Vector, frozenset[Demand]], None] = {(nothing, frozenset()): None}
        at = 0
        for requirement in disjunct.requirements:
            roles = self._roles_of(child, requirement)
            self.budget.spend(len(options) * len(roles))
            for vector, demands in list(options):
                for offset, added in roles:
                    advanced = tuple(1 if i == at + offset else n for i, n in enumerate(vector))
                    options[advanced, demands | added] = None
            if len(options) > _MAX_OPTIONS:
                raise SearchLimitExceeded("one element has too many branches")
            at += 2 if requirement.siblings else 1
        return [(vector, (child, demands)) for vector, demands in options]

    def _roles_of(
        self, child: str, requirement: ChildRequirement
    ) -> list[tuple[int, frozenset[Demand]]]:
        """Return (offset, demands) pairs: the child itself (0), a sibling (1), an ancestor (0)."""
        roles: list[tuple[int, frozenset[Demand]]] = []
        if child in self._passing(requirement.test):
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
            not isinstance(demand, tuple) or name in self._starts(demand) for demand in demands
        )

    def _starts(self, steps: Steps) -> frozenset[str]:
        """Return the elements from which the steps without their conditions lead anywhere.

        Backwards: the elements that pass the test of the first step and start the others, then
        their parents or ancestors. All goals of one suffix share the result.
        """
        starts = self._start_elements.get(steps)
        if starts is not None:
            return starts
        starts = self._everywhere
        for index in range(len(steps) - 1, -1, -1):
            starts = self._step_starts(steps[index], starts)
            self._start_elements[steps[index:]] = starts
        return starts

    def _step_starts(self, step: Step, targets: frozenset[str]) -> frozenset[str]:
        """Return the elements from which a step may lead to one of the targets."""
        if step.axis is Axis.ATTRIBUTE:
            return frozenset(
                name for name in self._everywhere if self._has_attribute(name, step.test)
            )
        if _may_leave_elements(step):
            return self._everywhere
        targets &= self._passing(step.test)
        starts = self._parents_of(targets, at_any_depth=step.axis is not Axis.CHILD)
        return starts | targets if step.axis is Axis.DESCENDANT_OR_SELF else starts

    def _parents_of(self, names: frozenset[str], *, at_any_depth: bool) -> frozenset[str]:
        """Return the elements, and the document node, that may be above these."""
        roots = frozenset(self.children(DOCUMENT))
        above: set[str] = set()
        waiting = list(names - {DOCUMENT})
        for name in waiting:
            parents = {*self._graph.parents[name], *([DOCUMENT] if name in roots else [])} - above
            above |= parents
            self.budget.spend(1 + len(self._graph.parents[name]) // 10)
            if at_any_depth:
                waiting += parents - {DOCUMENT}
        return frozenset(above)

    def _passing(self, test: Test) -> frozenset[str]:
        """Return the elements that may pass a test; for node(), the document node too."""
        passing = self._passing_elements.get(test)
        if passing is None:
            passing = self._everywhere
            if test.kind is not TestKind.NODE:
                passing = frozenset(
                    name for name in passing if name and self.names.may_match(test, name)
                )
            self._passing_elements[test] = passing
        return passing

    def frontier(self, names: list[str], steps: Steps) -> list[str]:
        """Return the elements that the steps without conditions may reach from these.

        For a path to an attribute or text, these are the elements that own it.
        """
        for step in steps:
            if step.axis is Axis.ATTRIBUTE:
                return [name for name in names if self._has_attribute(name, step.test)]
            reached: dict[str, None] = {}
            if step.axis is Axis.DESCENDANT_OR_SELF:
                reached.update(dict.fromkeys(names))
            below = dict.fromkeys(child for name in names for child in self.children(name))
            reached.update(below)
            if step.axis is not Axis.CHILD:
                for name in (waiting := list(below)):
                    for child in self.children(name):
                        if child not in below:
                            below[child] = reached[child] = None
                            waiting.append(child)
            after = [name for name in reached if name in self._passing(step.test)]
            if _may_leave_elements(step):
                return after or names  # texts and comments are nodes as well
            names = after
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

    def descendants(self, name: str) -> frozenset[str]:
        """Return the elements that may be descendants of this one."""
        if name != DOCUMENT:
            return self._graph.descendants(name)
        roots = frozenset(self.children(DOCUMENT))
        return roots.union(*(self._graph.descendants(root) for root in roots))

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


def _target(disjunct: Disjunct) -> Vector:
    """Return the counts to reach: each required child, and its siblings."""
    return tuple(
        count
        for requirement in disjunct.requirements
        for count in ((1, requirement.siblings) if requirement.siblings else (1,))
    )


def _may_leave_elements(step: Step) -> bool:
    """Return whether a downward step may select a text, a comment or an instruction."""
    if step.test.kind is TestKind.NODE:
        return step.axis in (Axis.CHILD, Axis.DESCENDANT)
    return step.test.kind in (TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION)
