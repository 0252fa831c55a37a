"""Documents from a folder of files and archives.

A document's id is the path of its file below the folder; ids of archive members begin with that of
the archive (see `unpacking`). Files whose names begin with `.` or `_` are skipped: Spark and others
mark unfinished files that way. A writer should use such a name and rename the complete file.

Spark returns no rows for empty files; `empty_files` finds them.

A file above the limit is not read and becomes a row with a fault. Spark knows the length without
reading the content if the query asks for the length alone, and it can select archives by name. Both
work only as filters of the source itself, so the table is a union of three scans of the folder.

In a stream every file counts once, by its path, at any age: the setting `maxFileAge` keeps Spark
from skipping files a week older than the newest. Spark remembers the paths of all files seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.pipeline.hadoop import RAW_LOCAL_FILES, escape_glob, qualify
from pathcast.pipeline.sources.empty_files import empty_documents, empty_paths_in_folder
from pathcast.pipeline.sources.unpacking import DOCUMENTS_DDL, UnpackFunction, unpack_batches

__all__ = ["file_documents"]

_FAULT_DDL: Final = "struct<kind:string,message:string>"
_MAX_ARCHIVE_BYTES: Final = 256 << 20  # an archive must fit into the JVM's memory
_BINARY_FILE_DDL: Final = "path string, modificationTime timestamp, length bigint, content binary"
_MAX_FILE_AGE: Final = "36500d"


def file_documents(
    session: SparkSession,
    path: str,
    *,
    max_bytes: int,
    unpack: UnpackFunction,
    suffixes: tuple[str, ...],
    batch_size: int | None = None,
) -> DataFrame:
    """Return the documents of a folder or a file: (id, body, source, time, fault).

    Files with one of the `suffixes` are passed to `unpack`. With `batch_size` the table is a stream
    with at most that many files per micro-batch.
    """
    base = qualify(session, path).rstrip("/")
    files = partial(_files, session, path, base, batch_size)
    all_files, archives = files(), files(glob=_glob(suffixes))
    is_packed = F.lower("id").rlike(rf"\.({'|'.join(map(_escape_suffix, suffixes))})$")
    within_limit = all_files.where(F.col("length") <= max_bytes)
    documents = within_limit.where(~is_packed).select(*_columns(F.col("content"), F.lit(None)))
    members = (
        archives.where(F.col("length") <= _MAX_ARCHIVE_BYTES)
        .select(*_columns(F.col("content"), F.lit(None)))
        .drop("fault")
        .mapInArrow(partial(_unpack_files, unpack=unpack, max_bytes=max_bytes), DOCUMENTS_DDL)
    )
    too_large = all_files.where(F.col("length") > max_bytes).where(
        F.when(is_packed, F.col("length") > _MAX_ARCHIVE_BYTES).otherwise(F.lit(True))
    )
    table = documents.unionByName(members).unionByName(
        too_large.select(*_columns(F.lit(None), _too_large(is_packed, max_bytes)))
    )
    if batch_size is None:
        empty = empty_documents(
            session, empty_paths_in_folder(all_files), base, path, unpack, suffixes
        )
        table = table if empty is None else table.unionByName(empty)
    return table


def _unpack_files(
    batches: Iterator[pa.RecordBatch], unpack: UnpackFunction, max_bytes: int
) -> Iterator[pa.RecordBatch]:
    return unpack_batches(batches, unpack, max_bytes)


def _files(
    session: SparkSession, path: str, base: str, batch_size: int | None, glob: str | None = None
) -> DataFrame:
    """Return a `binaryFile` table with document ids."""
    relative_path = F.expr(f"substring(path, {len(base) + 2})")
    file_name = F.lit(base.rpartition("/")[2])
    options = {"recursiveFileLookup": "true", **RAW_LOCAL_FILES}
    if glob is not None:
        options["pathGlobFilter"] = glob
    if batch_size is None:
        rows = session.read.format("binaryFile").options(**options).load(escape_glob(path))
    else:
        options |= {"maxFilesPerTrigger": str(batch_size), "maxFileAge": _MAX_FILE_AGE}
        stream = session.readStream.format("binaryFile").schema(_BINARY_FILE_DDL)
        rows = stream.options(**options).load(escape_glob(path))
    return (
        rows.withColumn("id", F.when(F.col("path") == base, file_name).otherwise(relative_path))
        .withColumn("source", F.lit(path))
        .withColumnRenamed("modificationTime", "time")
    )


def _columns(body: Column, fault: Column) -> tuple[Column, ...]:
    return (
        F.col("id"),
        body.cast("binary").alias("body"),
        F.col("source"),
        F.col("time"),
        fault.cast(_FAULT_DDL).alias("fault"),
    )


def _too_large(is_packed: Column, max_bytes: int) -> Column:
    limit = F.when(is_packed, F.lit(_MAX_ARCHIVE_BYTES)).otherwise(F.lit(max_bytes))
    message = F.format_string("%,d bytes, more than %,d", F.col("length"), limit)
    return F.struct(F.lit("size").alias("kind"), message.alias("message"))


def _glob(suffixes: tuple[str, ...]) -> str:
    """Return a case-insensitive Hadoop glob for names with these suffixes."""
    patterns = (
        "".join(f"[{char.lower()}{char.upper()}]" if char.isalpha() else char for char in suffix)
        for suffix in suffixes
    )
    return "*.{" + ",".join(patterns) + "}"


def _escape_suffix(suffix: str) -> str:
    return suffix.replace(".", r"\.")
