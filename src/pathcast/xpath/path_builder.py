"""Appends location steps to a path, each in the simplest equivalent form.

`self` steps, and `parent` steps that undo a child step, become conditions on the step before. Steps
that can select nothing (a child of an attribute, a sibling of the document node) make the path
unsatisfiable. On the axes outside the subtree every condition is on positions alone or independent
of them, as the evaluators require.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pathcast.xpath.canonical import (
    FALSE,
    at_document,
    canonical_existence,
    condition_at_attribute,
    conjunction,
    disjunction,
    fold_positions,
    negation,
)
from pathcast.xpath.parent_predicates import split_by_parent
from pathcast.xpath.syntax import Axis, SyntaxStep, Test, TestKind
from pathcast.xpath.tree import (
    DOWNWARD,
    SIBLINGS,
    SIDEWAYS,
    And,
    Condition,
    Is,
    Not,
    Or,
    Path,
    Position,
    Step,
)

__all__ = ["PathBuilder", "append_step"]

_ATTRIBUTE_TESTS = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN, TestKind.NODE)


@dataclass(slots=True)
class PathBuilder:
    """A mutable path; `start_conditions` are conditions on its start node."""

    absolute: bool
    at: int
    start_conditions: list[Condition] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    unsatisfiable: bool = False

    @property
    def path(self) -> Path:
        """The path without its start conditions."""
        return Path(self.absolute, tuple(self.steps), self.at)

    def add_condition(self, condition: Condition) -> PathBuilder:
        """Add a condition on the last nodes, and return the builder.

        A condition on the parent moves to the step before a child or attribute step.
        """
        index, pending = len(self.steps), [condition]
        while pending and index:
            index -= 1
            step, on_node, pending = self.steps[index], pending, []
            if step.axis in (Axis.CHILD, Axis.ATTRIBUTE):
                pending, on_node = split_by_parent(conjunction(on_node))
            self.steps[index] = replace(step, conditions=(*step.conditions, *on_node))
        self.start_conditions += pending
        return self

    def guard(self, test: Condition | None, empty: Condition, top: bool) -> Condition | None:
        """Return a test of the path's nodes; `empty` where its start conditions fail."""
        if test is None or not self.start_conditions:
            return test
        start = self._start(top)
        if start is None:
            return None
        if empty == FALSE:
            return conjunction([start, test])
        return disjunction([negation(start), test])

    def _start(self, top: bool) -> Condition | None:
        """Return the start conditions; None if they need the document's value in a predicate."""
        start = conjunction(self.start_conditions)
        return at_document(start, top=top) if self.absolute else start

    def existence(self, top: bool) -> Condition | None:
        """Return the condition that the path selects a node.

        None if it needs the document's string-value inside a predicate.
        """
        if self.unsatisfiable:
            return FALSE
        if not self.start_conditions:
            return canonical_existence(self.path)
        start = self._start(top)
        return None if start is None else conjunction([start, canonical_existence(self.path)])


def append_step(builder: PathBuilder, step: SyntaxStep, conditions: list[Condition]) -> bool:
    """Append a step to the builder; return False, without a change, if it has no such form."""
    axis, test = _axis_at(builder, step), step.test
    if axis is None:
        builder.unsatisfiable = True
        return True
    if axis is Axis.NAMESPACE:
        return False
    if axis is Axis.PARENT and _step_to_parent(builder):
        axis = Axis.SELF
    if axis is Axis.SELF:
        _add_self_step(builder, test, conditions)
        return True
    if axis in SIDEWAYS:
        separated = _separate_positions(conditions)
        if separated is None or (
            axis is Axis.ANCESTOR_OR_SELF
            and test.kind is TestKind.NODE
            and (_is_at_attribute(builder) or any(c.positional for c in conditions))
        ):
            return False  # the last: an attribute would count among its ancestors
        conditions = separated
    if axis is Axis.PARENT or (axis is Axis.ATTRIBUTE and test.kind is TestKind.NAME):
        conditions = [fold_positions(condition) for condition in conditions]
    if axis is Axis.ATTRIBUTE:
        builder.unsatisfiable = builder.unsatisfiable or test.kind not in _ATTRIBUTE_TESTS
        conditions = [condition_at_attribute(condition) for condition in conditions]
    if axis in (Axis.CHILD, Axis.ATTRIBUTE) and conditions:
        split = [split_by_parent(condition) for condition in conditions]
        conditions = [condition for _, on_node in split for condition in on_node]
        for on_parent, _ in split:
            for condition in on_parent:
                builder.add_condition(condition)
    builder.steps.append(Step(axis, test, tuple(conditions), step.at))
    return True


def _axis_at(builder: PathBuilder, step: SyntaxStep) -> Axis | None:
    """Return an axis that is equivalent at the end of the path; None if nothing is there."""
    axis = step.axis
    if _is_at_attribute(builder):
        if axis is Axis.DESCENDANT_OR_SELF:
            return Axis.SELF
        if axis is Axis.ANCESTOR_OR_SELF and step.test.kind is not TestKind.NODE:
            return Axis.ANCESTOR
        return None if axis in DOWNWARD or axis in SIBLINGS else axis
    if builder.absolute and not builder.steps:  # the document node
        if axis is Axis.ANCESTOR_OR_SELF:
            return Axis.SELF
        return None if axis is Axis.PARENT or axis in SIDEWAYS else axis
    return axis


def _is_at_attribute(builder: PathBuilder) -> bool:
    return bool(builder.steps) and builder.steps[-1].axis is Axis.ATTRIBUTE


def _add_self_step(builder: PathBuilder, test: Test, conditions: list[Condition]) -> None:
    if test.kind is not TestKind.NODE:
        if builder.absolute and not builder.steps:
            builder.unsatisfiable = True
        builder.add_condition(Is(test))
    for condition in conditions:
        builder.add_condition(fold_positions(condition))


def _step_to_parent(builder: PathBuilder) -> bool:
    """Apply a parent step: `a/b/..` is `a[b]`; False if the last step may skip levels."""
    if not builder.steps or builder.steps[-1].axis not in (Axis.CHILD, Axis.ATTRIBUTE):
        return False
    last = builder.steps.pop()
    builder.add_condition(canonical_existence(Path(False, (last,), last.at)))
    return True


def _separate_positions(conditions: list[Condition]) -> list[Condition] | None:
    """Return the conditions such that each is on positions alone or independent of them.

    `[position() < 3 and b]` is `[position() < 3][b]`. None if there is no such form.
    """
    separated: list[Condition] = []
    for condition in conditions:
        parts = condition.parts if isinstance(condition, And) else (condition,)
        positional = [part for part in parts if part.positional]
        if not all(map(_is_position_test, positional)):
            return None
        if positional:
            separated.append(conjunction(positional))
        if len(positional) < len(parts):
            separated.append(conjunction([part for part in parts if not part.positional]))
    return separated


def _is_position_test(condition: Condition) -> bool:
    """Whether a condition depends on positions alone."""
    match condition:
        case And(parts=parts) | Or(parts=parts):
            return all(map(_is_position_test, parts))
        case Not(part=part):
            return _is_position_test(part)
        case _:
            return isinstance(condition, Position)
