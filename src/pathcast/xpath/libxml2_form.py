"""The form in which libxml2 gets a residual: the same truth, without merging sets of nodes.

A step from many nodes makes libxml2 merge what each of them gives and look for duplicates by comparing all
pairs: `//a//b` and `//a/..` are quadratic. A subscription only asks whether there is a node, so such a step may as
well be a predicate of the nodes that it starts from, `//a[.//b]`, which stops at the first one found. For the
same reason a union is an `or`. Places are not disturbed: what is nested comes after all other predicates.
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

__all__ = ["nest", "quadratic_on_sibling_runs"]

_STAY = frozenset(Axis) - {
    Axis.ANCESTOR,
    Axis.ANCESTOR_OR_SELF,
    Axis.DESCENDANT,
    Axis.DESCENDANT_OR_SELF,
    Axis.FOLLOWING_SIBLING,
    Axis.PARENT,
    Axis.PRECEDING_SIBLING,
}
_BESIDE = frozenset({Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING})
_ONE = frozenset({Axis.SELF, Axis.PARENT})
_NO_ELEMENTS = frozenset({TestKind.NODE, TestKind.TEXT, TestKind.COMMENT, TestKind.INSTRUCTION})


def nest(expression: Expr) -> Expr:
    """An expression that is true exactly where this one is."""
    match expression:
        case LocationPath(steps=steps):
            return replace(expression, steps=_nested(steps))
        case Union(parts=(first, *rest), at=at):
            others = tuple(("or", nest(part)) for part in rest)
            return OperatorChain(Precedence.OR, nest(first), others, at)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND, first=first, rest=rest):
            tail = tuple((op, nest(operand)) for op, operand in rest)
            return replace(expression, first=nest(first), rest=tail)
        case Call(name="not" | "boolean", arguments=(argument,)):
            return replace(expression, arguments=(nest(argument),))
        case _:
            return expression


def _nested(steps: tuple[SyntaxStep, ...]) -> tuple[SyntaxStep, ...]:
    steps = tuple(part for step in steps for part in _stopping_early(step))
    found: list[SyntaxStep] = []
    for index, step in enumerate(steps):
        if found and step.axis not in _STAY and found[-1] != DESCENDANT_OR_SELF_NODE:
            rest = LocationPath(False, _nested(steps[index:]), step.at)
            last = found[-1]
            found[-1] = replace(last, predicates=(*last.predicates, rest))
            return tuple(found)
        predicates = tuple(nest(predicate) for predicate in step.predicates)
        found.append(replace(step, predicates=predicates))
    return tuple(found)


def _stopping_early(step: SyntaxStep) -> tuple[SyntaxStep, ...]:
    """The n-th sibling: libxml2 stops at it only if [n] is the last predicate of its step."""
    predicates = step.predicates
    if step.axis in _BESIDE and len(predicates) > 1 and isinstance(predicates[0], Number):
        here = SyntaxStep(Axis.SELF, Test(TestKind.NODE), predicates[1:], step.at)
        return (replace(step, predicates=predicates[:1]), here)
    return (step,)


def quadratic_on_sibling_runs(expression: Expr) -> bool:
    """Whether an expression may sort nodes that are no elements.

    libxml2 puts such nodes in order by walking back to the element before them, which is quadratic where
    thousands of comments, processing instructions or texts stand in a row.
    """
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        steps = node.steps if isinstance(node, LocationPath | FilterExpression) else ()
        for index, step in enumerate(steps):
            is_double_slash = step == DESCENDANT_OR_SELF_NODE and index + 1 < len(steps)
            if step.test.kind in _NO_ELEMENTS and step.axis not in _ONE and not is_double_slash:
                return True
        waiting += children(node)
    return False
