"""The tables of a run, read from its folder by Spark (`run_files` says which files count)."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.hadoop import escape_glob, file_system, hadoop_path
from pathcast.pipeline.statistics.run_files import (
    ROUTES_SUFFIX,
    is_compacting,
    no_folder_error,
    require_run,
    unfinished_batches,
)
from pathcast.pipeline.storage import Storage, open_storage

__all__ = ["SCHEMAS", "RunTables", "derive_session", "open_run_storage", "read_tables"]

SCHEMAS: Final = {
    "documents": "document string, source string, time timestamp, bytes bigint, structure string, "
    "batch bigint",
    "matches": "document string, part int, subscriptions array<string>, version string, "
    "batch bigint",
    "errors": "document string, subscriptions array<string>, kind string, place string, "
    "message string, version string, batch bigint",
    "deliveries": "document string, subscriber string, subscriptions array<string>, count int, "
    "version string, batch bigint",
    "partials": "kind string, hour bigint, version string, key string, documents bigint, "
    "bytes bigint, read bigint, matched bigint, matches bigint, refused bigint, first timestamp, "
    "last timestamp, batch bigint",
}
_READER_BATCH_ROWS: Final = 64  # of up to 65,536 ids each; Spark's 4,096 would exceed memory


@dataclass(frozen=True, slots=True)
class RunTables:
    """The input of the statistics. The key of a document is (batch, document)."""

    documents: DataFrame
    matches: DataFrame
    errors: DataFrame
    deliveries: DataFrame
    routes: DataFrame | None = None
    """(subscription, subscriber, xpath, version) of every version; None without route files."""
    partials: DataFrame | None = None
    """The partials of all batches; None if some batch has none."""
    compacted: bool = False
    """Whether a row of partials may be of several batches."""


def derive_session(session: SparkSession) -> SparkSession:
    """Return a session like this one that reads fewer rows at once: rows of matches are long."""
    own = session.newSession()
    for key, value in session.conf.getAll.items():
        if own.conf.isModifiable(key):
            own.conf.set(key, value)
    own.conf.set("spark.sql.parquet.columnarReaderBatchSize", _READER_BATCH_ROWS)
    return own


def open_run_storage(session: SparkSession, out: str, cache: Path | None = None) -> Storage:
    """Open the folder of a run; PipelineError if it does not exist.

    `cache` holds copies of remote files; by default a folder that all jobs of this machine share.
    """
    try:
        exists = bool(file_system(session, out).exists(hadoop_path(session, out)))
    except Exception as error:  # any Java exception  # noqa: BLE001
        message = (str(error).splitlines() or [type(error).__name__])[0]
        raise PipelineError("output", f"{out}: {message}") from None
    if not exists:
        raise no_folder_error(out)
    cache = cache or Path(tempfile.gettempdir(), "pathcast-statistics")
    return open_storage(session, out, cache)


def read_tables(session: SparkSession, storage: Storage) -> RunTables:
    """Read the tables of the batches that are done; PipelineError if the folder holds no run."""
    require_run(storage)
    unfinished = unfinished_batches(storage)
    compacting = is_compacting(storage)

    outcomes = BatchLog(storage).outcomes().values() if storage.names("partials") else []
    has_partials = bool(outcomes) and all("partials" in outcome.files for outcome in outcomes)

    def table(name: str) -> DataFrame:
        paths = [storage.path(name)]
        if compacting:  # the folder has old and new files of the same rows
            paths = [storage.path(file) for file in BatchLog(storage).table_files(name)]
        rows = _parquet(session, paths, SCHEMAS[name])
        return rows.where(~F.col("batch").isin(sorted(unfinished))) if unfinished else rows

    return RunTables(
        documents=table("documents"),
        matches=table("matches"),
        errors=table("errors"),
        deliveries=table("deliveries"),
        routes=_routes(session, storage),
        partials=table("partials") if has_partials else None,
        compacted=any(outcome.first is not None for outcome in outcomes),
    )


def _parquet(session: SparkSession, paths: list[str], schema: str) -> DataFrame:
    if not paths:
        return session.createDataFrame([], schema)
    try:
        return session.read.schema(schema).parquet(*map(escape_glob, paths))
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return session.createDataFrame([], schema)


def _routes(session: SparkSession, storage: Storage) -> DataFrame | None:
    if not any(name.endswith(ROUTES_SUFFIX) for name in storage.names("versions")):
        return None
    return (
        session.read.schema("subscription string, subscriber string, xpath string")
        .option("pathGlobFilter", f"*{ROUTES_SUFFIX}")
        .parquet(escape_glob(storage.path("versions")))
        .select(
            "subscription",
            "subscriber",
            "xpath",
            F.replace("_metadata.file_name", F.lit(ROUTES_SUFFIX), F.lit("")).alias("version"),
        )
    )
