"""Syntax tree -> condition, where the expression is a tree pattern; None where it is not.

The truth of an expression at a node (XPath's boolean()) is turned into a `Condition`. Comparisons of a
node-set become tests on the nodes at its end (`a[b > 3]` is `a/b[. > 3]`), unions become choices, `self`
and `parent` steps become conditions on the step before (`a/b/..` is `a[b]`), and a path outside
predicates that starts with neither `/` nor `//` starts anywhere.

What has no such form (other axes, arithmetic, other functions, comparisons of two node-sets) gives None; the
skeleton module then finds the strongest condition that must hold all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from pathcast.xpath.canonical import (
    FALSE,
    TRUE,
    at_document,
    conjunction,
    count,
    disjunction,
    exists,
    fold_positions,
    negation,
    position,
    shape,
)
from pathcast.xpath.functions import XPathType
from pathcast.xpath.numbers import canonical_number, number
from pathcast.xpath.parent_predicates import rebase_to_parent, split_conjuncts
from pathcast.xpath.parser import MAX_STEPS
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
from pathcast.xpath.tree import (
    COMPARISONS,
    Condition,
    First,
    Is,
    Path,
    Step,
    Value,
    ValueKind,
)

__all__ = [
    "DESCENDANT_OR_SELF_NODE",
    "PathBuilder",
    "lower",
    "lower_predicate",
    "make_absolute",
    "route",
    "selects",
]

DESCENDANT_OR_SELF_NODE = SyntaxStep(Axis.DESCENDANT_OR_SELF, Test(TestKind.NODE))
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_DOWN = frozenset({Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE})


def lower(expression: Expr, *, top: bool = False) -> Condition | None:
    """The condition that the expression is true; `top` outside all predicates, at the document node."""
    match expression:
        case Number(spelling=spelling):
            value = number(spelling)
            return FALSE if value == 0 or math.isnan(value) else TRUE
        case Literal(value=text):
            return TRUE if text else FALSE
        case LocationPath():
            found = route(expression, top)  # not through selects: deep nesting needs few frames
            return None if found is None else found.exists(top)
        case Union() | FilterExpression():
            return selects(expression, top)
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
            return _compare(right, _FLIPPED[op], left, top) if compared is None else compared
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
        case Call(name="contains" | "starts-with" as name, arguments=(where, Literal(value=what))):
            kind = ValueKind.CONTAINS if name == "contains" else ValueKind.STARTS_WITH
            return _on_string(where, Value(kind, "", what, expression.at), top) if what else TRUE
        case _:
            return None


def lower_predicate(expression: Expr) -> Condition | None:
    """The condition of a predicate: a number is a place, anything else is true or false."""
    match expression:
        case Number(spelling=spelling):
            return position("position", "=", spelling)
        case Call(name="last"):
            return position("position", "=", "last")
        case Call(name="position"):
            return TRUE
        case LocationPath():
            found = route(expression, False)
            return None if found is None else found.exists(False)
        case _ if type_of(expression) is XPathType.NUMBER:
            return None
        case _:
            return lower(expression)


# comparisons


def _compare(left: Expr, op: str, right: Expr, top: bool) -> Condition | None:
    """`left op right` where the right side is a constant; None where no rule fits."""
    match left, right:
        case Number() | Literal(), Number() | Literal():
            return _constant(left, op, right)
        case ((LocationPath() | Union() | FilterExpression()), (Number() | Literal())):
            value = _value(op, right, left.at)
            return FALSE if value is None else selects(left, top, value)
        case (
            (LocationPath() | Union() | FilterExpression()),
            Call(name="true" | "false" as truth),
        ):
            found = selects(left, top)
            if found is None or op not in ("=", "!="):
                return None
            return found if (truth == "true") is (op == "=") else negation(found)
        case Call(name="position" | "last" as place), Number(spelling=spelling):
            return _place(place, op, spelling, top)
        case Call(name="position"), Call(name="last"):
            return _place("position", op, "last", top)
        case Call(name="count", arguments=(LocationPath() as path,)), Number(spelling=spelling):
            found_route = route(path, top)
            if found_route is None or found_route.here or not found_route.steps:
                return None
            shaped = None if found_route.never else shape(found_route.path)
            if shaped is None:
                return TRUE if COMPARISONS[op](0, number(spelling)) else FALSE
            return count(shaped, op, spelling)
        case Call(name="string-length", arguments=arguments), Number(spelling=spelling):
            value = Value(ValueKind.LENGTH, op, spelling, left.at)
            return _on_string(arguments[0] if arguments else None, value, top)
        case Call(name="string" | "number" as name, arguments=arguments), Number() | Literal():
            value = _value(op, right, left.at, numeric=name == "number")
            if value is None:
                # a string that is not a number differs from every number and is in order with none
                return TRUE if op == "!=" else FALSE
            return _on_string(arguments[0] if arguments else None, value, top)
        case _:
            return None


def _constant(left: Number | Literal, op: str, right: Number | Literal) -> Condition:
    if isinstance(left, Literal) and isinstance(right, Literal) and op in ("=", "!="):
        return TRUE if (left.value == right.value) is (op == "=") else FALSE
    one = number(left.spelling if isinstance(left, Number) else left.value)
    two = number(right.spelling if isinstance(right, Number) else right.value)
    return TRUE if COMPARISONS[op](one, two) else FALSE


def _value(op: str, constant: Number | Literal, at: int, *, numeric: bool = False) -> Value | None:
    """The test of a string-value against a constant; None where the constant is not a number."""
    if isinstance(constant, Literal):
        if op in ("=", "!=") and not numeric:
            return Value(ValueKind.STRING, op, constant.value, at)
        if math.isnan(number(constant.value)):
            return None
        return Value(ValueKind.NUMBER, op, canonical_number(constant.value.strip(" \t\r\n")), at)
    return Value(ValueKind.NUMBER, op, constant.spelling, at)


def _place(left: str, op: str, right: str, top: bool) -> Condition:
    found = position(left, op, right)
    return fold_positions(found) if top else found


def _on_string(where: Expr | None, value: Value, top: bool) -> Condition | None:
    """The test on XPath's string() of something: of its first node, or of no text at all."""
    match where:
        case None:
            return value
        case Literal(value=text):
            return TRUE if value.holds(text) else FALSE
        case Call(name="string", arguments=arguments):
            return _on_string(arguments[0] if arguments else None, value, top)
        case LocationPath():
            found = route(where, top)
            if found is None or found.here:
                return None
            shaped = None if found.never else shape(found.path)
            if shaped is None:
                return TRUE if value.holds("") else FALSE
            if not shaped.steps:
                return value if top or not shaped.absolute else None
            if len(shaped.steps) == 1 and _single(shaped.steps[0]) and not value.holds(""):
                return exists(found.ending(value).path)
            return First(shaped, value)
        case _:
            return None


