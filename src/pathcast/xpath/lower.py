"""Lowering of a syntax tree to a condition that the evaluators decide in linear time.

The boolean value of an expression at a node becomes a `Condition`. Comparisons of a node-set become
value predicates on its nodes (`a[b > 3]` is `a/b[. > 3]`), and unions become disjunctions. `self`
steps, and `parent` steps that undo a child step, become conditions on the step before (`a/b/..` is
`a[b]`). A path outside predicates that starts with neither `/` nor `//` matches at any depth.

The namespace axis, arithmetic, other functions and comparisons of two node-sets have no such form:
the result is None. `skeleton` then computes the strongest condition that the expression implies.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

from pathcast.xpath.canonical import (
    FALSE,
    TRUE,
    canonical_path,
    canonical_position,
    conjunction,
    disjunction,
    fold_positions,
    negation,
    truth,
)
from pathcast.xpath.functions import XPathType
from pathcast.xpath.numbers import canonical_number, number
from pathcast.xpath.parser import MAX_STEPS
from pathcast.xpath.path_builder import PathBuilder, append_step
from pathcast.xpath.path_values import first_value, node_count
from pathcast.xpath.syntax import (
    Axis,
    Call,
    Expr,
    FilterExpression,
    Literal,
    LocationPath,
    Number,
    OperatorChain,
    Precedence,
    SyntaxStep,
    Test,
    TestKind,
    Union,
    type_of,
)
from pathcast.xpath.tree import COMPARISONS, REVERSE, Condition, StringFunction, Value, ValueKind

__all__ = [
    "DESCENDANT_OR_SELF_NODE",
    "is_nonempty",
    "lower",
    "lower_predicate",
    "make_absolute",
    "to_path",
]

DESCENDANT_OR_SELF_NODE = SyntaxStep(Axis.DESCENDANT_OR_SELF, Test(TestKind.NODE))
_MIRRORED_OPERATOR = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_PathExpression: TypeAlias = LocationPath | FilterExpression
_STRING_FUNCTIONS = frozenset({"string", "normalize-space", "translate"})


def lower(expression: Expr, *, top: bool = False) -> Condition | None:
    """Return the condition that the expression is true; None if it has no such form.

    `top`: the expression stands outside predicates and is evaluated at the document node.
    """
    match expression:
        case Number(spelling=spelling):
            value = number(spelling)
            return FALSE if value == 0 or math.isnan(value) else TRUE
        case Literal(value=text):
            return TRUE if text else FALSE
        case LocationPath():
            builder = to_path(expression, top)  # not by is_nonempty: saves stack frames
            return None if builder is None else builder.existence(top)
        case Union() | FilterExpression():
            return is_nonempty(expression, top)
        case OperatorChain(precedence=Precedence.OR | Precedence.AND):
            parts = []
            for operand in expression.operands:
                part = lower(operand, top=top)
                if part is None:
                    return None
                parts.append(part)
            return (
                disjunction(parts) if expression.precedence is Precedence.OR else conjunction(parts)
            )
        case OperatorChain(
            precedence=Precedence.EQUALITY | Precedence.RELATION, first=left, rest=((op, right),)
        ):
            compared = _compare(left, op, right, top)
            return (
                _compare(right, _MIRRORED_OPERATOR[op], left, top) if compared is None else compared
            )
        case Call(name="true"):
            return TRUE
        case Call(name="false"):
            return FALSE
        case Call(name="not", arguments=(argument,)):
            part = lower(argument, top=top)
            return None if part is None else negation(part)
        case Call(name="boolean", arguments=(argument,)):
            return lower(argument, top=top)
        case Call(name="position" | "last"):
            return TRUE
        case Call(name="count" | "string-length"):
            return _compare(expression, "!=", Number("0"), top)
        case Call(name=name) if name in _STRING_FUNCTIONS:
            return _compare(expression, "!=", Literal(""), top)
        case Call(
            name="contains" | "starts-with" as name, arguments=(operand, Literal(value=text))
        ):
            kind = ValueKind.CONTAINS if name == "contains" else ValueKind.STARTS_WITH
            return (
                _string_test(operand, Value(kind, "", text, expression.at), top) if text else TRUE
            )
        case _:
            return None


def lower_predicate(expression: Expr) -> Condition | None:
    """Return the condition of a predicate: a number is a position, any other value a boolean."""
    match expression:
        case Number(spelling=spelling):
            return canonical_position("position", "=", spelling)
        case Call(name="last"):
            return canonical_position("position", "=", "last")
        case Call(name="position"):
            return TRUE
        case LocationPath():
            builder = to_path(expression, False)
            return None if builder is None else builder.existence(False)
        case _ if type_of(expression) is XPathType.NUMBER:
            return None
        case _:
            return lower(expression)


# comparisons


def _compare(left: Expr, op: str, right: Expr, top: bool) -> Condition | None:
    """Return the condition `left op right` for a constant right side; None if no rule applies."""
    match left, right:
        case Number() | Literal(), Number() | Literal():
            return _constant(left, op, right)
        case ((LocationPath() | Union() | FilterExpression()), (Number() | Literal())):
            value = _value_predicate(op, right, left.at)
            return FALSE if value is None else is_nonempty(left, top, value)
        case _, Call(name="true" | "false" as name) if op in ("=", "!="):
            condition = lower(left, top=top)
            if condition is None:
                return None
            return condition if (name == "true") is (op == "=") else negation(condition)
        case Call(name="position" | "last" | "count" | "string-length"), Literal(value=text):
            if math.isnan(number(text)):
                return truth(op == "!=")
            return _compare(left, op, Number(canonical_number(text.strip(" \t\r\n"))), top)
        case Call(name="position" | "last" as function), Number(spelling=spelling):
            return _position_test(function, op, spelling, top)
        case Call(name="position"), Call(name="last"):
            return _position_test("position", op, "last", top)
        case (
            Call(name="count", arguments=(LocationPath() | FilterExpression() as path,)),
            Number(spelling=spelling),
        ):
            return _count_test(path, op, spelling, top)
        case Call(name="string-length", arguments=arguments), Number(spelling=spelling):
            value = Value(ValueKind.LENGTH, op, spelling, left.at)
            return _string_test(arguments[0] if arguments else None, value, top)
        case Call(name=name, arguments=arguments), Number() | Literal() if (
            name == "number" or name in _STRING_FUNCTIONS
        ):
            value = _value_predicate(op, right, left.at, numeric=name == "number")
            if value is None:
                # The constant is NaN, which differs from every number and is less than none.
                return TRUE if op == "!=" else FALSE
            operand = (arguments[0] if arguments else None) if name == "number" else left
            return _string_test(operand, value, top)
        case _:
            return None


def _constant(left: Number | Literal, op: str, right: Number | Literal) -> Condition:
    if isinstance(left, Literal) and isinstance(right, Literal) and op in ("=", "!="):
        return TRUE if (left.value == right.value) is (op == "=") else FALSE
    left_number = number(left.spelling if isinstance(left, Number) else left.value)
    right_number = number(right.spelling if isinstance(right, Number) else right.value)
    return TRUE if COMPARISONS[op](left_number, right_number) else FALSE


def _value_predicate(
    op: str, constant: Number | Literal, at: int, *, numeric: bool = False
) -> Value | None:
    """Return the value predicate against a constant; None if the constant is not a number."""
    if isinstance(constant, Literal):
        if op in ("=", "!=") and not numeric:
            return Value(ValueKind.STRING, op, constant.value, at)
        if math.isnan(number(constant.value)):
            return None
        return Value(ValueKind.NUMBER, op, canonical_number(constant.value.strip(" \t\r\n")), at)
    return Value(ValueKind.NUMBER, op, constant.spelling, at)


def _position_test(left: str, op: str, right: str, top: bool) -> Condition:
    test = canonical_position(left, op, right)
    return fold_positions(test) if top else test


def _string_test(operand: Expr | None, value: Value, top: bool) -> Condition | None:
    """Return the value predicate on string() of an operand: its first node, or the empty string."""
    match operand:
        case None:
            return value
        case Literal(value=text):
            return TRUE if value.holds(text) else FALSE
        case Call(name="string" | "normalize-space" as name, arguments=arguments):
            argument = arguments[0] if arguments else None
            if name == "normalize-space":
                value = _apply(StringFunction(name), value)
            return _string_test(argument, value, top)
        case Call(name="translate", arguments=(argument, Literal() as old, Literal() as new)):
            return _string_test(
                argument, _apply(StringFunction("translate", (old.value, new.value)), value), top
            )
        case LocationPath() | FilterExpression():
            return _first_test(operand, value, top)
        case _:
            return None


def _apply(function: StringFunction, value: Value) -> Value:
    """Return the value predicate on the function's result."""
    return replace(value, functions=(function, *value.functions))


