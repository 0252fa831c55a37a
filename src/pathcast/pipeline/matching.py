"""Documents -> matches and errors, as one step of a Spark job.

Every document is parsed and matched once; the two tables are two views of what that gave. Documents in = documents with
matches + documents without + documents refused: see `worker` for the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from pathcast.pipeline.versions import Version
from pathcast.pipeline.worker import RESULT, match_batches

__all__ = ["errors", "matched", "matches"]


def matched(documents: DataFrame, version: Version) -> DataFrame:
    """All that is known of documents (`id`, `body`, `fault`) under a version, which every worker has by now."""
    work = partial(_work, file=version.file, version=version.name)
    return documents.select("id", "body", "fault").mapInArrow(work, RESULT)


def _work(
    batches: Iterator[pa.RecordBatch], file: str, version: str
) -> Iterator[pa.RecordBatch]:
    return match_batches(batches, file, version)


def matches(found: DataFrame) -> DataFrame:
    """(document, part, subscriptions, version) of every document that could be read."""
    return found.where("kind is null").select("document", "part", "subscriptions", "version")


def errors(found: DataFrame) -> DataFrame:
    """(document, subscriptions, kind, place, message, version): refused documents; subscriptions that were not decided."""
    return found.where("kind is not null").select(
        "document", "subscriptions", "kind", "place", "message", "version"
    )
