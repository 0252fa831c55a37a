"""Matching where no worker can hold all subscriptions: documents are routed to fragments.

Miliaraki 2008, section 5.2, as one Spark step with one shuffle. Instead of following states from
peer to peer, a document is sent at once to every fragment (`fragments`) that may match it.

    documents -> parse once, route -> (fragment, document) rows -> shuffle -> match per fragment

Result rows are those of `matching.match_documents`, with another numbering of `part`: a
subscription belongs to one fragment, so each match is found once, and the parts of fragment n begin
at n * `PARTS_PER_FRAGMENT`. The first fragment of a document emits its first row. A document that
is routed nowhere (no possible match, or refused) already has its only row, and travels as that row.

A partition holds documents of one fragment. With more workers than fragments, several partitions
share a fragment. With fewer workers, a task reads several partitions, one after the other: a task
of its own for each would cost a small batch more than matching. A worker holds the router, and as
many fragments as fit into its budget (`fragment_cache`): the next batch finds them loaded.

Cost: each document is parsed once for the router and once per fragment, and shuffled once per
fragment.
"""

from __future__ import annotations

import gc
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from pathcast.documents import Limits
from pathcast.errors import DocumentError
from pathcast.matching import Matcher
from pathcast.matching.matches import Batch
from pathcast.pipeline import rows
from pathcast.pipeline.fragments import Fragments
from pathcast.pipeline.worker import (
    MatchTask,
    cached_fragment,
    document_columns,
    match_bodies,
    split_unreadable,
)
from pathcast.pipeline.worker_files import DistributedFile

__all__ = ["PARTS_PER_FRAGMENT", "match_in_fragments"]

PARTS_PER_FRAGMENT: Final = (
    32_768  # rows of one document per fragment; its subscriptions need fewer
)
_ROUTED_DDL: Final = f"target int, fragment int, body binary, {rows.RESULT_DDL}"
_ROUTED_SCHEMA: Final = pa.schema(
    [("target", pa.int32()), ("fragment", pa.int32()), ("body", pa.binary()), *rows.RESULT_SCHEMA]
)


