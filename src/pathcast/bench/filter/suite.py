"""The filter suite: its parts, in the order of the report."""

from __future__ import annotations

from collections.abc import Mapping

from pathcast.bench.filter.churn import churn
from pathcast.bench.filter.context import FilterContext
from pathcast.bench.filter.inputs import FilterInputs
from pathcast.bench.filter.keywords import keywords
from pathcast.bench.filter.lxml_baseline import load, loop
from pathcast.bench.filter.peak_memory import memory
from pathcast.bench.filter.processes import processes
from pathcast.bench.filter.sizes import FULL, QUICK, FilterSizes
from pathcast.bench.filter.speed import (
    cold,
    fixed_cost,
    hops,
    linear,
    mixed_kinds,
    selective,
)
from pathcast.bench.options import BenchOptions
from pathcast.bench.suite import Suite
from pathcast.generators.bundled import bundled_schema

__all__ = ["SUITE"]


def _context(sizes: FilterSizes, options: BenchOptions) -> FilterContext:
    inputs = FilterInputs(options.schema or bundled_schema("news"), sizes.pool)
    return FilterContext(sizes, inputs, options.progress)


def _fingerprints(bench: FilterContext) -> Mapping[str, str]:
    inputs = bench.inputs
    return {f"{inputs.schema.name}: {key}": digest for key, digest in inputs.fingerprints.items()}


SUITE = Suite(
    summary="how fast documents are matched, next to parsing them",
    quick=QUICK,
    full=FULL,
    context=_context,
    inputs=_fingerprints,
    parts={
        "fixed": fixed_cost,
        "linear": linear,
        "hops": hops,
        "mixed": mixed_kinds,
        "selective": selective,
        "keywords": keywords,
        "cold": cold,
        "loop": loop,
        "churn": churn,
        "load": load,
        "memory": memory,
        "processes": processes,
    },
    any_schema=True,
)
