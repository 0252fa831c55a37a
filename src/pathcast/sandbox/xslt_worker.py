"""The helper process for style sheets: is given one sheet, and applies it to one document at a time.

Run as `python -m pathcast.sandbox.xslt_worker`; it speaks `frames` on standard input and output and ends when its
input does. All documents of a question are read before the first is answered: who asks may write until it is done and only
then needs to read. Whoever asks also watches the clock, and kills it; if the asker is gone too, an alarm of the system ends
the process. The alarm does not run while an answer waits to be read.

The system lets it have no more address space than it was told, no core files and hardly any file at all. libxslt does not always
know what it failed of when memory is short, so any failure counts as one of memory (kind `memory`, with what was said of it)
if the process is large by then. Having said so it ends: who knows what else was lost.
"""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Final

from pathcast.documents import Limits
from pathcast.documents.reader import parse_tree
from pathcast.errors import DocumentError, StylesheetError
from pathcast.sandbox.frames import frame, read_frame, unpack
from pathcast.sandbox.processes import peak_memory
from pathcast.sandbox.serve_loop import serve
from pathcast.xslt import Stylesheet

__all__ = ["StylesheetWorker", "main"]

_PLENTY: Final = 4 << 20  # bytes of answers, after which the rest of a question is left alone
_FILES: Final = 1 << 20  # bytes of complaints on standard error, which is a file


class StylesheetWorker:
    """Applies the sheet that it was given."""

    def __init__(self, sheet: Stylesheet, max_bytes: int, memory: int, limits: Limits) -> None:
        self._sheet, self._max_bytes, self._memory, self._limits = sheet, max_bytes, memory, limits
        self.worn = False
        """Whether memory ran short."""

    def answer(self, body: bytes, parameters: dict[str, str]) -> bytes:
        """What goes into the frame."""
        try:
            tree = parse_tree(body, self._limits).root.getroottree()
            return b"=" + self._sheet.transform(tree, parameters, self._max_bytes)
        except DocumentError as error:
            place = "" if error.line is None else f" (line {error.line})"
            return self._refusal(error.kind, f"{error.message}{place}")
        except StylesheetError as error:
            return self._refusal(error.kind, error.message)
        except MemoryError:
            self.worn = True
            return self._refusal("memory", f"{self._sheet.name}: out of memory")

    def _refusal(self, kind: str, message: str) -> bytes:
        taken = peak_memory() or 0
        if self.worn or (taken > self._memory // 4 and kind == "sheet"):
            kind, self.worn = "memory", True
            message += f" ({taken >> 20:,} MB taken, {self._memory >> 20:,} MB allowed)"
        return b"!" + json.dumps([kind, message]).encode()


def _serve(source: BinaryIO, answers: BinaryIO) -> None:
    greeting, text = read_frame(source), read_frame(source)
    if greeting is None or text is None:
        return
    told: dict[str, Any] = unpack(greeting)
    memory: int = told["memory"]
    _bound(memory)
    try:
        sheet = Stylesheet.load(text, name=told["sheet"])
    except StylesheetError as error:
        answers.write(frame({"error": [error.kind, error.message]}))
        return
    answers.write(frame({}))
    answers.flush()
    worker = StylesheetWorker(sheet, told["max_bytes"], memory, Limits(**told["limits"]))
    while (question := _question(source)) is not None:
        for octets in _answered(worker, *question):
            answers.write(frame(octets))
            answers.flush()
            if worker.worn:
                return


def _question(source: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    octets = read_frame(source)
    if octets is None:
        return None
    question: dict[str, Any] = unpack(octets)
    bodies = [read_frame(source) for _ in range(question["bodies"])]
    whole = [body for body in bodies if body is not None]
    return (question, whole) if len(whole) == len(bodies) else None


def _answered(
    worker: StylesheetWorker, question: dict[str, Any], bodies: list[bytes]
) -> Iterator[bytes]:
    given = 0
    for body in bodies:
        if given > _PLENTY:
            yield b"."
            return
        signal.setitimer(signal.ITIMER_REAL, question["seconds"])
        octets = worker.answer(body, question["parameters"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        given += len(octets)
        yield octets


def _bound(memory: int) -> None:
    """No more address space than this, and not more than we may have anyway."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    for kind, size in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, _FILES)):
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (size, hard))


def main() -> None:
    """Serve until the input ends."""
    serve(_serve)


if __name__ == "__main__":
    main()