def match_in_fragments(
    documents: DataFrame, fragments: Fragments, task: MatchTask, budget: int = 0
) -> DataFrame:
    """Return what `matching.match_documents` returns, matched in fragments that were shipped
    before.

    The task's own file is not needed. The fragments that a worker keeps use at most `budget` bytes;
    it always keeps one.
    """
    slots = documents.sparkSession.sparkContext.defaultParallelism
    job = _FragmentJob(
        task,
        DistributedFile(fragments.router.name),
        tuple(DistributedFile(path.name) for path in fragments.paths),
        -(-slots // len(fragments)),
        budget,
    )
    return (
        documents.select("id", "body", "source", "time", "fault")
        .mapInArrow(partial(_route, job=job), _ROUTED_DDL)
        .repartitionById(job.targets, "target")
        .coalesce(slots)
        .mapInArrow(partial(_match_fragments, job=job), rows.RESULT_DDL)
    )


@dataclass(frozen=True, slots=True)
class _FragmentJob:
    """Parameters of the workers; `partitions_per_fragment` partitions share each fragment, and the
    fragments of a worker share `budget` bytes.
    """

    task: MatchTask
    router: DistributedFile
    files: tuple[DistributedFile, ...]
    partitions_per_fragment: int
    budget: int

    @property
    def targets(self) -> int:
        return len(self.files) * self.partitions_per_fragment


_routers: dict[tuple[str, Limits], Matcher] = {}


def _router(job: _FragmentJob) -> Matcher:
    """Return the router of this worker; keep it until a job needs another one."""
    key = (job.router.name, job.task.limits)
    if key not in _routers:
        _routers.clear()
        gc.collect()
        _routers[key] = Matcher.load(job.router.locate(), limits=job.task.limits)
    return _routers[key]


def _route(batches: Iterator[pa.RecordBatch], job: _FragmentJob) -> Iterator[pa.RecordBatch]:
    """Emit each document once per target fragment, and the result rows of unrouted documents."""
    router = _router(job)
    for batch in batches:
        batch, unreadable = split_unreadable(batch, job.task)
        yield from (_finished_rows(finished, job) for finished in unreadable)
        columns = document_columns(batch, job.task)
        routed = _route_bodies(router, batch.column("body"))
        yield from (
            _finished_rows(finished, job)
            for finished in routed.unrouted_rows(columns, job.task.version)
        )
        for fragment, positions in sorted(routed.documents_by_fragment.items()):
            is_first = pa.array(
                [routed.first_fragment[position] == fragment for position in positions], pa.bool_()
            )
            indices = pa.array(positions, pa.int32())
            yield _routed_rows(
                columns.take(indices), is_first, batch.column("body").take(indices), fragment, job
            )


@dataclass(frozen=True, slots=True)
class _RoutedBatch:
    """The targets of the documents of a batch, by position in the batch."""

    documents_by_fragment: dict[int, list[int]]
    """The positions of each fragment's documents."""
    first_fragment: dict[int, int]
    """The first fragment of each routed document."""
    errors: dict[int, DocumentError]
    documents: int

    def unrouted_rows(self, columns: pa.RecordBatch, version: str) -> Iterator[pa.RecordBatch]:
        """Yield the result rows of the documents that no fragment can match."""
        unrouted = [
            position for position in range(self.documents) if position not in self.first_fragment
        ]
        if unrouted:
            errors = {
                index: self.errors[document]
                for index, document in enumerate(unrouted)
                if document in self.errors
            }
            no_matches = Batch((), array("i", [0] * (len(unrouted) + 1)), array("i"), errors, {})
            unrouted_columns = columns.take(pa.array(unrouted, pa.int32()))
            yield from rows.match_rows(
                no_matches, unrouted_columns, pa.array([], pa.string()), version
            )
            yield from rows.error_rows(no_matches, unrouted_columns, version)


def _route_bodies(router: Matcher, bodies: pa.Array) -> _RoutedBatch:
    routed = _RoutedBatch(defaultdict(list), {}, {}, len(bodies))
    for position, body in enumerate(bodies):
        try:
            targets = router.match_hops(body.as_py() or b"")
        except DocumentError as error:
            routed.errors[position] = error
            continue
        for fragment in targets:
            routed.documents_by_fragment[fragment].append(position)
            routed.first_fragment.setdefault(position, fragment)
    return routed


def _routed_rows(
    columns: pa.RecordBatch,
    is_first: pa.BooleanArray,
    bodies: pa.Array,
    fragment: int,
    job: _FragmentJob,
) -> pa.RecordBatch:
    """Build the rows that carry documents to a fragment."""
    row_columns = dict(zip(columns.schema.names, columns.columns, strict=True)) | {
        "first": is_first
    }
    row_columns["target"] = _target_partitions(
        columns, job.partitions_per_fragment, fragment * job.partitions_per_fragment
    )
    row_columns["fragment"] = pa.repeat(pa.scalar(fragment, pa.int32()), len(columns))
    row_columns["body"] = bodies
    return _fill_missing_columns(row_columns, len(columns))


def _finished_rows(finished: pa.RecordBatch, job: _FragmentJob) -> pa.RecordBatch:
    """Build rows that need no fragment; any partition may take them."""
    row_columns = dict(zip(finished.schema.names, finished.columns, strict=True))
    return _fill_missing_columns(
        row_columns | {"target": _target_partitions(finished, job.targets)}, len(finished)
    )


def _target_partitions(batch: pa.RecordBatch, count: int, start: int = 0) -> pa.Int32Array:
    """Choose partitions by a hash of the document id, so that a retried batch chooses the same."""
    ids = batch.column("document").to_pylist()
    return pa.array([start + crc32(id.encode()) % count for id in ids], pa.int32())


def _fill_missing_columns(columns: dict[str, pa.Array], length: int) -> pa.RecordBatch:
    arrays = [columns.get(field.name, pa.nulls(length, field.type)) for field in _ROUTED_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=_ROUTED_SCHEMA)


def _match_fragments(
    batches: Iterator[pa.RecordBatch], job: _FragmentJob
) -> Iterator[pa.RecordBatch]:
    """Match routed documents against their fragment, and pass finished rows through."""
    task = job.task
    for batch in batches:
        fragments = batch.column("fragment")
        if fragments.null_count:
            yield batch.filter(fragments.is_null()).select(rows.RESULT_SCHEMA.names)
        for fragment in fragments.drop_null().unique():  # in the order of the partitions
            routed = batch.filter(pc.equal(fragments, fragment))
            file = job.files[fragment.as_py()]
            loaded = cached_fragment(file, task.limits, task.deadline, job.budget)
            columns, first_part = (
                routed.select(rows.DOCUMENT_SCHEMA.names),
                fragment.as_py() * PARTS_PER_FRAGMENT,
            )
            yield from match_bodies(
                loaded, routed.column("body"), columns, task.version, first_part
            )
            del loaded  # free the memory before the next fragment is loaded
