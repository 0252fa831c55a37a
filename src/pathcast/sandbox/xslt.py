"""Style sheets, applied where they can be stopped.

XSLT can loop for ever, and libxslt does not let itself be interrupted. So a sheet runs in a process of its own,
one document after the other, each with a deadline. A document that overruns it gets an `EvaluationError` of kind
`deadline`, the process is killed, a new one takes its place and goes on with the next document. What else can be wrong
with one document is an `EvaluationError` as well: of kind `sheet` (the sheet fails on it, or makes no XML), `size` (makes more
than `max_bytes` bytes), `memory` (needs more than `memory` bytes of address space), of a `DocumentError`'s kind if the
document is none, and `helper` if the process died of it twice. A bad sheet is told before anything runs, by `Stylesheet.load`.

The process stays: starting one costs a tenth of a second. Several documents make one round trip, and each has its
deadline all the same: the answers come one by one, and the clock starts anew with each. A round trip ends early when its
answers have a few megabytes, so that documents which grow do not fill the caller's memory.

Cost: a weather message of 1.6 KB takes 200 us in this process (`Stylesheet.transform_rows`), 270 us by `transform_batch` and 520 us
by `transform_rows`, which makes a round trip for each; a stock message of 56 KB takes 5 ms in either place, when they go together.
Threads may share a runner, and take turns. After a fork each process has a helper of its own.

>>> text = b'<m xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" at="{//@city}"/>'
>>> with StylesheetRunner(text, "m.xsl", deadline=10) as runner:
...     runner.transform_rows(("city",), [("Ottawa",)]), runner.transform(b"<a city='Toronto'/>")
(b'<?xml version="1.0"?>\\n<m at="Ottawa"/>\\n', b'<?xml version="1.0"?>\\n<m at="Toronto"/>\\n')
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from pathcast.documents import Limits
from pathcast.errors import EvaluationError
from pathcast.sandbox.child import Child, Died, Overdue
from pathcast.sandbox.frames import Message, frame
from pathcast.sandbox.process_owner import GRACE, Holder, checked_deadline
from pathcast.xslt import Stylesheet, rows_xml

__all__ = ["StylesheetRunner"]

_DEFAULTS: Final = Limits()
_TOGETHER: Final = 64  # documents in a round trip
_AT_ONCE: Final = 1 << 20  # bytes of documents in a round trip, unless one has more
_LOADING: Final = 60.0  # seconds to take a question; this is for a machine in trouble
_ERROR_SIZE: Final = 1 << 20


class StylesheetRunner(Holder):
    """Applies a style sheet in a helper process; `deadline` is in seconds, for each document."""

    def __init__(
        self,
        sheet: bytes,
        name: str,
        deadline: float = 1.0,
        max_bytes: int = _DEFAULTS.size,
        *,
        memory: int = 2 << 30,
        limits: Limits = _DEFAULTS,
    ) -> None:
        super().__init__("pathcast.sandbox.xslt_worker")
        Stylesheet.load(sheet, name=name)  # a bad one is no use to anybody
        self._sheet, self._name = sheet, name
        self._deadline, self._max_bytes = checked_deadline(deadline), max_bytes
        self._memory, self._limits = memory, limits

    def transform_rows(
        self, fields: Sequence[str], rows: Iterable[Sequence[str]], **parameters: str
    ) -> bytes:
        """What the sheet makes of rows, as `Stylesheet.transform_rows` has it; StylesheetError if they cannot be XML."""
        return self.transform(rows_xml(fields, rows), **parameters)

    def transform(self, body: bytes, **parameters: str) -> bytes:
        """What the sheet makes of a document; EvaluationError if that is nothing."""
        (answer,) = self.transform_batch([body], parameters)
        if isinstance(answer, EvaluationError):
            raise answer
        return answer

    def transform_batch(
        self, bodies: Sequence[bytes], parameters: Mapping[str, str] | None = None
    ) -> Iterator[bytes | EvaluationError]:
        """What the sheet makes of each document, or why it makes nothing of it, in their order.

        EvaluationError of kind `helper` is raised if there can be no helper at all: no document is to blame for that.
        """
        done = 0
        while done < len(bodies):
            with self._turn():
                answers = self._answers(_portion(bodies, done), dict(parameters or {}))
            yield from answers
            done += len(answers)

    def _answers(
        self, bodies: list[bytes], parameters: dict[str, str]
    ) -> list[bytes | EvaluationError]:
        """The answers to the first of these documents, to at least one."""
        answers: list[bytes | EvaluationError] = []
        known = ""
        for _ in range(2):  # it may have died of something else than this document
            child = self._ready()
            try:
                self._ask(child, bodies, parameters, answers)
            except Overdue:
                said = f"{self._name} took longer than {self._deadline:g} s"
                answers.append(EvaluationError("deadline", said))
                self._stop()
            except Died as died:
                known = str(died)
                self._stop()
            if answers:
                return answers
        return [EvaluationError("helper", f"{self._name}: the helper process died twice: {known}")]

    def _ask(
        self,
        child: Child,
        bodies: list[bytes],
        parameters: dict[str, str],
        answers: list[bytes | EvaluationError],
    ) -> None:
        question: Message = {
            "bodies": len(bodies),
            "parameters": parameters,
            "seconds": self._deadline + GRACE,
        }
        try:
            child.tell([b"".join([frame(question), *map(frame, bodies)])], _LOADING)
        except Overdue:
            raise Died(f"it took nothing within {_LOADING:g} s") from None
        for _ in bodies:
            octets = child.hear(self._deadline, 1 + max(self._max_bytes, _ERROR_SIZE))
            match octets[:1]:
                case b"=":
                    answers.append(octets[1:])
                case b"!":
                    error = _error(octets[1:])
                    answers.append(error)
                    if error.kind == "memory":
                        self._stop()  # it ends by itself, too, but who knows when
                        return
                case _:
                    return

    def _ready(self) -> Child:
        """The helper, with the sheet; EvaluationError if there is none to be had."""
        known = ""
        for _ in range(2):
            try:
                return self._living()
            except Overdue:
                known = f"no answer within {_LOADING:g} s"
            except (Died, OSError) as error:
                known = str(error)
            self._stop()
        raise EvaluationError("helper", f"the helper process cannot be started: {known}")

    def _greet(self, child: Child) -> None:
        greeting: Message = {
            "sheet": self._name,
            "max_bytes": self._max_bytes,
            "memory": self._memory,
            "limits": asdict(self._limits),
            "seconds": _LOADING + GRACE,
        }
        answer = child.ask([frame(greeting), frame(self._sheet)], _LOADING)
        if answer:  # it was good when we looked at it
            raise Died(f"it refuses the sheet: {answer}")


def _error(octets: bytes) -> EvaluationError:
    try:
        kind, message = json.loads(octets)
    except (ValueError, TypeError) as error:
        raise Died(f"it makes no sense: {error}") from None
    return EvaluationError(str(kind), str(message))


def _portion(bodies: Sequence[bytes], start: int) -> list[bytes]:
    """The documents of the next round trip."""
    size = len(bodies[start])
    end = start + 1
    while end < min(len(bodies), start + _TOGETHER) and size + len(bodies[end]) <= _AT_ONCE:
        size += len(bodies[end])
        end += 1
    return list(bodies[start:end])
