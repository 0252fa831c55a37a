"""Evaluation of expensive XPath expressions in a worker process, each with a deadline.

The cost of XPath has no useful bound: `//*[//*=//*]` takes seconds on a few thousand elements and
four times as long on twice as many. libxml2 cannot be interrupted. So these expressions run in a
worker process, one after the other. An expression that overruns its deadline yields an
`EvaluationError` of kind `deadline`. The runner kills the process, starts a new one, loads the
document again and continues with the next expression. A worker that dies (kind `helper`) is
replaced likewise.

The process stays for the next document: starting one costs a tenth of a second, a request to a
running one a few tenths of a millisecond. Threads may share a runner; their requests are
serialised. After a fork each process has a worker of its own (see `process_owner`).

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
from pathcast.sandbox.child import ChildDied, ChildTimeout
from pathcast.sandbox.frames import HEADER, JsonObject, frame
from pathcast.sandbox.process_owner import GRACE_SECONDS, ProcessOwner, check_deadline

if TYPE_CHECKING:
    from pathcast.matching.residual import Expression

__all__ = ["ProcessRunner"]

# Time to load a document. The limits bound the work, so only an overloaded machine takes this long.
_LOAD_SECONDS: Final = 60.0
_DEFAULT_LIMITS: Final = Limits()


class ProcessRunner(ProcessOwner):
    """Evaluates expressions in a worker process; `deadline` is in seconds, for each expression."""

    def __init__(self, deadline: float = 1.0, limits: Limits = _DEFAULT_LIMITS) -> None:
        super().__init__("pathcast.sandbox.worker")
        self._deadline = check_deadline(deadline)
        self._limits = limits

    def __reduce__(self) -> tuple[type[ProcessRunner], tuple[float, Limits]]:
        """Pickle the settings: the copy starts a worker process of its own."""
        return ProcessRunner, (self._deadline, self._limits)

    def run(self, body: bytes, expressions: Sequence[Expression]) -> list[bool | EvaluationError]:
        """Return the value or the error of each expression on a document, in order."""
        with self._exclusive():
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
        """Load a document into the worker; return the error if that fails."""
        request = {"document": asdict(self._limits), "seconds": _LOAD_SECONDS + GRACE_SECONDS}
        frames = [frame(request), HEADER.pack(len(body)), body]
        reason = "nothing"
        for _ in range(2):  # the worker may have died while it was idle
            try:
                return _error(self._ensure_child().request(frames, _LOAD_SECONDS))
            except ChildTimeout:
                reason = f"no answer within {_LOAD_SECONDS:g} s"
            except ChildDied as died:
                reason = str(died)
            except OSError as error:
                reason = f"it cannot be started: {error}"
            self._replace()
        return EvaluationError(
            "helper", f"the helper process failed to take the document: {reason}"
        )

    def _evaluate(self, expression: Expression) -> tuple[bool | EvaluationError, bool]:
        """Return the answer, and whether the worker still holds the document."""
        request: JsonObject = {
            "xpath": expression.xpath,
            "namespaces": expression.namespaces,
            "seconds": self._deadline + GRACE_SECONDS,
        }
        try:
            response = self._ensure_child().request([frame(request)], self._deadline)
            return _error(response) or bool(response["holds"]), True
        except ChildTimeout:
            failure = EvaluationError("deadline", f"no answer within {self._deadline:g} s")
        except (ChildDied, OSError, KeyError) as died:
            failure = EvaluationError("helper", f"the helper process failed: {died}")
        self._replace()
        return failure, False

    def _replace(self) -> None:
        self._stop()
        with suppress(OSError):  # the next request tries again, and reports the error
            self._ensure_child()


def _error(response: JsonObject) -> EvaluationError | None:
    match response.get("error"):
        case [str(kind), str(message)]:
            return EvaluationError(kind, message)
    return None
