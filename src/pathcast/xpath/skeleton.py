"""Skeleton: the strongest condition that an expression is known to imply.

libxml2 evaluates an expression that has no condition only on documents that satisfy its skeleton. A
skeleton is weaker than its expression: `weaken(e)` holds wherever e does. Negation reverses the
direction, so there is also `strengthen(e)`, which holds only where e does. `weaken(not(e))` is the
negation of `strengthen(e)`. The trivial answers are `true()` and `false()`.

These rules make a skeleton strong:

- Arithmetic on an empty node-set gives NaN, which compares as false: `a + 1 > 3` requires an `a`.
- Most string functions of an empty string are empty: `normalize-space(a) = 'x'` requires an `a`.
"""

from __future__ import annotations

from dataclasses import replace

from pathcast.xpath.canonical import FALSE, TRUE, conjunction, disjunction, negation
from pathcast.xpath.functions import XPathType
from pathcast.xpath.lower import (
    DESCENDANT_OR_SELF_NODE,
    is_nonempty,
    lower,
    lower_predicate,
    make_absolute,
    to_path,
)
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.parser import MAX_STEPS
from pathcast.xpath.path_builder import PathBuilder, append_step
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
from pathcast.xpath.tree import Condition

__all__ = ["strengthen", "weaken"]

_ANY_LANG_ATTRIBUTE = LocationPath(
    True,
    (
        DESCENDANT_OR_SELF_NODE,
        SyntaxStep(Axis.ATTRIBUTE, Test(TestKind.NAME, f"{{{XML_NAMESPACE}}}lang")),
    ),
)
# String functions that return '' if their first argument is ''.
_EMPTY_PRESERVING = frozenset(
    {"string", "normalize-space", "substring", "substring-before", "substring-after", "translate"}
)
_NAME_FUNCTIONS = frozenset({"name", "local-name", "namespace-uri"})
_NAN_PRESERVING = frozenset({"number", "floor", "ceiling", "round"})


def weaken(expression: Expr, *, top: bool = False) -> Condition:
    """Return a condition that holds wherever the expression is true."""
    exact = lower(expression, top=top)
    if exact is not None:
        return exact
    match expression:
        case LocationPath():
            return _weak_path(expression, top)
        case OperatorChain(precedence=Precedence.OR):
            return disjunction([weaken(part, top=top) for part in expression.operands])
        case OperatorChain(precedence=Precedence.AND):
            return conjunction([weaken(part, top=top) for part in expression.operands])
        case OperatorChain(
            precedence=Precedence.EQUALITY | Precedence.RELATION, first=left, rest=((op, right),)
        ):
            return conjunction(
                [_comparison_needs(left, op, right, top), _comparison_needs(right, op, left, top)]
            )
        case Call(name="not", arguments=(argument,)):
            return negation(strengthen(argument, top=top))
        case Call(name="boolean", arguments=(argument,)):
            return weaken(argument, top=top)
        case Call(name="contains" | "starts-with", arguments=(operand, Literal())):
            return _string_needs(operand, top)
        case Call(name="lang"):
            return is_nonempty(_ANY_LANG_ATTRIBUTE, True) or TRUE
        case _ if type_of(expression) is XPathType.NODES:
            return _node_set_needs(expression, top)
        case _ if type_of(expression) is XPathType.NUMBER:
            return _number_needs(expression, top)
        case _ if type_of(expression) is XPathType.STRING:
            return _string_needs(expression, top)
        case _:
            return TRUE


def strengthen(expression: Expr, *, top: bool = False) -> Condition:
    """Return a condition that holds only where the expression is true."""
    exact = lower(expression, top=top)
    if exact is not None:
        return exact
    match expression:
        case OperatorChain(precedence=Precedence.OR):
            return disjunction([strengthen(part, top=top) for part in expression.operands])
        case OperatorChain(precedence=Precedence.AND):
            return conjunction([strengthen(part, top=top) for part in expression.operands])
        case Call(name="not", arguments=(argument,)):
            return negation(weaken(argument, top=top))
        case Call(name="boolean", arguments=(argument,)):
            return strengthen(argument, top=top)
        case Union(parts=parts):
            return disjunction([strengthen(part, top=top) for part in parts])
        case LocationPath():
            return _strong_path(expression, top)
        case _:
            return FALSE


# necessary conditions of values


def _comparison_needs(side: Expr, op: str, other: Expr, top: bool) -> Condition:
    """Return a necessary condition on one side of a true comparison."""
    match type_of(side):
        case XPathType.NODES if type_of(other) is not XPathType.BOOLEAN:
            return _node_set_needs(side, top)
        case XPathType.NUMBER if op != "!=" and type_of(other) is not XPathType.BOOLEAN:
            return _not_nan_needs(side, top)
        case XPathType.STRING if op not in ("=", "!="):
            return _string_needs(side, top)
        case XPathType.STRING if op == "=":
            nonempty_literal = isinstance(other, Literal) and other.value
            if nonempty_literal or type_of(other) is XPathType.NUMBER:
                return _string_needs(side, top)
    return TRUE


def _number_needs(expression: Expr, top: bool) -> Condition:
    """Return a necessary condition for a number that is neither zero nor NaN."""
    match expression:
        case Call(name="count" | "sum", arguments=(path,)):
            return _node_set_needs(path, top)
        case Call(name="string-length", arguments=(text,)):
            return _string_needs(text, top)
        case _:
            return _not_nan_needs(expression, top)