def _first_test(path: _PathExpression, value: Value, top: bool) -> Condition | None:
    """Return the value predicate on the first node of a path, or on the empty string."""
    builder = to_path(path, top)
    if builder is None:
        return None
    empty = truth(value.holds(""))
    selecting = None if builder.unsatisfiable else canonical_path(builder.path)
    if selecting is None:
        return empty
    if selecting.steps:
        return builder.guard(first_value(selecting, value), empty, top)
    return builder.guard(value, empty, top) if top or not selecting.absolute else None


def _count_test(path: _PathExpression, op: str, operand: str, top: bool) -> Condition | None:
    """Return the comparison of the number of nodes that a path selects."""
    builder = to_path(path, top)
    if builder is None:
        return None
    empty = truth(COMPARISONS[op](0, number(operand)))
    counted = None if builder.unsatisfiable else canonical_path(builder.path)
    if counted is None:
        return empty
    test = truth(COMPARISONS[op](1, number(operand)))
    return builder.guard(node_count(counted, op, operand) if counted.steps else test, empty, top)


# paths


def is_nonempty(expression: Expr, top: bool, value: Value | None = None) -> Condition | None:
    """Return the condition that a node-set has a node, or one that passes the value predicate."""
    match expression:
        case LocationPath() | FilterExpression(primary=LocationPath() | FilterExpression()):
            builder = to_path(expression, top)
            if builder is None:
                return None
            return (builder if value is None else builder.add_condition(value)).existence(top)
        case Union(parts=parts):
            conditions = []
            for part in parts:
                condition = is_nonempty(part, top, value)
                if condition is None:
                    return None
                conditions.append(condition)
            return disjunction(conditions)
        case FilterExpression(primary=Union(parts=parts), predicates=(), steps=steps):
            if len(parts) * len(steps) > MAX_STEPS or any(step.predicates for step in steps):
                return None  # distributed over the parts it would be too large
            distributed = tuple(FilterExpression(part, (), steps, part.at) for part in parts)
            return is_nonempty(Union(distributed, expression.at), top, value)
        case _:
            return None


