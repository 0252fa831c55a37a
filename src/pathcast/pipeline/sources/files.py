"""Where documents come from: a table of (id, body, source, time, fault), whatever they are stored in.

A document's id is its place in its source, so that reading the same source again gives the same ids:

- a folder, or one file: the path of the file below it. Archives hold documents of their own (see `unpacking`);
- a table (`.parquet` or `.jsonl`, one file or a folder of them) with the columns `id` and `body`, and perhaps `time`.

What cannot become a document is a row all the same: `fault` says why, and there is no body. A file that is larger than the
limit is not read. Files whose names begin with `.` or `_` are no documents: that is how Spark and others
mark what they are still writing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.sources.unpacking import ROWS, unpack_batches

__all__ = ["Source", "read_documents"]

_COLUMNS: Final = ("id", "body", "source", "time", "fault")
_FAULT: Final = "struct<kind:string,message:string>"
_PACKED: Final = r"(?i)\.(zip|tar|tgz|gz)$"
_LARGEST_ARCHIVE: Final = 1 << 30
_TABLES: Final = (".parquet", ".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """A place to read documents from; no document may have more than `most` bytes."""

    path: str
    most: int

    @property
    def is_table(self) -> bool:
        return self.path.lower().rstrip("/").endswith(_TABLES)


def read_documents(session: SparkSession, source: Source) -> DataFrame:
    """The documents of a source; PipelineError if it cannot be read at all."""
    try:
        found = _table(session, source) if source.is_table else _files(session, source)
        return found.select(*_COLUMNS)
    except AnalysisException as error:
        raise PipelineError("source", f"{source.path}: {error.getMessage()}") from None


def _files(session: SparkSession, source: Source) -> DataFrame:
    files = _listed(session, source)
    packed = files.where(F.col("id").rlike(_PACKED))
    plain = files.where(~F.col("id").rlike(_PACKED))
    small = packed.where(F.col("length") <= _LARGEST_ARCHIVE)
    return (
        plain.where(F.col("length") <= source.most)
        .selectExpr("id", "content as body", "source", "time", f"cast(null as {_FAULT}) as fault")
        .unionByName(
            small.selectExpr("id", "content as body", "source", "time").mapInArrow(
                partial(unpack_batches, most=source.most), ROWS
            )
        )
        .unionByName(_too_large(plain, source.most))
        .unionByName(_too_large(packed, _LARGEST_ARCHIVE))
    )


def _listed(session: SparkSession, source: Source) -> DataFrame:
    """Files with the ids that they have in the source."""
    base = _qualified(session, source.path)
    below = F.expr(f"substring(path, {len(base) + 2})")
    return (
        session.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .load(source.path)
        .withColumn(
            "id", F.when(F.col("path") == base, F.lit(base.rpartition("/")[2])).otherwise(below)
        )
        .withColumn("source", F.lit(source.path))
        .withColumnRenamed("modificationTime", "time")
    )


def _too_large(files: DataFrame, most: int) -> DataFrame:
    """Rows for files that are not read."""
    fault = F.struct(
        F.lit("size").alias("kind"),
        F.format_string(f"%,d bytes, more than {most:,}", "length").alias("message"),
    )
    return files.where(F.col("length") > most).select(
        "id",
        F.lit(None).cast("binary").alias("body"),
        "source",
        "time",
        fault.cast(_FAULT).alias("fault"),
    )


def _qualified(session: SparkSession, path: str) -> str:
    """The path as Spark writes it in its tables."""
    hadoop = session.sparkContext._jvm.org.apache.hadoop.fs.Path(path)
    system = hadoop.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
    return str(system.makeQualified(hadoop).toString()).rstrip("/")


def _table(session: SparkSession, source: Source) -> DataFrame:
    kind = "parquet" if source.path.lower().rstrip("/").endswith(".parquet") else "json"
    rows = session.read.format(kind).load(source.path)
    missing = [name for name in ("id", "body") if name not in rows.columns]
    if missing:
        raise PipelineError(
            "source",
            f"{source.path} has no column {' and no column '.join(missing)}",
            hint=f"its columns are {', '.join(rows.columns)}",
        )
    time = (
        F.col("time").cast("timestamp") if "time" in rows.columns else F.lit(None).cast("timestamp")
    )
    body = F.col("body").cast("binary")
    large = F.length(body) > source.most
    fault = F.struct(
        F.lit("size").alias("kind"), F.lit(f"more than {source.most:,} bytes").alias("message")
    )
    return rows.select(
        F.col("id").cast("string").alias("id"),
        F.when(~large, body).alias("body"),
        F.lit(source.path).alias("source"),
        time.alias("time"),
        F.when(large, fault).cast(_FAULT).alias("fault"),
    )
