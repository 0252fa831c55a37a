"""The table of benchmark suites, and how one is run."""

from __future__ import annotations

from collections.abc import Mapping

from pathcast.bench import workload
from pathcast.bench.covering import suite as covering
from pathcast.bench.filter import suite as filtering
from pathcast.bench.options import BenchOptions
from pathcast.bench.overlay import suite as overlay
from pathcast.bench.pipeline import suite as pipeline
from pathcast.bench.report import Report, machine
from pathcast.bench.suite import AnySuite

__all__ = ["SUITES", "run"]

SUITES: Mapping[str, AnySuite] = {
    "covering": covering.SUITE,
    "filter": filtering.SUITE,
    "overlay": overlay.SUITE,
    "pipeline": pipeline.SUITE,
    "workload": workload.SUITE,
}


def run(name: str, options: BenchOptions) -> Report:
    """Run a suite of the table; the parts that the options name must exist."""
    lines, inputs = SUITES[name].measure(options)
    return Report(name, options.quick, tuple(lines), inputs, machine())
