"""Explanation of a no: the part of a pattern that makes it unsatisfiable, and similar names.

The pattern is rebuilt from its start, step by step and condition by condition, until it becomes
unsatisfiable. The part added last is the culprit. The reason names the cause: no such child there,
no such element, no such attribute, a value outside an enumeration, or parts that exclude each
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.schema.model import Attribute
from pathcast.schema.satisfiability.demands import SearchLimitExceeded, Steps
from pathcast.schema.satisfiability.solve import DOCUMENT, Solver
from pathcast.schema.schema import Schema
from pathcast.schema.similar_names import similar_names
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.text import CLARK, condition_text, test_text
from pathcast.xpath.tree import And, Condition, Exists, Not, Or, Path, Position, Step, Value

__all__ = ["Culprit", "culprit"]

_MAX_NAMES_SHOWN = 4  # in one message


@dataclass(frozen=True, slots=True)
class Culprit:
    """The unsatisfiable part; `at` is its offset in the pattern's text, from 0."""

    reason: str
    at: int | None = None
    similar_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _PatternPart:
    """A part of the pattern, and the bare steps that lead to it."""

    part: Step | Condition
    lead: Steps


def culprit(condition: Condition, schema: Schema, budget: WorkBudget) -> Culprit:
    """Return why no valid document meets an unsatisfiable condition.

    The explanation names no part if the budget ends before the part is found.
    """
    for grown, part in _growing_conditions(condition, ()):
        solver = Solver(schema, budget)
        try:
            if solver.solve(frozenset([grown])) is None:
                return _describe(part, solver)
        except SearchLimitExceeded:
            continue
        except BudgetExceeded:
            break
    return Culprit("no valid document matches")


def _growing_conditions(
    condition: Condition, lead: Steps
) -> Iterator[tuple[Condition, _PatternPart]]:
    """Yield prefixes of a condition, each with the part added last; the complete one comes last."""
    match condition:
        case Exists(path=path):
            for steps, part in _growing_paths(path, () if path.absolute else lead):
                yield Exists(replace(path, steps=steps)), part
        case And(parts=parts):
            for index, operand in enumerate(parts):
                for grown, part in _growing_conditions(operand, lead):
                    yield And((*parts[:index], grown)), part
        case Or(parts=parts):  # if the disjunction is unsatisfiable, so is its first part
            yield from _growing_conditions(parts[0], lead)
        case _:
            yield condition, _PatternPart(condition, lead)


def _growing_paths(path: Path, lead: Steps) -> Iterator[tuple[Steps, _PatternPart]]:
    for index, step in enumerate(path.steps):
        before = path.steps[:index]
        bare = (*lead, *(replace(earlier, conditions=()) for earlier in before))
        yield (*before, replace(step, conditions=())), _PatternPart(step, bare)
        here = (*bare, replace(step, conditions=()))
        for number, condition in enumerate(step.conditions):
            for grown, part in _growing_conditions(condition, here):
                conditions = (*step.conditions[:number], grown)
                yield (*before, replace(step, conditions=conditions)), part


def _describe(pattern_part: _PatternPart, solver: Solver) -> Culprit:
    match pattern_part.part:
        case Step(axis=Axis.ATTRIBUTE) as step:
            return _attribute(step, solver.frontier([DOCUMENT], pattern_part.lead), solver)
        case Step() as step:
            return _step(step, solver.frontier([DOCUMENT], pattern_part.lead), solver)
        case Value(at=at) as value:
            return _value(value, at, pattern_part.lead, solver)
        case Not(part=Exists(path=Path(steps=(Step(test=test, axis=axis),)))):
            contexts = _context_names(solver.frontier([DOCUMENT], pattern_part.lead))
            kind = "attribute " if axis is Axis.ATTRIBUTE else ""
            return Culprit(
                f"every {contexts} has {kind}{test_text(test, CLARK)}",
                _text_position(pattern_part.lead),
            )
        case Position():
            return Culprit(
                "the DTD does not allow that many of them", _text_position(pattern_part.lead)
            )
        case condition:
            text = condition_text(condition)
            return Culprit(f"[{text}] cannot be met there", _text_position(pattern_part.lead))


