"""The choice between partitioning documents and partitioning subscriptions, from measured memory.

With all subscriptions in every worker (mode `documents`), a document is parsed once and not
shuffled: the best choice whenever memory suffices. Fragments (mode `subscriptions`) cost a shuffle,
and one parse per fragment that a document visits. `auto` therefore uses them only if a version
exceeds a worker's memory, and then as few as possible.

The memory of a version is measured by loading it in a child process (`measure_version`). The upper
bound of its memo is added: `MEMO_BYTES`, plus `MEMO_BYTES_PER_STATE` per state, plus
`BYTES_PER_PATTERN` per pattern that is no linear path (an estimate). Every fragment needs
`MEMO_BYTES` too, so fragments reduce only the part that grows with the number of subscriptions.
After 8,000 documents of 7 KB, a version of a million linear paths used 791 MB (bound: 815 to 856),
one of 30,000 paths, values and twigs 616 MB (bound: 611), and a quarter of the latter 299 MB
(bound: 330).

The memory of a worker is measured in workers (`worker_memory`): its limit if Spark sets one
(`spark.executor.pyspark.memory`), else its share of the free memory of its machine or container.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
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
    "BYTES_PER_PATTERN",
    "MEMO_BYTES",
    "MEMO_BYTES_PER_STATE",
    "PartitionMode",
    "PartitionStrategy",
    "choose_strategy",
    "measure_version",
    "worker_memory",
]

PartitionMode = Literal["documents", "subscriptions", "auto"]

MEMO_BYTES: Final = 192_000_000
MEMO_BYTES_PER_STATE: Final = 160
BYTES_PER_PATTERN: Final = 16_000
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


def choose_strategy(
    mode: PartitionMode, version_bytes: int, worker_bytes: int
) -> PartitionStrategy:
    """Choose the strategy for a version of this size, in workers with this much memory."""
    comparison = (
        f"an engine of all subscriptions needs {_mb(version_bytes)}, "
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
    fragment_size = _mb(_fragment_bytes(version_bytes, fragments))
    return PartitionStrategy(
        "subscriptions",
        fragments,
        f"{cause}: {comparison}; each of {fragments} fragments needs {fragment_size}",
    )


def _min_fragments(version_bytes: int, worker_bytes: int) -> int:
    """Return the smallest number of fragments that fit; PipelineError if none do."""
    usable = worker_bytes * _MAX_FILL - MEMO_BYTES
    fragments = ceil((version_bytes - MEMO_BYTES) / usable) if usable > 0 else MAX_HOPS + 1
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
    return ceil(max(0, version_bytes - MEMO_BYTES) / fragments) + MEMO_BYTES


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"


# --- memory of a version


def measure_version(version: Version) -> int:
    """Return an upper bound of the bytes that a version needs in a worker.

    A child process loads the version to measure it.
    """
    process = subprocess.run(  # noqa: S603 - our own interpreter
        python_module_command(__name__, str(version.path)),
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
    memo = (
        MEMO_BYTES
        + MEMO_BYTES_PER_STATE * int(figures["states"])
        + BYTES_PER_PATTERN * int(figures["patterns"])
    )
    return int(figures["loaded"]) + memo


def _measure(path: str) -> dict[str, int]:
    """Load a version and return its peak memory, states and patterns; runs in a child process."""
    from pathcast.matching.snapshot import read
    from pathcast.pipeline.worker import load_version
    from pathcast.sandbox import ProcessRunner

    before = _status("VmRSS")
    # No request reaches the runner, so it starts no process.
    loaded = load_version(path, runner=ProcessRunner())
    loaded.matcher.match(b"<a/>")
    peak = peak_memory() or 0
    return {
        "loaded": peak - before,
        "states": loaded.matcher.stats().states,
        "patterns": len(read(path).patterns),
    }


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
    sys.stdout.write(json.dumps(_measure(sys.argv[1])) + "\n")
