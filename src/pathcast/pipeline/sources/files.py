"""Documents from files: a folder of documents and archives.

A document's id is the path of its file below the folder; archives hold documents of their own, whose ids begin with that of the
archive (see `unpacking`). Files whose names begin with `.` or `_` are none: that is how Spark and others mark what they
are still writing. So a file should be written under such a name, and renamed when it is whole.

Spark gives no rows for files that are empty: `empties` finds these.

No file is read that is larger than the limit: it is a row with a fault. Spark can tell that without reading
when it is asked for the length alone, and it can choose archives by their names; both only in the source itself, which is why the table is put
together from three readings of the folder.

As a stream every file counts once, by its path, whatever its age: Spark would pass over files that are a week older than
the newest, and is told not to. It remembers the paths of all files it has seen.
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
_MAX_ARCHIVE_BYTES: Final = (
    256 << 20
)  # bytes of an archive: it must fit into Java's memory as a whole
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
    """The documents of a folder, or of a file: (id, body, source, time, fault).

    Files with one of the `endings` are given to `unpack`. With `batch` the table is a stream, of at most so many files at a time.
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
    """Files with the ids that they have in the source."""
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
    """What Hadoop calls a glob, for names with these endings however they are written."""
    patterns = ("".join(f"[{character.lower()}{character.upper()}]" if character.isalpha() else character for character in suffix)
              for suffix in suffixes)  # fmt: skip
    return "*.{" + ",".join(patterns) + "}"


def _escape_suffix(suffix: str) -> str:
    return suffix.replace(".", r"\.")
