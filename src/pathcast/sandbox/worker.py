"""Worker process for XPath: holds one document and evaluates one expression at a time on it.

Run as `python -m pathcast.sandbox.worker`. It speaks `frames` on standard input and output, and
ends when its input does. The parent enforces the deadline by killing the worker, because libxml2
cannot be interrupted within an expression. If the parent is gone too, an interval timer (SIGALRM)
ends the process, so that no expression runs for ever.
"""

from __future__ import annotations

import signal
from typing import Any, BinaryIO

from lxml import etree

from pathcast.documents import Limits, parse
from pathcast.errors import DocumentError
from pathcast.sandbox.frames import JsonObject, frame, read_frame, unpack
from pathcast.sandbox.serve_loop import serve

__all__ = ["XPathWorker", "main"]


class XPathWorker:
    """Evaluates expressions on the document that was loaded last."""

    def __init__(self) -> None:
        self._tree: Any = None

    def load(self, limits: Any, body: bytes) -> JsonObject:
        """Parse a document and keep it; return the response."""
        self._tree = None
        try:
            self._tree = parse(body, Limits(**limits)).tree
        except DocumentError as error:
            return {"error": ["document", str(error)]}
        return {}

    def evaluate(self, xpath: Any, namespaces: Any) -> JsonObject:
        """Evaluate an expression on the document; return the response."""
        try:
            compiled = etree.XPath(
                xpath, namespaces=dict(namespaces) or None, regexp=False, smart_strings=False
            )
            return {"holds": _boolean(compiled(self._tree))}
        except (etree.LxmlError, TypeError, ValueError) as error:
            return {"error": ["residual", f"libxml2 could not evaluate it: {error}"]}


def _boolean(value: Any) -> bool:
    """Apply XPath's boolean(): false for zero, NaN, the empty string and the empty node-set."""
    return bool(value) and value == value


def _serve(requests: BinaryIO, responses: BinaryIO) -> None:
    worker = XPathWorker()
    while (octets := read_frame(requests)) is not None:
        request: dict[str, Any] = unpack(octets)
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        if "document" in request:
            body = read_frame(requests)
            if body is None:
                return
            response = worker.load(request["document"], body)
        else:
            response = worker.evaluate(request["xpath"], request["namespaces"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        responses.write(frame(response))
        responses.flush()


def main() -> None:
    """Serve requests until the input ends."""
    serve(_serve)


if __name__ == "__main__":
    main()
