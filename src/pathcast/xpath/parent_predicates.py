"""Rewriting of predicates on the parent into predicates of the step before.

`item[../@lang = 'en']` is a predicate on the item's parent. Along the child and attribute axes it
is equivalent to a predicate of the step before: `*[@lang = 'en']/item`. All items of one parent
have the same answer, so positions among them do not change. This keeps a common form inside tree
patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pathcast.xpath.functions import XPathType
from pathcast.xpath.syntax import (
    Axis,
    Call,
    Expr,
    FilterExpression,
    Literal,
    LocationPath,
    Negation,
    Number,
    OperatorChain,
    Precedence,
    SyntaxStep,
    Test,
    TestKind,
    Union,
    type_of,
)

__all__ = ["rebase_to_parent", "split_conjuncts", "weaken_to_parent"]

_SIBLINGS = (Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING)
_SELF_NODE = SyntaxStep(Axis.SELF, Test(TestKind.NODE))


def split_conjuncts(step: SyntaxStep) -> Iterator[tuple[Expr, bool]]:
    """Yield the predicates of a step, split at `and`, and whether each may move to the parent."""
    movable = step.axis in (Axis.CHILD, Axis.ATTRIBUTE)
    for predicate in step.predicates:
        if (
            isinstance(predicate, OperatorChain)
            and predicate.precedence is Precedence.AND
            and movable
        ):
            remaining = []
            for operand in predicate.operands:
                if rebase_to_parent(operand) is None:
                    remaining.append(operand)
                else:
                    yield operand, True
            if remaining:
                rest = tuple(("and", operand) for operand in remaining[1:])
                # A single number operand must not become a position.
                single = Call("boolean", (remaining[0],), remaining[0].at)
                yield (replace(predicate, first=remaining[0], rest=rest) if rest else single), False
        else:
            yield predicate, movable and rebase_to_parent(predicate) is not None


def rebase_to_parent(expression: Expr) -> Expr | None:
    """Return the predicate for the parent; None if it does not depend on the parent alone."""
    if type_of(expression) is XPathType.NUMBER:  # a position
        return None
    rebased = _rebase(expression)
    return rebased if rebased is not expression else None


def _rebase(expression: Expr) -> Expr | None:
    """Return the expression with leading `..` steps removed; itself if it has none."""
    match expression:
        case Number() | Literal():
            return expression
        case LocationPath(absolute=True):
            return expression
        case LocationPath(steps=(first, *rest)) if first.axis is Axis.PARENT:
            return replace(expression, steps=(replace(first, axis=Axis.SELF), *rest))
        case Call(name="true" | "false"):
            return expression
        case Call(arguments=()) | Call(name="lang") | LocationPath():
            return None
        case Call(arguments=arguments):
            rebased = _rebase_all(arguments)
            return (
                None
                if rebased is None
                else _keep_identity(expression, replace(expression, arguments=rebased))
            )
        case Union(parts=parts):
            rebased = _rebase_all(parts)
            return (
                None
                if rebased is None
                else _keep_identity(expression, replace(expression, parts=rebased))
            )
        case Negation(operand=operand):
            inner = _rebase(operand)
            if inner is None:
                return None
            return _keep_identity(expression, replace(expression, operand=inner))
        case OperatorChain():
            rebased = _rebase_all(expression.operands)
            if rebased is None:
                return None
            pairs = zip(expression.rest, rebased[1:], strict=True)
            chain = replace(
                expression, first=rebased[0], rest=tuple((op, new) for (op, _), new in pairs)
            )
            return _keep_identity(expression, chain)
        case FilterExpression(primary=primary):
            inner = _rebase(primary)
            if inner is None:
                return None
            return _keep_identity(expression, replace(expression, primary=inner))


def _rebase_all(expressions: tuple[Expr, ...]) -> tuple[Expr, ...] | None:
    rebased = []
    for expression in expressions:
        inner = _rebase(expression)
        if inner is None:
            return None
        rebased.append(inner)
    return tuple(rebased)


def _keep_identity(before: Expr, after: Expr) -> Expr:
    return before if before == after else after


def weaken_to_parent(expression: Expr) -> Expr | None:
    """Return a weaker predicate on the parent: a path to a sibling needs a child like it."""
    match expression:
        case LocationPath(absolute=False, steps=(first, *rest)) if first.axis in _SIBLINGS:
            # Without its predicates: positions among siblings differ from those among children.
            child = replace(first, axis=Axis.CHILD, predicates=())
            return replace(expression, steps=(_SELF_NODE, child, *rest))
        case OperatorChain(
            precedence=Precedence.EQUALITY | Precedence.RELATION,
            first=LocationPath() as path,
            rest=((_, Number() | Literal()),),
        ):
            rebased = weaken_to_parent(path)
            return None if rebased is None else replace(expression, first=rebased)
        case _:
            return None
