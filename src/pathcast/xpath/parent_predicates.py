"""Predicates that speak of the parent move up to it.

`item[../@lang = 'en']` asks something of the item's parent, so along the child and attribute axes it is the
same as asking the step before: `*[@lang = 'en']/item`. All items of that parent get the same answer, so
places among them are not disturbed. This keeps a common form inside tree patterns.
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
_HERE = SyntaxStep(Axis.SELF, Test(TestKind.NODE))


def split_conjuncts(step: SyntaxStep) -> Iterator[tuple[Expr, bool]]:
    """The predicates of a step, split at `and`; True with those that may move to the parent."""
    movable = step.axis in (Axis.CHILD, Axis.ATTRIBUTE)
    for predicate in step.predicates:
        if (
            isinstance(predicate, OperatorChain)
            and predicate.precedence is Precedence.AND
            and movable
        ):
            stay = []
            for operand in predicate.operands:
                if rebase_to_parent(operand) is None:
                    stay.append(operand)
                else:
                    yield operand, True
            if stay:
                rest = tuple(("and", operand) for operand in stay[1:])
                # one operand alone may be a number, which must not turn into a place
                alone = Call("boolean", (stay[0],), stay[0].at)
                yield (replace(predicate, first=stay[0], rest=rest) if rest else alone), False
        else:
            yield predicate, movable and rebase_to_parent(predicate) is not None


def rebase_to_parent(expression: Expr) -> Expr | None:
    """The same question asked at the parent; None if it is not about the parent alone."""
    if type_of(expression) is XPathType.NUMBER:  # a place
        return None
    found = _moved(expression)
    return found if found is not expression else None


def _moved(expression: Expr) -> Expr | None:
    """Every path from here that starts with `..` made to start at the parent; itself if there is none."""
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
            moved = _all(arguments)
            return (
                None if moved is None else _same(expression, replace(expression, arguments=moved))
            )
        case Union(parts=parts):
            moved = _all(parts)
            return None if moved is None else _same(expression, replace(expression, parts=moved))
        case Negation(operand=operand):
            one = _moved(operand)
            return None if one is None else _same(expression, replace(expression, operand=one))
        case OperatorChain():
            moved = _all(expression.operands)
            if moved is None:
                return None
            pairs = zip(expression.rest, moved[1:], strict=True)
            chain = replace(
                expression, first=moved[0], rest=tuple((op, new) for (op, _), new in pairs)
            )
            return _same(expression, chain)
        case FilterExpression(primary=primary):
            one = _moved(primary)
            return None if one is None else _same(expression, replace(expression, primary=one))


def _all(expressions: tuple[Expr, ...]) -> tuple[Expr, ...] | None:
    moved = []
    for expression in expressions:
        one = _moved(expression)
        if one is None:
            return None
        moved.append(one)
    return tuple(moved)


def _same(before: Expr, after: Expr) -> Expr:
    return before if before == after else after


def weaken_to_parent(expression: Expr) -> Expr | None:
    """What a path to a sibling needs of the parent: a child like it. Weaker than the expression."""
    match expression:
        case LocationPath(absolute=False, steps=(first, *rest)) if first.axis in _SIBLINGS:
            # without its predicates: places among siblings are not places among children
            child = replace(first, axis=Axis.CHILD, predicates=())
            return replace(expression, steps=(_HERE, child, *rest))
        case OperatorChain(
            precedence=Precedence.EQUALITY | Precedence.RELATION,
            first=LocationPath() as path,
            rest=((_, Number() | Literal()),),
        ):
            moved = weaken_to_parent(path)
            return None if moved is None else replace(expression, first=moved)
        case _:
            return None
