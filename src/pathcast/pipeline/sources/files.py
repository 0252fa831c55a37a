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
    most: int,
    unpack: UnpackFunction,
    endings: tuple[str, ...],
    batch: int | None = None,
) -> DataFrame:
    """The documents of a folder, or of a file: (id, body, source, time, fault).

    Files with one of the `endings` are given to `unpack`. With `batch` the table is a stream, of at most so many files at a time.
    """
    base = qualify(session, path).rstrip("/")
    files = partial(_files, session, path, base, batch)
    some, packed = files(), files(glob=_glob(endings))
    is_packed = F.lower("id").rlike(rf"\.({'|'.join(map(_escape_suffix, endings))})$")
    small = some.where(F.col("length") <= most)
    plain = small.where(~is_packed).select(*_columns(F.col("content"), F.lit(None)))
    members = (
        packed.where(F.col("length") <= _MAX_ARCHIVE_BYTES)
        .select(*_columns(F.col("content"), F.lit(None)))
        .drop("fault")
        .mapInArrow(partial(_unpack_files, unpack=unpack, most=most), DOCUMENTS_DDL)
    )
    large = some.where(F.col("length") > most).where(
        F.when(is_packed, F.col("length") > _MAX_ARCHIVE_BYTES).otherwise(F.lit(True))
    )
    found = plain.unionByName(members).unionByName(
        large.select(*_columns(F.lit(None), _too_large(is_packed, most)))
    )
    if batch is None:
        empty = empty_documents(session, empty_paths_in_folder(some), base, path, unpack, endings)
        found = found if empty is None else found.unionByName(empty)
    return found


def _unpack_files(
    batches: Iterator[pa.RecordBatch], unpack: UnpackFunction, most: int
) -> Iterator[pa.RecordBatch]:
    return unpack_batches(batches, unpack, most)


def _files(
    session: SparkSession, path: str, base: str, batch: int | None, glob: str | None = None
) -> DataFrame:
    """Files with the ids that they have in the source."""
    below = F.expr(f"substring(path, {len(base) + 2})")
    whole = F.lit(base.rpartition("/")[2])
    options = {"recursiveFileLookup": "true", **RAW_LOCAL_FILES}
    if glob is not None:
        options["pathGlobFilter"] = glob
    if batch is None:
        found = session.read.format("binaryFile").options(**options).load(escape_glob(path))
    else:
        options |= {"maxFilesPerTrigger": str(batch), "maxFileAge": _MAX_FILE_AGE}
        stream = session.readStream.format("binaryFile").schema(_BINARY_FILE_DDL)
        found = stream.options(**options).load(escape_glob(path))
    return (
        found.withColumn("id", F.when(F.col("path") == base, whole).otherwise(below))
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


def _too_large(is_packed: Column, most: int) -> Column:
    limit = F.when(is_packed, F.lit(_MAX_ARCHIVE_BYTES)).otherwise(F.lit(most))
    told = F.format_string("%,d bytes, more than %,d", F.col("length"), limit)
    return F.struct(F.lit("size").alias("kind"), told.alias("message"))


def _glob(endings: tuple[str, ...]) -> str:
    """What Hadoop calls a glob, for names with these endings however they are written."""
    either = ("".join(f"[{one.lower()}{one.upper()}]" if one.isalpha() else one for one in ending)
              for ending in endings)  # fmt: skip
    return "*.{" + ",".join(either) + "}"


def _escape_suffix(ending: str) -> str:
    return ending.replace(".", r"\.")
