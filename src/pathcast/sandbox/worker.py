"""The helper process: holds one document at a time and evaluates one expression at a time on it.

Run as `python -m pathcast.sandbox.worker`; it speaks `frames` on standard input and output and ends when
its input does. Whoever asks also watches the clock, and kills it: libxml2 cannot be interrupted in the
middle of an expression. If the asker is gone too, an alarm of the system ends the process, so that no
expression runs on for ever with nobody waiting.
"""

from __future__ import annotations

import signal
from typing import Any, BinaryIO

from lxml import etree

from pathcast.documents import Limits, parse
from pathcast.errors import DocumentError
from pathcast.sandbox.frames import Message, frame, read_frame, unpack
from pathcast.sandbox.serve_loop import serve

__all__ = ["Worker", "main"]


class Worker:
    """Answers questions about the document that it was given last."""

    def __init__(self) -> None:
        self._tree: Any = None

    def load(self, limits: Any, body: bytes) -> Message:
        """Take a document."""
        self._tree = None
        try:
            self._tree = parse(body, Limits(**limits)).tree
        except DocumentError as error:
            return {"error": ["document", str(error)]}
        return {}

    def evaluate(self, xpath: Any, namespaces: Any) -> Message:
        """Evaluate an expression on the document."""
        try:
            compiled = etree.XPath(
                xpath, namespaces=dict(namespaces) or None, regexp=False, smart_strings=False
            )
            return {"holds": _boolean(compiled(self._tree))}
        except (etree.LxmlError, TypeError, ValueError) as error:
            return {"error": ["residual", f"libxml2 could not evaluate it: {error}"]}


def _boolean(value: Any) -> bool:
    """XPath's boolean(): a number counts unless it is zero or no number, all else unless it is empty."""
    return bool(value) and value == value


def _serve(source: BinaryIO, answers: BinaryIO) -> None:
    worker = Worker()
    while (octets := read_frame(source)) is not None:
        question: dict[str, Any] = unpack(octets)
        signal.setitimer(signal.ITIMER_REAL, question["seconds"])
        if "document" in question:
            body = read_frame(source)
            if body is None:
                return
            answer = worker.load(question["document"], body)
        else:
            answer = worker.evaluate(question["xpath"], question["namespaces"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(frame(answer))
        answers.flush()


def main() -> None:
    """Serve until the input ends."""
    serve(_serve)


if __name__ == "__main__":
    main()
