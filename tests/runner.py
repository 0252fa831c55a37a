"""A runner of expensive subscriptions in the test process; the tests' expressions are harmless."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from pathcast.errors import EvaluationError
from pathcast.matching.residual import Expression
from tests.oracle import document

__all__ = ["InlineRunner"]


class InlineRunner:
    """Evaluates expressions synchronously, without a deadline."""

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        tree = document(body)
        results: list[bool | EvaluationError] = []
        for expression in expressions:
            prefixes = dict(expression.namespaces) or None
            compiled = etree.XPath(
                expression.xpath, namespaces=prefixes, regexp=False, smart_strings=False
            )
            results.append(bool(compiled(tree)))
        return results
