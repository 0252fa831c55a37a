"""Serialization of conditions and syntax trees to XPath text that parses to the same value.

There is one text for each pattern: abbreviated where the abbreviation is equivalent, one space
around operators, single quotes unless the string contains one. `QNameFormat` chooses how names are
written. The canonical order of conditions uses CLARK, which does not depend on prefixes.
"""

from __future__ import annotations

from collections.abc import Mapping

from pathcast.xpath.syntax import (
    NO_TARGET,
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
)
from pathcast.xpath.tree import (
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Not,
    Or,
    Path,
    Position,
    Step,
    Value,
    ValueKind,
)

__all__ = ["CLARK", "QNameFormat", "condition_text", "expression_text", "path_text", "test_text"]

_ANY = Test(TestKind.NODE)


class QNameFormat:
    """Format of Clark names: as QNames by a map of namespaces to prefixes, or unchanged."""

    def __init__(self, prefixes: Mapping[str, str] | None) -> None:
        self._prefixes = prefixes

    def __call__(self, clark: str) -> str:
        if self._prefixes is None or not clark.startswith("{"):
            return clark
        uri, _, local = clark[1:].rpartition("}")
        return f"{self._prefixes[uri]}:{local}"


CLARK = QNameFormat(None)


def quote(value: str) -> str:
    """Return an XPath string literal."""
    return f'"{value}"' if "'" in value else f"'{value}'"


def test_text(test: Test, names: QNameFormat) -> str:
    """Return the text of a node test."""
    match test.kind:
        case TestKind.NAME:
            return names(test.name)
        case TestKind.ANY_IN:
            return names(f"{{{test.name}}}*")
        case TestKind.INSTRUCTION if test.name:
            target = "" if test.name == NO_TARGET else test.name
            return f"processing-instruction({quote(target)})"
        case _:
            return str(test.kind.value)


# conditions


def condition_text(condition: Condition, names: QNameFormat = CLARK, *, top: bool = False) -> str:
    """Return the text of a condition in a predicate or, with `top`, of an entire subscription."""
    match condition:
        case Exists(path=path):
            return path_text(path, names)
        case Is(test=test):
            return f"self::{test_text(test, names)}"
        case Value():
            # Outside predicates a relative path gets an implicit //, whereas string() does not.
            return _value_text(condition, "string()" if top else ".", "number()" if top else ".")
        case First(path=path, value=value):
            inner = path_text(path, names)
            if value.kind in (ValueKind.STRING, ValueKind.NUMBER) and not value.functions:
                return _value_text(value, f"string({inner})", f"number({inner})")
            return _value_text(value, inner, inner)
        case Count(path=path, op=op, operand=operand):
            return f"count({path_text(path, names)}) {op} {operand}"
        case Position(left=left, op=op, right=right):
            return f"{left}() {op} {'last()' if right == 'last' else right}"
        case Always(holds=holds):
            return "true()" if holds else "false()"
        case Not(part=part):
            return f"not({condition_text(part, names, top=top)})"
        case And(parts=parts):
            texts = []
            for part in parts:
                text = condition_text(part, names, top=top)
                texts.append(f"({text})" if isinstance(part, Or) else text)
            return " and ".join(texts)
        case Or(parts=parts):
            union = top and all(isinstance(part, Exists) for part in parts)
            texts = []
            for part in parts:
                texts.append(condition_text(part, names, top=top))
            return (" | " if union else " or ").join(texts)
    raise AssertionError(condition)


def _value_text(value: Value, string: str, numeric: str) -> str:
    for function in value.functions:
        arguments = [string, *map(quote, function.arguments)]
        string = numeric = f"{function.name}({', '.join(arguments)})"
    match value.kind:
        case ValueKind.NUMBER:
            return f"{numeric} {value.op} {value.operand}"
        case ValueKind.STRING:
            return f"{string} {value.op} {quote(value.operand)}"
        case ValueKind.LENGTH:
            inner = "" if string in (".", "string()") else string
            return f"string-length({inner}) {value.op} {value.operand}"
        case _:
            return f"{value.kind.value}({string}, {quote(value.operand)})"


