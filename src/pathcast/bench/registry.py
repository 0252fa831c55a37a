"""The table of benchmarks, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pathcast.bench.covering.suite import PARTS as COVERING_PARTS
from pathcast.bench.covering.suite import covering
from pathcast.bench.filter.suite import PARTS, filtering
from pathcast.bench.options import Wish
from pathcast.bench.overlay.suite import PARTS as OVERLAY_PARTS
from pathcast.bench.overlay.suite import overlay
from pathcast.bench.pipeline.suite import PARTS as PIPELINE_PARTS
from pathcast.bench.pipeline.suite import pipelining
from pathcast.bench.report import Findings, Report, machine
from pathcast.bench.workload import workload

__all__ = ["BENCHMARKS", "Benchmark", "run"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """`parts` can be measured alone, if there are any; `any_schema` says that it is not bound to one."""

    about: str
    measure: Callable[[Wish], Findings]
    parts: tuple[str, ...] = ()
    any_schema: bool = False


BENCHMARKS: Mapping[str, Benchmark] = {
    "covering": Benchmark(
        "how fast covering subscriptions are found, and how much smaller tables get",
        covering,
        parts=tuple(COVERING_PARTS),
    ),
    "filter": Benchmark(
        "how fast documents are matched, next to parsing them",
        filtering,
        parts=tuple(PARTS),
        any_schema=True,
    ),
    "overlay": Benchmark(
        "messages and delay of an overlay of brokers, and what a broker's decision costs",
        overlay,
        parts=tuple(OVERLAY_PARTS),
    ),
    "pipeline": Benchmark(
        "what Spark costs, next to processes that only match",
        pipelining,
        parts=tuple(PIPELINE_PARTS),
    ),
    "workload": Benchmark("how fast subscriptions, documents and feeds are generated", workload),
}


def run(name: str, wish: Wish) -> Report:
    """Run the benchmark of that name, which must be in the table, as must the parts that are wished for."""
    lines, inputs = BENCHMARKS[name].measure(wish)
    return Report(name, wish.quick, tuple(lines), inputs, machine())
