"""Residuals: expressions that libxml2 evaluates on documents that passed the skeleton.

A `Check` is the compiled expression of one subscription. A check of linear cost runs in this
process, on the tree that the parser built. An expensive check needs a `Runner`, which the caller
supplies. The runner evaluates it in a helper process with a deadline, so that it cannot delay a
document for other subscriptions. Regular expressions, extension functions, variables and access to
other documents are switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lxml import etree

from pathcast.errors import EvaluationError, SubscriptionError
from pathcast.xpath import Cost, Pattern

__all__ = ["Check", "Expression", "Residuals", "Runner"]

_SAMPLE_DOCUMENT = etree.fromstring("<a/>")
_MAX_SIBLING_RUN = 4096  # libxml2 sorts these in about 0.1 s, in quadratic time


@dataclass(frozen=True, slots=True)
class Expression:
    """An XPath expression whose boolean value decides a document."""

    xpath: str
    namespaces: tuple[tuple[str, str], ...]

    def compile(self, *, smart_strings: bool = False) -> etree.XPath:
        """Return the compiled expression, with every extension switched off.

        With `smart_strings`, resulting strings know their node.
        """
        declared = dict(self.namespaces) or None
        return etree.XPath(
            self.xpath, namespaces=declared, regexp=False, smart_strings=smart_strings
        )


class Runner(Protocol):
    """Evaluates expressions under a deadline, outside the calling process."""

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        """Return a result or an error for each expression, in their order."""
        ...


class Check:
    """The compiled residual of a pattern."""

    __slots__ = ("_xpath", "expensive", "expression", "quadratic_on_sibling_runs")

    def __init__(self, pattern: Pattern, text: str) -> None:
        assert pattern.check is not None
        self.quadratic_on_sibling_runs = pattern.quadratic_on_sibling_runs
        self.expensive = pattern.cost is Cost.EXPENSIVE
        self.expression = Expression(pattern.check, pattern.namespaces)
        try:
            self._xpath = self.expression.compile()
            self._xpath(_SAMPLE_DOCUMENT)  # some limits of libxml2 show only at run time
        except (etree.XPathError, ValueError) as error:  # ValueError: not an XML character
            raise SubscriptionError(
                "residual",
                f"libxml2 cannot run this expression: {error}",
                text=text,
                position=0,
                hint="split a very long or very deep expression into several subscriptions",
            ) from None

    def holds(
        self, tree: etree._ElementTree[etree._Element], longest_sibling_run: Callable[[], int]
    ) -> bool | EvaluationError:
        """Return whether the residual is true of a document, or why libxml2 cannot decide it.

        `longest_sibling_run` is called only if the expression is quadratic on sibling runs.
        """
        if self.quadratic_on_sibling_runs and longest_sibling_run() > _MAX_SIBLING_RUN:
            return EvaluationError(
                "document",
                f"more than {_MAX_SIBLING_RUN} comments, processing instructions and texts "
                "in a row: libxml2 would take too long over them",
            )
        try:
            return bool(self._xpath(tree))
        except etree.XPathError as error:
            return EvaluationError("residual", f"libxml2 could not evaluate it: {error}")


class Residuals:
    """Evaluates the residuals of passed skeletons, and counts the outcomes."""

    __slots__ = ("_runner", "errors", "false", "passed")

    def __init__(self, runner: Runner | None) -> None:
        self._runner = runner
        self.passed = self.false = self.errors = 0

    def admit(self, pattern: Pattern, xpath: str, allowed: bool) -> Check | None:
        """Return the check of a pattern, None if it has no residual.

        Raise SubscriptionError if the residual is expensive and not allowed, or libxml2 rejects it.
        """
        if pattern.cost is Cost.EXPENSIVE:
            self._admit_expensive(xpath, allowed)
        return None if pattern.check is None else Check(pattern, xpath)

    def _admit_expensive(self, xpath: str, allowed: bool) -> None:
        if not allowed:
            raise SubscriptionError(
                "expensive",
                "its cost may grow with the square of a document's size",
                text=xpath,
                position=0,
                hint="allow it explicitly (allow_expensive=True, --allow-expensive) to run it in a "
                "helper process with a deadline",
            )
        if self._runner is None:
            raise SubscriptionError(
                "expensive",
                "this matcher has nowhere to run expensive subscriptions",
                text=xpath,
                position=0,
                hint="make it with Matcher(runner=pathcast.sandbox.ProcessRunner())",
            )

    def decide(
        self,
        checks: Sequence[Check],
        tree: etree._ElementTree[etree._Element],
        longest_sibling_run: Callable[[], int],
        body: bytes,
    ) -> list[bool | EvaluationError]:
        """Return a result or an error for each check, in their order."""
        results: list[bool | EvaluationError] = [False] * len(checks)
        expensive = [index for index, check in enumerate(checks) if check.expensive]
        for index, check in enumerate(checks):
            if not check.expensive:
                results[index] = check.holds(tree, longest_sibling_run)
        if expensive:
            assert self._runner is not None
            outcomes = self._runner.run(body, [checks[index].expression for index in expensive])
            for index, outcome in zip(expensive, outcomes, strict=True):
                results[index] = outcome
        self.passed += len(results)
        self.errors += sum(isinstance(result, EvaluationError) for result in results)
        self.false += sum(result is False for result in results)
        return results
