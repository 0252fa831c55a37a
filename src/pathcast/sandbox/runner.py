"""Expensive expressions, evaluated where they can be stopped.

XPath cannot be bounded from outside: `//*[//*=//*]` takes seconds on a few thousand elements and four
times that on twice as many, and libxml2 does not let itself be interrupted. So such expressions
run in a process of their own, one after the other, each with a deadline. One that overruns it gets an
`EvaluationError` of kind `deadline`, the process is killed and a new one takes its place, is given the
document again, and goes on with the next. A process that dies (kind `helper`) is replaced likewise.

The process stays for the next document: starting one costs a tenth of a second, asking one that
is there a few tenths of a millisecond. Threads may share a runner, and take turns. After a fork each process
has a helper of its own (see `holder`).

>>> from pathcast.matching.residual import Expression
>>> with ProcessRunner(deadline=10) as runner:
...     runner.run(b"<a><b/></a>", [Expression("boolean(//b)", ()), Expression("boolean(//c)", ())])
[True, False]
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from pathcast.documents import Limits
from pathcast.errors import EvaluationError
from pathcast.sandbox.child import Died, Overdue
from pathcast.sandbox.frames import HEADER, Message, frame
from pathcast.sandbox.process_owner import GRACE, Holder, checked_deadline

if TYPE_CHECKING:
    from pathcast.matching.residual import Expression

__all__ = ["ProcessRunner"]

_LOADING: Final = 60.0  # seconds for a document; limits bound it, this is for a machine in trouble
_GRACE: Final = GRACE
_DEFAULTS: Final = Limits()


class ProcessRunner(Holder):
    """Runs expressions in a helper process; `deadline` is in seconds, for each expression."""

    def __init__(self, deadline: float = 1.0, limits: Limits = _DEFAULTS) -> None:
        super().__init__("pathcast.sandbox.worker")
        self._deadline = checked_deadline(deadline)
        self._limits = limits

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        """An answer or an error for each expression, in their order."""
        with self._turn():
            return self._run(body, expressions)

    def _run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        answers: list[bool | EvaluationError] = []
        loaded = False
        for expression in expressions:
            if not loaded:
                if (failure := self._load(body)) is not None:
                    answers.append(failure)
                    continue
                loaded = True
            answer, loaded = self._evaluate(expression)
            answers.append(answer)
        return answers

    def _load(self, body: bytes) -> EvaluationError | None:
        """Give the helper the document."""
        question = {"document": asdict(self._limits), "seconds": _LOADING + _GRACE}
        frames = [frame(question), HEADER.pack(len(body)), body]
        known = "nothing"
        for _ in range(2):  # one that died while nobody asked it anything is nobody's fault
            try:
                return _error(self._living().ask(frames, _LOADING))
            except Overdue:
                known = f"no answer within {_LOADING:g} s"
            except Died as died:
                known = str(died)
            except OSError as error:
                known = f"it cannot be started: {error}"
            self._replace()
        return EvaluationError("helper", f"the helper process failed to take the document: {known}")

    def _evaluate(self, expression: Expression) -> tuple[bool | EvaluationError, bool]:
        """The answer, and whether the helper still has the document."""
        question: Message = {
            "xpath": expression.xpath,
            "namespaces": expression.namespaces,
            "seconds": self._deadline + _GRACE,
        }
        try:
            answer = self._living().ask([frame(question)], self._deadline)
            return _error(answer) or bool(answer["holds"]), True
        except Overdue:
            failure = EvaluationError("deadline", f"no answer within {self._deadline:g} s")
        except (Died, OSError, KeyError) as died:
            failure = EvaluationError("helper", f"the helper process failed: {died}")
        self._replace()
        return failure, False

    def _replace(self) -> None:
        self._stop()
        with suppress(
            OSError
        ):  # if it still cannot be started when it is needed, that will be said
            self._living()


def _error(answer: Message) -> EvaluationError | None:
    match answer.get("error"):
        case [str(kind), str(message)]:
            return EvaluationError(kind, message)
    return None
