"""Documents -> matches and errors, as one step of a Spark job.

Every document is parsed and matched once; the tables are views of what that gave. Documents in = documents with
matches + documents without + documents refused: see `rows`.
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
    """All that is known of documents under a version, which every worker has by now; `work` is what workers do."""
    return documents.select("id", "body", "source", "time", "fault").mapInArrow(
        partial(worker_function, task=task), RESULT_DDL
    )


def matches_table(results: DataFrame) -> DataFrame:
    """(document, part, subscriptions, version) of every document that could be read."""
    return results.where("kind is null").select("document", "part", "subscriptions", "version")


def errors_table(results: DataFrame) -> DataFrame:
    """(document, subscriptions, kind, place, message, version): refused documents; subscriptions that were not decided."""
    return results.where("kind is not null").select(
        "document", "subscriptions", "kind", "place", "message", "version"
    )


def documents_table(results: DataFrame) -> DataFrame:
    """(document, source, time, bytes, structure): one row for each."""
    return results.where("first").select("document", "source", "time", "bytes", "structure")