def _not_nan_needs(expression: Expr, top: bool) -> Condition:
    match expression:
        case OperatorChain(precedence=Precedence.SUM | Precedence.PRODUCT):
            return conjunction([_not_nan_needs(operand, top) for operand in expression.operands])
        case Negation(operand=operand):
            return _not_nan_needs(operand, top)
        case Call(name=name, arguments=(argument,)) if name in _NAN_PRESERVING:
            return _not_nan_needs(argument, top)
        case Number():
            return TRUE
        case _ if type_of(expression) is XPathType.NODES:
            return _node_set_needs(expression, top)
        case _ if type_of(expression) is XPathType.STRING:
            return _string_needs(expression, top)
        case _:
            return TRUE


def _string_needs(expression: Expr, top: bool) -> Condition:
    """Return a necessary condition for a nonempty string."""
    match expression:
        case Call(name=name, arguments=(argument, *_)) if name in _EMPTY_PRESERVING:
            return _string_needs(argument, top)
        case Call(name=name, arguments=(argument,)) if name in _NAME_FUNCTIONS:
            return _node_set_needs(argument, top)
        case Call(name="concat", arguments=arguments):
            return disjunction([_string_needs(argument, top) for argument in arguments])
        case Literal(value=value):
            return TRUE if value else FALSE
        case _ if type_of(expression) is XPathType.NODES:
            return _node_set_needs(expression, top)
        case _:
            return TRUE


# paths


def _node_set_needs(expression: Expr, top: bool) -> Condition:
    """Return a necessary condition for a nonempty node-set."""
    match expression:
        case LocationPath():
            return _weak_path(expression, top)
        case Union(parts=parts):
            return disjunction([_node_set_needs(part, top) for part in parts])
        case FilterExpression(primary=LocationPath() as start, predicates=predicates, steps=steps):
            start = make_absolute(start, top)
            if start.steps:
                position_free = tuple(inner for inner in predicates if _is_position_free(inner))
                last = replace(
                    start.steps[-1], predicates=(*start.steps[-1].predicates, *position_free)
                )
                start = replace(start, steps=(*start.steps[:-1], last))
            return _weak_path(replace(start, steps=(*start.steps, *steps)), top)
        case FilterExpression(primary=Union(parts=parts), steps=steps):
            # Without predicates: distributed over the parts, nested ones could grow without bound.
            bare = tuple(replace(step, predicates=()) for step in steps)
            if len(parts) * len(bare) > MAX_STEPS:
                bare = ()
            return disjunction(
                [_node_set_needs(FilterExpression(part, (), bare), top) for part in parts]
            )
        case FilterExpression(primary=primary, steps=()):
            return _node_set_needs(primary, top)
        case FilterExpression(primary=primary, steps=steps):
            tail = LocationPath(True, (DESCENDANT_OR_SELF_NODE, *steps), expression.at)
            return conjunction([_node_set_needs(primary, top), _weak_path(tail, top)])
        case _:
            return TRUE


def _is_position_free(predicate: Expr) -> bool:
    """Whether a predicate is independent of positions."""
    condition = lower_predicate(predicate)
    return condition is not None and not condition.positional


def _weak_path(path: LocationPath, top: bool) -> Condition:
    path = make_absolute(path, top)
    builder = PathBuilder(path.absolute, path.at)
    for step in path.steps:
        conditions = _weak_predicates(step)
        if append_step(builder, step, conditions):
            continue
        if not append_step(builder, step, [c for c in conditions if not c.positional]):
            break  # what follows starts at nodes that no condition describes
    return builder.existence(top) or TRUE


def _weak_predicates(step: SyntaxStep) -> list[Condition]:
    """Return necessary conditions of a step's predicates.

    Positions are kept only while all predicates before are exact.
    """
    conditions: list[Condition] = []
    exact = True
    for predicate in step.predicates:
        condition = lower_predicate(predicate)
        lowered = condition is not None
        if condition is None:
            condition = TRUE if type_of(predicate) is XPathType.NUMBER else weaken(predicate)
        if exact or not condition.positional:
            conditions.append(condition)
        exact = exact and lowered
    return conditions


def _strong_path(path: LocationPath, top: bool) -> Condition:
    if (
        to_path(replace(path, steps=tuple(replace(s, predicates=()) for s in path.steps)), top)
        is None
    ):
        return FALSE
    path = make_absolute(path, top)
    builder = PathBuilder(path.absolute, path.at)
    for step in path.steps:
        conditions = _strong_predicates(step.predicates)
        if conditions is None or not append_step(builder, step, conditions):
            return FALSE
    return builder.existence(top) or FALSE


def _strong_predicates(predicates: tuple[Expr, ...]) -> list[Condition] | None:
    """Return sufficient predicates; None if a position follows an inexact predicate."""
    conditions: list[Condition] = []
    exact = True
    for predicate in predicates:
        condition = lower_predicate(predicate)
        if condition is None and type_of(predicate) is XPathType.NUMBER:
            return None
        lowered = condition is not None
        if condition is None:
            condition = strengthen(predicate)
        if condition.positional and not exact:
            return None
        exact = exact and lowered
        conditions.append(condition)
    return conditions
