"""Explanation of one expression on one document: why it matches, or why not.

For a match: the selected nodes with their paths and lines. Otherwise: for each path, the step or
predicate at which it fails, with the values compared there, and hints such as similar names or the
namespace that an unprefixed name lacks.

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

_MAX_NODES = 20  # nodes of a match that an explanation lists
_SMALL_DOCUMENT = 20_000  # nodes; only here libxml2 returns node sets, not just a boolean


@dataclass(frozen=True, slots=True)
class Explanation:
    """The outcome: the selected `nodes` (at most twenty of `total`), or `reasons` and `hints`.

    `failures` has the step or predicate of each reason, without the values found there.
    """

    matched: bool
    canonical: str
    nodes: tuple[Location, ...] = ()
    total: int = 0
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the explanation as a JSON object."""
        nodes = [asdict(node) for node in self.nodes]
        texts = {"reasons": self.reasons, "hints": self.hints, "failures": self.failures}
        lists = {name: list(values) for name, values in texts.items()}
        return {**asdict(self), "nodes": nodes, **lists}

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
    body: bytes | str,
    namespaces: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    *,
    allow_expensive: bool = False,
) -> Explanation:
    """Explain one expression on one document; raise SubscriptionError or DocumentError.

    An expensive expression is evaluated in this process, if allowed: no other document waits for
    it. It is not evaluated if its skeleton fails, which is explanation enough.
    """
    pattern = parse(xpath, namespaces)
    document = parse_document(body, limits or Limits())
    evaluator = Evaluator(document)
    names = QNameFormat({uri: prefix for prefix, uri in _prefixes(pattern, namespaces)})
    # Explain the paths of the subscriber's text: the canonical form may end at another step.
    paths = selection(xpath, namespaces) if pattern.check is None else None
    if pattern.condition == FALSE:
        reason = "no document can match it"
        hint = (
            "positions count from 1, < and > compare numbers only, "
            "and nothing is below an attribute or a text"
        )
        return Explanation(False, pattern.text, (), 0, (reason,), (hint,), (reason,))
    if not evaluator.holds(pattern.condition):
        explainer = PatternExplainer(document, evaluator, names, namespaces or {})
        for condition in [Exists(path) for path in paths] if paths else [pattern.condition]:
            explainer.explain(condition)
        hints = (*explainer.hints, *_hint_at_strings(xpath, namespaces, document))
        reasons, failures = tuple(explainer.reasons), tuple(explainer.failures)
        return Explanation(False, pattern.text, (), 0, reasons, hints, failures)
    if pattern.cost is Cost.EXPENSIVE and not allow_expensive:
        raise SubscriptionError(
            "expensive",
            "its cost may grow with the square of the document's size",
            text=xpath,
            position=0,
            hint="allow it explicitly (allow_expensive=True, --allow-expensive)",
        )
    if pattern.check is not None:
        return _explain_check(pattern, document, xpath, names)
    if paths is None:
        nodes = _select(pattern.condition, evaluator)
    else:
        nodes = sorted({node for path in paths for node in evaluator.select(path, 0)})
    locations = tuple(location_of(document, node, names) for node in nodes[:_MAX_NODES])
    proof = () if nodes else (f"{condition_text(pattern.condition, names, top=True)} is true",)
    return Explanation(True, pattern.text, locations, len(nodes), proof)


def _hint_at_strings(
    xpath: str, namespaces: Mapping[str, str] | None, document: Document
) -> Iterator[str]:
    """Yield hints at names that were probably meant as strings: `@lang = en`."""
    stack = [parse_expression(xpath, namespaces or {})]
    while stack:
        node = stack.pop()
        stack += children(node)
        if not isinstance(node, OperatorChain) or node.precedence is not Precedence.EQUALITY:
            continue
        sides = node.operands if all(isinstance(s, LocationPath) for s in node.operands) else ()
        for side in sides:
            match side:
                case LocationPath(absolute=False, steps=(SyntaxStep(axis=Axis.CHILD, test=test),)):
                    if test.kind is TestKind.NAME and test.name not in document.elements:
                        yield f"{test.name} is a name: for the string write '{test.name}'"


def _prefixes(pattern: Pattern, namespaces: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Return the prefixes for names; those of the subscriber override the canonical ones."""
    return [("xml", XML_NAMESPACE), *pattern.namespaces, *(namespaces or {}).items()]


def _select(condition: Condition, evaluator: Evaluator) -> list[int]:
    """Return the nodes that make a condition true."""
    match condition:
        case Exists(path=path):
            return evaluator.select(path, 0)
        case And(parts=parts) | Or(parts=parts):
            true = [part for part in parts if evaluator.holds(part)]
            return sorted({node for part in true for node in _select(part, evaluator)})
        case _:
            return []


def _explain_check(
    pattern: Pattern, document: Document, xpath: str, names: QNameFormat
) -> Explanation:
    """Explain an expression whose skeleton holds, by libxml2."""
    assert pattern.residual is not None
    result = Check(pattern, xpath).holds(document.tree, document.longest_sibling_run)
    if isinstance(result, EvaluationError):
        reason = str(result)
        return Explanation(False, pattern.text, (), 0, (reason,), (), (reason,))
    small = len(document) <= _SMALL_DOCUMENT  # plain steps: libxml2 may merge large sets
    if not result:
        explained = explain_residual(pattern, document) if small else None
        if explained is None:
            skeleton = condition_text(pattern.condition, names, top=True)
            prefix = "" if skeleton == "true()" else f"the skeleton holds ({skeleton}), but "
            explained = (f"{pattern.residual} is false", f"{prefix}{pattern.residual} is false")
        failure, reason = explained
        return Explanation(False, pattern.text, (), 0, (reason,), (), (failure,))
    value: Any = True
    if small:
        expression = Expression(pattern.residual, pattern.namespaces)
        with suppress(etree.XPathError):
            value = expression.compile(smart_strings=True)(document.tree)
    items = value if isinstance(value, list) else []
    locations = tuple(location_of_result(document, item) for item in items[:_MAX_NODES])
    reasons = () if items else (f"{pattern.residual} is true",)
    return Explanation(True, pattern.text, locations, len(items), reasons)
