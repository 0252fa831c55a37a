"""Matching of DataFrames: `match`, `deliveries`, `hops`, and the function `matcher` for columns.

All of them are lazy and work on batch and streaming DataFrames, in classic sessions and over Spark
Connect. The first three send only the columns that they need to Python, and match every document
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from pathcast.spark import worker
from pathcast.spark.columns import check_body, check_column, check_new_names, quote
from pathcast.spark.compiled import Compiled, SubscriptionsLike, compile_once

if TYPE_CHECKING:
    from pyspark.sql._typing import UserDefinedFunctionLike

__all__ = ["DELIVERIES_DDL", "ERROR_FIELD", "deliveries", "hops", "match", "matcher"]

DELIVERIES_DDL: Final = "document string, subscriber string, subscriptions array<string>, count int"
ERROR_FIELD: Final = StructField(
    "error",
    StructType([StructField(name, StringType()) for name in ("kind", "place", "message")]),
)


def match(
    df: DataFrame,
    subscriptions: Compiled | SubscriptionsLike,
    column: str = "body",
    *,
    keep: Sequence[str] | None = None,
) -> DataFrame:
    """Return the rows of `df` with the columns `subscriptions` and `error`.

    `column` holds a document, as binary or string, in each row. `subscriptions` has the ids that it
    matches, in the order of the subscriptions; it is null for a refused document, whose `error`
    (kind, place, message) says why. `keep` names the columns of `df` to keep; default: all. Leave
    the documents out if you do not need them: they would travel from Python back to Spark.

    Raise PipelineError for a wrong column and SubscriptionError for a wrong subscription.

        subs = subscriptions({"sport": "//item[@topic = 'sport']"})
        match(spark.table("news"), subs, "body", keep=["id"]).show()
    """
    return _match(df, compile_once(subscriptions), column, keep, "subscriptions")


def hops(
    df: DataFrame,
    table: Compiled | SubscriptionsLike,
    column: str = "body",
    *,
    keep: Sequence[str] | None = None,
) -> DataFrame:
    """Return the rows of `df` with the columns `hops` and `error`.

    `table` is that of a broker: the subscriber of an entry is its hop. `hops` has the next hops of
    the document, by name; it is null for a refused document. Otherwise as `match`.
    """
    return _match(df, compile_once(table, hops=True), column, keep, "hops")


def deliveries(
    df: DataFrame,
    subscriptions: Compiled | SubscriptionsLike,
    column: str = "body",
    *,
    id: str = "id",
) -> DataFrame:
    """Return a row (document, subscriber, subscriptions, count) per document and subscriber.

    `document` is the column `id` as a string. `subscriptions` has the ids of the subscriber's
    subscriptions that match, the first 1,000 of them, and `count` is their number. A refused
    document has no rows: `match` has its error.
    """
    compiled = compile_once(subscriptions)
    check_body(df, column)
    check_column(df, id, "id")
    documents = df.select(
        F.col(quote(id)).cast("string").alias("document"), F.col(quote(column)).alias("body")
    )
    task = compiled.task(routes=True)
    return documents.mapInArrow(partial(worker.deliver_documents, task=task), DELIVERIES_DDL)


def matcher(subscriptions: Compiled | SubscriptionsLike) -> UserDefinedFunctionLike:
    """Return a function for columns: document -> array of the ids that it matches.

    The result is null for a refused document, and empty for one without matches. It works wherever
    Spark takes an Arrow UDF, declarative pipelines (`pyspark.pipelines`) included. Spark may call
    such a function twice, if a filter and a column use it; `match` matches every document once.

        ids = matcher({"sport": "//item[@topic = 'sport']"})
        spark.table("news").select("id", ids("body"))
    """
    task = compile_once(subscriptions).task()

    def pathcast_matcher(bodies: Iterator[pa.Array]) -> Iterator[pa.Array]:
        loaded = worker.load(task)
        for column in bodies:
            for results in worker.match_columns(loaded, column):
                yield results.subscriptions

    # Spark reads the kind of function from the type hints, which its overloads do not show.
    function: UserDefinedFunctionLike = arrow_udf(  # type: ignore[call-overload]
        pathcast_matcher, ArrayType(StringType())
    )
    return function


def _match(
    df: DataFrame, compiled: Compiled, column: str, keep: Sequence[str] | None, result: str
) -> DataFrame:
    check_body(df, column)
    kept = list(df.columns if keep is None else keep)
    for name in kept:
        check_column(df, name, "keep")
    check_new_names(kept, (result, "error"))
    names = kept if column in kept else [*kept, column]
    # mapInArrow does not take every name that a column may have.
    selected = df.select(
        *[F.col(quote(name)).alias(f"column{index}") for index, name in enumerate(names)]
    )
    fields = {field.name: field for field in df.schema.fields}
    schema = StructType(
        [
            *(fields[name] for name in kept),
            StructField(result, ArrayType(StringType())),
            ERROR_FIELD,
        ]
    )
    function = partial(
        worker.match_documents,
        task=compiled.task(),
        body=names.index(column),
        names=tuple(schema.names),
    )
    return selected.mapInArrow(function, schema)
