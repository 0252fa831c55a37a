"""Two matching processes against one: whether they slow each other down.

    parent: go -> python -m pathcast.bench.filter.processes folder passes -> ready, done per go

Both processes have the same subscriptions and match the same documents equally often. In a round,
one works alone, then both at once. Two that finish in the time of one are twice as fast. The figure
uses wall-clock time, so any other load on the machine affects it.
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

from pathcast.bench.filter.context import FilterContext, join_notes, load_matcher, match_all
from pathcast.bench.filter.subprocess_inputs import read_bodies, read_texts, write_inputs
from pathcast.bench.report import ReportLine
from pathcast.sandbox.processes import child_environment, python_module_command

__all__ = ["processes"]

_MODULE = "pathcast.bench.filter.processes"  # __name__ is "__main__" in the child
_PROCESSES = {10_000: 1.7}
_READY, _GO, _DONE = b"ready\n", b"go\n", b"done\n"


def processes(bench: FilterContext) -> Iterator[ReportLine]:
    bodies = bench.bodies()
    for size in bench.sizes.of(_PROCESSES):
        label = f"two processes / one, linear, {size.count:,}"
        bench.progress(label)
        with TemporaryDirectory(prefix="pathcast-") as name, ExitStack() as stack:
            folder = write_inputs(Path(name), bench.inputs.linear(size.count), bodies)
            pair = [stack.enter_context(_worker(folder, bench.sizes.wall)) for _ in range(2)]
            for worker in pair:
                worker.expect(_READY)
            times = [(_wall_time(pair[:1]), _wall_time(pair)) for _ in range(bench.sizes.rounds)]
        ratios = [2 * alone / both for alone, both in times]
        work = len(bodies) * bench.sizes.wall
        alone, both = (work / statistics.median(column) for column in zip(*times, strict=True))
        rates = f"{alone:,.0f} documents/s alone, {2 * both:,.0f} together"
        yield ReportLine(
            label,
            statistics.median(ratios),
            "x",
            target=size.target,
            spread=(min(ratios), max(ratios)),
            note=join_notes(rates, "by the wall clock", size.note),
        )


class _Worker:
    """A child process, controlled by lines on its standard input and output."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers

    def start(self) -> None:
        self._requests.write(_GO)
        self._requests.flush()

    def expect(self, expected: bytes) -> None:
        line = self._answers.readline()
        if line != expected:
            raise RuntimeError(f"a process of the benchmark said {line!r}, not {expected!r}")


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


def _wall_time(workers: Sequence[_Worker]) -> float:
    """Start the workers; return the seconds until all have finished."""
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.expect(_DONE)
    return time.perf_counter() - start


def _child(folder: str, passes: int) -> None:
    matcher, bodies = load_matcher(read_texts(folder)), list(read_bodies(folder))
    match_all(matcher, bodies)
    _write(_READY)
    while sys.stdin.buffer.readline() == _GO:
        for _ in range(passes):
            match_all(matcher, bodies)
        _write(_DONE)


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]))
