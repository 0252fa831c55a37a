"""Why does this document match, or why not?

For a match: the nodes that made it, with their places and lines. Otherwise: how far each path came, the step
or the predicate that failed there with the values that were found, and what to try: near names, the namespace
that an unprefixed name missed.

>>> print(explain("/news/boddy", b"<news><body/></news>"))
no match
  step 2, /boddy: /news (line 1) has no child 'boddy'
  hint: no 'boddy'; did you mean 'body'?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from lxml import etree

from pathcast.documents import Document, Limits
from pathcast.documents import parse as parse_document
from pathcast.errors import EvaluationError, SubscriptionError
from pathcast.matching.explain_pattern import PatternExplainer
from pathcast.matching.explain_residual import explain_residual
from pathcast.matching.locations import Location, location_of, location_of_result
from pathcast.matching.plain.evaluate import Evaluator
from pathcast.matching.residual import Check, Expression
from pathcast.xpath import Cost, Pattern, parse, selection
from pathcast.xpath.canonical import FALSE
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.parser import parse_expression
from pathcast.xpath.syntax import (
    Axis,
    LocationPath,
    OperatorChain,
    Precedence,
    SyntaxStep,
    TestKind,
    children,
)
from pathcast.xpath.text import QNameFormat, condition_text
from pathcast.xpath.tree import And, Condition, Exists, Or

__all__ = ["Explanation", "explain"]

_SHOWN = 20  # nodes of a match
_SMALL = 20_000  # nodes of a document on which libxml2 may be asked for more than yes or no


@dataclass(frozen=True, slots=True)
class Explanation:
    """`nodes` made the match (at most twenty of `total`), `reasons` say why there is none."""

    matched: bool
    canonical: str
    nodes: tuple[Location, ...] = ()
    total: int = 0
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The explanation as a JSON object."""
        nodes = [asdict(node) for node in self.nodes]
        reasons, hints = list(self.reasons), list(self.hints)
        return {**asdict(self), "nodes": nodes, "reasons": reasons, "hints": hints}

    def __str__(self) -> str:
        lines = ["match" if self.matched else "no match"]
        lines += [f"  {node}" for node in self.nodes]
        if self.total > len(self.nodes):
            lines.append(f"  ... and {self.total - len(self.nodes)} more")
        lines += [f"  {reason}" for reason in self.reasons]
        lines += [f"  hint: {hint}" for hint in self.hints]
        return "\n".join(lines)


def explain(
    xpath: str,
    body: bytes,
    namespaces: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    *,
    allow_expensive: bool = False,
) -> Explanation:
    """Explain one expression on one document; raises SubscriptionError or DocumentError.

    An expensive expression is run here and now if it is allowed (nobody else waits), unless its skeleton
    fails already, which tells enough.
    """
    pattern = parse(xpath, namespaces)
    document = parse_document(body, limits or Limits())
    evaluator = Evaluator(document)
    names = QNameFormat({uri: prefix for prefix, uri in _declared(pattern, namespaces)})
    # the canonical form may end elsewhere than the subscriber's text does: speak of the latter
    paths = selection(xpath, namespaces) if pattern.check is None else None
    if pattern.condition == FALSE:
        reason = "no document can match it"
        hint = (
            "places count from 1, < and > compare numbers only, "
            "and nothing is below an attribute or a text"
        )
        return Explanation(False, pattern.text, reasons=(reason,), hints=(hint,))
    if not evaluator.holds(pattern.condition):
        reasons = PatternExplainer(document, evaluator, names, namespaces or {})
        for condition in [Exists(path) for path in paths] if paths else [pattern.condition]:
            reasons.about(condition)
        found = tuple(reasons.found)
        hints = (*reasons.hints, *_unquoted(xpath, namespaces, document))
        return Explanation(False, pattern.text, reasons=found, hints=hints)
    if pattern.cost is Cost.EXPENSIVE and not allow_expensive:
        raise SubscriptionError(
            "expensive",
            "its cost may grow with the square of the document's size",
            text=xpath,
            position=0,
            hint="allow it explicitly (allow_expensive=True, --allow-expensive)",
        )
    if pattern.check is not None:
        return _residual(pattern, document, xpath, names)
    if paths is None:
        nodes = _selected(pattern.condition, evaluator)
    else:
        nodes = sorted({node for path in paths for node in evaluator.select(path, 0)})
    places = tuple(location_of(document, node, names) for node in nodes[:_SHOWN])
    why = () if nodes else (f"{condition_text(pattern.condition, names, top=True)} is true",)
    return Explanation(True, pattern.text, places, len(nodes), why)


def _unquoted(
    xpath: str, namespaces: Mapping[str, str] | None, document: Document
) -> Iterator[str]:
    """Hints at names that were perhaps meant as strings: `@lang = en`."""
    waiting = [parse_expression(xpath, namespaces or {})]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if not isinstance(node, OperatorChain) or node.precedence is not Precedence.EQUALITY:
            continue
        sides = node.operands if all(isinstance(s, LocationPath) for s in node.operands) else ()
        for side in sides:
            match side:
                case LocationPath(absolute=False, steps=(SyntaxStep(axis=Axis.CHILD, test=test),)):
                    if test.kind is TestKind.NAME and test.name not in document.elements:
                        yield f"{test.name} is a name: for the string write '{test.name}'"


def _declared(pattern: Pattern, namespaces: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Prefixes to write names with: the subscriber's own go before the canonical ones."""
    return [("xml", XML_NAMESPACE), *pattern.namespaces, *(namespaces or {}).items()]


def _selected(condition: Condition, evaluator: Evaluator) -> list[int]:
    """The nodes behind a condition that holds."""
    match condition:
        case Exists(path=path):
            return evaluator.select(path, 0)
        case And(parts=parts) | Or(parts=parts):
            true = [part for part in parts if evaluator.holds(part)]
            return sorted({node for part in true for node in _selected(part, evaluator)})
        case _:
            return []


def _residual(pattern: Pattern, document: Document, xpath: str, names: QNameFormat) -> Explanation:
    """What libxml2 says of an expression whose skeleton holds."""
    assert pattern.residual is not None
    answer = Check(pattern, xpath).holds(document.tree, document.longest_sibling_run)
    if isinstance(answer, EvaluationError):
        return Explanation(False, pattern.text, reasons=(str(answer),))
    small = len(document) <= _SMALL  # here steps are not nested, and libxml2 may merge large sets
    if not answer:
        reason = explain_residual(pattern, document) if small else None
        if reason is None:
            skeleton = condition_text(pattern.condition, names, top=True)
            there = (
                "" if skeleton == "true()" else f"what must be there is there ({skeleton}), but "
            )
            reason = f"{there}{pattern.residual} is false"
        return Explanation(False, pattern.text, reasons=(reason,))
    found: Any = True
    if small:
        expression = Expression(pattern.residual, pattern.namespaces)
        with suppress(etree.XPathError):
            found = expression.compile(smart_strings=True)(document.tree)
    results = found if isinstance(found, list) else []
    shown = tuple(location_of_result(document, result) for result in results[:_SHOWN])
    reasons = [] if results else [f"{pattern.residual} is true"]
    return Explanation(True, pattern.text, shown, len(results), tuple(reasons))
