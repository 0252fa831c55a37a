"""Residuals: what libxml2 decides, on documents that passed the skeleton.

`Check` is the compiled expression of one subscription. Those of bounded cost run here, on the tree that was parsed
anyway. Expensive ones need a `Runner`, which is handed in: it evaluates them where they can be
stopped (a helper process with a deadline), so that one of them cannot hold up a document for the
others. No regular expressions, no extension functions, no variables, no access to other documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lxml import etree

from pathcast.errors import EvaluationError, SubscriptionError
from pathcast.pattern import Pattern
from pathcast.stream import Document

__all__ = ["Check", "Expression", "Runner"]

_SMALLEST = etree.fromstring("<a/>")
_LONGEST_RUN = (
    4096  # sorting so many takes libxml2 some 0.1 s, and four times that for twice as many
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A complete XPath expression, true or false of a document."""

    xpath: str
    namespaces: tuple[tuple[str, str], ...]

    def compiled(self, *, smart_strings: bool = False) -> etree.XPath:
        """The expression as libxml2 runs it, with every extension switched off.

        `smart_strings` know where in the document they come from.
        """
        declared = dict(self.namespaces) or None
        return etree.XPath(
            self.xpath, namespaces=declared, regexp=False, smart_strings=smart_strings
        )


class Runner(Protocol):
    """Evaluates expressions on a document where they can be stopped."""

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        """An answer or an error for each expression, in their order."""
        ...


class Check:
    """The residual of a pattern, ready to run."""

    __slots__ = ("_fears_long_runs", "_xpath", "expression")

    def __init__(self, pattern: Pattern, text: str) -> None:
        assert pattern.check is not None
        self._fears_long_runs = pattern.fears_long_runs
        self.expression = Expression(pattern.check, pattern.namespaces)
        try:
            self._xpath = self.expression.compiled()
            self._xpath(_SMALLEST)  # libxml2 finds some of its limits only when it runs
        except (etree.XPathError, ValueError) as error:  # ValueError: characters that XML has not
            raise SubscriptionError(
                "residual",
                f"libxml2 cannot run this expression: {error}",
                text=text,
                position=0,
                hint="split a very long or very deep expression into several subscriptions",
            ) from None

    def holds(self, document: Document) -> bool | EvaluationError:
        """Whether the residual is true of a document."""
        if self._fears_long_runs and document.longest_run() > _LONGEST_RUN:
            return EvaluationError(
                "document",
                f"more than {_LONGEST_RUN} comments, processing instructions and texts in a row: "
                "libxml2 would take too long over them",
            )
        try:
            return bool(self._xpath(document.tree))
        except etree.XPathError as error:
            return EvaluationError("residual", f"libxml2 could not evaluate it: {error}")
