"""The matching step of a Spark job: documents -> result rows, and the tables derived from them.

Every document is parsed and matched once; the tables are projections of the result rows (`rows`).
Invariant: documents = with matches + without matches + refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from pathcast.pipeline.rows import RESULT_DDL
from pathcast.pipeline.worker import MatchTask, match_batches

__all__ = ["documents_table", "errors_table", "match_documents", "matches_table"]


def match_documents(
    documents: DataFrame,
    task: MatchTask,
    worker_function: Callable[..., Iterator[pa.RecordBatch]] = match_batches,
) -> DataFrame:
    """Return the result rows of documents under a version that was shipped to all workers.

    `worker_function` is what the workers run.
    """
    return documents.select("id", "body", "source", "time", "fault").mapInArrow(
        partial(worker_function, task=task), RESULT_DDL
    )


def matches_table(results: DataFrame) -> DataFrame:
    """Return (document, part, subscriptions, version) of every readable document."""
    return results.where("kind is null").select("document", "part", "subscriptions", "version")


def errors_table(results: DataFrame) -> DataFrame:
    """Return (document, subscriptions, kind, place, message, version) of errors.

    A row without subscriptions is a refused document; the others name undecided subscriptions.
    """
    return results.where("kind is not null").select(
        "document", "subscriptions", "kind", "place", "message", "version"
    )


def documents_table(results: DataFrame) -> DataFrame:
    """Return (document, source, time, bytes, structure), one row per document."""
    return results.where("first").select("document", "source", "time", "bytes", "structure")
