"""The work of a Python worker: parse and match Arrow batches of documents.

A worker loads a version once and keeps it until it needs another. Before it loads the next version,
it frees the old one, so a worker needs the memory of one version. `rows` defines its result rows.

Under a hop version, the result of a document is its hops, by name; subscriptions are not
enumerated.

The structure of a document is the hash of its tag tree. Computing it costs several times as much as
matching, so it is computed for a sample. The sample is chosen by a hash of the id, so a retried
batch has the same.
"""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkFiles

from pathcast.documents import Limits, parse, tag_tree
from pathcast.errors import DocumentError
from pathcast.matching import Matcher
from pathcast.matching.matches import Batch, Matches, collect_batch
from pathcast.pipeline import rows
from pathcast.sandbox import ProcessRunner

__all__ = [
    "BatchSizer",
    "LoadedVersion",
    "MatchTask",
    "cached_version",
    "document_columns",
    "load_version",
    "match_batches",
    "match_bodies",
    "split_unreadable",
]

_INITIAL_DOCUMENTS_PER_CALL: Final = 4  # before the number of matches per document is known
_DEFAULTS: Final = Limits()


@dataclass(frozen=True, slots=True)
class MatchTask:
    """What to match against: a version, its file, the document limits and the sample share."""

    version: str
    file: str
    limits: Limits = _DEFAULTS
    structure_share: float = 0.0
    deadline: float | None = None
    """Seconds that an expensive subscription may take on one document; None if there is none."""
    hops: tuple[str, ...] | None = None
    """Hop names by number, for a hop version."""


@dataclass(slots=True)
class BatchSizer:
    """Adapts the number of documents per matcher call to the number of their matches."""

    documents_per_call: int = _INITIAL_DOCUMENTS_PER_CALL
    """Kept across batches, since each record batch has a fixed cost."""
    matching_seconds: float = 0.0
    """CPU time of matching itself."""

    def record(self, documents: int, matches: int, seconds: float) -> None:
        """Adapt the size so that similar documents would fill one record batch."""
        limit = (
            4 * self.documents_per_call
            if documents == self.documents_per_call
            else self.documents_per_call
        )
        self.documents_per_call = max(
            1, min(limit, 2 * documents * rows.MAX_SUBSCRIPTIONS_PER_ROW // max(1, matches))
        )
        self.matching_seconds += seconds


@dataclass(frozen=True, slots=True)
class LoadedVersion:
    """A version in memory, ready to match."""

    matcher: Matcher
    ids: pa.StringArray
    """Ids as strings, by number; hop names for a hop version."""
    hops: tuple[str, ...] | None = None
    sizer: BatchSizer = field(default_factory=BatchSizer)

    def match(self, documents: Sequence[bytes]) -> Batch:
        """Match documents; results are numbers into `ids`."""
        if self.hops is None:
            return self.matcher.match_batch(documents)
        return collect_batch(self.hops, documents, self._hops)

    def _hops(self, document: bytes) -> Matches:
        hops = self.matcher.match_hops(document)
        return Matches(self.hops or (), array("i", hops), hops.errors)


_version_cache: dict[tuple[str, Limits, float | None], LoadedVersion] = {}


def cached_version(
    file: str,
    limits: Limits = _DEFAULTS,
    deadline: float | None = None,
    hops: tuple[str, ...] | None = None,
) -> LoadedVersion:
    """Return the version of a file. To load another version, first free the current one."""
    key = (file, limits, deadline)
    if key not in _version_cache:
        _version_cache.clear()
        gc.collect()  # the matcher and its automata form reference cycles
        pa.default_memory_pool().release_unused()
        runner = None if deadline is None else ProcessRunner(deadline, limits)
        _version_cache[key] = load_version(SparkFiles.get(file), limits, runner, hops)
    return _version_cache[key]


def load_version(
    path: str,
    limits: Limits = _DEFAULTS,
    runner: ProcessRunner | None = None,
    hops: tuple[str, ...] | None = None,
) -> LoadedVersion:
    """Load the version of a local file."""
    matcher = Matcher.load(path, limits=limits, runner=runner)
    ids = matcher.match_batch([]).ids(range(len(matcher))) if hops is None else hops
    return LoadedVersion(matcher, pa.array([str(id) for id in ids], pa.string()), hops)


def match_batches(batches: Iterator[pa.RecordBatch], task: MatchTask) -> Iterator[pa.RecordBatch]:
    """Match batches of documents (`id`, `body`, `source`, `time`, `fault`)."""
    loaded = cached_version(task.file, task.limits, task.deadline, task.hops)
    for batch in batches:
        batch, unreadable = split_unreadable(batch, task)
        yield from unreadable
        yield from match_bodies(
            loaded, batch.column("body"), document_columns(batch, task), task.version
        )


def match_bodies(
    loaded: LoadedVersion,
    bodies: pa.Array,
    columns: pa.RecordBatch,
    version: str,
    first_part: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Yield the result rows of documents, with parts from `first_part` on.

    Documents are matched in chunks that should fill one record batch each.
    """
    start = 0
    while start < len(bodies):
        count = loaded.sizer.documents_per_call
        chunk = columns.slice(start, count)
        documents = [body.as_py() or b"" for body in bodies.slice(start, count)]
        cpu_start = time.thread_time()
        matches = loaded.match(documents)
        cpu_seconds = time.thread_time() - cpu_start
        yield from rows.match_rows(matches, chunk, loaded.ids, version, first_part)
        yield from rows.error_rows(matches, chunk, version)
        start += count
        loaded.sizer.record(len(chunk), len(matches.numbers), cpu_seconds)


def split_unreadable(
    batch: pa.RecordBatch, task: MatchTask
) -> tuple[pa.RecordBatch, list[pa.RecordBatch]]:
    """Separate the documents of a batch from input that could not be read, as error rows."""
    is_readable = batch.column("fault").is_null()
    if not is_readable.false_count:
        return batch, []
    unreadable = batch.filter(pc.invert(is_readable))
    return batch.filter(is_readable), [
        rows.unreadable_rows(
            document_columns(unreadable, task), unreadable.column("fault"), task.version
        )
    ]


def document_columns(batch: pa.RecordBatch, task: MatchTask) -> pa.RecordBatch:
    """Return the document columns that are known before matching."""
    body = batch.column("body")
    return pa.RecordBatch.from_arrays(
        [
            batch.column("id"),
            pa.repeat(True, len(batch)),
            batch.column("source"),
            batch.column("time").cast(rows.DOCUMENT_SCHEMA.field("time").type),
            pc.binary_length(body).cast(pa.int64()),
            _structure_hashes(batch.column("id"), body, task),
        ],
        schema=rows.DOCUMENT_SCHEMA,
    )


def _structure_hashes(ids: pa.Array, bodies: pa.Array, task: MatchTask) -> pa.StringArray:
    if not task.structure_share:
        return pa.nulls(len(ids), pa.string())
    return pa.array(
        [
            _structure_hash(body.as_py() or b"", task.limits)
            if _is_sampled(id.as_py(), task.structure_share)
            else None
            for id, body in zip(ids, bodies, strict=True)
        ],
        pa.string(),
    )


def _is_sampled(id: str, share: float) -> bool:
    return crc32(id.encode()) < share * 2**32


def _structure_hash(body: bytes, limits: Limits) -> str | None:
    try:
        return tag_tree(parse(body, limits)).hash
    except DocumentError:
        return None
