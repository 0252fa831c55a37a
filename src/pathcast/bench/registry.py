"""The table of benchmarks, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pathcast.bench.report import Findings, Report, Tell, machine
from pathcast.bench.workload import workload

__all__ = ["BENCHMARKS", "Benchmark", "run"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """`measure` is given whether to be quick, and whom to tell what it is doing."""

    about: str
    measure: Callable[[bool, Tell], Findings]


BENCHMARKS: Mapping[str, Benchmark] = {
    "workload": Benchmark("how fast subscriptions, documents and feeds are generated", workload),
}


def run(name: str, *, quick: bool = False, tell: Tell = lambda _: None) -> Report:
    """Run the benchmark of that name, which must be in the table."""
    lines, inputs = BENCHMARKS[name].measure(quick, tell)
    return Report(name, quick, tuple(lines), inputs, machine())
