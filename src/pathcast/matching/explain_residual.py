"""How far a path outside tree patterns came: libxml2 is asked for one step, one predicate more at a time."""

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

_SHOWN = 3


def explain_residual(pattern: Pattern, document: Document) -> str | None:
    """Why a residual path selects nothing; None if the residual is not a path."""
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

    before: list[Any] = []
    for index, step in enumerate(path.steps):
        for count in range(len(step.predicates) + 1):
            cut = replace(step, predicates=step.predicates[:count])
            tried = replace(path, steps=(*path.steps[:index], cut))
            found = select(tried)
            if found:
                before = found
                continue
            if count == 0:
                return f"nothing is found at {expression_text(tried, names)}"
            failed = step.predicates[count - 1]
            there = replace(step, predicates=step.predicates[: count - 1])
            reached = expression_text(replace(path, steps=(*path.steps[:index], there)), names)
            values = _values(failed, before, select)
            text = expression_text(failed, names)
            return f"{reached} is there ({len(before)}), but [{text}] failed{values}"
    return None


def _values(predicate: Expr, nodes: list[Any], select: Any) -> str:
    """What the left side of a failed comparison was."""
    if not isinstance(predicate, OperatorChain) or predicate.precedence not in (
        Precedence.EQUALITY,
        Precedence.RELATION,
    ):
        return ""
    text = expression_text(predicate.first)
    if "position()" in text or "last()" in text:  # they mean something inside the predicate only
        return ""
    elements = [node for node in nodes if isinstance(getattr(node, "tag", None), str)]
    shown = [
        f"{_shown(select(predicate.first, node))} (line {node.sourceline})"
        for node in elements[:_SHOWN]
    ]
    return f", found {', '.join(shown)}" if shown else ""


def _shown(value: Any) -> str:
    if not isinstance(value, list):
        return quote(value) if isinstance(value, str) else str(value)
    if not value:
        return "nothing"
    first = value[0]
    if isinstance(first, tuple):  # a namespace node: its prefix and what it stands for
        return repr(first[1])
    if isinstance(first, str):
        return quote(first)
    return quote("".join(first.itertext()) if isinstance(first.tag, str) else first.text or "")
