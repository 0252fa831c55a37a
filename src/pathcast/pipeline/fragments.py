"""Fragments of a version: subscription files that each fit into a worker, and a router.

Fragments are derived from the version's file alone, deterministically: a retried batch finds them,
or builds the same files again. `matching.sharding` assigns every subscription to exactly one
fragment. The driver holds the version and one fragment at a time, as arrays; nothing is parsed.

    <version>-<fragments>-<number>.subscriptions
    <version>-<fragments>-router.subscriptions      written last: the others exist if it does
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark import SparkContext

from pathcast.errors import PipelineError
from pathcast.matching.matcher import MAX_HOPS
from pathcast.matching.sharding import (
    partition_by_range,
    router_snapshot,
    shard_keys_of,
    snapshot_subset,
)
from pathcast.matching.snapshot import Snapshot, read, snapshot_ints, write
from pathcast.pipeline.versions import Version

__all__ = ["Fragments", "split_version"]

_SUFFIX: Final = ".subscriptions"
_PATTERN_WEIGHT: Final = (
    40  # memory of a pattern relative to a linear path, see `partition_strategy`
)


@dataclass(frozen=True, slots=True)
class Fragments:
    """The fragments of a version; the paths are the driver's copies."""

    version: str
    router: Path
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def ship(self, context: SparkContext) -> None:
        """Distribute the files to all workers."""
        for path in (*self.paths, self.router):
            context.addFile(str(path))


def split_version(version: Version, count: int, folder: Path | None = None) -> Fragments:
    """Return the fragments of a version in `folder` (default: beside its file); build them if
    missing.

    Raise PipelineError for an unsupported number of fragments.
    """
    if not 1 <= count <= MAX_HOPS:
        raise PipelineError("fragments", f"there are 1 to {MAX_HOPS} fragments, not {count:,}")
    folder = version.path.parent if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{version.name}-{count}-{number}{_SUFFIX}" for number in range(count)]
    fragments = Fragments(
        version.name,
        folder / f"{version.name}-{count}-router{_SUFFIX}",
        tuple(folder / name for name in names),
    )
    if not all(path.exists() for path in (*fragments.paths, fragments.router)):
        _write_fragments(read(version.path), fragments)
    return fragments


def _write_fragments(snapshot: Snapshot, fragments: Fragments) -> None:
    keys = shard_keys_of(snapshot)
    partition = partition_by_range(keys, list(_weights(snapshot)), len(fragments))
    routes = [(keys.path(prefix), shard) for prefix, shard in partition.routes]
    del keys  # as large as the version itself
    for numbers, path in zip(partition.numbers, fragments.paths, strict=True):
        write(snapshot_subset(snapshot, numbers), path)
    write(router_snapshot(snapshot, routes), fragments.router)


def _weights(snapshot: Snapshot) -> Iterator[int]:
    """Yield the approximate memory of each subscription; equal subscriptions share one pattern."""
    seen = {-1}
    for entry in snapshot_ints(snapshot.entries):
        yield 1 if entry in seen else _PATTERN_WEIGHT
        seen.add(entry)
