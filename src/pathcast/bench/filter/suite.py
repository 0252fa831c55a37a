"""The parts of the benchmark, in the order of its report, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pathcast.bench.filter.bench import Bench
from pathcast.bench.filter.churn import churn
from pathcast.bench.filter.inputs import Inputs
from pathcast.bench.filter.lxml_baseline import load, loop
from pathcast.bench.filter.peak_memory import memory
from pathcast.bench.filter.processes import processes
from pathcast.bench.filter.sizes import FULL, QUICK, Sizes
from pathcast.bench.filter.speed import cold, hops, linear, mixed
from pathcast.bench.options import Wish
from pathcast.bench.report import Findings, Line
from pathcast.generators.bundled import bundled_schema

__all__ = ["PARTS", "filtering", "measured"]

PARTS: Mapping[str, Callable[[Bench], Iterator[Line]]] = {
    "linear": linear,
    "hops": hops,
    "mixed": mixed,
    "cold": cold,
    "loop": loop,
    "churn": churn,
    "load": load,
    "memory": memory,
    "processes": processes,
}


def filtering(wish: Wish) -> Findings:
    """The benchmark."""
    return measured(QUICK if wish.quick else FULL, wish)


def measured(sizes: Sizes, wish: Wish) -> Findings:
    """All parts, or those that are wished for, with inputs of these sizes."""
    inputs = Inputs(wish.schema or bundled_schema("news"), sizes.pool)
    bench = Bench(sizes, inputs, wish.tell)
    lines = wish.gather(PARTS, bench)
    return lines, {f"{inputs.schema.name}: {key}": one for key, one in inputs.prints.items()}
