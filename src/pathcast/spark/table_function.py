"""A table function for SQL that matches the documents of a table.

    SELECT * FROM pathcast_match(TABLE(SELECT id, body FROM docs))

The argument is a table with the columns `id` and `body`. The result has one row per row of it: the
id as a string, and `subscriptions` and `error` as `match` returns them. Rows travel as Arrow
batches, and the table is not shuffled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udtf
from pyspark.sql.udtf import UserDefinedTableFunction

from pathcast.errors import PipelineError
from pathcast.spark import worker
from pathcast.spark.compiled import Compiled, SubscriptionsLike, compile_once

__all__ = ["register"]

_RESULT_DDL: Final = (
    "id string, subscriptions array<string>, "
    "error struct<kind: string, place: string, message: string>"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def register(
    spark: SparkSession,
    subscriptions: Compiled | SubscriptionsLike,
    name: str = "pathcast_match",
) -> None:
    """Register a table function of this name: (id, body) -> (id, subscriptions, error).

        register(spark, {"sport": "//item[@topic = 'sport']"})
        spark.sql("SELECT * FROM pathcast_match(TABLE(SELECT id, body FROM docs))")

    For a function on a column, register what `matcher` returns: `spark.udf.register(name, ...)`.
    """
    if not _NAME.fullmatch(name):
        raise PipelineError("name", f"{name!r} cannot be the name of a function in SQL")
    task = compile_once(subscriptions).task()

    class PathcastMatch:
        def eval(self, documents: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
            yield from worker.match_table(documents, task)

    function = arrow_udtf(PathcastMatch, returnType=_RESULT_DDL)
    spark.udtf.register(name, cast(UserDefinedTableFunction, function))
