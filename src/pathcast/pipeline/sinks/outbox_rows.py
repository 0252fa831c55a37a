"""Staging of outbox rows by a Spark job of its own, with the writers of the one-pass job.

It serves batches that are staged in several passes (`multi_pass`). A row holds a document, its body
and some of its subscribers (`routes.outbox_rows`). Every task attempt writes files of its own; the
driver moves the files of successful attempts.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from pathcast.errors import PipelineError
from pathcast.pipeline.delivery_index import DeliveryPairs
from pathcast.pipeline.stage_worker import OutboxStaging
from pathcast.pipeline.storage import local_path
from pathcast.pipeline.task_files import TASK_FOLDER, sync_file

__all__ = ["stage_outbox_rows"]


def stage_outbox_rows(rows: DataFrame, outbox: OutboxStaging, staging: str) -> None:
    """Write outbox rows to files in the folder `staging`, which exists only if there are any."""
    target = local_path(staging)
    folder = target.parent
    (folder / TASK_FOLDER).mkdir(parents=True, exist_ok=True)
    task = partial(_write_rows, outbox=outbox, folder=str(folder))
    for row in rows.mapInArrow(task, "name string").collect():
        target.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(folder / TASK_FOLDER / row.name, target / row.name)
        except FileNotFoundError:
            raise PipelineError(
                "outbox",
                f"a worker wrote {folder / TASK_FOLDER / row.name}, and it is not there",
                hint="all machines must see the folder of results under the same name",
            ) from None
    if target.exists():
        sync_file(target)


def _write_rows(
    batches: Iterator[pa.RecordBatch], outbox: OutboxStaging, folder: str
) -> Iterator[pa.RecordBatch]:
    """Write the rows of a partition; yield the names of the files. Runs in a worker."""
    writer = outbox.open(Path(folder), secrets.token_hex(8), "")
    for batch in batches:
        bodies = batch.column("body").to_pylist()
        writer.add(batch.column("document"), bodies, _delivery_pairs(batch.column("subscribers")))
    names = [file.name for file in writer.close()]
    yield pa.RecordBatch.from_arrays([pa.array(names, pa.string())], names=["name"])


def _delivery_pairs(subscribers: pa.ListArray) -> DeliveryPairs:
    """Return the pairs of rows that list their subscribers.

    >>> pairs = _delivery_pairs(pa.array([["desk", "archive"], ["archive"]]))
    >>> pairs.documents.tolist(), pairs.subscribers.to_pylist()
    ([0, 0, 1], ['desk', 'archive', 'archive'])
    """
    values = subscribers.flatten()
    names = pc.unique(values)
    names = names.take(pc.sort_indices(names))
    return DeliveryPairs(
        pc.list_parent_indices(subscribers).to_numpy().astype(np.int32),
        pc.index_in(values, names).to_numpy().astype(np.int32),
        names,
    )
