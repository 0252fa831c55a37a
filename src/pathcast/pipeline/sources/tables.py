"""Documents from tables with a column `body`, and optionally `id` and `time`.

The caller may name other columns for body and id. A body is binary, or a string in UTF-8, whose
declared encoding is ignored.

A document without an id gets its location: file and row, `part.parquet:17`, rows counted from 0.
Given ids must be unique within a batch: the second of two documents with the same id is refused.
The first is the one whose body has the smaller hash, so a retry refuses the same one.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from pathcast.containers.rows import BodyField
from pathcast.pipeline.hadoop import RAW_LOCAL_FILES, escape_glob, is_file
from pathcast.pipeline.sources.columns import require_columns

__all__ = ["reject_duplicate_ids", "row_documents", "table_documents"]

_FAULT_DDL: Final = "struct<kind:string,message:string>"
_MAX_FILE_AGE: Final = "36500d"
_DEFAULT_FIELDS: Final = BodyField()


def table_documents(
    session: SparkSession,
    path: str,
    *,
    max_bytes: int,
    batch_size: int | None = None,
    fields: BodyField = _DEFAULT_FIELDS,
) -> DataFrame:
    """Return the documents of a table; with `batch_size`, a stream of that many files a batch."""
    table = session.read.options(**RAW_LOCAL_FILES).parquet(escape_glob(path))
    require_columns(path, table.columns, [fields.body])
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
        F.coalesce(F.col(_quote(fields.id)).cast("string"), _row_location())
        if fields.id in table.columns
        else _row_location()
    )
    return row_documents(rows, id, fields.body, path, max_bytes)


def row_documents(
    rows: DataFrame, id: Column, body_column: str, source: str, max_bytes: int
) -> DataFrame:
    """Return the rows of any table as documents (id, body, source, time, fault)."""
    time_column = F.col("time") if "time" in rows.columns else F.lit(None)
    time = time_column.try_cast(
        "timestamp"
    )  # a failed cast would end the query; this is a fault of its row
    body = _octets(rows, body_column)
    return rows.select(
        F.coalesce(id, F.lit("")).alias("id"),
        F.when(F.length(body) <= max_bytes, body).alias("body"),
        F.lit(source).alias("source"),
        time.alias("time"),
        _fault(body, max_bytes, time_column.isNotNull() & time.isNull(), id.isNull())
        .cast(_FAULT_DDL)
        .alias("fault"),
    )


def _octets(rows: DataFrame, column: str) -> Column:
    """Return a column as bytes; text that might seem to be in another encoding gets a mark.

    This is `documents.mark_utf8` in Spark.
    """
    text = F.col(_quote(column))
    octets = text.cast("binary")
    types = [field.dataType for field in rows.schema.fields if field.name == column]
    if not isinstance(types[0], StringType):
        return octets
    is_plain = text.startswith("<") & ~text.startswith("<?") & ~text.startswith("<\0")
    is_marked = text.startswith("\ufeff")
    mark = F.unhex(F.lit("EFBBBF"))
    return F.when(is_plain | is_marked, octets).otherwise(F.concat(mark, octets))


def _quote(column: str) -> str:
    return f"`{column.replace('`', '``')}`"


def _row_location() -> Column:
    return F.concat_ws(":", F.col("_metadata.file_name"), F.col("_metadata.row_index"))


def _fault(body: Column, max_bytes: int, has_bad_time: Column, has_no_id: Column) -> Column:
    def fault(kind: str, message: str) -> Column:
        return F.struct(F.lit(kind).alias("kind"), F.lit(message).alias("message"))

    return (
        F.when(has_no_id, fault("row", "there is no id"))
        .when(body.isNull(), fault("row", "there is no body"))
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
