"""Multi-pass staging: Spark computes and writes every table of a batch from persisted result rows.

It works where one pass (`one_pass`) does not: with fragments, with deduplication, and on storages
that workers reach only through Hadoop. Documents are parsed and matched once. All tables are
projections of the result rows, which Spark persists in memory or on disk for the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline import matching
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome, Plan
from pathcast.pipeline.dedup import find_repeats, hashes
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.hash_index import HashIndex
from pathcast.pipeline.hash_times import HashTimes
from pathcast.pipeline.parallel_jobs import run_parallel
from pathcast.pipeline.routes import DELIVERIES_DDL, ROUTES_DDL, deliveries, outbox_rows
from pathcast.pipeline.sinks import OUTBOX_FOLDER, Outbox
from pathcast.pipeline.sources.tables import reject_duplicate_ids
from pathcast.pipeline.versions import Version, VersionStore

__all__ = ["MultiPassStaging"]

_STORAGE_LEVEL: Final = StorageLevel.MEMORY_AND_DISK


@dataclass(frozen=True, slots=True)
class MultiPassStaging:
    """Stages batches with Spark's own writers."""

    session: SparkSession
    store: BatchLog
    versions: VersionStore
    outbox: Outbox | None
    hash_index: HashIndex | None
    """The earlier documents that new ones may repeat; None disables the check."""
    deliveries: bool
    """Whether to write the table of deliveries."""

    def stage(
        self,
        documents: DataFrame,
        match: Callable[[DataFrame], DataFrame],
        version: Version,
        batch: int,
        plan: Plan,
        staging: str,
        *,
        has_own_ids: bool,
    ) -> BatchOutcome:
        """Stage a batch; `match` maps documents to result rows.

        Documents with their own ids are shuffled, and read before any other job starts. If that
        read failed while another thread used the persisted table, Spark could deadlock: the two
        threads take the locks of the table and of its dependents in opposite order.
        """
        # Persist: a second read may find a file changed or deleted.
        checked = reject_duplicate_ids(documents) if has_own_ids else documents
        persisted = checked.persist(_STORAGE_LEVEL)
        results = None
        try:
            if has_own_ids:
                _count_documents(persisted)
            repeats, times = None, None
            new_documents = persisted
            if self.hash_index is not None:
                repeats, times = self._find_repeats(
                    staging, persisted, batch, plan, self.hash_index
                )
                repeated_ids = repeats.select(F.col("document").alias("id"))
                new_documents = persisted.join(repeated_ids, "id", "left_anti")
            results = match(new_documents).persist(_STORAGE_LEVEL)
            outcome = self._stage_tables(staging, results, version, batch, persisted)
        finally:
            persisted.unpersist()
            if results is not None:
                results.unpersist()
        self.store.storage.sync()
        repeated = 0 if repeats is None else repeats.count()
        return replace(outcome, repeated=repeated, hashes=times)

    def _stage_tables(
        self,
        staging: str,
        results: DataFrame,
        version: Version,
        batch: int,
        documents: DataFrame,
    ) -> BatchOutcome:
        """Stage the tables and the outbox in parallel jobs: a small job spends most of its time
        waiting.
        """
        matches = _add_batch(matching.matches_table(results), batch)
        routes = self.session.read.schema(ROUTES_DDL).parquet(
            escape_glob(self.versions.routes(version))
        )
        row_counts, match_counts = Observation(), Observation()
        delivery_counts = Observation()
        steps: list[Callable[[], object]] = [
            lambda: _count_documents(documents),
            lambda: self._write(
                staging,
                "documents",
                _add_batch(matching.documents_table(_count_rows(results, row_counts)), batch),
            ),
            lambda: self._write(
                staging,
                "matches",
                matches.observe(
                    match_counts,
                    F.coalesce(F.sum(F.size("subscriptions")), F.lit(0)).alias("matches"),
                    F.count("*").alias("rows"),
                ),
            ),
        ]
        if self.deliveries or self.outbox is not None:
            rows = _add_batch(
                deliveries(matches, routes).observe(
                    delivery_counts, F.count("*").alias("deliveries")
                ),
                batch,
            )
            steps.append(lambda: self._deliver(staging, rows, documents))
        document_counts = run_parallel(self.session, *steps)[0]
        assert isinstance(document_counts, Row)
        counts = row_counts.get
        table_rows = {
            "documents": counts["read"],
            "matches": match_counts.get["rows"],
        }
        if self.deliveries or self.outbox is not None:
            table_rows["deliveries"] = delivery_counts.get["deliveries"]
        for name, count in table_rows.items():
            self._check_rows(staging, name, count)
        tables = [name for name in table_rows if name != "deliveries" or self.deliveries]
        if counts["refused"] or counts["undecided"]:
            self._write(staging, "errors", _add_batch(matching.errors_table(results), batch))
            tables.append("errors")
        if self.hash_index is not None:
            tables += ["repeats", "hashes"]
        matched_documents = counts["matched"]
        if counts["scattered"]:
            matched_documents = (
                matches.where(F.size("subscriptions") > 0).select("document").distinct().count()
            )
        return BatchOutcome(
            version=version.name,
            documents=document_counts["documents"],
            matched=matched_documents,
            unmatched=counts["read"] - counts["refused"] - matched_documents,
            refused=counts["refused"],
            undecided=counts["undecided"],
            refusals=_count_refusals(results) if counts["refused"] else {},
            bytes=counts["bytes"],
            matches=match_counts.get["matches"],
            deliveries=table_rows.get("deliveries"),
            latest=document_counts["latest"],
            tables=tuple(tables),
        )

    def _deliver(self, staging: str, table: DataFrame, documents: DataFrame) -> None:
        self._write(staging, "deliveries", table)
        if self.outbox is not None:
            path = self._path(staging, "deliveries")
            staged = self.session.read.schema(DELIVERIES_DDL).parquet(escape_glob(path))
            self.outbox.stage(outbox_rows(staged, documents), self._path(staging, OUTBOX_FOLDER))

    def _find_repeats(
        self, staging: str, documents: DataFrame, batch: int, plan: Plan, index: HashIndex
    ) -> tuple[DataFrame, HashTimes]:
        """Stage and return the repeated documents, and the times of the hashes, which it stages for
        later batches.
        """
        self._write(staging, "hashes", _add_batch(hashes(documents, plan.started), batch))
        new_hashes = self.session.read.parquet(escape_glob(self._path(staging, "hashes")))
        seconds = F.col("time").cast("double")
        row = new_hashes.agg(F.min(seconds).alias("oldest"), F.max(seconds).alias("newest")).head()
        assert row is not None
        earlier_hashes, bound = None, index.bound()
        names = [] if row.oldest is None else index.files(row.oldest, row.newest)
        if names and bound is not None:
            paths = [escape_glob(self.store.storage.path(name)) for name in names]
            earlier_hashes = self.session.read.parquet(*paths).where(seconds >= bound)
        repeats = find_repeats(new_hashes, earlier_hashes, index.window)
        self._write(staging, "repeats", _add_batch(repeats, batch))
        return (
            self.session.read.parquet(escape_glob(self._path(staging, "repeats"))),
            index.times(row.oldest, row.newest),
        )

    def _write(self, staging: str, name: str, table: DataFrame) -> None:
        table.write.mode("overwrite").parquet(self._path(staging, name))

    def _check_rows(self, staging: str, name: str, count: int) -> None:
        """Check that the driver sees the workers' rows: on a cluster, each machine may have its own
        disk.
        """
        visible = self.store.storage.count_rows(f"{staging}/{name}")
        if visible is not None and visible != count:
            raise PipelineError(
                "output",
                f"workers wrote {count:,} rows of {name} to {self._path(staging, name)}, "
                f"and {visible:,} are there",
                hint="all machines must see the folder of results under the same name",
            )

    def _path(self, staging: str, name: str) -> str:
        return self.store.storage.path(f"{staging}/{name}")


