"""The choice between partitioning documents and partitioning subscriptions, from measured memory.

With all subscriptions in every worker (mode `documents`), a document is parsed once and not
shuffled: the best choice whenever memory suffices. Fragments (mode `subscriptions`) cost a shuffle,
and one parse per fragment that a document visits. `auto` therefore uses them only if a version
exceeds a worker's memory, and then as few as possible.

The memory of a version is measured in a child process (`measure_version`), which loads the version
and matches a sample of documents. What an engine remembers about documents, its memo, grows with a
power of their number, about the square root. Two points of the sample determine the power, and the
estimate is the memory after `_HORIZON_DOCUMENTS`. The core bounds the memo: `MEMO_BYTES`, plus
`MEMO_BYTES_PER_STATE` per state, times `MEMO_OVERHEAD`. An estimate exceeds this bound never, and
without a sample it is the bound.
Every fragment needs `MEMO_BYTES` too, so fragments reduce only the part that grows with the number
of subscriptions. Measured after 8,000 generated documents of 7 KB:

    subscriptions     loaded   after 8,000   bound
    30,000 twigs       75 MB        100 MB   365 MB
    30,000 values      96 MB        266 MB   391 MB
    30,000 of both    100 MB        272 MB   395 MB
    100,000 values    191 MB        493 MB   495 MB

A fragment seldom reaches the bound of its memory, so a worker keeps several within a budget. Where
memory forces the split, the budget is the worker's memory. Where the caller asked for it, the
budget is the bound of one fragment: the caller wants small workers.

The memory of a worker is measured in workers (`worker_memory`): its limit if Spark sets one
(`spark.executor.pyspark.memory`), else its share of the free memory of its machine or container.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Literal

import pyarrow as pa
from pyspark.sql import SparkSession

from pathcast.errors import PipelineError
from pathcast.matching.matcher import MAX_HOPS
from pathcast.pipeline.versions import Version
from pathcast.sandbox.processes import (
    child_environment,
    peak_memory,
    proc_field,
    python_module_command,
)

__all__ = [
    "MEMO_BYTES",
    "MEMO_BYTES_PER_STATE",
    "MEMO_OVERHEAD",
    "SAMPLE_DOCUMENTS",
    "PartitionMode",
    "PartitionStrategy",
    "VersionMemory",
    "choose_strategy",
    "measure_version",
    "project_growth",
    "worker_memory",
]

PartitionMode = Literal["documents", "subscriptions", "auto"]

MEMO_BYTES: Final = 192_000_000
MEMO_BYTES_PER_STATE: Final = 160
SAMPLE_DOCUMENTS: Final = 400
_MIN_SAMPLE_DOCUMENTS: Final = 40  # fewer say too little about growth
_HORIZON_DOCUMENTS: Final = 10_000
_DEFAULT_POWER: Final = 0.5
_MIN_POWER: Final = 0.2
_MAX_POWER: Final = 0.6  # measured: 0.3 to 0.53
MEMO_OVERHEAD: Final = 1.5  # measured: memory per byte of the memo's bound
_MIN_FRAGMENTS: Final = 2  # one fragment would not split anything
_FRAGMENTS_ON_REQUEST: Final = (
    8  # on request although memory suffices: more would hardly shrink workers
)
_MAX_FILL: Final = 0.8  # share of worker memory: fragments differ in size, and batches need some
_FREE_MEMORY_SHARE: Final = 0.6  # the JVM runs on the same machine
_NO_CGROUP_LIMIT: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class PartitionStrategy:
    """A strategy and the reason for it."""

    name: Literal["documents", "subscriptions"]
    fragments: int
    """The number of fragments; 1 if every worker holds all subscriptions."""
    reason: str
    budget: int = 0
    """Bytes that the fragments of a worker share."""


@dataclass(frozen=True, slots=True)
class VersionMemory:
    """The bytes that a version needs in a worker: an estimate, or an upper bound."""

    bytes: int
    is_bound: bool = True

    def __str__(self) -> str:
        return f"{'at most' if self.is_bound else 'about'} {_mb(self.bytes)}"


def choose_strategy(
    mode: PartitionMode, version_memory: VersionMemory, worker_bytes: int
) -> PartitionStrategy:
    """Choose the strategy for a version of this size, in workers with this much memory."""
    version_bytes = version_memory.bytes
    comparison = (
        f"an engine of all subscriptions needs {version_memory}, "
        f"a worker may use {_mb(worker_bytes)}"
    )
    if mode == "documents" or (mode == "auto" and version_bytes <= worker_bytes):
        cause = "as asked" if mode == "documents" else "it fits"
        return PartitionStrategy("documents", 1, f"{cause}: {comparison}")
    fragments = max(
        _FRAGMENTS_ON_REQUEST if mode == "subscriptions" else _MIN_FRAGMENTS,
        _min_fragments(version_bytes, worker_bytes),
    )
    cause = "as asked" if mode == "subscriptions" else "too much for one"
    fragment_bytes = _fragment_bytes(version_bytes, fragments)
    return PartitionStrategy(
        "subscriptions",
        fragments,
        f"{cause}: {comparison}; each of {fragments} fragments needs at most {_mb(fragment_bytes)}",
        fragment_bytes if mode == "subscriptions" else int(worker_bytes * _MAX_FILL),
    )


def _min_fragments(version_bytes: int, worker_bytes: int) -> int:
    """Return the smallest number of fragments that fit; PipelineError if none do."""
    usable = worker_bytes * _MAX_FILL - MEMO_BYTES
    fragments = math.ceil((version_bytes - MEMO_BYTES) / usable) if usable > 0 else MAX_HOPS + 1
    if fragments > MAX_HOPS:
        raise PipelineError(
            "memory",
            f"a worker may use {_mb(worker_bytes)}, "
            f"which is too little for {_mb(version_bytes)} of subscriptions in fragments",
            hint=f"a fragment needs {_mb(MEMO_BYTES)} and more: "
            "give workers more memory, or run fewer of them",
        )
    return fragments


def _fragment_bytes(version_bytes: int, fragments: int) -> int:
    return math.ceil(max(0, version_bytes - MEMO_BYTES) / fragments) + MEMO_BYTES


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"


# --- memory of a version


def measure_version(version: Version, sample: Sequence[bytes] = ()) -> VersionMemory:
    """Return the bytes that a version needs in a worker, for documents like those of the sample.

    A child process loads the version to measure it. Without a sample, and for a version with
    expensive subscriptions, the result is an upper bound.
    """
    with TemporaryFile() as file:
        file.write(json.dumps([document.decode("latin-1") for document in sample]).encode())
        file.seek(0)
        process = subprocess.run(  # noqa: S603 - our own interpreter
            python_module_command(__name__, str(version.path)),
            stdin=file,
            capture_output=True,
            check=False,
            env=child_environment(),
        )
    if process.returncode:
        lines = process.stderr.decode(errors="replace").strip().splitlines()
        message = " ".join(line.strip() for line in lines[-2:]) or f"status {process.returncode}"
        raise PipelineError(
            "memory", f"the subscriptions could not be loaded to measure: {message}"
        )
    figures = json.loads(process.stdout.splitlines()[-1])
    memo_bytes = MEMO_BYTES + MEMO_BYTES_PER_STATE * int(figures["states"])
    max_growth = round(MEMO_OVERHEAD * memo_bytes)
    if figures["growth"] is None:
        return VersionMemory(int(figures["loaded"]) + max_growth)
    quarter, full = figures["growth"]
    growth = min(max_growth, project_growth(quarter, full, len(sample)))
    return VersionMemory(int(figures["loaded"]) + growth, is_bound=False)


def project_growth(quarter: int, full: int, documents: int) -> int:
    """Return the growth after `_HORIZON_DOCUMENTS`, from that after the sample and its quarter.

    >>> project_growth(10_000_000, 20_000_000, 100)  # the square root
    200000000
    """
    if full <= 0:
        return 0
    power: float = math.log(full / quarter, 4) if 0 < quarter <= full else _DEFAULT_POWER
    ratio = max(1.0, _HORIZON_DOCUMENTS / documents)
    return int(full * ratio ** min(max(power, _MIN_POWER), _MAX_POWER))


def _measure(path: str, sample: Sequence[bytes]) -> dict[str, object]:
    """Load a version, match the sample, and return what they took; runs in a child process.

    `loaded` is the peak, `growth` that of a quarter of the sample and of all of it.
    """
    from pathcast.pipeline.worker import load_version
    from pathcast.sandbox import ProcessRunner

    before = _status("VmRSS")
    # Expensive subscriptions get no documents, so the runner starts no process.
    loaded = load_version(path, runner=ProcessRunner())
    loaded.matcher.match(b"<a/>")
    stats = loaded.matcher.stats()
    figures: dict[str, object] = {
        "loaded": (peak_memory() or 0) - before,
        "states": stats.states,
        "growth": None,
    }
    if len(sample) >= _MIN_SAMPLE_DOCUMENTS and not stats.expensive:
        loaded.match(sample[:1])  # the first document loads modules
        start = _status("VmRSS")
        quarter = len(sample) // 4
        growth = []
        for documents in (sample[:quarter], sample[quarter:]):
            for document in documents:
                loaded.match([document])
            growth.append(_status("VmRSS") - start)
        figures["growth"] = growth
    return figures


# --- memory of a worker


def worker_memory(session: SparkSession) -> int:
    """Return the bytes that a version may occupy in a worker: the minimum over all workers."""
    context = session.sparkContext
    cores = context.getConf().get("spark.executor.cores")
    local = str(context.master).startswith("local")
    slots = context.defaultParallelism if local else int(cores) if cores else None
    tasks = max(1, context.defaultParallelism)
    reports = session.range(tasks, numPartitions=tasks).mapInArrow(
        partial(_report_worker_memory, slots=slots), "room bigint"
    )
    return int(min(row.room for row in reports.collect()))


def _report_worker_memory(
    batches: Iterator[pa.RecordBatch], slots: int | None
) -> Iterator[pa.RecordBatch]:
    """Report the rest of this worker's memory limit, or its share of the free memory."""
    import resource

    for batch in batches:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            available = limit - _status("VmSize")
        else:
            available = int(_free_memory() * _FREE_MEMORY_SHARE) // (slots or os.cpu_count() or 1)
        yield pa.RecordBatch.from_arrays(
            [pa.array([max(0, available)] * len(batch), pa.int64())], names=["room"]
        )


def _free_memory() -> int:
    """Return the free bytes of this machine, or of this container if it has less."""
    available = proc_field(Path("/proc/meminfo"), "MemAvailable")
    candidates = [
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if available is None else available
    ]
    for limit_file, usage_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        limit = _read_int(Path(limit_file))
        if limit is not None and limit < _NO_CGROUP_LIMIT:
            candidates.append(limit - (_read_int(Path(usage_file)) or 0))
    return max(0, min(candidates))


def _read_int(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # "max": no limit
        return None


def _status(name: str) -> int:
    """Return a field of this process's /proc status in bytes; 0 if unavailable."""
    return proc_field(Path("/proc/self/status"), name) or 0


if __name__ == "__main__":
    documents = [text.encode("latin-1") for text in json.load(sys.stdin)]  # bytes as characters
    sys.stdout.write(json.dumps(_measure(sys.argv[1], documents)) + "\n")
