"""Smart constructors: every pattern that means the same in a listed way becomes the same value.

What is unified (docs/reference/language.md lists it for users): the order and repetition of conditions where it cannot
matter, `[a][b]` and `[a and b]`, `[a]` at the end of a path and `/a`, `descendant-or-self::node()/child::a` and
`descendant::a`, double negation, conditions that are always or never true, branches of a twig in any
order. Places among siblings are left alone: nothing moves across a condition that looks at them.

Existence and node-sets differ: `shape` keeps the set of selected nodes, `exists` only whether there is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeGuard

from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.text import condition_text
from pathcast.xpath.tree import (
    COMPARISONS,
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Not,
    Or,
    Path,
    Position,
    Step,
    Value,
)

__all__ = [
    "FALSE",
    "TRUE",
    "at_document",
    "conjunction",
    "count",
    "disjunction",
    "exists",
    "fold_positions",
    "negation",
    "position",
    "shape",
]

TRUE = Always(True)
FALSE = Always(False)
_ANY = Test(TestKind.NODE)
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def conjunction(parts: Iterable[Condition]) -> Condition:
    """All of them."""
    flat = _flatten(parts, And)
    if FALSE in flat:
        return FALSE
    found = _ordered(part for part in flat if part != TRUE)
    if not found:
        return TRUE
    return found[0] if len(found) == 1 else And(tuple(found))


def disjunction(parts: Iterable[Condition]) -> Condition:
    """Any of them."""
    flat = _flatten(parts, Or)
    if TRUE in flat:
        return TRUE
    found = _ordered(part for part in flat if part != FALSE)
    if not found:
        return FALSE
    return found[0] if len(found) == 1 else Or(tuple(found))


def _flatten(parts: Iterable[Condition], kind: type[And | Or]) -> list[Condition]:
    found: list[Condition] = []
    for part in parts:
        found += part.parts if isinstance(part, kind) else (part,)
    return found


def _ordered(parts: Iterable[Condition]) -> list[Condition]:
    distinct = list(dict.fromkeys(parts))
    return sorted(distinct, key=condition_text) if len(distinct) > 1 else distinct


def negation(part: Condition) -> Condition:
    """Not that one."""
    match part:
        case Always(holds=holds):
            return FALSE if holds else TRUE
        case Not(part=inner):
            return inner
        case Position(left=left, op=op, right=right):
            return position(left, _NEGATED[op], right)
        case _:
            return Not(part)


def position(left: str, op: str, right: str) -> Condition:
    """A test of places, which are whole numbers from 1 up to the last."""
    if left == right == "last":
        return TRUE if COMPARISONS[op](1, 1) else FALSE
    if right == "last":
        return {"<=": TRUE, ">": FALSE}.get(op) or Position(left, op, right)
    constant = _constant(op, number(right), least=1)
    return Position(left, op, right) if constant is None else constant


def _constant(op: str, bound: float, *, least: int) -> Condition | None:
    """Whether `n op bound` is the same for every whole number n from `least` up."""
    if math.isnan(bound):
        return TRUE if op == "!=" else FALSE
    whole = bound == int(bound) if abs(bound) < 1e15 else True
    match op:
        case "=" | "!=" if bound < least or not whole:
            return FALSE if op == "=" else TRUE
        case ">=" if bound <= least:
            return TRUE
        case ">" if bound < least:
            return TRUE
        case "<" if bound <= least:
            return FALSE
        case "<=" if bound < least:
            return FALSE
    return None


def count(path: Path, op: str, operand: str) -> Condition:
    """A test of how many nodes a path selects; 'any' and 'none' are plain existence."""
    bound = number(operand)
    constant = _constant(op, bound, least=0)
    if constant is not None:
        return constant
    some = _constant(op, bound, least=1)
    if some is None:
        return Count(path, op, operand)
    return exists(path) if some == TRUE else negation(exists(path))


def fold_positions(condition: Condition) -> Condition:
    """The condition at a node that is alone: its place is 1 and the last one is 1."""
    if not condition.positional:
        return condition
    match condition:
        case Position():
            return TRUE if condition.holds(1, 1) else FALSE
        case Not(part=part):
            return negation(fold_positions(part))
        case And(parts=parts):
            return conjunction([fold_positions(part) for part in parts])
        case Or(parts=parts):
            return disjunction([fold_positions(part) for part in parts])
    raise AssertionError(condition)


def at_document(condition: Condition, *, top: bool) -> Condition | None:
    """The same demand made at the document node, in a form that can be written outside predicates.

    Inside predicates (not `top`) it must hold wherever it is asked, and None says that it has no such
    form: the document's own value can only be asked for at the document.
    """
    match condition:
        case Always():
            return condition
        case Is():  # node() aside, which is not asked for, no test lets the document node pass
            return FALSE
        case Exists(path=path):
            return exists(replace(path, absolute=True))
        case First(path=path, value=value):
            return First(_from_document(path), value)
        case Count(path=path, op=op, operand=operand):
            return Count(_from_document(path), op, operand)
        case Value():
            return condition if top else None
        case Not(part=part):
            inner = at_document(part, top=top)
            return None if inner is None else negation(inner)
        case And(parts=parts) | Or(parts=parts):
            moved = [at_document(part, top=top) for part in parts]
            found = [part for part in moved if part is not None]
            if len(found) < len(moved):
                return None
            return conjunction(found) if isinstance(condition, And) else disjunction(found)
    raise AssertionError(condition)


def _from_document(path: Path) -> Path:
    moved = shape(replace(path, absolute=True))
    assert moved is not None  # it had a shape before
    return moved


# paths


def shape(path: Path) -> Path | None:
    """The path with its steps in canonical form, selecting the same nodes; None if it cannot select."""
    steps: list[Step] = []
    for step in path.steps:
        given = step.conditions
        if step.axis is Axis.ATTRIBUTE:
            given = tuple(_at_attribute(condition) for condition in given)
        conditions = _conditions(given)
        if conditions is None:
            return None
        if conditions != step.conditions:
            step = replace(step, conditions=conditions)
        if steps and steps[-1].is_double_slash:
            if step.is_double_slash:
                continue
            merged = _MERGED.get(step.axis)
            if merged is not None and not step.positional:
                steps.pop()
                step = replace(step, axis=merged)
        if path.absolute and not steps and _below_only(step):
            step = replace(step, axis=Axis.DESCENDANT)
        steps.append(step)
    return replace(path, steps=tuple(steps))


# what a step becomes when descendant-or-self::node() stands before it
_MERGED = {
    Axis.CHILD: Axis.DESCENDANT,
    Axis.DESCENDANT: Axis.DESCENDANT,
    Axis.DESCENDANT_OR_SELF: Axis.DESCENDANT_OR_SELF,
}


def _at_attribute(condition: Condition) -> Condition:
    """The condition at an attribute, which has nothing below it but is its own descendant-or-self."""
    match condition:
        case Exists(path=Path(absolute=False, steps=(first, *rest))):
            if first.axis is not Axis.DESCENDANT_OR_SELF or first.test != _ANY:
                return FALSE
            here = [_at_attribute(fold_positions(inner)) for inner in first.conditions]
            if rest:
                here.append(_at_attribute(Exists(Path(False, tuple(rest)))))
            return conjunction(here)
        case And(parts=parts):
            return conjunction([_at_attribute(part) for part in parts])
        case Or(parts=parts):
            return disjunction([_at_attribute(part) for part in parts])
        case Not(part=part):
            return negation(_at_attribute(part))
        case _:
            return condition


def _below_only(step: Step) -> bool:
    """Whether descendant-or-self from the document node cannot mean the document node."""
    return step.axis is Axis.DESCENDANT_OR_SELF and step.test != _ANY


def _conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...] | None:
    """Runs of conditions between those on places are conjunctions: flat, ordered, without repeats."""
    if not conditions:
        return ()
    found: list[Condition] = []
    run: list[Condition] = []
    for condition in [*conditions, None]:
        if condition is not None and not condition.positional:
            run.append(condition)
            continue
        if run:
            merged = conjunction(run)
            if merged == FALSE:
                return None
            if merged != TRUE:
                found += merged.parts if isinstance(merged, And) else (merged,)
            run = []
        if condition is not None:
            found.append(condition)
    return tuple(found)


def exists(path: Path) -> Condition:
    """Whether the path selects anything, in a form that does not depend on how the twig was written."""
    shaped = shape(path)
    if shaped is None:
        return FALSE
    tail: tuple[Step, ...] = ()
    for step in reversed(shaped.steps):
        tail = _grow(step, tail)
    if not tail:
        return TRUE
    if shaped.absolute and _below_only(tail[0]):
        tail = (replace(tail[0], axis=Axis.DESCENDANT), *tail[1:])
    return Exists(replace(shaped, steps=tail))


def _grow(step: Step, tail: tuple[Step, ...]) -> tuple[Step, ...]:
    """Put a step before a path, choosing which of its branches is written as the path's end.

    `a[b]/c` and `a[c]/b` ask for the same thing, and so do `a[b]` and `a/b`: among the relative paths that must
    exist below the step, the longest goes on (not an attribute if possible; of several, the last in canonical
    order) and the others are conditions. So a long path never turns into a deep nest.
    """
    conditions = step.conditions
    if any(isinstance(condition, Exists) for condition in conditions):
        run = len(conditions)
        while run and not conditions[run - 1].positional:
            run -= 1
        branches = list(conditions[run:])
        if tail:
            branches.append(Exists(Path(False, tail, tail[0].at)))
        branches = _ordered(branches)
        ends: list[Exists] = [branch for branch in branches if _goes_on(branch)]
        tail = ()
        if ends:
            end = max(reversed(ends), key=_length)
            branches.remove(end)
            tail = end.path.steps
        step = replace(step, conditions=(*conditions[:run], *branches))
    if step.is_double_slash:
        if not tail or tail[0].is_double_slash:  # //. finds something wherever its start does
            return tail
        merged = _MERGED.get(tail[0].axis)
        if merged is not None and not tail[0].positional:
            return (replace(tail[0], axis=merged), *tail[1:])
    return (step, *tail)


def _goes_on(condition: Condition) -> TypeGuard[Exists]:
    return isinstance(condition, Exists) and not condition.path.absolute


def _length(branch: Exists) -> tuple[int, bool]:
    steps = branch.path.steps
    return len(steps), steps[-1].axis is not Axis.ATTRIBUTE
