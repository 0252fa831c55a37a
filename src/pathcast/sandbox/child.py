"""A worker process and its pipes: request and response with a deadline.

The pipes do not block and `poll` waits on them. A worker that does not read, does not respond or
has died therefore never blocks the caller beyond its deadline.

A worker has no state worth saving, so killing it is the only way to stop it. That happens when
`stop` is called, when the `ChildProcess` is garbage-collected or when the interpreter exits,
whichever comes first. The parent always reaps the worker afterwards, so no zombies remain.

After a fork the copy in the new process must neither kill the worker nor read from it: the original
owner would lose the responses. `stop` then only closes the copied descriptors.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import IO, Final

from pathcast.sandbox.frames import HEADER, JsonObject, unpack
from pathcast.sandbox.processes import child_environment, python_module_command

__all__ = ["ChildDied", "ChildProcess", "ChildTimeout"]

_MAX_RESPONSE_BYTES: Final = 1024 * 1024
_READ_BYTES: Final = 64 * 1024  # the capacity of a pipe
_EXIT_SECONDS: Final = 1.0  # between the end of its output and its exit


class ChildTimeout(Exception):
    """The worker did not respond before the deadline."""


class ChildDied(Exception):
    """The worker has exited or sent an invalid response; the text says which."""


class ChildProcess:
    """A worker process that runs a module; OSError if it cannot be started."""

    def __init__(self, module: str) -> None:
        self.owner = os.getpid()
        errors = TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            process = subprocess.Popen(
                python_module_command(module),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=child_environment(),
            )
        except OSError:
            errors.close()
            raise
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._errors = process, errors
        self._input, self._output = process.stdin.fileno(), process.stdout.fileno()
        self._received = bytearray()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self.stop = weakref.finalize(self, _stop, process, errors, self.owner)

    @property
    def pid(self) -> int:
        return self._process.pid

    def request(self, frames: Iterable[bytes], seconds: float) -> JsonObject:
        """Send a request and return its response.

        After ChildTimeout or ChildDied the caller must stop the worker.
        """
        until = time.monotonic() + seconds
        self._send(frames, until)
        octets = self._receive(until, _MAX_RESPONSE_BYTES)
        try:
            return unpack(octets)
        except ValueError as error:
            raise _invalid(error) from None

    def send(self, frames: Iterable[bytes], seconds: float) -> None:
        """Send a request with several responses, for `receive`; errors as in `request`."""
        self._send(frames, time.monotonic() + seconds)

    def receive(self, seconds: float, max_bytes: int) -> bytes:
        """Return the next frame, of at most `max_bytes`; errors as in `request`."""
        return self._receive(time.monotonic() + seconds, max_bytes)

    def _send(self, frames: Iterable[bytes], until: float) -> None:
        try:
            for frame in frames:
                self._write(frame, until)
        except OSError:
            raise ChildDied(self._exit_reason()) from None

    def _receive(self, until: float, max_bytes: int) -> bytes:
        (length,) = HEADER.unpack(self._read(HEADER.size, until))
        if length > max_bytes:
            raise _invalid(f"an answer of {length} bytes")
        return self._read(length, until)

    def _write(self, octets: bytes, until: float) -> None:
        unsent = memoryview(octets)
        while unsent:
            _wait(self._input, selectors.EVENT_WRITE, until)
            unsent = unsent[os.write(self._input, unsent) :]

    def _read(self, size: int, until: float) -> bytes:
        """Return exactly `size` bytes, and buffer any that arrived beyond them."""
        received = self._received
        while len(received) < size:
            _wait(self._output, selectors.EVENT_READ, until)
            try:
                chunk = os.read(self._output, _READ_BYTES)
            except OSError:
                raise ChildDied(self._exit_reason()) from None
            if not chunk:
                raise ChildDied(self._exit_reason())
            received += chunk
        octets = bytes(memoryview(received)[:size])
        del received[:size]
        return octets

    def _exit_reason(self) -> str:
        """Return the worker's exit status with the last line of its standard error."""
        try:
            status = self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its pipes"
        cause = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f"it ended {cause}" + (f": {lines[-1]}" if lines else "")


def _invalid(reason: object) -> ChildDied:
    return ChildDied(f"it makes no sense: {reason}")


def _wait(pipe: int, event: int, until: float) -> None:
    # Unlike epoll, poll() has no kernel state that a fork would share; unlike select(), it accepts
    # any descriptor.
    with selectors.PollSelector() as selector:
        selector.register(pipe, event)
        if not selector.select(max(0.0, until - time.monotonic())):
            raise ChildTimeout


def _stop(process: subprocess.Popen[bytes], errors: IO[bytes], owner: int) -> None:
    if os.getpid() == owner:
        process.kill()
        process.wait()
    else:
        process.returncode = 0  # a fork's copy: prevents Popen's ResourceWarning
    for pipe in (process.stdin, process.stdout, errors):
        if pipe is not None:
            pipe.close()
