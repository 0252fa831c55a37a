"""XPath text -> Pattern: the door of the room.

    text -> tokenize -> syntax tree -> condition                   a tree pattern, kept whole
                                  -> skeleton + residual         the rest of XPath 1.0

>>> parse("/news/item[@lang = 'en']//title").text
"/news/item[@lang[. = 'en']]//title"
>>> parse("//item[price * 2 > 30]").residual
'//item[price * 2 > 30]'
>>> parse("//item[price * 2 > 30]").condition == parse("//item/price").condition
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pathcast.errors import SubscriptionError
from pathcast.xpath.canonical import shape
from pathcast.xpath.cost import Cost, cost_of
from pathcast.xpath.functions import XPathType
from pathcast.xpath.libxml2_form import nest, quadratic_on_sibling_runs
from pathcast.xpath.lower import lower, make_absolute, route
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.parser import MAX_TEXT, parse_expression
from pathcast.xpath.skeleton import weaken
from pathcast.xpath.syntax import (
    Call,
    Expr,
    FilterExpression,
    LocationPath,
    Negation,
    OperatorChain,
    Test,
    TestKind,
    Union,
    children,
    type_of,
)
from pathcast.xpath.text import QNameFormat, condition_text, expression_text
from pathcast.xpath.tree import Condition, Path, tests_of

__all__ = ["Pattern", "parse", "selection"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a subscription means.

    `text` and `namespaces` are its canonical form: equal patterns have equal ones, and parsing them gives
    an equal pattern. `condition` decides it, or is its skeleton where `residual` is not None; then
    `check` is the expression that libxml2 evaluates, and `quadratic_on_sibling_runs` says that it should not do so on
    documents with long runs of siblings that are no elements.
    """

    text: str
    namespaces: tuple[tuple[str, str], ...]
    condition: Condition
    residual: str | None
    check: str | None
    cost: Cost
    quadratic_on_sibling_runs: bool = False


def parse(text: str, namespaces: Mapping[str, str] | None = None) -> Pattern:
    """The pattern of an XPath expression; raises SubscriptionError with the place and a hint."""
    try:
        return _compiled(text, namespaces or {})
    except RecursionError:  # the limits leave room, unless the caller has used up the stack
        message = "no room left on the stack for so deep an expression"
        raise SubscriptionError("too-deep", message, text=text, position=0) from None


def _compiled(text: str, namespaces: Mapping[str, str]) -> Pattern:
    expression = parse_expression(text, namespaces)
    condition = lower(expression, top=True)
    if condition is not None:
        names, declared = _prefixes(tests_of(condition))
        written = condition_text(condition, names, top=True)
        _check_length(written)
        return Pattern(written, declared, condition, None, None, Cost.INDEXED)
    absolute = _rooted(expression)
    names, declared = _prefixes(_tests(expression))
    residual = expression_text(absolute, names)
    _check_length(residual)
    nested = nest(absolute)
    inner = expression_text(nested, names)
    if type_of(nested) is not XPathType.NODES:
        inner = f"boolean({inner})"
    check = f"boolean(/self::node()[{inner}])"
    skeleton = weaken(expression, top=True)
    cost, runs = cost_of(nested), quadratic_on_sibling_runs(nested)
    return Pattern(residual, declared, skeleton, residual, check, cost, runs)


def _check_length(written: str) -> None:
    """The canonical text must itself be a subscription."""
    if len(written.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        message = f"written out in canonical form it has more than {MAX_TEXT // 1024} KB of text"
        raise SubscriptionError("too-long", message)


def _prefixes(tests: Iterable[Test]) -> tuple[QNameFormat, tuple[tuple[str, str], ...]]:
    """Canonical prefixes for the namespaces that node tests name."""
    uris: set[str] = set()
    for test in tests:
        if test.kind is TestKind.ANY_IN:
            uris.add(test.name)
        elif test.kind is TestKind.NAME and test.name.startswith("{"):
            uris.add(test.name[1:].rpartition("}")[0])
    prefixes = {uri: f"n{index}" for index, uri in enumerate(sorted(uris - {XML_NAMESPACE}), 1)}
    declared = tuple((prefix, uri) for uri, prefix in prefixes.items())
    return QNameFormat({**prefixes, XML_NAMESPACE: "xml"}), declared


def selection(text: str, namespaces: Mapping[str, str] | None = None) -> list[Path] | None:
    """The paths of a union (or the one path) as written, selecting the nodes that the expression selects.

    A pattern only keeps whether there are such nodes; whoever wants to show them starts here. None if the
    expression is not a node-set or not a tree pattern.
    """
    expression = parse_expression(text, namespaces or {})
    parts = expression.parts if isinstance(expression, Union) else (expression,)
    paths = []
    for part in parts:
        found = route(part, True) if isinstance(part, LocationPath) else None
        if found is None or found.here or not found.steps:
            return None
        shaped = None if found.never else shape(found.path)
        if shaped is None:
            return None
        paths.append(shaped)
    return paths


def _tests(expression: Expr) -> Iterator[Test]:
    """The node tests of an expression."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, LocationPath | FilterExpression):
            yield from (step.test for step in node.steps)
        waiting += children(node)


def _rooted(expression: Expr) -> Expr:
    """The expression with every relative path outside predicates made to start anywhere."""
    match expression:
        case LocationPath():
            return make_absolute(expression, True)
        case FilterExpression(primary=primary):
            return replace(expression, primary=_rooted(primary))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_rooted(inner) for inner in arguments))
        case Union(parts=parts):
            return replace(expression, parts=tuple(_rooted(inner) for inner in parts))
        case Negation(operand=operand):
            return replace(expression, operand=_rooted(operand))
        case OperatorChain(first=first, rest=rest):
            tail = tuple((op, _rooted(operand)) for op, operand in rest)
            return replace(expression, first=_rooted(first), rest=tail)
        case _:
            return expression
