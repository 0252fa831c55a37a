"""How much memory the largest worker needs, where every worker has all subscriptions and where these are spread.

Each strategy has an application of its own, which matches the same few documents twice. What is compared is the most that the largest
of its Python workers had resident, modules and all. Both must find the same number of matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, NamedTuple

from pathcast.bench.pipeline.bench import Bench
from pathcast.bench.pipeline.inputs import version_of
from pathcast.bench.pipeline.processes import worker_peaks
from pathcast.bench.pipeline.report_lines import memory_line
from pathcast.bench.pipeline.spark import application, count
from pathcast.bench.report import Line

if TYPE_CHECKING:
    from pathcast.pipeline.versions import Version

__all__ = ["memory"]

_PASSES = 2
_FILES = 4


class _Used(NamedTuple):
    most: int  # bytes
    matches: object
    fragments: int


def memory(bench: Bench) -> Iterator[Line]:
    from pathcast.pipeline.bench_steps import write_documents

    sizes = bench.sizes
    bench.tell(f"making {sizes.held:,} subscriptions")
    bodies = bench.bodies()[: sizes.sent]
    with TemporaryDirectory(prefix="pathcast-") as name:
        folder = Path(name)
        files = write_documents(bodies, folder, _FILES)
        version = version_of(bench.inputs.linear(sizes.held), folder / "versions")
        bench.tell(f"{sizes.held:,} subscriptions in every worker")
        held = _used(version, folder, files, "documents")
        bench.tell(f"{sizes.held:,} subscriptions, spread")
        spread = _used(version, folder, files, "subscriptions")
    assert held.matches == spread.matches, "both are to find the same"
    yield memory_line(held.most, spread.most, spread.fragments, sizes)


def _used(
    version: Version,
    folder: Path,
    files: Sequence[str],
    partition: Literal["documents", "subscriptions"],
) -> _Used:
    with application(version, folder / "out", partition) as spark:
        peaks: dict[int, int] = {}
        answer = {}
        for _ in range(_PASSES):
            answer = dict(spark.ask(count(files)))
            peaks |= worker_peaks(spark.tree())  # Linux keeps them as long as the worker is there
    return _Used(max(peaks.values()), answer["matches"], int(str(answer["fragments"])))
