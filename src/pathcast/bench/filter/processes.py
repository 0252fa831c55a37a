"""Two processes against one: do they get in each other's way?

parent: go -> python -m pathcast.bench.filter.processes folder passes -> ready, then done for every go

Both have the same subscriptions and match the same documents as often. In a round, first one works alone, then both at once, from
the moment at which they are told to until the last is done. Two at once that take as long as one alone are twice as fast.
What counts is the clock on the wall, so anything else that runs on the machine shows.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from pathcast.bench.filter.bench import Bench, joined, loaded, matched
from pathcast.bench.filter.subprocess_inputs import bodies_in, texts_in, written
from pathcast.bench.report import Line
from pathcast.sandbox.processes import child_environment, python_module_command

__all__ = ["processes"]

_MODULE = "pathcast.bench.filter.processes"  # __name__ is another one in the child
_PROCESSES = {10_000: 1.7}
_READY, _GO, _DONE = b"ready\n", b"go\n", b"done\n"


def processes(bench: Bench) -> Iterator[Line]:
    bodies = bench.bodies()
    for size in bench.sizes.of(_PROCESSES):
        what = f"two processes / one, linear, {size.count:,}"
        bench.tell(what)
        with TemporaryDirectory(prefix="pathcast-") as name, ExitStack() as stack:
            folder = written(Path(name), bench.inputs.linear(size.count), bodies)
            pair = [stack.enter_context(_worker(folder, bench.sizes.wall)) for _ in range(2)]
            for worker in pair:
                worker.hear(_READY)
            times = [(_wall(pair[:1]), _wall(pair)) for _ in range(bench.sizes.rounds)]
        ratios = [2 * alone / both for alone, both in times]
        work = len(bodies) * bench.sizes.wall
        alone, both = (work / statistics.median(column) for column in zip(*times, strict=True))
        rates = f"{alone:,.0f} documents/s alone, {2 * both:,.0f} together"
        yield Line(
            what,
            statistics.median(ratios),
            "x",
            target=size.target,
            spread=(min(ratios), max(ratios)),
            note=joined(rates, "by the wall clock", size.note),
        )


class _Worker:
    """A child, and the lines that go to and fro."""

    def __init__(self, orders: IO[bytes], answers: IO[bytes]) -> None:
        self._orders = orders
        self._answers = answers

    def tell(self) -> None:
        self._orders.write(_GO)
        self._orders.flush()

    def hear(self, expected: bytes) -> None:
        heard = self._answers.readline()
        if heard != expected:
            raise RuntimeError(f"a process of the benchmark said {heard!r}, not {expected!r}")


@contextmanager
def _worker(folder: str, passes: int) -> Iterator[_Worker]:
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        python_module_command(_MODULE, folder, str(passes)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_environment(),
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield _Worker(child.stdin, child.stdout)
        except BaseException:
            child.kill()
            raise


def _wall(workers: Sequence[_Worker]) -> float:
    """Seconds until all that are told to work have done it."""
    start = time.perf_counter()
    for worker in workers:
        worker.tell()
    for worker in workers:
        worker.hear(_DONE)
    return time.perf_counter() - start


def _child(folder: str, passes: int) -> None:
    matcher, bodies = loaded(texts_in(folder)), list(bodies_in(folder))
    matched(matcher, bodies)
    _say(_READY)
    while sys.stdin.buffer.readline() == _GO:
        for _ in range(passes):
            matched(matcher, bodies)
        _say(_DONE)


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
