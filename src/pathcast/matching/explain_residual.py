"""The explanation of a path outside tree patterns: libxml2 evaluates ever longer prefixes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lxml import etree

from pathcast.documents import Document
from pathcast.matching.locations import quote
from pathcast.matching.residual import Expression
from pathcast.xpath import Pattern
from pathcast.xpath.namespaces import XML_NAMESPACE
from pathcast.xpath.parser import parse_expression
from pathcast.xpath.syntax import Expr, LocationPath, OperatorChain, Precedence
from pathcast.xpath.text import QNameFormat, expression_text

__all__ = ["explain_residual"]

_MAX_VALUES = 3  # values of a failed comparison that a reason lists


def explain_residual(pattern: Pattern, document: Document) -> tuple[str, str] | None:
    """Return where a residual path selects nothing, and why; None if the residual is not a path.

    The path grows by one step or one predicate at a time, until it selects nothing.
    """
    assert pattern.residual is not None
    path = parse_expression(pattern.residual, dict(pattern.namespaces))
    if not isinstance(path, LocationPath):
        return None
    names = QNameFormat(
        {uri: prefix for prefix, uri in (*pattern.namespaces, ("xml", XML_NAMESPACE))}
    )

    def select(expression: Expr, start: Any = document.tree) -> Any:
        text = expression_text(expression, names)
        try:
            return Expression(text, pattern.namespaces).compile()(start)
        except etree.XPathError:
            return []

    selected: list[Any] = []
    for index, step in enumerate(path.steps):
        for count in range(len(step.predicates) + 1):
            shortened = replace(step, predicates=step.predicates[:count])
            prefix = replace(path, steps=(*path.steps[:index], shortened))
            nodes = select(prefix)
            if nodes:
                selected = nodes
                continue
            if count == 0:
                failure = f"nothing is found at {expression_text(prefix, names)}"
                return failure, failure
            failed = step.predicates[count - 1]
            last = replace(step, predicates=step.predicates[: count - 1])
            reached = expression_text(replace(path, steps=(*path.steps[:index], last)), names)
            values = _values(failed, selected, select)
            text = expression_text(failed, names)
            reason = f"{reached} is there ({len(selected)}), but [{text}] failed{values}"
            return f"{reached}: [{text}] failed", reason
    return None


def _values(predicate: Expr, nodes: list[Any], select: Any) -> str:
    """Return the values of the left side of a failed comparison, as text."""
    if not isinstance(predicate, OperatorChain) or predicate.precedence not in (
        Precedence.EQUALITY,
        Precedence.RELATION,
    ):
        return ""
    text = expression_text(predicate.first)
    if "position()" in text or "last()" in text:  # defined only inside the predicate
        return ""
    elements = [node for node in nodes if isinstance(getattr(node, "tag", None), str)]
    values = [
        f"{_value_text(select(predicate.first, node))} (line {node.sourceline})"
        for node in elements[:_MAX_VALUES]
    ]
    return f", found {', '.join(values)}" if values else ""


def _value_text(value: Any) -> str:
    if not isinstance(value, list):
        return quote(value) if isinstance(value, str) else str(value)
    if not value:
        return "nothing"
    first = value[0]
    if isinstance(first, tuple):  # a namespace node: prefix and URI
        return repr(first[1])
    if isinstance(first, str):
        return quote(first)
    return quote("".join(first.itertext()) if isinstance(first.tag, str) else first.text or "")
