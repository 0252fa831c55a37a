"""Which part of a pattern makes it impossible under a DTD, and what may have been meant.

The pattern is built up again from its beginning, step by step and condition by condition, until it cannot be met any
more: the part added last is the culprit. What is said of it depends on why: no such child there, no such element at
all, no such attribute, a value that is not in an enumeration, or parts that cannot stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pathcast.schema.model import Attribute
from pathcast.schema.satisfiability.demands import SearchLimitExceeded, Steps
from pathcast.schema.satisfiability.solve import DOCUMENT, Solver
from pathcast.schema.schema import Schema
from pathcast.schema.similar_names import similar_names
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.text import CLARK, condition_text, test_text
from pathcast.xpath.tree import And, Condition, Exists, Not, Or, Path, Position, Step, Value

__all__ = ["Culprit", "culprit"]

_SHOWN = 4  # names in a message


@dataclass(frozen=True, slots=True)
class Culprit:
    """`at`: where in the pattern's text the part stands, from 0."""

    reason: str
    at: int | None = None
    similar_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the pattern, the bare steps that lead to where it stands, and the step it belongs to."""

    part: Step | Condition
    lead: Steps


def culprit(condition: Condition, schema: Schema) -> Culprit:
    """Why no valid document meets the condition; only asked where none does."""
    for grown, part in _grown(condition, ()):
        solver = Solver(schema)
        try:
            if solver.solve(frozenset([grown])) is None:
                return _described(part, solver)
        except SearchLimitExceeded:
            continue
    return Culprit("no valid document matches")


def _grown(condition: Condition, lead: Steps) -> Iterator[tuple[Condition, _Part]]:
    """The condition, from its first part to the whole of it."""
    match condition:
        case Exists(path=path):
            for steps, part in _paths(path, () if path.absolute else lead):
                yield Exists(replace(path, steps=steps)), part
        case And(parts=parts):
            for index, one in enumerate(parts):
                for grown, part in _grown(one, lead):
                    yield And((*parts[:index], grown)), part
        case Or(parts=parts):  # if the whole cannot be met, its first part cannot
            yield from _grown(parts[0], lead)
        case _:
            yield condition, _Part(condition, lead)


def _paths(path: Path, lead: Steps) -> Iterator[tuple[Steps, _Part]]:
    for index, step in enumerate(path.steps):
        before = path.steps[:index]
        bare = (*lead, *(replace(one, conditions=()) for one in before))
        yield (*before, replace(step, conditions=())), _Part(step, bare)
        here = (*bare, replace(step, conditions=()))
        for number, condition in enumerate(step.conditions):
            for grown, part in _grown(condition, here):
                conditions = (*step.conditions[:number], grown)
                yield (*before, replace(step, conditions=conditions)), part


def _described(found: _Part, solver: Solver) -> Culprit:
    match found.part:
        case Step(axis=Axis.ATTRIBUTE) as step:
            return _attribute(step, solver.frontier([DOCUMENT], found.lead), solver)
        case Step() as step:
            return _step(step, solver.frontier([DOCUMENT], found.lead), solver)
        case Value(at=at) as value:
            return _value(value, at, found.lead, solver)
        case Not(part=Exists(path=Path(steps=(Step(test=test, axis=axis),)))):
            places = _named(solver.frontier([DOCUMENT], found.lead))
            kind = "attribute " if axis is Axis.ATTRIBUTE else ""
            return Culprit(f"every {places} has {kind}{test_text(test, CLARK)}", _at(found.lead))
        case Position():
            return Culprit("there is no room for so many of them", _at(found.lead))
        case condition:
            text = condition_text(condition)
            return Culprit(f"[{text}] cannot be met there", _at(found.lead))


def _at(lead: Steps) -> int | None:
    return lead[-1].at if lead else None


def _step(step: Step, places: list[str], solver: Solver) -> Culprit:
    wanted = test_text(step.test, CLARK)
    if step.test.kind not in (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN):
        return Culprit(f"{_named(places)} cannot hold {wanted}", step.at)
    deeper = step.axis is not Axis.CHILD
    reached = solver.descendants if deeper else solver.children
    known = dict.fromkeys(name for place in places for name in reached(place))
    if any(solver.names.may_match(step.test, name) for name in known):
        return Culprit(f"{wanted} cannot stand there together with what else is asked for", step.at)
    if step.test.kind is not TestKind.NAME:
        return Culprit(f"{_named(places)} can hold no element {wanted}", step.at)
    close = tuple(similar_names(wanted, known) or similar_names(wanted, solver.schema.elements))
    above = [name for name in solver.schema.elements if _holds(solver, name, step.test)]
    if places == [DOCUMENT] and not deeper:
        reason = f"the root element is {_listed(solver.schema.roots)}, not {wanted}"
    elif places == [DOCUMENT] and not above:
        reason = f"there is no element {wanted}"
    else:
        relation = "descendant" if deeper else "child"
        reason = f"{_named(places)} has no {relation} {wanted}"
        if above:
            reason += f"; it stands in {_listed(above)}"
    return Culprit(reason + _hint(close), step.at, close)


def _holds(solver: Solver, name: str, test: Test) -> bool:
    return any(solver.names.may_match(test, child) for child in solver.children(name))


def _attribute(step: Step, places: list[str], solver: Solver) -> Culprit:
    wanted = test_text(step.test, CLARK)
    known = [one.name for place in places for one in _attributes(solver, place)]
    close = tuple(similar_names(wanted, known))
    reason = f"{_named(places)} has no attribute {wanted}"
    if known and not close and len(set(known)) <= _SHOWN:
        reason += f", only {_listed(dict.fromkeys(known))}"
    return Culprit(reason + _hint(close), step.at, close)


def _attributes(solver: Solver, place: str) -> list[Attribute]:
    return [one for one in solver.element(place).attributes if not one.declares_namespace]


def _value(value: Value, at: int, lead: Steps, solver: Solver) -> Culprit:
    text = condition_text(value)
    if lead and lead[-1].axis is Axis.ATTRIBUTE:
        known = {
            choice: None
            for place in solver.frontier([DOCUMENT], lead[:-1])
            for one in _attributes(solver, place)
            if solver.names.may_match(lead[-1].test, one.name, attribute=True)
            for choice in (one.values or ((one.value,) if one.value else ()))
        }
        close = tuple(similar_names(value.operand, known))
        which = test_text(lead[-1].test, CLARK)
        reason = f"the values of attribute {which} are {_listed(known)}: never {text}"
        return Culprit(reason + _hint(close), at, close)
    return Culprit(f"{_named(solver.frontier([DOCUMENT], lead))} has no text for {text}", at)


def _named(places: list[str]) -> str:
    return "the document" if places == [DOCUMENT] else _listed(places)


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    shown = " or ".join(every[:_SHOWN])
    return shown + (f" or {len(every) - _SHOWN} others" if len(every) > _SHOWN else "")


def _hint(close: tuple[str, ...]) -> str:
    return f" (near: {', '.join(close)})" if close else ""
