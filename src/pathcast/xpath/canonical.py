"""Smart constructors for conditions in canonical form: equivalent ones become equal.

The constructors unify these forms (docs/reference/language.md lists them for users):

- the order and repetition of conditions where they do not matter, and of the branches of a twig;
- `[a][b]` and `[a and b]`, and `[a]` at the end of a path and `/a`;
- `descendant-or-self::node()/child::a` and `descendant::a`;
- double negation, and conditions that are always or never true.

Nothing moves across a condition on positions, because it would change them.

`canonical_path` preserves the set of selected nodes, `canonical_existence` only whether it is
empty.
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
    DOWNWARD,
    SIBLINGS,
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
    "canonical_count",
    "canonical_existence",
    "canonical_path",
    "canonical_position",
    "condition_at_attribute",
    "conjunction",
    "disjunction",
    "fold_positions",
    "negation",
    "truth",
]

TRUE = Always(True)
FALSE = Always(False)
_ANY_NODE = Test(TestKind.NODE)
_NEGATED_OPERATOR = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def conjunction(parts: Iterable[Condition]) -> Condition:
    """Return the AND of `parts`, canonical: flattened, sorted, distinct, constants folded."""
    flat = _flatten(parts, And)
    if FALSE in flat:
        return FALSE
    operands = _sort_distinct(part for part in flat if part != TRUE)
    if not operands:
        return TRUE
    return operands[0] if len(operands) == 1 else And(tuple(operands))


def disjunction(parts: Iterable[Condition]) -> Condition:
    """Return the OR of `parts`, canonical: flattened, sorted, distinct, constants folded."""
    flat = _flatten(parts, Or)
    if TRUE in flat:
        return TRUE
    operands = _sort_distinct(part for part in flat if part != FALSE)
    if not operands:
        return FALSE
    return operands[0] if len(operands) == 1 else Or(tuple(operands))


def _flatten(parts: Iterable[Condition], kind: type[And | Or]) -> list[Condition]:
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else (part,)
    return flat


def _sort_distinct(parts: Iterable[Condition]) -> list[Condition]:
    distinct = list(dict.fromkeys(parts))
    return sorted(distinct, key=condition_text) if len(distinct) > 1 else distinct


def negation(part: Condition) -> Condition:
    """Return the negation of a condition, without double negation."""
    match part:
        case Always(holds=holds):
            return FALSE if holds else TRUE
        case Not(part=inner):
            return inner
        case Position(left=left, op=op, right=right):
            return canonical_position(left, _NEGATED_OPERATOR[op], right)
        case _:
            return Not(part)


def canonical_position(left: str, op: str, right: str) -> Condition:
    """Return a test of positions, which are integers from 1 to the last."""
    if left == right == "last":
        return TRUE if COMPARISONS[op](1, 1) else FALSE
    if right == "last":
        return {"<=": TRUE, ">": FALSE}.get(op) or Position(left, op, right)
    constant = _constant(op, number(right), least=1)
    return Position(left, op, right) if constant is None else constant


def _constant(op: str, bound: float, *, least: int) -> Condition | None:
    """Return the truth of `n op bound` if it is the same for all integers n >= `least`."""
    if math.isnan(bound):
        return TRUE if op == "!=" else FALSE
    is_integer = bound == int(bound) if abs(bound) < 1e15 else True
    match op:
        case "=" | "!=" if bound < least or not is_integer:
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


def canonical_count(path: Path, op: str, operand: str) -> Condition:
    """Return a test of the number of selected nodes; `> 0` and `= 0` become existence."""
    bound = number(operand)
    constant = _constant(op, bound, least=0)
    if constant is not None:
        return constant
    constant_above_zero = _constant(op, bound, least=1)
    if constant_above_zero is None:
        return Count(path, op, operand)
    return (
        canonical_existence(path)
        if constant_above_zero == TRUE
        else negation(canonical_existence(path))
    )


def fold_positions(condition: Condition) -> Condition:
    """Return the condition for a node set of one node: position() and last() are 1."""
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
    """Return the equivalent condition on the document node that can be written outside predicates.

    Inside predicates (not `top`) it must hold at any context node. None if it has no such form: the
    document's own string-value is accessible only at the document node.
    """
    match condition:
        case Always():
            return condition
        case Is():  # only node() accepts the document node, and `lower` drops self::node()
            return FALSE
        case Exists(path=Path(absolute=False, steps=(Step(axis=Axis.ANCESTOR_OR_SELF), *_))):
            return at_document(_from_self(condition), top=top)
        case Exists(path=path):
            return canonical_existence(replace(path, absolute=True))
        case First(path=path, value=value):
            selecting = canonical_path(replace(path, absolute=True))
            return truth(value.holds("")) if selecting is None else First(selecting, value)
        case Count(path=path, op=op, operand=operand):
            counted = canonical_path(replace(path, absolute=True))
            return truth(condition.holds(0)) if counted is None else Count(counted, op, operand)
        case Value():
            return condition if top else None
        case Not(part=part):
            inner = at_document(part, top=top)
            return None if inner is None else negation(inner)
        case And(parts=parts) | Or(parts=parts):
            candidates = [at_document(part, top=top) for part in parts]
            rewritten = [part for part in candidates if part is not None]
            if len(rewritten) < len(candidates):
                return None
            return conjunction(rewritten) if isinstance(condition, And) else disjunction(rewritten)
    raise AssertionError(condition)


def _from_self(condition: Exists) -> Condition:
    """Return the condition where the first step of its path can select only its start."""
    first, *rest = condition.path.steps
    if first.test != _ANY_NODE:
        return FALSE
    conditions = [fold_positions(inner) for inner in first.conditions]
    if rest:
        conditions.append(canonical_existence(Path(False, tuple(rest))))
    return conjunction(conditions)


def truth(holds: bool) -> Condition:
    """Return the condition that is true everywhere or nowhere."""
    return TRUE if holds else FALSE


# paths


def canonical_path(path: Path) -> Path | None:
    """Return the path with canonical steps, selecting the same nodes; None if it selects none."""
    steps: list[Step] = []
    for step in path.steps:
        raw_conditions = step.conditions
        if step.axis is Axis.ATTRIBUTE:
            raw_conditions = tuple(map(condition_at_attribute, raw_conditions))
        conditions = _canonical_conditions(raw_conditions)
        if conditions is None:
            return None
        if conditions != step.conditions:
            step = replace(step, conditions=conditions)
        if steps and steps[-1].is_double_slash:
            if step.is_double_slash:
                continue
            merged = _AFTER_DOUBLE_SLASH.get(step.axis)
            if merged is not None and not step.positional:
                steps.pop()
                step = replace(step, axis=merged)
        if path.absolute and not steps:
            if step.axis not in DOWNWARD:  # nothing is beside or above the document node
                return None
            if _excludes_document_node(step):
                step = replace(step, axis=Axis.DESCENDANT)
        steps.append(step)
    return replace(path, steps=tuple(steps))


# The axis of a step after it absorbs a preceding descendant-or-self::node().
_AFTER_DOUBLE_SLASH = {
    Axis.CHILD: Axis.DESCENDANT,
    Axis.DESCENDANT: Axis.DESCENDANT,
    Axis.DESCENDANT_OR_SELF: Axis.DESCENDANT_OR_SELF,
}


def condition_at_attribute(condition: Condition) -> Condition:
    """Return the condition for an attribute: no children, no siblings.

    The descendant-or-self axis has only the attribute itself, and so has ancestor-or-self beyond
    the ancestors.
    """
    match condition:
        case Exists(path=Path(absolute=False, steps=(first, *rest))):
            if first.axis is Axis.DESCENDANT_OR_SELF:
                return condition_at_attribute(_from_self(condition))
            if first.axis is Axis.ANCESTOR_OR_SELF:
                above = (replace(first, axis=Axis.ANCESTOR), *rest)
                return disjunction(
                    [
                        condition_at_attribute(_from_self(condition)),
                        canonical_existence(replace(condition.path, steps=above)),
                    ]
                )
            return FALSE if first.axis in DOWNWARD or first.axis in SIBLINGS else condition
        case And(parts=parts):
            return conjunction([condition_at_attribute(part) for part in parts])
        case Or(parts=parts):
            return disjunction([condition_at_attribute(part) for part in parts])
        case Not(part=part):
            return negation(condition_at_attribute(part))
        case _:
            return condition


def _excludes_document_node(step: Step) -> bool:
    """Whether descendant-or-self from the document node cannot select the document node."""
    return step.axis is Axis.DESCENDANT_OR_SELF and step.test != _ANY_NODE


def _canonical_conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...] | None:
    """Return the conditions with each run between positional ones as a flat conjunction."""
    if not conditions:
        return ()
    result: list[Condition] = []
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
                result += merged.parts if isinstance(merged, And) else (merged,)
            run = []
        if condition is not None:
            result.append(condition)
    return tuple(result)


def canonical_existence(path: Path) -> Condition:
    """Return the condition that the path selects a node, whatever branch was written last."""
    canonical = canonical_path(path)
    if canonical is None:
        return FALSE
    tail: tuple[Step, ...] = ()
    for step in reversed(canonical.steps):
        tail = _prepend_step(step, tail)
    if not tail:
        return TRUE
    if canonical.absolute and _excludes_document_node(tail[0]):
        tail = (replace(tail[0], axis=Axis.DESCENDANT), *tail[1:])
    return Exists(replace(canonical, steps=tail))


def _prepend_step(step: Step, tail: tuple[Step, ...]) -> tuple[Step, ...]:
    """Prepend a step to a path, and choose which of its branches continues the path.

    `a[b]/c` and `a[c]/b` are equivalent, and so are `a[b]` and `a/b`. Of the relative paths that
    must exist below the step, the longest continues the path and the others are conditions. Ties
    prefer a path that does not end in an attribute, then the last in canonical order. So a long
    path never becomes deep nesting.
    """
    conditions = step.conditions
    if any(isinstance(condition, Exists) for condition in conditions):
        start = len(conditions)  # of the conditions after the last positional one
        while start and not conditions[start - 1].positional:
            start -= 1
        branches = list(conditions[start:])
        if tail:
            branches.append(Exists(Path(False, tail, tail[0].at)))
        branches = _sort_distinct(branches)
        continuations: list[Exists] = [
            branch for branch in branches if _is_relative_existence(branch)
        ]
        tail = ()
        if continuations:
            end = max(reversed(continuations), key=_continuation_key)
            branches.remove(end)
            tail = end.path.steps
        step = replace(step, conditions=(*conditions[:start], *branches))
    if step.is_double_slash:
        if not tail or tail[0].is_double_slash:  # //. always selects its start
            return tail
        merged = _AFTER_DOUBLE_SLASH.get(tail[0].axis)
        if merged is not None and not tail[0].positional:
            return (replace(tail[0], axis=merged), *tail[1:])
    return (step, *tail)


def _is_relative_existence(condition: Condition) -> TypeGuard[Exists]:
    return isinstance(condition, Exists) and not condition.path.absolute


def _continuation_key(branch: Exists) -> tuple[int, bool]:
    steps = branch.path.steps
    return len(steps), steps[-1].axis is not Axis.ATTRIBUTE
