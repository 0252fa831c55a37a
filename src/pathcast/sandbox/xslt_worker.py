"""Worker process for XSLT: loads one style sheet and applies it to one document at a time.

Run as `python -m pathcast.sandbox.xslt_worker`. It speaks `frames` on standard input and output,
and ends when its input does. It reads all documents of a request before it sends the first
response, so the parent may write the whole request before it reads. The parent enforces the
deadline by killing the worker. If the parent is gone too, an interval timer (SIGALRM) ends the
process. The timer is off while a response waits to be read.

Resource limits bound the address space and the size of files, and forbid core files. When memory is
short, libxslt often reports another cause. So a failure counts as one of memory (kind `memory`,
with libxslt's message) if the process is large at that time. The worker ends after it, because
other allocations may have failed unnoticed.
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

_MAX_RESPONSE_BYTES: Final = 4 << 20  # ends the response to a request early
_MAX_FILE_BYTES: Final = 1 << 20  # standard error is a file


class StylesheetWorker:
    """Applies one style sheet."""

    def __init__(self, sheet: Stylesheet, max_bytes: int, memory: int, limits: Limits) -> None:
        self._sheet, self._max_bytes, self._memory, self._limits = sheet, max_bytes, memory, limits
        self.out_of_memory = False

    def transform(self, body: bytes, parameters: dict[str, str]) -> bytes:
        """Return the content of the response frame for a document."""
        try:
            tree = parse_tree(body, self._limits).root.getroottree()
            return b"=" + self._sheet.transform(tree, parameters, self._max_bytes)
        except DocumentError as error:
            place = "" if error.line is None else f" (line {error.line})"
            return self._failure(error.kind, f"{error.message}{place}")
        except StylesheetError as error:
            return self._failure(error.kind, error.message)
        except MemoryError:
            self.out_of_memory = True
            return self._failure("memory", f"{self._sheet.name}: out of memory")

    def _failure(self, kind: str, message: str) -> bytes:
        peak = peak_memory() or 0
        if self.out_of_memory or (peak > self._memory // 4 and kind == "sheet"):
            kind, self.out_of_memory = "memory", True
            message += f" ({peak >> 20:,} MB taken, {self._memory >> 20:,} MB allowed)"
        return b"!" + json.dumps([kind, message]).encode()


def _serve(requests: BinaryIO, responses: BinaryIO) -> None:
    handshake, text = read_frame(requests), read_frame(requests)
    if handshake is None or text is None:
        return
    settings: dict[str, Any] = unpack(handshake)
    memory: int = settings["memory"]
    _limit_resources(memory)
    try:
        sheet = Stylesheet.load(text, name=settings["sheet"])
    except StylesheetError as error:
        responses.write(frame({"error": [error.kind, error.message]}))
        return
    responses.write(frame({}))
    responses.flush()
    worker = StylesheetWorker(sheet, settings["max_bytes"], memory, Limits(**settings["limits"]))
    while (received := _read_request(requests)) is not None:
        for octets in _respond(worker, *received):
            responses.write(frame(octets))
            responses.flush()
            if worker.out_of_memory:
                return


def _read_request(requests: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    octets = read_frame(requests)
    if octets is None:
        return None
    request: dict[str, Any] = unpack(octets)
    bodies = [read_frame(requests) for _ in range(request["bodies"])]
    complete = [body for body in bodies if body is not None]
    return (request, complete) if len(complete) == len(bodies) else None


def _respond(
    worker: StylesheetWorker, request: dict[str, Any], bodies: list[bytes]
) -> Iterator[bytes]:
    """Yield the contents of the response frames."""
    sent = 0
    for body in bodies:
        if sent > _MAX_RESPONSE_BYTES:
            yield b"."
            return
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        octets = worker.transform(body, request["parameters"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        sent += len(octets)
        yield octets


def _limit_resources(memory: int) -> None:
    """Limit the address space to `memory` bytes or the hard limit, and the sizes of files."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    for kind, size in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, _MAX_FILE_BYTES)):
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (size, hard))


def main() -> None:
    """Serve requests until the input ends."""
    serve(_serve)


if __name__ == "__main__":
    main()
