"""Application of an XSLT style sheet in a worker process, each document with a deadline.

XSLT can loop for ever, and libxslt cannot be interrupted. So a style sheet runs in a worker
process, one document after the other. After a document that overruns its deadline, the runner kills
the process and continues with the next document in a new one. Each document yields its result or an
`EvaluationError`, of one of these kinds:

- `deadline`: the transformation took too long.
- `sheet`: the style sheet fails on the document, or its result is not XML.
- `size`: the result has more than `max_bytes`.
- `memory`: the transformation needs more than `memory` bytes of address space.
- a kind of `DocumentError`: the document cannot be parsed.
- `helper`: the process died twice on the document.

The constructor rejects a style sheet that cannot be compiled (`Stylesheet.load`).

The process stays, because starting one costs a tenth of a second. One request holds several
documents, each with its own deadline: the worker sends the results one by one, and the clock
restarts with each. The worker ends a response early after a few megabytes, so that results larger
than their documents do not fill the caller's memory.

Cost: a weather message of 1.6 KB takes 200 us in this process (`Stylesheet.transform_rows`), 270 us
by `transform_batch` and 520 us by `transform_rows`, with one request for each document. A stock
message of 56 KB takes 5 ms in either process if several share a request. Threads may share a
runner; their requests are serialised. After a fork each process has a worker of its own.

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
from pathcast.sandbox.child import ChildDied, ChildProcess, ChildTimeout
from pathcast.sandbox.frames import JsonObject, frame
from pathcast.sandbox.process_owner import GRACE_SECONDS, ProcessOwner, check_deadline
from pathcast.xslt import Stylesheet, rows_xml

__all__ = ["StylesheetRunner"]

_DEFAULT_LIMITS: Final = Limits()
_MAX_REQUEST_DOCUMENTS: Final = 64
_MAX_REQUEST_BYTES: Final = 1 << 20  # a single larger document makes a request of its own
_SEND_SECONDS: Final = 60.0  # only an overloaded machine takes this long
_MAX_ERROR_BYTES: Final = 1 << 20


class StylesheetRunner(ProcessOwner):
    """Applies a style sheet in a worker process; `deadline` is in seconds, for each document."""

    def __init__(
        self,
        sheet: bytes,
        name: str,
        deadline: float = 1.0,
        max_bytes: int = _DEFAULT_LIMITS.size,
        *,
        memory: int = 2 << 30,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        super().__init__("pathcast.sandbox.xslt_worker")
        Stylesheet.load(sheet, name=name)  # report a bad style sheet here, not in the worker
        self._sheet, self._name = sheet, name
        self._deadline, self._max_bytes = check_deadline(deadline), max_bytes
        self._memory, self._limits = memory, limits

    def transform_rows(
        self, fields: Sequence[str], rows: Iterable[Sequence[str]], **parameters: str
    ) -> bytes:
        """Return the message for the rows, as `Stylesheet.transform_rows` does.

        Raise StylesheetError if the rows cannot be XML, EvaluationError as `transform` does.
        """
        return self.transform(rows_xml(fields, rows), **parameters)

    def transform(self, body: bytes, **parameters: str) -> bytes:
        """Return the result for a document; EvaluationError if there is none."""
        (answer,) = self.transform_batch([body], parameters)
        if isinstance(answer, EvaluationError):
            raise answer
        return answer

    def transform_batch(
        self, bodies: Sequence[bytes], parameters: Mapping[str, str] | None = None
    ) -> Iterator[bytes | EvaluationError]:
        """Yield the result or the error of each document, in order.

        Raise EvaluationError of kind `helper` if no worker process can be started, which is the
        fault of no document.
        """
        done = 0
        while done < len(bodies):
            with self._exclusive():
                answers = self._transform_some(_next_batch(bodies, done), dict(parameters or {}))
            yield from answers
            done += len(answers)

    def _transform_some(
        self, bodies: list[bytes], parameters: dict[str, str]
    ) -> list[bytes | EvaluationError]:
        """Return the answers for a prefix of the documents, at least for the first."""
        answers: list[bytes | EvaluationError] = []
        reason = ""
        for _ in range(2):  # the first death may have another cause than this document
            child = self._start()
            try:
                self._request(child, bodies, parameters, answers)
            except ChildTimeout:
                message = f"{self._name} took longer than {self._deadline:g} s"
                answers.append(EvaluationError("deadline", message))
                self._stop()
            except ChildDied as died:
                reason = str(died)
                self._stop()
            if answers:
                return answers
        return [EvaluationError("helper", f"{self._name}: the helper process died twice: {reason}")]

    def _request(
        self,
        child: ChildProcess,
        bodies: list[bytes],
        parameters: dict[str, str],
        answers: list[bytes | EvaluationError],
    ) -> None:
        """Send the documents and append the responses to `answers`."""
        request: JsonObject = {
            "bodies": len(bodies),
            "parameters": parameters,
            "seconds": self._deadline + GRACE_SECONDS,
        }
        try:
            child.send([b"".join([frame(request), *map(frame, bodies)])], _SEND_SECONDS)
        except ChildTimeout:
            raise ChildDied(f"it took nothing within {_SEND_SECONDS:g} s") from None
        for _ in bodies:
            octets = child.receive(self._deadline, 1 + max(self._max_bytes, _MAX_ERROR_BYTES))
            match octets[:1]:
                case b"=":
                    answers.append(octets[1:])
                case b"!":
                    error = _error(octets[1:])
                    answers.append(error)
                    if error.kind == "memory":
                        self._stop()  # the worker exits by itself, but possibly later
                        return
                case _:
                    return

    def _start(self) -> ChildProcess:
        """Return the worker with the style sheet loaded; EvaluationError if none can be started."""
        reason = ""
        for _ in range(2):
            try:
                return self._ensure_child()
            except ChildTimeout:
                reason = f"no answer within {_SEND_SECONDS:g} s"
            except (ChildDied, OSError) as error:
                reason = str(error)
            self._stop()
        raise EvaluationError("helper", f"the helper process cannot be started: {reason}")

    def _handshake(self, child: ChildProcess) -> None:
        request: JsonObject = {
            "sheet": self._name,
            "max_bytes": self._max_bytes,
            "memory": self._memory,
            "limits": asdict(self._limits),
            "seconds": _SEND_SECONDS + GRACE_SECONDS,
        }
        response = child.request([frame(request), frame(self._sheet)], _SEND_SECONDS)
        if response:  # unexpected: the constructor has compiled the style sheet
            raise ChildDied(f"it refuses the sheet: {response}")


def _error(octets: bytes) -> EvaluationError:
    try:
        kind, message = json.loads(octets)
    except (ValueError, TypeError) as error:
        raise ChildDied(f"it makes no sense: {error}") from None
    return EvaluationError(str(kind), str(message))


def _next_batch(bodies: Sequence[bytes], start: int) -> list[bytes]:
    """Return the documents of the next request."""
    size = len(bodies[start])
    end = start + 1
    last = min(len(bodies), start + _MAX_REQUEST_DOCUMENTS)
    while end < last and size + len(bodies[end]) <= _MAX_REQUEST_BYTES:
        size += len(bodies[end])
        end += 1
    return list(bodies[start:end])