def _text_position(lead: Steps) -> int | None:
    return lead[-1].at if lead else None


def _step(step: Step, contexts: list[str], solver: Solver) -> Culprit:
    test = test_text(step.test, CLARK)
    if step.test.kind not in (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN):
        return Culprit(f"{_context_names(contexts)} cannot hold {test}", step.at)
    descendant = step.axis is not Axis.CHILD
    reached = solver.descendants if descendant else solver.children
    reachable = dict.fromkeys(name for context in contexts for name in reached(context))
    if any(solver.names.may_match(step.test, name) for name in reachable):
        return Culprit(f"{test} cannot occur there together with the other conditions", step.at)
    if step.test.kind is not TestKind.NAME:
        return Culprit(f"{_context_names(contexts)} can hold no element {test}", step.at)
    similar = tuple(similar_names(test, reachable) or similar_names(test, solver.schema.elements))
    parents = [name for name in solver.schema.elements if _may_contain(solver, name, step.test)]
    if contexts == [DOCUMENT] and not descendant:
        reason = f"the root element is {_join_names(solver.schema.roots)}, not {test}"
    elif contexts == [DOCUMENT] and not parents:
        reason = f"there is no element {test}"
    else:
        relation = "descendant" if descendant else "child"
        reason = f"{_context_names(contexts)} has no {relation} {test}"
        if parents:
            reason += f"; it stands in {_join_names(parents)}"
    return Culprit(reason + _similar_hint(similar), step.at, similar)


def _may_contain(solver: Solver, name: str, test: Test) -> bool:
    return any(solver.names.may_match(test, child) for child in solver.children(name))


def _attribute(step: Step, contexts: list[str], solver: Solver) -> Culprit:
    test = test_text(step.test, CLARK)
    declared = [
        attribute.name for context in contexts for attribute in _attributes(solver, context)
    ]
    similar = tuple(similar_names(test, declared))
    reason = f"{_context_names(contexts)} has no attribute {test}"
    if declared and not similar and len(set(declared)) <= _MAX_NAMES_SHOWN:
        reason += f", only {_join_names(dict.fromkeys(declared))}"
    return Culprit(reason + _similar_hint(similar), step.at, similar)


def _attributes(solver: Solver, context: str) -> list[Attribute]:
    return [
        attribute
        for attribute in solver.element(context).attributes
        if not attribute.declares_namespace
    ]


def _value(value: Value, at: int, lead: Steps, solver: Solver) -> Culprit:
    text = condition_text(value)
    if lead and lead[-1].axis is Axis.ATTRIBUTE:
        allowed = {
            choice: None
            for context in solver.frontier([DOCUMENT], lead[:-1])
            for attribute in _attributes(solver, context)
            if solver.names.may_match(lead[-1].test, attribute.name, attribute=True)
            for choice in (attribute.values or ((attribute.value,) if attribute.value else ()))
        }
        similar = tuple(similar_names(value.operand, allowed))
        attribute_name = test_text(lead[-1].test, CLARK)
        reason = (
            f"the values of attribute {attribute_name} are {_join_names(allowed)}: never {text}"
        )
        return Culprit(reason + _similar_hint(similar), at, similar)
    return Culprit(
        f"{_context_names(solver.frontier([DOCUMENT], lead))} has no text for {text}", at
    )


def _context_names(contexts: list[str]) -> str:
    return "the document" if contexts == [DOCUMENT] else _join_names(contexts)


def _join_names(names: Iterable[str]) -> str:
    all_names = list(names)
    text = " or ".join(all_names[:_MAX_NAMES_SHOWN])
    return text + (
        f" or {len(all_names) - _MAX_NAMES_SHOWN} others"
        if len(all_names) > _MAX_NAMES_SHOWN
        else ""
    )


def _similar_hint(similar: tuple[str, ...]) -> str:
    return f" (near: {', '.join(similar)})" if similar else ""
