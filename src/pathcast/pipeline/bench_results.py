"""Planted result folders for `pathcast bench pipeline`: finished batches that were never run.

Every batch has one row of matches in a file of its own, and the record of its outcome.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pathcast.pipeline.batch_log import BatchLog, BatchOutcome
from pathcast.pipeline.storage import LocalStorage
from pathcast.pipeline.table_schemas import TABLE_SCHEMAS

__all__ = ["plant_results"]

_IDS_PER_DOCUMENT = 35


def plant_results(out: Path, batches: int) -> None:
    """Write the results of finished batches to a folder."""
    (out / "matches").mkdir(parents=True)
    store = BatchLog(LocalStorage(out))
    store.claim({"run": "stream", "documents": "planted"})
    for batch in range(batches):
        name = f"{batch:010}-part.parquet"
        row = {
            "document": f"document-{batch}",
            "part": 0,
            "subscriptions": [f"subscription-{number}" for number in range(_IDS_PER_DOCUMENT)],
            "version": "planted",
            "batch": batch,
        }
        table = pa.Table.from_pylist([row], TABLE_SCHEMAS["matches"])
        pq.write_table(table, out / "matches" / name)
        outcome = BatchOutcome(
            "planted",
            documents=1,
            matched=1,
            matches=_IDS_PER_DOCUMENT,
            tables=("matches",),
            files={"matches": (name,)},
            started=1.0 + batch,
        )
        store.write_done_outcome(batch, outcome)
