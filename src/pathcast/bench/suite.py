"""Suite: a benchmark as named parts that share sizes and inputs, and the one way to run it.

    options -> sizes (quick or full) -> context (inputs, made on demand) -> parts -> lines -> Report

A part is a generator: it yields a line when the measurement is complete. The context carries the
sizes, the inputs and the progress callback; it records the fingerprint of every input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pathcast.bench.options import BenchOptions
from pathcast.bench.report import Measurements, ReportLine

__all__ = ["AnySuite", "Suite"]

Sizes = TypeVar("Sizes")
Context = TypeVar("Context")


@dataclass(frozen=True, slots=True)
class Suite(Generic[Sizes, Context]):
    """A benchmark. `any_schema` says that `--dtd` may replace its schema."""

    summary: str
    quick: Sizes
    full: Sizes
    context: Callable[[Sizes, BenchOptions], Context]
    inputs: Callable[[Context], Mapping[str, str]]
    parts: Mapping[str, Callable[[Context], Iterable[ReportLine]]]
    any_schema: bool = False

    def measure(self, options: BenchOptions, sizes: Sizes | None = None) -> Measurements:
        """Run the parts that the options name, in the suite's order; return lines and inputs."""
        if sizes is None:
            sizes = self.quick if options.quick else self.full
        context = self.context(sizes, options)
        lines: list[ReportLine] = []
        for name, part in self.parts.items():
            if not options.only or name in options.only:
                for line in part(context):
                    options.on_line(line)
                    lines.append(line)
        return lines, dict(self.inputs(context))


AnySuite = Suite[Any, Any]
