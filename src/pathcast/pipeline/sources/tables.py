"""Documents from parquet tables with a column `body`, and optionally `id` and `time`.

A document without an id gets its location: file and row, `part.parquet:17`, rows counted from 0.
Given ids must be unique within a batch: the second of two documents with the same id is refused.
The first is the one whose body has the smaller hash, so a retry refuses the same one.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.hadoop import RAW_LOCAL_FILES, escape_glob, is_file

__all__ = ["reject_duplicate_ids", "table_documents"]

_FAULT_DDL: Final = "struct<kind:string,message:string>"
_MAX_FILE_AGE: Final = "36500d"


def table_documents(
    session: SparkSession, path: str, *, max_bytes: int, batch_size: int | None = None
) -> DataFrame:
    """Return the documents of a table; with `batch_size`, a stream of that many files a batch."""
    table = session.read.options(**RAW_LOCAL_FILES).parquet(escape_glob(path))
    if "body" not in table.columns:
        raise PipelineError(
            "source",
            f"{path} has no column body",
            hint=f"its columns are {', '.join(table.columns)}",
        )
    rows = table
    if batch_size is not None:
        rows = (
            session.readStream.schema(table.schema)
            .options(
                maxFilesPerTrigger=str(batch_size), maxFileAge=_MAX_FILE_AGE, **RAW_LOCAL_FILES
            )
            # A single file has no partition folders, and Spark cannot stream it with partition
            # discovery.
            .options(recursiveFileLookup=str(is_file(session, path)).lower())
            .parquet(escape_glob(path))
        )
    id = (
        F.coalesce(F.col("id").cast("string"), _row_location())
        if "id" in table.columns
        else _row_location()
    )
    time_column = F.col("time") if "time" in table.columns else F.lit(None)
    time = time_column.try_cast(
        "timestamp"
    )  # a failed cast would end the query; this is a fault of its row
    body = F.col("body").cast("binary")
    return rows.select(
        id.alias("id"),
        F.when(F.length(body) <= max_bytes, body).alias("body"),
        F.lit(path).alias("source"),
        time.alias("time"),
        _fault(body, max_bytes, time_column.isNotNull() & time.isNull())
        .cast(_FAULT_DDL)
        .alias("fault"),
    )


def _row_location() -> Column:
    return F.concat_ws(":", F.col("_metadata.file_name"), F.col("_metadata.row_index"))


def _fault(body: Column, max_bytes: int, has_bad_time: Column) -> Column:
    def fault(kind: str, message: str) -> Column:
        return F.struct(F.lit(kind).alias("kind"), F.lit(message).alias("message"))

    return (
        F.when(body.isNull(), fault("row", "there is no body"))
        .when(F.length(body) > max_bytes, fault("size", f"more than {max_bytes:,} bytes"))
        .when(has_bad_time, fault("row", "the 'time' cannot be read as one"))
    )


def reject_duplicate_ids(documents: DataFrame) -> DataFrame:
    """Mark every document of a batch that repeats another's id with a fault."""
    order = Window.partitionBy("id").orderBy(F.col("fault").isNotNull(), F.xxhash64("body"))
    duplicate = F.struct(
        F.lit("duplicate").alias("kind"),
        F.lit("another document has the same id").alias("message"),
    )
    return documents.withColumn("again", F.row_number().over(order) > 1).select(
        "id",
        "body",
        "source",
        "time",
        F.when(F.col("again") & F.col("fault").isNull(), duplicate.cast(_FAULT_DDL))
        .otherwise(F.col("fault"))
        .alias("fault"),
    )
