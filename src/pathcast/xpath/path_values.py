"""Conditions on the first node of a path, and on the number of its nodes.

From each of many context nodes, a path along the axes outside the subtree may select many nodes. So
`string()` and `count()` of such a path become conditions that need not list them:

- after a step to one node, they are conditions on that node: `count(../b) > 2` is `..[count(b) >
  2]`;
- the first node of a step is selected by its position: `string(preceding-sibling::a)` is the value
  of `preceding-sibling::a[last()]`;
- the nodes of a single step, or of steps down from it, are counted by intervals (see
  `matching.plain.sideways`), if these steps cannot select a node twice;
- from the children of a node, one of them reaches what all of them reach: `b/following::c` is
  `b[1]/following::c`.

Other paths along these axes have no such form, unless they start at the document node: then they
are evaluated once.
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.xpath.canonical import (
    FALSE,
    canonical_count,
    canonical_existence,
    disjunction,
    negation,
    truth,
)
from pathcast.xpath.numbers import number
from pathcast.xpath.syntax import Axis, TestKind
from pathcast.xpath.tree import (
    COMPARISONS,
    DOWNWARD,
    REVERSE,
    SIBLINGS,
    SIDEWAYS,
    Condition,
    Count,
    First,
    Path,
    Position,
    Step,
    Value,
)

__all__ = ["first_value", "node_count"]

_MAX_RECURSION = 50  # steps of a path
_MAX_COPIED_DEPTH = 12  # of a path that occurs twice in a condition; more nesting would double it


def first_value(path: Path, value: Value) -> Condition | None:
    """Return the value predicate on the first node of a path; None if it has no such form.

    From each of many nodes, a step along another axis may select many. So the first of them must
    be the only one that the remaining steps start from.
    """
    path = _start_from_one_child(path)
    first, rest = path.steps[0], path.steps[1:]
    if not rest and _is_named_attribute(first) and not value.holds(""):
        only = replace(first, conditions=(*first.conditions, value))
        return canonical_existence(replace(path, steps=(only,)))
    if path.absolute or all(step.axis in DOWNWARD for step in path.steps):
        return First(path, value)
    if not _may_lead(first) or _is_too_large(path):
        return None
    empty = truth(value.holds(""))
    inner = first_value(Path(False, rest, path.at), value) if rest else value
    if inner is None:
        return None
    if not _is_singleton(first):
        if rest and not _keeps_order(first, rest):
            return None
        nonempty = [canonical_existence(Path(False, rest, path.at))] if rest else []
        is_first = Position("position", "=", "last" if first.axis in REVERSE else "1")
        first = replace(first, conditions=(*first.conditions, *nonempty, is_first))
    return _through(first, inner, empty)


def _keeps_order(step: Step, rest: tuple[Step, ...]) -> bool:
    """Whether the first node of the steps lies below the first node of the step that has one.

    Subtrees of siblings are disjoint, and attributes come before all descendants.
    """
    if [inner.axis for inner in rest] == [Axis.ATTRIBUTE]:
        return True
    return step.axis in SIBLINGS and all(inner.axis in DOWNWARD for inner in rest)


def _through(step: Step, inner: Condition, empty: Condition) -> Condition:
    """Return a condition on the only node that a step selects; `empty` if it selects none."""
    there = canonical_existence(
        Path(False, (replace(step, conditions=(*step.conditions, inner)),), step.at)
    )
    if empty == FALSE:
        return there
    return disjunction([there, negation(canonical_existence(Path(False, (step,), step.at)))])


def node_count(path: Path, op: str, operand: str) -> Condition | None:
    """Return the comparison of the number of nodes of a path; None if it has no such form."""
    count = canonical_count(path, op, operand)
    if not isinstance(count, Count):
        return count
    if path.absolute or all(step.axis in DOWNWARD for step in path.steps):
        return count
    path = _start_from_one_child(path)
    first, rest = path.steps[0], path.steps[1:]
    if not _may_lead(first) or _is_too_large(path):
        return None
    if first.axis in SIDEWAYS and _selects_once(first, rest):
        return count
    if not _is_singleton(first):
        return None
    there = truth(COMPARISONS[op](1, number(operand)))
    inner = node_count(Path(False, rest, path.at), op, operand) if rest else there
    empty = truth(COMPARISONS[op](0, number(operand)))
    return None if inner is None else _through(first, inner, empty)


def _start_from_one_child(path: Path) -> Path:
    """Return the path with one child as the start of a step that all children would share."""
    if len(path.steps) < 2 or path.steps[0].axis is not Axis.CHILD or path.absolute:
        return path
    first, second = path.steps[:2]
    if _is_singleton(first):
        return path
    if second.axis not in SIDEWAYS or second.axis is Axis.ANCESTOR_OR_SELF or second.positional:
        return path
    backwards = second.axis in (Axis.PRECEDING, Axis.PRECEDING_SIBLING)
    widest = Position("position", "=", "last" if backwards else "1")
    first = replace(first, conditions=(*first.conditions, widest))
    return replace(path, steps=(first, *path.steps[1:]))


def _selects_once(step: Step, rest: tuple[Step, ...]) -> bool:
    """Whether downward steps select disjoint sets from the nodes of a step."""
    axes = {inner.axis for inner in rest}
    return axes <= DOWNWARD and (step.axis in SIBLINGS or axes <= {Axis.CHILD, Axis.ATTRIBUTE})


def _may_lead(step: Step) -> bool:
    """Whether the first step of a path leads to one node, or to those on another axis."""
    may_select_attribute = step.axis is Axis.ANCESTOR_OR_SELF and step.test.kind is TestKind.NODE
    return _is_singleton(step) or (step.axis in SIDEWAYS and not may_select_attribute)


def _is_singleton(step: Step) -> bool:
    """Whether a step selects at most one node, by its form."""
    if step.axis is Axis.PARENT or _is_named_attribute(step):
        return True
    return any(
        isinstance(condition, Position) and (condition.left, condition.op) == ("position", "=")
        for condition in step.conditions
    )


def _is_too_large(path: Path) -> bool:
    return len(path.steps) > _MAX_RECURSION or path.depth > _MAX_COPIED_DEPTH


def _is_named_attribute(step: Step) -> bool:
    return step.axis is Axis.ATTRIBUTE and step.test.kind is TestKind.NAME
