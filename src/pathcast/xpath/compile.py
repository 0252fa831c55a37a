"""Compilation of XPath text to a `Pattern`.

    text -> tokens -> syntax tree -> condition                   decided by the evaluators
                                  -> condition + residual        the rest of XPath 1.0
    condition -> tree pattern                                    for indexes, covering, schemas

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
from pathcast.xpath.canonical import canonical_path
from pathcast.xpath.cost import Cost, cost_of
from pathcast.xpath.downward import to_tree_pattern
from pathcast.xpath.functions import XPathType
from pathcast.xpath.libxml2_form import nest_steps, quadratic_on_sibling_runs
from pathcast.xpath.lower import lower, make_absolute, to_path
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

__all__ = ["Pattern", "canonical_prefixes", "parse", "selection"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The meaning of a subscription.

    `text` and `namespaces` are its canonical form: equal patterns have equal ones, and parsing them
    gives an equal pattern. `condition` decides the subscription, or is its skeleton if there is a
    `residual`. Then `check` is the expression that libxml2 evaluates, and
    `quadratic_on_sibling_runs` says that its cost is quadratic in the length of runs of siblings
    that are not elements. `tree_pattern` is a necessary condition, and `exact` says that it decides
    the subscription.
    """

    text: str
    namespaces: tuple[tuple[str, str], ...]
    condition: Condition
    tree_pattern: Condition
    residual: str | None
    check: str | None
    cost: Cost
    quadratic_on_sibling_runs: bool = False

    @property
    def exact(self) -> bool:
        """Whether the tree pattern decides the subscription."""
        return self.residual is None and self.tree_pattern == self.condition


def parse(text: str, namespaces: Mapping[str, str] | None = None) -> Pattern:
    """Compile an XPath expression; SubscriptionError with position and hint if it is invalid."""
    try:
        return _compile(text, namespaces or {})
    except RecursionError:  # the limits prevent it unless the caller has used up the stack
        message = "no room left on the stack for so deep an expression"
        raise SubscriptionError("too-deep", message, text=text, position=0) from None


def _compile(text: str, namespaces: Mapping[str, str]) -> Pattern:
    expression = parse_expression(text, namespaces)
    condition = lower(expression, top=True)
    if condition is not None:
        names, declared = canonical_prefixes(tests_of(condition))
        canonical_text = condition_text(condition, names, top=True)
        _check_length(canonical_text)
        tree_pattern = to_tree_pattern(condition)
        return Pattern(canonical_text, declared, condition, tree_pattern, None, None, Cost.INDEXED)
    absolute = _make_all_absolute(expression)
    names, declared = canonical_prefixes(_tests(expression))
    residual = expression_text(absolute, names)
    _check_length(residual)
    nested = nest_steps(absolute)
    inner = expression_text(nested, names)
    if type_of(nested) is not XPathType.NODES:
        inner = f"boolean({inner})"
    check = f"boolean(/self::node()[{inner}])"
    skeleton = weaken(expression, top=True)
    cost, quadratic = cost_of(nested), quadratic_on_sibling_runs(nested)
    tree_pattern = to_tree_pattern(skeleton)
    return Pattern(residual, declared, skeleton, tree_pattern, residual, check, cost, quadratic)


def _check_length(canonical_text: str) -> None:
    """Check that the canonical text is within the limit for a subscription."""
    if len(canonical_text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        message = f"written out in canonical form it has more than {MAX_TEXT // 1024} KB of text"
        raise SubscriptionError("too-long", message)


def canonical_prefixes(tests: Iterable[Test]) -> tuple[QNameFormat, tuple[tuple[str, str], ...]]:
    """Return canonical prefixes for the namespaces of node tests, and their declarations."""
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
    """Return the paths of a union, or the single path, that select the nodes of the expression.

    A pattern keeps only whether such nodes exist. None if the expression is no node-set, or is not
    decided by a condition.
    """
    expression = parse_expression(text, namespaces or {})
    parts = expression.parts if isinstance(expression, Union) else (expression,)
    paths = []
    for part in parts:
        builder = to_path(part, True) if isinstance(part, LocationPath) else None
        if builder is None or builder.start_conditions or not builder.steps:
            return None
        path = None if builder.unsatisfiable else canonical_path(builder.path)
        if path is None:
            return None
        paths.append(path)
    return paths


def _tests(expression: Expr) -> Iterator[Test]:
    """Yield the node tests of an expression."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, LocationPath | FilterExpression):
            yield from (step.test for step in node.steps)
        pending += children(node)


def _make_all_absolute(expression: Expr) -> Expr:
    """Return the expression with every relative path outside predicates made absolute by `//`."""
    match expression:
        case LocationPath():
            return make_absolute(expression, True)
        case FilterExpression(primary=primary):
            return replace(expression, primary=_make_all_absolute(primary))
        case Call(arguments=arguments):
            return replace(
                expression, arguments=tuple(_make_all_absolute(inner) for inner in arguments)
            )
        case Union(parts=parts):
            return replace(expression, parts=tuple(_make_all_absolute(inner) for inner in parts))
        case Negation(operand=operand):
            return replace(expression, operand=_make_all_absolute(operand))
        case OperatorChain(first=first, rest=rest):
            tail = tuple((op, _make_all_absolute(operand)) for op, operand in rest)
            return replace(expression, first=_make_all_absolute(first), rest=tail)
        case _:
            return expression
