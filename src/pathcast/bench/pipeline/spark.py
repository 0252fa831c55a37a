"""A Spark application of its own that runs single steps on tables of documents.

    python -m pathcast.bench.pipeline.spark CONFIG

CONFIG is JSON (`ApplicationConfig`). A request names a step of `pathcast.pipeline.bench_steps` and
files, asks for the number of matches (`count`), or runs a batch (`batch`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pathcast.bench.pipeline.bench_process import (
    Answer,
    BenchProcess,
    redirect_output,
    serve,
    start_process,
)

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["MASTER", "ApplicationConfig", "application", "batch", "count", "count_table", "step"]

MASTER = "local[2]"
_MODULE = "pathcast.bench.pipeline.spark"  # __name__ is "__main__" in the child


@dataclass(frozen=True, slots=True)
class ApplicationConfig:
    """The parameters of a Spark application, passed as JSON."""

    name: str
    snapshot: str
    routes: str
    subscriptions: int
    out: str
    partition: Literal["documents", "subscriptions"]


def step(name: str, files: Sequence[str]) -> Answer:
    """Return the request to run a step."""
    return {"step": name, "files": [*files]}


def count(files: Sequence[str]) -> Answer:
    """Return the request to count matches and fragments."""
    return {"step": None, "files": [*files]}


def batch(files: Sequence[str], way: str) -> Answer:
    """Return the request to run a batch with all tables in `one pass` or in `several passes`."""
    return {"step": "batch", "way": way, "files": [*files]}


def count_table(table: Path) -> Answer:
    """Return the request to read a table of a result folder."""
    return {"step": "table", "files": [str(table)]}


@contextmanager
def application(
    version: Version, out: Path, partition: Literal["documents", "subscriptions"]
) -> Iterator[BenchProcess]:
    """An application that has start_process, or is about to."""
    config = ApplicationConfig(
        version.name,
        str(version.path),
        str(version.routes),
        version.subscriptions,
        str(out),
        partition,
    )
    with start_process(_MODULE, json.dumps(asdict(config))) as child:
        yield child


def _child(text: str) -> None:
    from pathcast.pipeline.bench_steps import BenchApplication
    from pathcast.pipeline.versions import Version

    config = ApplicationConfig(**json.loads(text))
    version = Version(config.name, Path(config.snapshot), Path(config.routes), config.subscriptions)
    with redirect_output() as answers:
        trial = BenchApplication.start(version, Path(config.out), config.partition, MASTER)

        def handle(request: Answer) -> Answer:
            name, files = request["step"], request["files"]
            assert isinstance(files, list)
            if name is None:
                matches = trial.count(files)
                return {
                    "matches": matches,
                    "fragments": trial.strategy and trial.strategy.fragments,
                }
            if name == "batch":
                return asdict(trial.run_batch(files, str(request["way"])))
            if name == "table":
                return {"rows": trial.count_rows(files[0])}
            return {"matching": trial.run_step(str(name), files)}

        try:
            serve(answers, handle)
        finally:
            trial.stop()


if __name__ == "__main__":
    _child(sys.argv[1])
