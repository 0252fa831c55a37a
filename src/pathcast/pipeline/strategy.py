"""Whether documents are spread or subscriptions, and over how many fragments: from what was measured, with the reason.

With all subscriptions in every worker (`documents`) a document is parsed once and travels nowhere: best wherever there is room.
Fragments (`subscriptions`) cost a shuffle and a parsing for each fragment that a document goes to, so `auto` takes them only
where an engine needs more than a worker may use, and then as few as will do.

What an engine needs is measured, by loading it in a process of its own (`measured`), and what it remembers of documents is
added at its most: `MEMO` bytes in any case, `MEMO_STATE` for every state, and `PATTERN` for every pattern that is no path, which is a
rule of thumb. The first of these is needed by every fragment too. So fragments help with what grows with the number of
subscriptions, and with nothing else. After 8,000 documents of 7 KB an engine of a million paths had taken 791 MB where this
says 815 to 856, one of 30,000 paths, values and twigs 616 where it says 611, and a quarter of these 299 where it says 330.

What a worker may use is asked of one (`room_for_worker`): its limit if Spark sets one (`spark.executor.pyspark.memory`), else its share
of the memory that is free where it runs, machine or container.
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
_MIN_FRAGMENTS: Final = 2  # fragments, else it would not be called spreading
_FRAGMENTS_ON_REQUEST: Final = (
    8  # where they are asked for though there is room: with more, workers hardly get smaller
)
_MAX_FILL: Final = 0.8  # of its room a fragment takes so much: ranges differ, and batches need some
_FREE_MEMORY_SHARE: Final = (
    0.6  # of free memory workers may use so much: Java runs on the same machine
)
_NO_CGROUP_LIMIT: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class PartitionStrategy:
    """What is done, and why."""

    name: Literal["documents", "subscriptions"]
    fragments: int
    """How many there are; 1 if every worker has all subscriptions."""
    reason: str


def choose_strategy(
    mode: PartitionMode, version_bytes: int, worker_bytes: int
) -> PartitionStrategy:
    """The strategy for an engine that needs so many bytes, in workers that may use so many."""
    comparison = f"an engine of all subscriptions needs {_mb(version_bytes)}, a worker may use {_mb(worker_bytes)}"
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
    """The fewest fragments that fit; PipelineError if none do."""
    usable = worker_bytes * _MAX_FILL - MEMO_BYTES
    fragments = ceil((version_bytes - MEMO_BYTES) / usable) if usable > 0 else MAX_HOPS + 1
    if fragments > MAX_HOPS:
        raise PipelineError(
            "memory",
            f"a worker may use {_mb(worker_bytes)}, which is too little for {_mb(version_bytes)} of subscriptions in fragments",
            hint=f"a fragment needs {_mb(MEMO_BYTES)} and more: give workers more memory, or run fewer of them",
        )
    return fragments


def _fragment_bytes(version_bytes: int, fragments: int) -> int:
    return ceil(max(0, version_bytes - MEMO_BYTES) / fragments) + MEMO_BYTES


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"


# what an engine needs


def measure_version(version: Version) -> int:
    """Bytes that an engine of a version needs in a worker, at the most; it is loaded elsewhere to find out."""
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
    """In a process of its own: the most that loading takes, and what there is then."""
    from pathcast.matching.snapshot import read
    from pathcast.pipeline.worker import load_version
    from pathcast.sandbox import ProcessRunner

    before = _status("VmRSS")
    loaded = load_version(
        path, runner=ProcessRunner()
    )  # it is asked nothing, and so starts nothing
    loaded.matcher.match(b"<a/>")
    peak = peak_memory() or 0
    return {
        "loaded": peak - before,
        "states": loaded.matcher.stats().states,
        "patterns": len(read(path).patterns),
    }


# what a worker may use


def worker_memory(session: SparkSession) -> int:
    """Bytes that an engine may take in a worker: the least that workers say."""
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
    """In a worker: what is left of its limit, or its share of what is free here."""
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
    """Bytes that are free on this machine, or in this container if it has less."""
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
    """Bytes that this process has, by a name of Linux; 0 where nobody says."""
    return proc_field(Path("/proc/self/status"), name) or 0


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure(sys.argv[1])) + "\n")
