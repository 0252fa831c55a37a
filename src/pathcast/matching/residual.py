"""Residuals: what libxml2 decides, on documents that passed the skeleton.

`Check` is the compiled expression of one subscription. Those of bounded cost run here, on the tree that was parsed
anyway. Expensive ones need a `Runner`, which is handed in: it evaluates them where they can be
stopped (a helper process with a deadline), so that one of them cannot hold up a document for the
others. No regular expressions, no extension functions, no variables, no access to other documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lxml import etree

from pathcast.errors import EvaluationError, SubscriptionError
from pathcast.xpath import Cost, Pattern

__all__ = ["Check", "Expression", "Residuals", "Runner"]

_SMALLEST = etree.fromstring("<a/>")
_LONGEST_RUN = (
    4096  # sorting so many takes libxml2 some 0.1 s, and four times that for twice as many
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A complete XPath expression, true or false of a document."""

    xpath: str
    namespaces: tuple[tuple[str, str], ...]

    def compile(self, *, smart_strings: bool = False) -> etree.XPath:
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

    __slots__ = ("_xpath", "expensive", "expression", "quadratic_on_sibling_runs")

    def __init__(self, pattern: Pattern, text: str) -> None:
        assert pattern.check is not None
        self.quadratic_on_sibling_runs = pattern.quadratic_on_sibling_runs
        self.expensive = pattern.cost is Cost.EXPENSIVE
        self.expression = Expression(pattern.check, pattern.namespaces)
        try:
            self._xpath = self.expression.compile()
            self._xpath(_SMALLEST)  # libxml2 finds some of its limits only when it runs
        except (etree.XPathError, ValueError) as error:  # ValueError: characters that XML has not
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
        """Whether the residual is true of a document; `longest_sibling_run` is asked only where it matters."""
        if self.quadratic_on_sibling_runs and longest_sibling_run() > _LONGEST_RUN:
            return EvaluationError(
                "document",
                f"more than {_LONGEST_RUN} comments, processing instructions and texts in a row: "
                "libxml2 would take too long over them",
            )
        try:
            return bool(self._xpath(tree))
        except etree.XPathError as error:
            return EvaluationError("residual", f"libxml2 could not evaluate it: {error}")


class Residuals:
    """Decides what passed its skeleton, and counts how that went."""

    __slots__ = ("_runner", "errors", "false", "passed")

    def __init__(self, runner: Runner | None) -> None:
        self._runner = runner
        self.passed = self.false = self.errors = 0

    def admit(self, pattern: Pattern, xpath: str, allowed: bool) -> Check | None:
        """The check of a pattern, if it needs one; raises SubscriptionError if it may not be run."""
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
        """An answer or an error for each of them, in their order."""
        answers: list[bool | EvaluationError] = [False] * len(checks)
        expensive = [place for place, check in enumerate(checks) if check.expensive]
        for place, check in enumerate(checks):
            if not check.expensive:
                answers[place] = check.holds(tree, longest_sibling_run)
        if expensive:
            assert self._runner is not None
            found = self._runner.run(body, [checks[place].expression for place in expensive])
            for place, answer in zip(expensive, found, strict=True):
                answers[place] = answer
        self.passed += len(answers)
        self.errors += sum(isinstance(answer, EvaluationError) for answer in answers)
        self.false += sum(answer is False for answer in answers)
        return answers