def make_absolute(path: LocationPath, top: bool) -> LocationPath:
    """Return the path with `//` in front if it is relative and outside predicates."""
    if path.absolute or not top:
        return path
    return LocationPath(True, (replace(DESCENDANT_OR_SELF_NODE, at=path.at), *path.steps), path.at)


def to_path(path: _PathExpression, top: bool) -> PathBuilder | None:
    """Convert the steps of a path to pattern steps; None if one has no such form."""
    if isinstance(path, FilterExpression):
        builder = _filter_path(path, top)
    else:
        path = make_absolute(path, top)
        builder = PathBuilder(path.absolute, path.at)
    for step in path.steps:
        conditions = _lower_predicates(step.predicates)
        if builder is None or conditions is None or not append_step(builder, step, conditions):
            return None
    return builder


def _filter_path(expression: FilterExpression, top: bool) -> PathBuilder | None:
    """Convert `(path)[predicate]...` where the path is a single step along a forward axis.

    Then the positions are those of the step: `(//a)[2]` is `/descendant::a[2]`.
    """
    if not isinstance(expression.primary, LocationPath | FilterExpression):
        return None
    builder = to_path(expression.primary, top)
    if builder is None or builder.unsatisfiable or not expression.predicates:
        return builder
    path = canonical_path(builder.path)
    if path is None:
        builder.unsatisfiable = True
        return builder
    conditions = _lower_predicates(expression.predicates)
    if conditions is None or len(path.steps) != 1:
        return None
    [step] = path.steps
    if step.axis in REVERSE and step.axis is not Axis.PARENT:
        return None
    builder.steps.clear()
    conditions = [*step.conditions, *conditions]
    appended = append_step(builder, SyntaxStep(step.axis, step.test, (), step.at), conditions)
    return builder if appended else None


def _lower_predicates(predicates: tuple[Expr, ...]) -> list[Condition] | None:
    conditions = []
    for predicate in predicates:
        condition = lower_predicate(predicate)
        if condition is None:
            return None
        conditions.append(condition)
    return conditions
