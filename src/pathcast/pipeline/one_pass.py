"""One-pass staging: a batch is one Spark job of one stage, in which workers write every table.

    documents -> stage_worker.stage_batches -> files in the attempt's folder -> manifests
              -> the driver moves the listed files into the staged tables

It needs two things: every worker holds the whole version, and all machines see the result folder
under the same path. `batches` falls back to Spark's own writers otherwise.

Files of failed and speculative task attempts stay in the tasks' folder, which is never published.
The driver syncs the folders that it moved files to; workers have synced the files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from pathcast.errors import PipelineError
from pathcast.pipeline.sinks import OUTBOX_FOLDER
from pathcast.pipeline.stage_worker import (
    ID_DIGEST_BYTES,
    MANIFEST_DDL,
    Position,
    StageTask,
    stage_batches,
)
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS
from pathcast.pipeline.task_files import TASK_FOLDER, TaskManifest, sync_file

__all__ = ["stage_in_one_pass"]

_MAX_PASSES: Final = 4
"""Passes over a batch whose documents change while it is read."""


def stage_in_one_pass(documents: DataFrame, task: StageTask, tables: Sequence[str]) -> TaskManifest:
    """Stage a batch; return the sum of the manifests. `tables` exist even if they have no rows."""
    folder = Path(task.folder)
    (folder / TASK_FOLDER).mkdir(parents=True)
    manifest = _run_passes(documents, task)
    rows_by_table: dict[str, int] = {}
    for table, name, rows in manifest.files:
        _move(folder, table, name)
        rows_by_table[table] = rows_by_table.get(table, 0) + rows
    for table in tables:
        if table not in rows_by_table:
            (folder / table).mkdir(parents=True)
            pq.write_table(TABLE_SCHEMAS[table].empty_table(), folder / table / "part-0.parquet")
            sync_file(folder / table / "part-0.parquet")
    for path in (*(folder / table for table in {*tables, *rows_by_table}), folder):
        sync_file(path)
    _check_rows(task, manifest, rows_by_table)
    return manifest


def _run_passes(documents: DataFrame, task: StageTask) -> TaskManifest:
    """Run the pass, and again while ids repeat without a decision."""
    for _ in range(_MAX_PASSES):
        results = _run_pass(documents, task)
        repeated = _repeated_ids(results)
        if all(_is_at(results, digest, task.accepted.get(digest)) for digest in repeated):
            return reduce(add, (result.manifest for result in results), TaskManifest())
        task = replace(task, accepted=repeated)
    raise PipelineError(
        "source",
        "the documents of the batch change while they are read, and their ids repeat",
        hint="write a new file and rename it, instead of changing one in place",
    )


@dataclass(frozen=True, slots=True)
class _TaskResult:
    partition: int
    manifest: TaskManifest
    id_digests: bytes

    def digest(self, number: int) -> bytes:
        return self.id_digests[number * ID_DIGEST_BYTES : (number + 1) * ID_DIGEST_BYTES]


def _run_pass(documents: DataFrame, task: StageTask) -> list[_TaskResult]:
    rows = (
        documents.select("id", "body", "source", "time", "fault")
        .mapInArrow(partial(stage_batches, task=task), MANIFEST_DDL)
        .collect()
    )
    return [
        _TaskResult(row.partition, TaskManifest.from_json(row.manifest), bytes(row.id_digests))
        for row in rows
    ]


def _repeated_ids(results: Sequence[_TaskResult]) -> dict[bytes, Position]:
    """Return the digests of ids that occur more than once, each with its first position."""
    digests = np.frombuffer(
        b"".join(result.id_digests for result in results), np.dtype((np.void, ID_DIGEST_BYTES))
    )
    values, counts = np.unique(digests, return_counts=True)
    repeated = {value.tobytes() for value in values[counts > 1]}
    positions: dict[bytes, Position] = {}
    if repeated:
        for result in sorted(results, key=lambda result: result.partition):
            for number in range(len(result.id_digests) // ID_DIGEST_BYTES):
                digest = result.digest(number)
                if digest in repeated:
                    positions.setdefault(digest, (result.partition, number))
    return positions


def _is_at(results: Sequence[_TaskResult], digest: bytes, position: Position | None) -> bool:
    """Return whether the document that was accepted for an id was at its position."""
    return position is not None and any(
        result.partition == position[0] and result.digest(position[1]) == digest
        for result in results
    )


def _move(folder: Path, table: str, name: str) -> None:
    """Move a file of a task to its table."""
    target = folder / table / name
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.rename(folder / TASK_FOLDER / name, target)
    except FileNotFoundError:
        raise PipelineError(
            "output",
            f"a worker wrote {folder / TASK_FOLDER / name}, and it is not there",
            hint="all machines must see the folder of results under the same name",
        ) from None


def _check_rows(task: StageTask, manifest: TaskManifest, rows_by_table: dict[str, int]) -> None:
    """Check the counts of the manifests against the rows written."""
    expected = {"documents": manifest.documents}
    if task.deliveries:
        expected["deliveries"] = manifest.deliveries
    if OUTBOX_FOLDER in rows_by_table:
        expected[OUTBOX_FOLDER] = manifest.deliveries
    for table, count in expected.items():
        if rows_by_table.get(table, 0) != count:
            raise PipelineError(
                "lost",
                f"{count:,} rows of {table} were counted, {rows_by_table.get(table, 0):,} written",
                hint="this is a fault of pathcast's; nothing of the batch was published",
            )
