"""Weakening of a condition to a tree pattern: downward axes only, and no string functions.

`to_tree_pattern` returns a tree pattern that holds wherever the condition does. Indexes find
candidates by it, and covering, schemas and advertisements reason about it. Negation reverses the
direction, so `_strengthen` returns a tree pattern that holds only where the condition does.

A step along another axis is approximated by its possible targets. `/a/b/following-sibling::c`
requires `/a[b]/c`; `//a/preceding::c/d` requires `//a` and `//c/d`.

>>> from pathcast.xpath.compile import parse
>>> from pathcast.xpath.text import condition_text
>>> condition_text(to_tree_pattern(parse("/a/b/following-sibling::c").condition), top=True)
'/a[b]/c'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pathcast.xpath.canonical import (
    FALSE,
    TRUE,
    canonical_existence,
    conjunction,
    disjunction,
    negation,
)
from pathcast.xpath.path_builder import PathBuilder
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
    DOWNWARD,
    SIBLINGS,
    And,
    Condition,
    Count,
    Exists,
    First,
    Not,
    Or,
    Path,
    Step,
    is_tree_pattern,
)

__all__ = ["to_tree_pattern"]

_DESCENDANT_OR_SELF = Step(Axis.DESCENDANT_OR_SELF, Test(TestKind.NODE))


def to_tree_pattern(condition: Condition) -> Condition:
    """Return a tree pattern that holds wherever the condition does; itself if it is one."""
    if is_tree_pattern(condition):
        return condition
    match condition:
        case And(parts=parts):
            return conjunction([to_tree_pattern(part) for part in parts])
        case Or(parts=parts):
            return disjunction([to_tree_pattern(part) for part in parts])
        case Not(part=part):
            return negation(_strengthen(part))
        case Exists(path=path):
            return _weaken_path(path)
        case First(path=path, value=value):
            return TRUE if value.holds("") else _weaken_path(path)
        case Count(path=path):
            return TRUE if condition.holds(0) else _weaken_path(path)
        case _:
            return TRUE


def _strengthen(condition: Condition) -> Condition:
    """Return a tree pattern that holds only where the condition does."""
    if is_tree_pattern(condition):
        return condition
    match condition:
        case And(parts=parts):
            return conjunction([_strengthen(part) for part in parts])
        case Or(parts=parts):
            return disjunction([_strengthen(part) for part in parts])
        case Not(part=part):
            return negation(to_tree_pattern(part))
        case Exists(path=path):
            return _strengthen_path(path)
        case _:
            return FALSE


def _weaken_path(path: Path) -> Condition:
    builder = PathBuilder(path.absolute, path.at)
    conjuncts: list[Condition] = []
    for step in path.steps:
        axis, conditions = step.axis, _weaken_conditions(step)
        if axis is Axis.CHILD:
            for condition in step.conditions:
                sibling = _sibling_as_child(condition)
                if sibling is not None:
                    builder.add_condition(sibling)
        elif axis not in DOWNWARD:
            if axis in SIBLINGS and _step_to_common_parent(builder):
                axis = Axis.CHILD
            else:
                conjuncts.append(builder.existence(False) or TRUE)
                if axis is Axis.ANCESTOR_OR_SELF and step.test.kind is TestKind.NODE:
                    break  # it may select an attribute
                axis = Axis.DESCENDANT_OR_SELF
                builder = PathBuilder(True, step.at)
        builder.steps.append(Step(axis, step.test, conditions, step.at))
    return conjunction([*conjuncts, builder.existence(False) or TRUE])


def _step_to_common_parent(builder: PathBuilder) -> bool:
    """Go from a node to its parent, which has both the node and its siblings as children."""
    last = builder.steps[-1] if builder.steps else None
    if last is None or last.axis not in (Axis.CHILD, Axis.DESCENDANT) or last.positional:
        return False
    builder.steps.pop()
    if last.axis is Axis.DESCENDANT:
        builder.steps.append(_DESCENDANT_OR_SELF)
    child = replace(last, axis=Axis.CHILD)
    builder.add_condition(canonical_existence(Path(False, (child,), last.at)))
    return True


def _sibling_as_child(condition: Condition) -> Condition | None:
    """Return a necessary condition on the parent: a path to a sibling needs a child like it."""
    match condition:
        case Exists(path=Path(absolute=False, steps=(first, *rest))) if first.axis in SIBLINGS:
            # Positions among siblings differ from those among children.
            conditions = tuple(inner for inner in first.conditions if not inner.positional)
            child = replace(first, axis=Axis.CHILD, conditions=conditions)
            return to_tree_pattern(canonical_existence(Path(False, (child, *rest), first.at)))
        case _:
            return None


def _weaken_conditions(step: Step) -> tuple[Condition, ...]:
    """Return necessary conditions; positions only while all conditions before are exact."""
    weakened: list[Condition] = []
    exact = step.axis in DOWNWARD
    for condition in step.conditions:
        if exact or not condition.positional:
            weakened.append(to_tree_pattern(condition))
        exact = exact and is_tree_pattern(condition)
    return tuple(weakened)


def _strengthen_path(path: Path) -> Condition:
    steps = []
    for step in path.steps:
        conditions = _strengthen_conditions(step.conditions)
        if conditions is None or step.axis not in DOWNWARD:
            return FALSE
        steps.append(replace(step, conditions=conditions))
    return canonical_existence(replace(path, steps=tuple(steps)))


def _strengthen_conditions(conditions: Sequence[Condition]) -> tuple[Condition, ...] | None:
    """Return sufficient conditions; None if a position follows an inexact condition."""
    strengthened: list[Condition] = []
    exact = True
    for condition in conditions:
        if condition.positional and not exact:
            return None
        strengthened.append(_strengthen(condition))
        exact = exact and is_tree_pattern(condition)
    return tuple(strengthened)
