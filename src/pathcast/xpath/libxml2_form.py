"""Rewriting of a residual into an equivalent form that libxml2 evaluates without merging node-sets.

For a step from many nodes libxml2 merges the results, and removes duplicates by comparing all
pairs: `//a//b` and `//a/..` are quadratic. A subscription needs only existence. So such a step
becomes a predicate of the nodes before it, `//a[.//b]`, which stops at the first match. For the
same reason a union becomes an `or`. Positions do not change: the new predicate comes after all
others.
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.xpath.lower import DESCENDANT_OR_SELF_NODE
from pathcast.xpath.syntax import (
    Axis,
    Call,
    Expr,
    FilterExpression,
    LocationPath,
    Number,
    OperatorChain,
    Precedence,
    SyntaxStep,
    Test,
    TestKind,
    Union,
    children,
)

__all__ = ["nest_steps", "quadratic_on_sibling_runs"]

_NO_MERGE = frozenset(Axis) - {
    Axis.ANCESTOR,
    Axis.ANCESTOR_OR_SELF,
    Axis.DESCENDANT,
    Axis.DESCENDANT_OR_SELF,
    Axis.FOLLOWING_SIBLING,
    Axis.PARENT,
    Axis.PRECEDING_SIBLING,
}
_SIBLING = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_SINGLE_NODE = frozenset({Axis.SELF, Axis.PARENT})
_NOT_ELEMENTS = frozenset({TestKind.NODE, TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION})


def nest_steps(expression: Expr) -> Expr:
    """Return an equivalent expression without merges of node-sets."""
    match expression:
        case LocationPath(steps=steps):
            return replace(expression, steps=_nest_path(steps))
        case Union(parts=(first, *rest), at=at):
            others = tuple(("or", nest_steps(part)) for part in rest)
            return OperatorChain(Precedence.OR, nest_steps(first), others, at)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND, first=first, rest=rest):
            tail = tuple((op, nest_steps(operand)) for op, operand in rest)
            return replace(expression, first=nest_steps(first), rest=tail)
        case Call(name="not" | "boolean", arguments=(argument,)):
            return replace(expression, arguments=(nest_steps(argument),))
        case _:
            return expression


def _nest_path(steps: tuple[SyntaxStep, ...]) -> tuple[SyntaxStep, ...]:
    steps = tuple(part for step in steps for part in _isolate_position(step))
    result: list[SyntaxStep] = []
    for index, step in enumerate(steps):
        if result and step.axis not in _NO_MERGE and result[-1] != DESCENDANT_OR_SELF_NODE:
            predicate = LocationPath(False, _nest_path(steps[index:]), step.at)
            last = result[-1]
            result[-1] = replace(last, predicates=(*last.predicates, predicate))
            return tuple(result)
        predicates = tuple(nest_steps(predicate) for predicate in step.predicates)
        result.append(replace(step, predicates=predicates))
    return tuple(result)


def _isolate_position(step: SyntaxStep) -> tuple[SyntaxStep, ...]:
    """Split `[n][...]` on a sibling axis: libxml2 stops early only if [n] is the last predicate."""
    predicates = step.predicates
    if step.axis in _SIBLING and len(predicates) > 1 and isinstance(predicates[0], Number):
        self_step = SyntaxStep(Axis.SELF, Test(TestKind.NODE), predicates[1:], step.at)
        return (replace(step, predicates=predicates[:1]), self_step)
    return (step,)


def quadratic_on_sibling_runs(expression: Expr) -> bool:
    """Whether libxml2 may sort nodes that are not elements.

    To compare two such nodes, libxml2 walks back to the element before them. That is quadratic in
    runs of thousands of comments, processing instructions or texts.
    """
    pending = [expression]
    while pending:
        node = pending.pop()
        steps = node.steps if isinstance(node, LocationPath | FilterExpression) else ()
        for index, step in enumerate(steps):
            is_abbreviation = step == DESCENDANT_OR_SELF_NODE and index + 1 < len(steps)
            if (
                step.test.kind in _NOT_ELEMENTS
                and step.axis not in _SINGLE_NODE
                and not is_abbreviation
            ):
                return True
        pending += children(node)
    return False
