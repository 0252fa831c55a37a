"""Documents from files that only Hadoop file systems reach, by Spark's own file source.

`files` reads folders that this machine sees; the ids and faults here are the same. Spark lists the
folder, at every trigger of a stream. A file above the limit is not read: Spark knows the length
without reading the content if the query asks for the length alone, and it can select archives by
name. Both work only as filters of the source itself, so the table is a union of three scans.

Spark returns no row for an empty file. A batch finds empty files by a job that reads no content:
they are the files that Spark listed and that have no row. A stream skips them.

In a stream every file counts once, by its path, at any age: the setting `maxFileAge` keeps Spark
from skipping files a week older than the newest. Spark remembers the paths of all files seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.containers.contents import MAX_CONTAINER_BYTES, FileContents
from pathcast.containers.ids import CONTAINER_SUFFIX, path_id
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.pipeline.hadoop import RAW_LOCAL_FILES, escape_glob, qualify
from pathcast.pipeline.sources.document_batches import DOCUMENTS_DDL, unpack_batches

__all__ = ["file_documents", "plain_path"]

_FAULT_DDL: Final = "struct<kind:string,message:string>"
_BINARY_FILE_DDL: Final = "path string, modificationTime timestamp, length bigint, content binary"
_MAX_FILE_AGE: Final = "36500d"


def file_documents(
    session: SparkSession, path: str, contents: FileContents, batch_size: int | None = None
) -> DataFrame:
    """Return the documents of a folder or a file: (id, body, source, time, fault).

    With `batch_size` the table is a stream with at most that many files per micro-batch.
    """
    base = qualify(session, path).rstrip("/")
    files = partial(_files, session, path, base, batch_size)
    all_files, containers = files(), files(glob=_glob(contents.suffixes))
    is_packed = F.lower("id").rlike(rf"\.({'|'.join(map(_escape_suffix, contents.suffixes))})$")
    within_limit = all_files.where(F.col("length") <= contents.max_bytes)
    documents = within_limit.where(~is_packed).select(*_columns(F.col("content"), F.lit(None)))
    members = (
        containers.where(F.col("length") <= MAX_CONTAINER_BYTES)
        .select(*_columns(F.col("content"), F.lit(None)))
        .drop("fault")
        .mapInArrow(partial(_unpack_files, contents=contents), DOCUMENTS_DDL)
    )
    too_large = all_files.where(F.col("length") > contents.max_bytes).where(
        F.when(is_packed, F.col("length") > MAX_CONTAINER_BYTES).otherwise(F.lit(True))
    )
    table = documents.unionByName(members).unionByName(
        too_large.select(*_columns(F.lit(None), _too_large(is_packed, contents.max_bytes)))
    )
    if batch_size is None:
        rows = _empty_documents(all_files, base, path, contents)
        table = table.unionByName(session.createDataFrame(rows, DOCUMENTS_DDL)) if rows else table
    return table


def _empty_documents(
    files: DataFrame, base: str, source: str, contents: FileContents
) -> list[tuple[str, bytes | None, str, None, tuple[str, str] | None]]:
    """Return the rows of files that Spark listed without returning a row for them."""
    listed = {plain_path(address) for address in files.inputFiles()}
    rows = []
    for path in sorted(listed - {row.path for row in files.select("path").toLocalIterator()}):
        id = path_id(base.rpartition("/")[2] if path == base else path[len(base) + 1 :])
        documents = (
            contents.unpack(id, b"", 0)
            if contents.is_container(id)
            else iter([UnpackedDocument(id, b"")])
        )
        rows += [
            (document.id, document.body, source, None, document.fault) for document in documents
        ]
    return rows


def plain_path(address: str) -> str:
    """Convert a URI of Spark's records to the path that tables contain.

    >>> plain_path("file:///feed/a%20b.xml"), plain_path("hdfs://head/feed/1.xml")
    ('file:/feed/a b.xml', 'hdfs://head/feed/1.xml')
    """
    return unquote(address.replace("file:///", "file:/", 1))


def _unpack_files(
    batches: Iterator[pa.RecordBatch], contents: FileContents
) -> Iterator[pa.RecordBatch]:
    return unpack_batches(batches, contents.unpack, contents.max_bytes)


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
    id = F.when(F.col("path") == base, file_name).otherwise(relative_path)
    for char in "%!:":  # as in `path_id`; Hadoop skips names that are not UTF-8
        id = F.regexp_replace(id, f"{CONTAINER_SUFFIX}{char}", f"$1%{ord(char):02X}")
    return (
        rows.withColumn("id", id)
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
    limit = F.when(is_packed, F.lit(MAX_CONTAINER_BYTES)).otherwise(F.lit(max_bytes))
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
