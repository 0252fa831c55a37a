"""Predicates that speak of the parent move up to it.

`item[../@lang = 'en']` asks something of the item's parent, so along the child and attribute axes it is the
same as asking the step before: `*[@lang = 'en']/item`. All items of that parent get the same answer, so
places among them are not disturbed. This keeps a common form inside tree patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pathcast.xpath.functions import Type
from pathcast.xpath.syntax import (
    Axis,
    Call,
    Chain,
    Expression,
    Filter,
    Literal,
    LocationPath,
    Negation,
    Number,
    Rank,
    Step,
    Test,
    TestKind,
    Union,
    type_of,
)

__all__ = ["conjuncts", "of_parent", "of_siblings"]

_SIBLINGS = (Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING)
_HERE = Step(Axis.SELF, Test(TestKind.NODE))


def conjuncts(step: Step) -> Iterator[tuple[Expression, bool]]:
    """The predicates of a step, split at `and`; True with those that may move to the parent."""
    movable = step.axis in (Axis.CHILD, Axis.ATTRIBUTE)
    for predicate in step.predicates:
        if isinstance(predicate, Chain) and predicate.rank is Rank.AND and movable:
            stay = []
            for operand in predicate.operands:
                if of_parent(operand) is None:
                    stay.append(operand)
                else:
                    yield operand, True
            if stay:
                rest = tuple(("and", operand) for operand in stay[1:])
                # one operand alone may be a number, which must not turn into a place
                alone = Call("boolean", (stay[0],), stay[0].at)
                yield (replace(predicate, first=stay[0], rest=rest) if rest else alone), False
        else:
            yield predicate, movable and of_parent(predicate) is not None


def of_parent(expression: Expression) -> Expression | None:
    """The same question asked at the parent; None if it is not about the parent alone."""
    if type_of(expression) is Type.NUMBER:  # a place
        return None
    found = _moved(expression)
    return found if found is not expression else None


def _moved(expression: Expression) -> Expression | None:
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
        case Chain():
            moved = _all(expression.operands)
            if moved is None:
                return None
            pairs = zip(expression.rest, moved[1:], strict=True)
            chain = replace(
                expression, first=moved[0], rest=tuple((op, new) for (op, _), new in pairs)
            )
            return _same(expression, chain)
        case Filter(primary=primary):
            one = _moved(primary)
            return None if one is None else _same(expression, replace(expression, primary=one))


def _all(expressions: tuple[Expression, ...]) -> tuple[Expression, ...] | None:
    moved = []
    for expression in expressions:
        one = _moved(expression)
        if one is None:
            return None
        moved.append(one)
    return tuple(moved)


def _same(before: Expression, after: Expression) -> Expression:
    return before if before == after else after


def of_siblings(expression: Expression) -> Expression | None:
    """What a path to a sibling needs of the parent: a child like it. Weaker than the expression."""
    match expression:
        case LocationPath(absolute=False, steps=(first, *rest)) if first.axis in _SIBLINGS:
            # without its predicates: places among siblings are not places among children
            child = replace(first, axis=Axis.CHILD, predicates=())
            return replace(expression, steps=(_HERE, child, *rest))
        case Chain(
            rank=Rank.EQUALITY | Rank.RELATION,
            first=LocationPath() as path,
            rest=((_, Number() | Literal()),),
        ):
            moved = of_siblings(path)
            return None if moved is None else replace(expression, first=moved)
        case _:
            return None