def _single(step: Step) -> bool:
    return step.axis is Axis.ATTRIBUTE and step.test.kind is TestKind.NAME


# paths


@dataclass(slots=True)
class PathBuilder:
    """A path on its way to become one: `here` are conditions on the node where it starts."""

    absolute: bool
    at: int
    here: list[Condition] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    never: bool = False

    @property
    def path(self) -> Path:
        """The path without what it demands of its start."""
        return Path(self.absolute, tuple(self.steps), self.at)

    def ending(self, condition: Condition) -> PathBuilder:
        """Demand one more thing of the nodes at its end."""
        if self.steps:
            last = self.steps[-1]
            self.steps[-1] = replace(last, conditions=(*last.conditions, condition))
        else:
            self.here.append(condition)
        return self

    def exists(self, top: bool) -> Condition | None:
        """Whether it leads anywhere; None where the start is the document and is asked for its value."""
        if self.never:
            return FALSE
        if not self.here:
            return exists(self.path)
        here = conjunction(self.here)
        if self.absolute:
            moved = at_document(here, top=top)
            if moved is None:
                return None
            here = moved
        return conjunction([here, exists(self.path)])


def selects(expression: Expr, top: bool, value: Value | None = None) -> Condition | None:
    """Whether a node-set has a node, or one that passes the value test."""
    match expression:
        case LocationPath():
            found = route(expression, top)
            if found is None:
                return None
            return (found if value is None else found.ending(value)).exists(top)
        case Union(parts=parts):
            conditions = []
            for part in parts:
                condition = selects(part, top, value)
                if condition is None:
                    return None
                conditions.append(condition)
            return disjunction(conditions)
        case FilterExpression(primary=LocationPath() as start, predicates=(), steps=steps):
            return selects(replace(start, steps=(*start.steps, *steps)), top, value)
        case FilterExpression(primary=Union(parts=parts), predicates=(), steps=steps):
            if len(parts) * len(steps) > MAX_STEPS or any(step.predicates for step in steps):
                return None  # written out for each part it would be too large
            spread = tuple(FilterExpression(part, (), steps, part.at) for part in parts)
            return selects(Union(spread, expression.at), top, value)
        case _:
            return None


