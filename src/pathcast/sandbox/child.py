"""One helper process and the pipes to it: ask, wait no longer than allowed, stop.

The pipes do not block and `poll` waits on them, so that a helper that does not read, does not
answer or is gone never holds the caller up beyond its deadline. A child is stopped by killing it; it
keeps nothing worth saving. That happens when `stop` is called, when the child is no longer referenced
or when the interpreter exits, whichever comes first, and always ends with waiting for it: no zombies.

After a fork the copy in the new process may neither kill the helper nor talk to it: it belongs to
the other process, which the answers would be missing in. `stop` then only lets go.
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

from pathcast.sandbox.frames import HEADER, Message, unpack
from pathcast.sandbox.processes import child_environment, python_module_command

__all__ = ["Child", "Died", "Overdue"]

_LONGEST_ANSWER: Final = 1024 * 1024
_PORTION: Final = 64 * 1024  # what a pipe holds
_PARTING: Final = 1.0  # seconds between closing its pipes and being gone


class Overdue(Exception):
    """The child did not answer in time."""


class Died(Exception):
    """The child is gone, or makes no sense; the text says what is known of it."""


class Child:
    """A helper process that runs a module; OSError if it cannot be started."""

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
        self._heard = bytearray()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self.stop = weakref.finalize(self, _end, process, errors, self.owner)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, frames: Iterable[bytes], seconds: float) -> Message:
        """The answer to a question; Overdue or Died leave the child to be stopped."""
        until = time.monotonic() + seconds
        self._tell(frames, until)
        octets = self._hear(until, _LONGEST_ANSWER)
        try:
            return unpack(octets)
        except ValueError as error:
            raise _senseless(error) from None

    def tell(self, frames: Iterable[bytes], seconds: float) -> None:
        """Put a question whose answers are to be heard one by one; errors as those of `ask`."""
        self._tell(frames, time.monotonic() + seconds)

    def hear(self, seconds: float, longest: int) -> bytes:
        """The next frame, of at most so many bytes; errors as those of `ask`."""
        return self._hear(time.monotonic() + seconds, longest)

    def _tell(self, frames: Iterable[bytes], until: float) -> None:
        try:
            for frame in frames:
                self._write(frame, until)
        except OSError:
            raise Died(self._last_words()) from None

    def _hear(self, until: float, longest: int) -> bytes:
        (length,) = HEADER.unpack(self._read(HEADER.size, until))
        if length > longest:
            raise _senseless(f"an answer of {length} bytes")
        return self._read(length, until)

    def _write(self, octets: bytes, until: float) -> None:
        rest = memoryview(octets)
        while rest:
            _wait(self._input, selectors.EVENT_WRITE, until)
            rest = rest[os.write(self._input, rest) :]

    def _read(self, size: int, until: float) -> bytes:
        """So many bytes; what has come beyond them is kept for the next time."""
        heard = self._heard
        while len(heard) < size:
            _wait(self._output, selectors.EVENT_READ, until)
            try:
                part = os.read(self._output, _PORTION)
            except OSError:
                raise Died(self._last_words()) from None
            if not part:
                raise Died(self._last_words())
            heard += part
        octets = bytes(memoryview(heard)[:size])
        del heard[:size]
        return octets

    def _last_words(self) -> str:
        """How the child ended, and what it complained about last."""
        try:
            status = self._process.wait(_PARTING)
        except subprocess.TimeoutExpired:
            return "it closed its pipes"
        words = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f"it ended {words}" + (f": {lines[-1]}" if lines else "")


def _senseless(said: object) -> Died:
    return Died(f"it makes no sense: {said}")


def _wait(pipe: int, event: int, until: float) -> None:
    # poll() keeps nothing in the kernel that a fork would share, and has no highest descriptor.
    with selectors.PollSelector() as selector:
        selector.register(pipe, event)
        if not selector.select(max(0.0, until - time.monotonic())):
            raise Overdue


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], owner: int) -> None:
    if os.getpid() == owner:
        process.kill()
        process.wait()
    else:
        process.returncode = 0  # not ours to wait for, and no cause for a warning
    for pipe in (process.stdin, process.stdout, errors):
        if pipe is not None:
            pipe.close()
