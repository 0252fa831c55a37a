"""The work of a Python worker: parse and match Arrow batches of documents.

A worker loads a version once and keeps it until it needs another. Before it loads the next version,
it frees the old one, so a worker needs the memory of one version. Only of small versions, which
came in a closure, it keeps several: a query may use some of them in turns. Fragments of a version
are kept within a budget (`fragment_cache`). `rows` defines the result rows.

A body is binary, or a string in UTF-8, whose declared encoding is ignored (see
`documents.encoding`).

Under a hop version, the result of a document is its hops, by name; subscriptions are not
enumerated.

The structure of a document is the hash of its tag tree. Computing it costs several times as much as
matching, so it is computed for a sample. The sample is chosen by a hash of the id, so a retried
batch has the same.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from pathcast.documents import Limits, mark_utf8, parse, tag_tree
from pathcast.errors import DocumentError
from pathcast.matching import Matcher
from pathcast.matching.matches import Batch, Matches, collect_batch
from pathcast.matching.snapshot import SnapshotFile
from pathcast.pipeline import rows
from pathcast.pipeline.delivery_index import DeliveryIndex, read_subscribers
from pathcast.pipeline.fragment_cache import FragmentCache, free_memory, resident_memory
from pathcast.pipeline.worker_files import DistributedFile, InlineFile, SharedFile, WorkerFile
from pathcast.sandbox import ProcessRunner

__all__ = [
    "BatchSizer",
    "LoadedVersion",
    "MatchTask",
    "MatchedChunk",
    "cached_delivery_index",
    "cached_fragment",
    "cached_version",
    "document_columns",
    "load_version",
    "match_batches",
    "match_bodies",
    "match_chunks",
    "split_unreadable",
]

_INITIAL_DOCUMENTS_PER_CALL: Final = 4  # before the number of matches per document is known
_MAX_NUMBERS_PER_CALL: Final = 1 << 26  # the matches of one call, if all documents match all
_MAX_INLINE_VERSIONS: Final = 4
_DEFAULTS: Final = Limits()


@dataclass(frozen=True, slots=True)
class MatchTask:
    """What to match against: a version, its snapshot, the document limits and the sample share."""

    version: str
    file: WorkerFile
    limits: Limits = _DEFAULTS
    structure_share: float = 0.0
    deadline: float | None = None
    """Seconds that an expensive subscription may take on one document; None if there is none."""
    hops: tuple[str, ...] | None = None
    """Hop names by number, for a hop version."""
    routes: WorkerFile | None = None
    """The subscribers of the subscriptions; None if each is its own subscriber."""


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
    delivery_indexes: dict[str, DeliveryIndex] = field(default_factory=dict)
    """By version: built on first use."""

    def match(self, documents: Sequence[bytes]) -> Batch:
        """Match documents; results are numbers into `ids`."""
        if self.hops is None:
            return self.matcher.match_batch(documents)
        return collect_batch(self.hops, documents, self._hops)

    def _hops(self, document: bytes) -> Matches:
        hops = self.matcher.match_hops(document)
        return Matches(self.hops or (), array("i", hops), hops.errors)


_VersionKey = tuple[str, Limits, float | None, bool]  # the last: whether it came in a closure
_version_cache: dict[_VersionKey, LoadedVersion] = {}
_fragment_cache: FragmentCache[LoadedVersion] = FragmentCache(resident_memory, free_memory)


def cached_version(
    file: WorkerFile,
    limits: Limits = _DEFAULTS,
    deadline: float | None = None,
    hops: tuple[str, ...] | None = None,
) -> LoadedVersion:
    """Return the version of a file. To load another version, first free the current one."""
    key = (file.name, limits, deadline, isinstance(file, InlineFile))
    if key not in _version_cache:
        if not all(inline for *_, inline in (key, *_version_cache)):
            _version_cache.clear()
        elif len(_version_cache) == _MAX_INLINE_VERSIONS:
            del _version_cache[next(iter(_version_cache))]
        _fragment_cache.clear()
        free_memory()
        runner = None if deadline is None else ProcessRunner(deadline, limits)
        _version_cache[key] = load_version(file.locate(), limits, runner, hops)
    return _version_cache[key]


def cached_fragment(
    file: DistributedFile | SharedFile, limits: Limits, deadline: float | None, budget: int
) -> LoadedVersion:
    """Return a fragment of a version; the fragments of this worker share `budget` bytes."""
    if _version_cache:
        _version_cache.clear()
        free_memory()

    def load() -> LoadedVersion:
        runner = None if deadline is None else ProcessRunner(deadline, limits)
        return load_version(file.locate(), limits, runner)

    return _fragment_cache.get(
        (file.name, limits, deadline), budget, lambda: Path(file.locate()).stat().st_size, load
    )


def cached_delivery_index(task: MatchTask, loaded: LoadedVersion) -> DeliveryIndex:
    """Return the delivery index of the loaded version."""
    if task.version not in loaded.delivery_indexes:
        subscribers = None
        if task.routes is not None and task.hops is None:
            subscribers = read_subscribers(task.routes.locate(), loaded.ids)
        loaded.delivery_indexes[task.version] = DeliveryIndex.build(loaded.ids, subscribers)
    return loaded.delivery_indexes[task.version]


def load_version(
    file: SnapshotFile,
    limits: Limits = _DEFAULTS,
    runner: ProcessRunner | None = None,
    hops: tuple[str, ...] | None = None,
) -> LoadedVersion:
    """Load the version of a local file or a stream."""
    matcher = Matcher.load(file, limits=limits, runner=runner)
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
    for chunk in match_chunks(loaded, bodies):
        chunk_columns = columns.slice(start, len(chunk.bodies))
        yield from rows.match_rows(chunk.matches, chunk_columns, loaded.ids, version, first_part)
        yield from rows.error_rows(chunk.matches, chunk_columns, version)
        start += len(chunk.bodies)


class MatchedChunk(NamedTuple):
    """Consecutive documents and their matches."""

    bodies: list[bytes]
    matches: Batch


def match_chunks(loaded: LoadedVersion, bodies: pa.Array) -> Iterator[MatchedChunk]:
    """Match documents in chunks whose matches should fill one record batch each."""
    start = 0
    most = max(1, _MAX_NUMBERS_PER_CALL // max(1, len(loaded.ids)))
    is_text = pa.types.is_string(bodies.type) or pa.types.is_large_string(bodies.type)
    if is_text:
        bodies = bodies.cast(pa.large_binary())
    while start < len(bodies):
        size = min(most, loaded.sizer.documents_per_call)
        documents = [body.as_py() or b"" for body in bodies.slice(start, size)]
        if is_text:
            documents = [mark_utf8(document) for document in documents]
        cpu_start = time.thread_time()
        matches = loaded.match(documents)
        cpu_seconds = time.thread_time() - cpu_start
        yield MatchedChunk(documents, matches)
        start += len(documents)
        loaded.sizer.record(len(documents), len(matches.numbers), cpu_seconds)


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