def _add_batch(table: DataFrame, batch: int) -> DataFrame:
    return table.withColumn("batch", F.lit(batch).cast("bigint"))


def _count_rows(results: DataFrame, counts: Observation) -> DataFrame:
    """Count documents and matches while the rows pass, with an observation."""
    match_count = F.when(F.col("kind").isNull(), F.size("subscriptions")).otherwise(0)
    is_first = F.col("first")
    return results.observe(
        counts,
        F.count_if(is_first).alias("read"),
        F.count_if(is_first & F.col("kind").isNotNull()).alias("refused"),
        F.count_if(~is_first & F.col("kind").isNotNull()).alias("undecided"),
        F.count_if(is_first & (match_count > 0)).alias("matched"),
        F.count_if(~is_first & (match_count > 0)).alias("scattered"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
    )


def _count_refusals(results: DataFrame) -> dict[str, int]:
    """Return the number of refused documents by kind."""
    refused = results.where(F.col("first") & F.col("kind").isNotNull())
    return {row["kind"]: row["count"] for row in refused.groupBy("kind").count().collect()}


def _count_documents(documents: DataFrame) -> Row:
    """Return the number of documents and the time of the newest."""
    row = documents.agg(
        F.count("*").alias("documents"), F.max("time").cast("double").alias("latest")
    ).head()
    assert row is not None
    return row
