"""A process that is given orders: each is a line of JSON, and so is the answer.

    parent: started(module, arguments) -> Child.ask(order) | turn(children, orders)
    child:  answering() -> serve(answers, handle)

The child's standard output is for answers alone: whatever else is printed there, by Java too, goes to standard error, and that
to a file, of which the last lines are told if the child fails.
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

from pathcast.bench.pipeline.processes import Process, by_kind, tree
from pathcast.sandbox.processes import child_environment, python_module_command

__all__ = ["Answer", "Child", "Turn", "answering", "serve", "started", "turn"]

Answer = Mapping[str, object]
_SHOWN = 5  # last lines of what a child said


@dataclass(frozen=True, slots=True)
class Child:
    """The child, from the parent's side."""

    pid: int
    _orders: IO[bytes]
    _answers: IO[bytes]
    _said: IO[bytes]

    def tell(self, order: Answer) -> None:
        try:
            self._orders.write(json.dumps(order).encode() + b"\n")
            self._orders.flush()
        except BrokenPipeError:
            raise self._failed() from None

    def hear(self) -> Answer:
        line = self._answers.readline()
        if not line:
            raise self._failed()
        answer: Answer = json.loads(line)
        return answer

    def ask(self, order: Answer) -> Answer:
        self.tell(order)
        return self.hear()

    def tree(self) -> list[Process]:
        return tree(self.pid)

    def _failed(self) -> RuntimeError:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        words = "\n".join(lines[-_SHOWN:]) or "it said nothing"
        return RuntimeError(f"a process of the benchmark has ended: {words}")


@contextmanager
def started(module: str, *arguments: str) -> Iterator[Child]:
    """A child that runs a module; it ends with the block."""
    with (
        TemporaryFile() as said,
        subprocess.Popen(  # noqa: S603 - our own interpreter
            python_module_command(module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=child_environment(),
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield Child(child.pid, child.stdin, child.stdout, said)
        except BaseException:
            child.kill()
            raise


class Turn(NamedTuple):
    """What it took until all had done what they were told: seconds on the wall, and of CPU by kind of process."""

    wall: float
    seconds: Mapping[str, float]
    answers: tuple[Answer, ...]

    @property
    def cpu(self) -> float:
        return sum(self.seconds.values())


def turn(children: Sequence[Child], *orders: Answer) -> Turn:
    """Give each child its order, all at once."""
    before = [by_kind(child.tree()) for child in children]
    start = time.perf_counter()
    for child, order in zip(children, orders, strict=True):
        child.tell(order)
    answers = tuple(child.hear() for child in children)
    wall = time.perf_counter() - start
    after = [by_kind(child.tree()) for child in children]
    seconds = {
        kind: sum(now[kind] - then[kind] for then, now in zip(before, after, strict=True))
        for kind in after[0]
    }
    return Turn(wall, seconds, answers)


@contextmanager
def answering() -> Iterator[IO[bytes]]:
    """In the child, before anything else: where answers go; what others print goes to standard error from now on."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        yield answers


def serve(answers: IO[bytes], handle: Callable[[Answer], Answer]) -> None:
    """In the child: do what the parent orders, one after the other, until it has no more orders."""
    for line in sys.stdin.buffer:
        answers.write(json.dumps(handle(json.loads(line))).encode() + b"\n")
        answers.flush()
