"""A Spark application of its own that takes steps with tables of documents.

    python -m pathcast.bench.pipeline.spark SETTING

The setting is JSON (`Setting`). An order names a step of `pathcast.pipeline.bench_steps` and files, or asks for the number of matches (`count`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pathcast.bench.pipeline.child import Answer, Child, answering, serve, started

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["MASTER", "Setting", "application", "count", "step"]

MASTER = "local[2]"
_MODULE = "pathcast.bench.pipeline.spark"  # __name__ is another one in the child


@dataclass(frozen=True, slots=True)
class Setting:
    """What an application works with."""

    name: str
    snapshot: str
    routes: str
    subscriptions: int
    out: str
    partition: Literal["documents", "subscriptions"]


def step(name: str, files: Sequence[str]) -> Answer:
    """The order to take a step."""
    return {"step": name, "files": [*files]}


def count(files: Sequence[str]) -> Answer:
    """The order to count matches, and to say how many fragments the subscriptions are in."""
    return {"step": None, "files": [*files]}


@contextmanager
def application(
    version: Version, out: Path, partition: Literal["documents", "subscriptions"]
) -> Iterator[Child]:
    """An application that has started, or is about to."""
    setting = Setting(
        version.name,
        str(version.path),
        str(version.routes),
        version.subscriptions,
        str(out),
        partition,
    )
    with started(_MODULE, json.dumps(asdict(setting))) as child:
        yield child


def _child(text: str) -> None:
    from pathcast.pipeline.bench_steps import BenchApplication
    from pathcast.pipeline.versions import Version

    known = Setting(**json.loads(text))
    version = Version(known.name, Path(known.snapshot), Path(known.routes), known.subscriptions)
    with answering() as answers:
        trial = BenchApplication.start(version, Path(known.out), known.partition, MASTER)

        def handle(order: Answer) -> Answer:
            name, files = order["step"], order["files"]
            assert isinstance(files, list)
            if name is None:
                matches = trial.count(files)
                return {
                    "matches": matches,
                    "fragments": trial.strategy and trial.strategy.fragments,
                }
            return {"matching": trial.run_step(str(name), files)}

        try:
            serve(answers, handle)
        finally:
            trial.stop()


if __name__ == "__main__":
    _child(sys.argv[1])