def make_absolute(path: LocationPath, top: bool) -> LocationPath:
    """The path with the rule for relative ones applied: outside predicates they start anywhere."""
    if path.absolute or not top:
        return path
    return LocationPath(True, (replace(DESCENDANT_OR_SELF_NODE, at=path.at), *path.steps), path.at)


def route(path: LocationPath, top: bool) -> PathBuilder | None:
    """The steps of a path as pattern steps; None if one of them has no such form."""
    path = make_absolute(path, top)
    found = PathBuilder(path.absolute, path.at)
    for step in path.steps:
        conditions = []
        if step.predicates:
            for predicate, movable in split_conjuncts(step):
                about = rebase_to_parent(predicate) if movable else None
                condition = lower_predicate(predicate if about is None else about)
                if condition is None:
                    return None
                if about is None:
                    conditions.append(condition)
                else:
                    found.ending(condition)
        if not extend(found, step, conditions):
            return None
    return found


def extend(found: PathBuilder, step: SyntaxStep, conditions: list[Condition]) -> bool:
    """One more step on a route; False, and nothing done, if it has no such form."""
    axis, test = step.axis, step.test
    at_attribute = bool(found.steps) and found.steps[-1].axis is Axis.ATTRIBUTE
    if at_attribute and axis in _DOWN:
        if axis is not Axis.DESCENDANT_OR_SELF:
            found.never = True
            return True
        axis = Axis.SELF  # an attribute is the only node of its subtree
    if axis is Axis.PARENT:
        if not _climb(found):
            return False
        axis = Axis.SELF
    if axis is Axis.SELF:
        if test.kind is not TestKind.NODE:
            if found.absolute and not found.steps:
                found.never = True
            found.ending(Is(test))
        for condition in conditions:
            found.ending(fold_positions(condition))
        return True
    if axis not in _DOWN:
        return False
    if axis is Axis.ATTRIBUTE and test.kind is TestKind.NAME:
        conditions = [fold_positions(condition) for condition in conditions]
    elif axis is Axis.ATTRIBUTE and test.kind not in (TestKind.ANY, TestKind.ANY_IN, TestKind.NODE):
        found.never = True
    found.steps.append(Step(axis, test, tuple(conditions), step.at))
    return True


def _climb(found: PathBuilder) -> bool:
    """Go where a route came from: `a/b/..` is `a[b]`; False if its last step may skip generations."""
    if not found.steps or found.steps[-1].axis not in (Axis.CHILD, Axis.ATTRIBUTE):
        return False
    last = found.steps.pop()
    found.ending(exists(Path(False, (last,), last.at)))
    return True
