"""The pipeline suite: its parts, in the order of the report."""

from __future__ import annotations

from collections.abc import Mapping

from pathcast.bench.options import BenchOptions
from pathcast.bench.pipeline.api import api
from pathcast.bench.pipeline.batches import batches
from pathcast.bench.pipeline.compaction import compaction
from pathcast.bench.pipeline.context import PipelineContext
from pathcast.bench.pipeline.history import history
from pathcast.bench.pipeline.memory import memory
from pathcast.bench.pipeline.outboxes import outboxes
from pathcast.bench.pipeline.sizes import FULL, QUICK, PipelineSizes
from pathcast.bench.pipeline.speed import speed
from pathcast.bench.suite import Suite
from pathcast.errors import PipelineError

__all__ = ["SUITE"]


def _context(sizes: PipelineSizes, options: BenchOptions) -> PipelineContext:
    """Return the context; raise PipelineError if Spark or Java is missing."""
    try:
        from pathcast.pipeline.session import java_home
    except ModuleNotFoundError as error:
        raise PipelineError(
            "spark",
            f"the benchmark runs Spark, and {error.name} is not installed",
            hint="pip install 'pathcast[spark]'",
        ) from None
    java_home()
    return PipelineContext(sizes, options.progress)


def _fingerprints(bench: PipelineContext) -> Mapping[str, str]:
    return {f"news: {key}": digest for key, digest in bench.inputs.fingerprints.items()}


SUITE = Suite(
    summary="what Spark costs, next to processes that only match",
    quick=QUICK,
    full=FULL,
    context=_context,
    inputs=_fingerprints,
    parts={
        "speed": speed,
        "batches": batches,
        "api": api,
        "history": history,
        "outboxes": outboxes,
        "compaction": compaction,
        "memory": memory,
    },
)