def path_text(path: Path, names: QNameFormat = CLARK) -> str:
    """Return the text of a path, with `//` where it is equivalent to the axis."""
    written = ""
    deep = False  # whether the next separator is //
    steps = path.steps
    for index, step in enumerate(steps):
        if step.is_double_slash and index + 1 < len(steps) and _abbreviates(steps[index + 1]):
            deep = True
            continue
        name = test_text(step.test, names)
        if step.axis is Axis.CHILD:
            text = name
        elif step.axis is Axis.ATTRIBUTE:
            text = f"@{name}"
        elif step.axis is Axis.DESCENDANT and not _needs_axis(step, steps[index + 1 :]):
            text, deep = name, True
        elif step.axis is Axis.PARENT and step.test == _ANY and not step.conditions:
            text = ".."
        else:
            text = f"{step.axis.value}::{name}"
        first = index == 0 or (deep and index == 1 and steps[0].is_double_slash)
        if deep:
            lead = "//" if path.absolute or not first else ".//"
        else:
            lead = "/" if path.absolute or not first else ""
        written += lead + text
        for condition in step.conditions:
            written += f"[{_predicate_text(condition, names)}]"
        deep = False
    return written or "/"


def _abbreviates(step: Step) -> bool:
    """Whether `//` may stand before a step: it is not part of the step's axis."""
    if step.axis is Axis.CHILD:
        return step.positional
    return step.axis not in (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)


def _needs_axis(step: Step, rest: tuple[Step, ...]) -> bool:
    """Whether `//name` is not parsed as this descendant step.

    It has other positions, and conditions on the parent would move to the step before.
    """
    to_parent = bool(rest) and rest[0].axis is Axis.PARENT
    return to_parent or step.positional or any(map(_leads_to_parent, step.conditions))


def _leads_to_parent(condition: Condition) -> bool:
    match condition:
        case Exists(path=Path(absolute=False, steps=(first, *_))):
            return first.axis is Axis.PARENT
        case And(parts=parts) | Or(parts=parts):
            return any(map(_leads_to_parent, parts))
        case Not(part=part):
            return _leads_to_parent(part)
        case _:
            return False


def _predicate_text(condition: Condition, names: QNameFormat) -> str:
    if isinstance(condition, Position) and (condition.left, condition.op) == ("position", "="):
        return "last()" if condition.right == "last" else condition.right
    return condition_text(condition, names)


# syntax trees


def expression_text(expression: Expr, names: QNameFormat = CLARK) -> str:
    """Return the text of a syntax tree."""
    match expression:
        case Number(spelling=spelling):
            return spelling
        case Literal(value=value):
            return quote(value)
        case Negation(operand=operand):
            return "-" + _operand_text(operand, names, isinstance(operand, OperatorChain))
        case Call(name=name, arguments=arguments):
            texts = [expression_text(argument, names) for argument in arguments]
            return f"{name}({', '.join(texts)})"
        case Union(parts=parts):
            texts = []
            for part in parts:
                texts.append(_operand_text(part, names, isinstance(part, Union)))
            return " | ".join(texts)
        case OperatorChain(precedence=precedence):
            return _chain_text(expression, precedence, names)
        case LocationPath(absolute=absolute, steps=steps):
            if not steps:
                return "(/)"  # without brackets, a name after it would become a step
            return _steps_text(steps, names, "/" if absolute else "")
        case FilterExpression(primary=primary, predicates=predicates, steps=steps):
            written = _operand_text(primary, names, not isinstance(primary, Call))
            for predicate in predicates:
                written += f"[{expression_text(predicate, names)}]"
            return written + (_steps_text(steps, names, "/") if steps else "")


def _operand_text(expression: Expr, names: QNameFormat, brackets: bool) -> str:
    text = expression_text(expression, names)
    return f"({text})" if brackets else text


def _chain_text(chain: OperatorChain, precedence: Precedence, names: QNameFormat) -> str:
    def needs_brackets(operand: Expr) -> bool:
        # A chain is flat, so an operand of equal precedence was in brackets.
        return isinstance(operand, OperatorChain) and operand.precedence.value <= precedence.value

    written = _operand_text(chain.first, names, needs_brackets(chain.first))
    for op, operand in chain.rest:
        written += f" {op} {_operand_text(operand, names, needs_brackets(operand))}"
    return written


def _steps_text(steps: tuple[SyntaxStep, ...], names: QNameFormat, lead: str) -> str:
    written = ""
    for index, step in enumerate(steps):
        is_double_slash = (
            step.axis is Axis.DESCENDANT_OR_SELF and step.test == _ANY and not step.predicates
        )
        if is_double_slash and lead and index + 1 < len(steps) and lead != "//":
            lead = "//"
            continue
        if step.axis in (Axis.SELF, Axis.PARENT) and step.test == _ANY and not step.predicates:
            text = "." if step.axis is Axis.SELF else ".."
        elif step.axis is Axis.CHILD:
            text = test_text(step.test, names)
        elif step.axis is Axis.ATTRIBUTE:
            text = f"@{test_text(step.test, names)}"
        else:
            text = f"{step.axis.value}::{test_text(step.test, names)}"
        written += lead + text
        for predicate in step.predicates:
            written += f"[{expression_text(predicate, names)}]"
        lead = "/"
    return written
