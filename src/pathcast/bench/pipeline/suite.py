"""The parts of the benchmark, in the order of its report, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pathcast.bench.options import Wish
from pathcast.bench.pipeline.bench import Bench
from pathcast.bench.pipeline.memory import memory
from pathcast.bench.pipeline.sizes import FULL, QUICK, Sizes
from pathcast.bench.pipeline.speed import speed
from pathcast.bench.report import Findings, Line
from pathcast.errors import PipelineError

__all__ = ["PARTS", "measured", "pipelining"]

PARTS: Mapping[str, Callable[[Bench], Iterator[Line]]] = {"speed": speed, "memory": memory}


def pipelining(wish: Wish) -> Findings:
    """The benchmark; PipelineError if there is no Spark, or no Java for it."""
    _require_spark()
    return measured(QUICK if wish.quick else FULL, wish)


def measured(sizes: Sizes, wish: Wish) -> Findings:
    """All parts, or those that are wished for, with inputs of these sizes."""
    bench = Bench(sizes, wish.tell)
    lines = wish.gather(PARTS, bench)
    return lines, {f"news: {key}": one for key, one in bench.inputs.prints.items()}


def _require_spark() -> None:
    try:
        from pathcast.pipeline.session import java_home
    except ModuleNotFoundError as error:
        raise PipelineError(
            "spark",
            f"the benchmark runs Spark, and {error.name} is not installed",
            hint="pip install 'pathcast[spark]'",
        ) from None
    java_home()
