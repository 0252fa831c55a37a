"""A child process that answers requests; requests and answers are lines of JSON.

    parent: start_process(module, arguments) -> BenchProcess.ask(request) | run_turn(...)
    child:  redirect_output() -> serve(answers, handle)

The child's standard output carries answers only. Any other output, Java's included, goes to
standard error and from there to a file, whose last lines appear in the error if the child fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from pathcast.bench.pipeline.processes import Process, by_kind, process_tree
from pathcast.sandbox.processes import child_environment, python_module_command

__all__ = [
    "Answer",
    "BenchProcess",
    "Turn",
    "redirect_output",
    "run_turn",
    "serve",
    "start_process",
]

Answer = Mapping[str, object]
_SHOWN_LINES = 5  # of the output of a failed child


@dataclass(frozen=True, slots=True)
class BenchProcess:
    """A child process, as the parent sees it."""

    pid: int
    _requests: IO[bytes]
    _answers: IO[bytes]
    _output: IO[bytes]

    def send(self, request: Answer) -> None:
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            raise self._failure() from None

    def receive(self) -> Answer:
        line = self._answers.readline()
        if not line:
            raise self._failure()
        answer: Answer = json.loads(line)
        return answer

    def ask(self, request: Answer) -> Answer:
        self.send(request)
        return self.receive()

    def processes(self) -> list[Process]:
        return process_tree(self.pid)

    def _failure(self) -> RuntimeError:
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        words = "\n".join(lines[-_SHOWN_LINES:]) or "no output"
        return RuntimeError(f"a process of the benchmark has ended: {words}")


@contextmanager
def start_process(module: str, *arguments: str) -> Iterator[BenchProcess]:
    """Start a child that runs a module; it ends with the block."""
    with (
        TemporaryFile() as output,
        subprocess.Popen(  # noqa: S603 - our own interpreter
            python_module_command(module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=child_environment(),
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield BenchProcess(child.pid, child.stdin, child.stdout, output)
        except BaseException:
            child.kill()
            raise


class Turn(NamedTuple):
    """The time until all children answered: wall-clock seconds, CPU seconds by process kind."""

    wall: float
    seconds: Mapping[str, float]
    answers: tuple[Answer, ...]

    @property
    def cpu(self) -> float:
        return sum(self.seconds.values())


def run_turn(children: Sequence[BenchProcess], *requests: Answer) -> Turn:
    """Send each child its request, all at once, and wait for the answers."""
    before = [by_kind(child.processes()) for child in children]
    start = time.perf_counter()
    for child, request in zip(children, requests, strict=True):
        child.send(request)
    answers = tuple(child.receive() for child in children)
    wall = time.perf_counter() - start
    after = [by_kind(child.processes()) for child in children]
    seconds = {
        kind: sum(now[kind] - then[kind] for then, now in zip(before, after, strict=True))
        for kind in after[0]
    }
    return Turn(wall, seconds, answers)


@contextmanager
def redirect_output() -> Iterator[IO[bytes]]:
    """In the child: yield the stream for answers, and redirect other output to standard error."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        yield answers


def serve(answers: IO[bytes], handle: Callable[[Answer], Answer]) -> None:
    """In the child: answer the parent's requests in order, until its input ends."""
    for line in sys.stdin.buffer:
        answers.write(json.dumps(handle(json.loads(line))).encode() + b"\n")
        answers.flush()
