"""Demands on one element in disjunctive normal form: its name, attributes, text and children.

A demand is a condition of the pattern, or the remaining steps of a path that starts at the element.
`disjuncts` enumerates the alternatives (`or`; descendant-or-self: here or further down).

A disjunct never requires more than the demands do, so if none can be met, the demands cannot. It
may require less. Negations of anything but a child, an attribute or a value are dropped, and so are
counts and positions beyond `MAX_SIBLINGS` and absolute paths inside predicates. Therefore a
document made from a disjunct must be checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pathcast.budget import WorkBudget
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Not,
    Or,
    Position,
    Step,
    Value,
)

__all__ = [
    "MAX_SIBLINGS",
    "ChildRequirement",
    "Demand",
    "Disjunct",
    "SearchLimitExceeded",
    "Steps",
    "disjuncts",
]

MAX_SIBLINGS = 12  # the most siblings required for [n] and count() > n
_MAX_DISJUNCTS = 256  # at one element
_STEPS_PER_DEMAND = 3

Steps = tuple[Step, ...]
Demand = Condition | Steps
_ELEMENT = Test(TestKind.ANY)
_ELEMENTS = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)


class SearchLimitExceeded(Exception):
    """The search would exceed its bound; the question stays open."""


@dataclass(frozen=True, slots=True)
class ChildRequirement:
    """A required child that passes the test and meets the demands.

    If `at_any_depth`, a descendant will do. `siblings` further children, all distinct, must pass
    the test and meet `sibling_demands`.
    """

    test: Test
    demands: frozenset[Demand]
    at_any_depth: bool = False
    siblings: int = 0
    sibling_demands: frozenset[Demand] = frozenset()
    position: int | None = None  # among those siblings, if required

    @property
    def steps(self) -> Steps:
        """The requirement as a demand on a child, for a descendant of it to meet."""
        conditions = tuple(demand for demand in self.demands if isinstance(demand, Condition))
        paths = [demand for demand in self.demands if not isinstance(demand, Condition)]
        first = Step(Axis.DESCENDANT, self.test, tuple(sorted(conditions, key=_digest)))
        return (first, *(paths[0] if paths else ()))


def _digest(condition: Condition) -> bytes:
    return condition.digest


@dataclass(frozen=True, slots=True)
class Disjunct:
    """One conjunction of requirements on an element that meets the demands."""

    requirements: tuple[ChildRequirement, ...] = ()
    attributes: tuple[tuple[Test, tuple[Condition, ...]], ...] = ()
    values: tuple[Condition, ...] = ()  # conditions on the element's string-value
    leaf_nodes: tuple[tuple[Test, tuple[Condition, ...]], ...] = ()  # texts, comments, PIs
    names: tuple[tuple[Test, bool], ...] = ()  # tests that the element passes or fails
    no_children: tuple[Test, ...] = ()
    no_attributes: tuple[Test, ...] = ()


def disjuncts(
    demands: frozenset[Demand], budget: WorkBudget, *, document: bool
) -> Iterator[Disjunct]:
    """Yield the disjuncts of demands on an element, or on the document node."""
    count = 0
    waiting: list[tuple[Disjunct, tuple[Demand, ...]]] = [(Disjunct(), _in_order(demands))]
    while waiting:
        disjunct, pending = waiting.pop()
        while pending:
            budget.spend(_STEPS_PER_DEMAND + len(pending) // 10)  # the others are copied
            demand, pending = pending[0], pending[1:]
            choices = (
                _condition(demand, disjunct, document)
                if isinstance(demand, Condition)
                else _steps(demand, disjunct)
            )
            if not choices:
                break
            (disjunct, added), *alternatives = choices
            waiting += [
                (other, (*alternative_added, *pending))
                for other, alternative_added in reversed(alternatives)
            ]
            pending = (*added, *pending)
        else:
            count += 1
            yield disjunct
        if count + len(waiting) > _MAX_DISJUNCTS:
            raise SearchLimitExceeded("there are too many alternatives at one element")


def _in_order(demands: frozenset[Demand]) -> tuple[Demand, ...]:
    """Return the demands in an order that is the same in every process."""

    def key(demand: Demand) -> tuple[bytes, ...]:
        steps = demand if isinstance(demand, tuple) else (demand,)
        return tuple(part.digest for part in steps)

    return tuple(sorted(demands, key=key))


_Choices = list[tuple[Disjunct, tuple[Demand, ...]]]  # disjunct so far, open demands


def _condition(condition: Condition, disjunct: Disjunct, document: bool) -> _Choices:
    match condition:
        case Always(holds=answer):
            return [(disjunct, ())] if answer else []
        case And(parts=parts):
            return [(disjunct, parts)]
        case Or(parts=parts):
            return [(disjunct, (part,)) for part in parts]
        case Not(part=part):
            return _negation(part, disjunct)
        case Value():
            return [(replace(disjunct, values=(*disjunct.values, condition)), ())]
        case Is(test=test):
            return [(replace(disjunct, names=(*disjunct.names, (test, True))), ())]
        case Exists(path=path):
            return [(disjunct, () if path.absolute and not document else (path.steps,))]
        case First(path=path, value=value):
            if value.holds("") or not path.steps or (path.absolute and not document):
                return [(disjunct, ())]
            last = path.steps[-1]
            tested = replace(last, conditions=(*last.conditions, value))
            return [(disjunct, ((*path.steps[:-1], tested),))]
        case Count(path=path):
            least = next((n for n in range(MAX_SIBLINGS + 1) if condition.holds(n)), MAX_SIBLINGS)
            if least == 0 or (path.absolute and not document):
                return [(disjunct, ())]
            return _steps(path.steps, disjunct, least if len(path.steps) == 1 else 1)
        case _:  # a position outside a child step: dropped
            return [(disjunct, ())]


def _negation(part: Condition, disjunct: Disjunct) -> _Choices:
    match part:
        case Always(holds=answer):
            return [] if answer else [(disjunct, ())]
        case Not(part=inner):
            return [(disjunct, (inner,))]
        case And(parts=parts):
            return [(disjunct, (Not(operand),)) for operand in parts]
        case Or(parts=parts):
            return [(disjunct, tuple(Not(operand) for operand in parts))]
        case Value():
            return [(replace(disjunct, values=(*disjunct.values, Not(part))), ())]
        case Is(test=test):
            return [(replace(disjunct, names=(*disjunct.names, (test, False))), ())]
        case Exists(path=path) if not path.absolute and len(path.steps) == 1:
            (step,) = path.steps
            if step.conditions:
                return [(disjunct, ())]
            if step.axis is Axis.ATTRIBUTE:
                return [(replace(disjunct, no_attributes=(*disjunct.no_attributes, step.test)), ())]
            if step.axis is Axis.CHILD and step.test.kind in (*_ELEMENTS, TestKind.NODE):
                return [(replace(disjunct, no_children=(*disjunct.no_children, step.test)), ())]
            return [(disjunct, ())]
        case _:
            return [(disjunct, ())]


def _steps(steps: Steps, disjunct: Disjunct, least: int = 1) -> _Choices:
    """Return the alternatives for the first step of a path."""
    if not steps:
        return [(disjunct, ())]
    step, remaining = steps[0], steps[1:]
    after: tuple[Demand, ...] = (remaining,) if remaining else ()
    conditions = tuple(condition for condition in step.conditions if not condition.positional)
    match step.axis:
        case Axis.ATTRIBUTE:
            attribute = (step.test, conditions)
            return [(replace(disjunct, attributes=(*disjunct.attributes, attribute)), ())]
        case Axis.DESCENDANT_OR_SELF:
            here = (Is(step.test), *conditions, *after)
            deeper = (replace(step, axis=Axis.DESCENDANT), *remaining)
            return [(disjunct, here), (disjunct, (deeper,))]
        case Axis.CHILD | Axis.DESCENDANT:
            return _downward(step, conditions, remaining, disjunct, least)
        case _:
            raise AssertionError(step.axis)


def _downward(
    step: Step, conditions: tuple[Condition, ...], remaining: Steps, disjunct: Disjunct, least: int
) -> _Choices:
    deeper = step.axis is Axis.DESCENDANT
    choices: _Choices = []
    if step.test.kind in (*_ELEMENTS, TestKind.NODE):
        test = _ELEMENT if step.test.kind is TestKind.NODE else step.test
        demands = frozenset[Demand]((*conditions, *((remaining,) if remaining else ())))
        requirement = ChildRequirement(test, demands, deeper)
        if not deeper and step.test.kind is not TestKind.NODE:
            requirement = _with_position(step, requirement, least)
        choices.append((replace(disjunct, requirements=(*disjunct.requirements, requirement)), ()))
    if step.test.kind not in _ELEMENTS and not remaining:
        leaf = (step.test, conditions)
        choices.append((replace(disjunct, leaf_nodes=(*disjunct.leaf_nodes, leaf)), ()))
        if deeper and step.test.kind is not TestKind.NODE:
            below = replace(step, axis=Axis.CHILD)
            requirement = ChildRequirement(_ELEMENT, frozenset([(below,)]), at_any_depth=True)
            choices.append(
                (replace(disjunct, requirements=(*disjunct.requirements, requirement)), ())
            )
    return choices


def _with_position(step: Step, requirement: ChildRequirement, least: int) -> ChildRequirement:
    """Add the siblings that a position or a count requires."""
    preceding: list[Demand] = []
    for condition in step.conditions:
        if isinstance(condition, Position):
            candidates = (
                (last, index)
                for last in range(1, MAX_SIBLINGS + 1)
                for index in range(1, last + 1)
                if condition.holds(index, last)
            )
            last, index = next(candidates, (MAX_SIBLINGS, None))
            siblings, position = max(last - 1, least - 1), index
            return replace(
                requirement,
                siblings=siblings,
                sibling_demands=frozenset(preceding),
                position=position,
            )
        if not condition.positional:
            preceding.append(condition)
    return replace(requirement, siblings=least - 1, sibling_demands=frozenset(preceding))
