"""What is asked of one element, sorted: by its own name, its attributes, its text, its children.

A demand at an element is a condition of the pattern, or the steps of a path that must lead somewhere from here. `ways` lists the
ways in which a set of demands can be met: one for each choice among alternatives (`or`; descendant-or-self: here or deeper).
A way never asks for more than its demands do, so if no way can be had, the demands cannot be met. It may ask for
less, where that is not followed up: negations of anything but a child, an attribute or a value; counts and
places beyond `MOST`; absolute paths inside predicates. A document made from a way is therefore checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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

__all__ = ["MOST", "Demand", "SearchLimitExceeded", "Steps", "Want", "Way", "ways"]

MOST = 12  # so many siblings are followed up for [n] and count() > n
_WAYS = 256  # alternatives at one element

Steps = tuple[Step, ...]
Demand = Condition | Steps
_ELEMENT = Test(TestKind.ANY)
_ELEMENTS = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)


class SearchLimitExceeded(Exception):
    """There is more to look into than is looked into."""


@dataclass(frozen=True, slots=True)
class Want:
    """A child (or, `deeper`, a descendant) that passes the test and meets the demands.

    `others`: so many more children must pass the test and `other_demands`; each is a child of its own.
    """

    test: Test
    demands: frozenset[Demand]
    deeper: bool = False
    others: int = 0
    other_demands: frozenset[Demand] = frozenset()
    place: int | None = None  # the place among those, if it must have one

    @property
    def steps(self) -> Steps:
        """The want as a demand, for a child to meet deeper down."""
        conditions = tuple(one for one in self.demands if isinstance(one, Condition))
        rest = [one for one in self.demands if not isinstance(one, Condition)]
        first = Step(Axis.DESCENDANT, self.test, tuple(sorted(conditions, key=_digest)))
        return (first, *(rest[0] if rest else ()))


def _digest(condition: Condition) -> bytes:
    return condition.digest


@dataclass(frozen=True, slots=True)
class Way:
    """One way to meet the demands at an element."""

    wants: tuple[Want, ...] = ()
    attributes: tuple[tuple[Test, tuple[Condition, ...]], ...] = ()
    values: tuple[Condition, ...] = ()  # tests of the element's own string-value
    others: tuple[tuple[Test, tuple[Condition, ...]], ...] = ()  # text, comments, instructions
    names: tuple[tuple[Test, bool], ...] = ()  # tests that the element itself passes, or does not
    no_children: tuple[Test, ...] = ()
    no_attributes: tuple[Test, ...] = ()


def ways(demands: frozenset[Demand], *, document: bool) -> Iterator[Way]:
    """The ways to meet the demands at an element, or at the document node."""
    made = 0
    waiting: list[tuple[Way, tuple[Demand, ...]]] = [(Way(), tuple(demands))]
    while waiting:
        way, pending = waiting.pop()
        while pending:
            demand, pending = pending[0], pending[1:]
            choices = (
                _condition(demand, way, document)
                if isinstance(demand, Condition)
                else _steps(demand, way)
            )
            if not choices:
                break
            (way, more), *alternatives = choices
            waiting += [(other, (*extra, *pending)) for other, extra in reversed(alternatives)]
            pending = (*more, *pending)
        else:
            made += 1
            yield way
        if made + len(waiting) > _WAYS:
            raise SearchLimitExceeded("there are too many alternatives at one element")


_Choices = list[tuple[Way, tuple[Demand, ...]]]  # the way so far, and what is still to be met


def _condition(condition: Condition, way: Way, document: bool) -> _Choices:
    match condition:
        case Always(holds=answer):
            return [(way, ())] if answer else []
        case And(parts=parts):
            return [(way, parts)]
        case Or(parts=parts):
            return [(way, (part,)) for part in parts]
        case Not(part=part):
            return _negation(part, way)
        case Value():
            return [(replace(way, values=(*way.values, condition)), ())]
        case Is(test=test):
            return [(replace(way, names=(*way.names, (test, True))), ())]
        case Exists(path=path):
            return [(way, () if path.absolute and not document else (path.steps,))]
        case First(path=path, value=value):
            if value.holds("") or not path.steps or (path.absolute and not document):
                return [(way, ())]
            last = path.steps[-1]
            tested = replace(last, conditions=(*last.conditions, value))
            return [(way, ((*path.steps[:-1], tested),))]
        case Count(path=path):
            least = next((n for n in range(MOST + 1) if condition.holds(n)), MOST)
            if least == 0 or (path.absolute and not document):
                return [(way, ())]
            return _steps(path.steps, way, least if len(path.steps) == 1 else 1)
        case _:  # a place that was not part of a child step: not followed up
            return [(way, ())]


def _negation(part: Condition, way: Way) -> _Choices:
    match part:
        case Always(holds=answer):
            return [] if answer else [(way, ())]
        case Not(part=inner):
            return [(way, (inner,))]
        case And(parts=parts):
            return [(way, (Not(one),)) for one in parts]
        case Or(parts=parts):
            return [(way, tuple(Not(one) for one in parts))]
        case Value():
            return [(replace(way, values=(*way.values, Not(part))), ())]
        case Is(test=test):
            return [(replace(way, names=(*way.names, (test, False))), ())]
        case Exists(path=path) if not path.absolute and len(path.steps) == 1:
            (step,) = path.steps
            if step.conditions:
                return [(way, ())]
            if step.axis is Axis.ATTRIBUTE:
                return [(replace(way, no_attributes=(*way.no_attributes, step.test)), ())]
            if step.axis is Axis.CHILD and step.test.kind in (*_ELEMENTS, TestKind.NODE):
                return [(replace(way, no_children=(*way.no_children, step.test)), ())]
            return [(way, ())]
        case _:
            return [(way, ())]


def _steps(steps: Steps, way: Way, least: int = 1) -> _Choices:
    """Where the first step of a path may go from here."""
    if not steps:
        return [(way, ())]
    step, rest = steps[0], steps[1:]
    after: tuple[Demand, ...] = (rest,) if rest else ()
    conditions = tuple(one for one in step.conditions if not one.positional)
    match step.axis:
        case Axis.ATTRIBUTE:
            found = (step.test, conditions)
            return [(replace(way, attributes=(*way.attributes, found)), ())]
        case Axis.DESCENDANT_OR_SELF:
            here = (Is(step.test), *conditions, *after)
            deeper = (replace(step, axis=Axis.DESCENDANT), *rest)
            return [(way, here), (way, (deeper,))]
        case Axis.CHILD | Axis.DESCENDANT:
            return _downward(step, conditions, rest, way, least)
        case _:
            raise AssertionError(step.axis)


def _downward(
    step: Step, conditions: tuple[Condition, ...], rest: Steps, way: Way, least: int
) -> _Choices:
    deeper = step.axis is Axis.DESCENDANT
    choices: _Choices = []
    if step.test.kind in (*_ELEMENTS, TestKind.NODE):
        test = _ELEMENT if step.test.kind is TestKind.NODE else step.test
        demands = frozenset[Demand]((*conditions, *((rest,) if rest else ())))
        want = Want(test, demands, deeper)
        if not deeper and step.test.kind is not TestKind.NODE:
            want = _placed(step, want, least)
        choices.append((replace(way, wants=(*way.wants, want)), ()))
    if step.test.kind not in _ELEMENTS and not rest:
        found = (step.test, conditions)
        choices.append((replace(way, others=(*way.others, found)), ()))
        if deeper and step.test.kind is not TestKind.NODE:
            below = replace(step, axis=Axis.CHILD)
            want = Want(_ELEMENT, frozenset([(below,)]), deeper=True)
            choices.append((replace(way, wants=(*way.wants, want)), ()))
    return choices


def _placed(step: Step, want: Want, least: int) -> Want:
    """A child with a place among its siblings needs those siblings."""
    before: list[Demand] = []
    for condition in step.conditions:
        if isinstance(condition, Position):
            places = (
                (last, place)
                for last in range(1, MOST + 1)
                for place in range(1, last + 1)
                if condition.holds(place, last)
            )
            last, place = next(places, (MOST, None))
            others, wanted = max(last - 1, least - 1), place
            return replace(want, others=others, other_demands=frozenset(before), place=wanted)
        if not condition.positional:
            before.append(condition)
    return replace(want, others=least - 1, other_demands=frozenset(before))
