"""A runner of expensive subscriptions that stays in this process: nothing here is hostile."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from pathcast.errors import EvaluationError
from pathcast.matching.residual import Expression
from tests.oracle import document

__all__ = ["InlineRunner"]


class InlineRunner:
    """Evaluates at once, without a deadline."""

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        tree = document(body)
        answers: list[bool | EvaluationError] = []
        for wanted in expressions:
            prefixes = dict(wanted.namespaces) or None
            compiled = etree.XPath(
                wanted.xpath, namespaces=prefixes, regexp=False, smart_strings=False
            )
            answers.append(bool(compiled(tree)))
        return answers
