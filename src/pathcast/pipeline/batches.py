"""One batch, from documents to deliveries: the same code for a single run and for a micro-batch.

    plan      choose the version; written before anything else
    stage     documents -> result rows -> tables and outbox files, in the staging folder
    publish   move the staged files to where readers look
    done      the outcome; written last

`batch_log` defines which steps a retry skips. Documents are parsed and matched once. All tables are
projections of the result rows, which Spark persists in memory or on disk for the batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as F

from pathcast.documents import Limits
from pathcast.errors import PipelineError
from pathcast.pipeline import matching
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome, Plan
from pathcast.pipeline.dedup import find_repeats, hashes
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.parallel_jobs import run_parallel
from pathcast.pipeline.routes import DELIVERIES_DDL, ROUTES_DDL, deliveries, outbox_rows
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.versions import Version, VersionStore
from pathcast.pipeline.worker import MatchTask

__all__ = ["BatchRunner", "BatchSettings", "MatchFunction"]

_STORAGE_LEVEL: Final = StorageLevel.MEMORY_AND_DISK
_OUTBOX_FOLDER: Final = "mail"
MatchFunction = Callable[[DataFrame, Version, MatchTask], DataFrame]
"""(documents, version, task) -> result rows: matching by the strategy of the version."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Settings of all batches of a run."""

    limits: Limits
    structures: float = 0.0
    """The share of documents whose structure is hashed."""
    dedupe: float | None = None
    """Seconds within which a document with equal content is a repeat; None disables the check."""
    deadline: float | None = None
    """Seconds that an expensive subscription may take on one document."""


class BatchRunner:
    """Runs batches, one at a time."""

    def __init__(
        self,
        session: SparkSession,
        store: BatchLog,
        versions: VersionStore,
        settings: BatchSettings,
        match: MatchFunction,
        outbox: Outbox | None,
    ) -> None:
        self._session = session
        self._store = store
        self._versions = versions
        self._settings = settings
        self._match = match
        self._outbox = outbox

    def run(
        self,
        batch: int,
        documents: DataFrame,
        version: Callable[[], str],
        *,
        shuffled: bool = False,
    ) -> BatchOutcome:
        """Run a batch that is not done, or resume it; call `version` only if the batch has no plan
        yet.

        Documents that are `shuffled` are read before any other job starts. If that read failed
        while another thread used the persisted table, Spark could deadlock: the two threads take
        the locks of the table and of its dependents in opposite order.
        """
        plan = self._store.plan(batch)
        if plan is None:
            plan = Plan(version(), time.time())
            self._store.write_plan(batch, plan)
        outcome = self._store.staged_outcome(batch)
        if outcome is None:
            outcome = self._stage(documents, plan, self._store.start_attempt(batch), shuffled)
            self._store.write_staged_outcome(batch, outcome)
        outcome = self._publish(batch, outcome)
        self._store.write_done_outcome(batch, outcome)
        return outcome

    def _stage(
        self, documents: DataFrame, plan: Plan, staging: str, shuffled: bool
    ) -> BatchOutcome:
        start = time.perf_counter()
        version = self._versions.get(plan.version)
        task = MatchTask(
            version.name,
            version.file,
            self._settings.limits,
            self._settings.structures,
            self._settings.deadline,
            version.hops,
        )
        # Persist: a second read may find a file changed or deleted.
        documents = documents.persist(_STORAGE_LEVEL)
        results = None
        try:
            if shuffled:
                _count_documents(documents)
            repeats = self._find_repeats(staging, documents, plan)
            new_documents = documents
            if repeats is not None:
                repeated_ids = repeats.select(F.col("document").alias("id"))
                new_documents = documents.join(repeated_ids, "id", "left_anti")
            results = self._match(new_documents, version, task).persist(_STORAGE_LEVEL)
            outcome = self._stage_tables(staging, results, version, documents)
        finally:
            documents.unpersist()
            if results is not None:
                results.unpersist()
        repeat_count = 0 if repeats is None else repeats.count()
        outcome = replace(
            outcome,
            repeated=repeat_count,
            staging=staging,
            seconds=round(time.perf_counter() - start, 3),
        )
        _check_documents_accounted_for(outcome)
        return outcome

    def _stage_tables(
        self, staging: str, results: DataFrame, version: Version, documents: DataFrame
    ) -> BatchOutcome:
        """Stage the tables and the outbox in parallel jobs: a small job spends most of its time
        waiting.
        """
        matches = matching.matches_table(results)
        routes = self._session.read.schema(ROUTES_DDL).parquet(
            escape_glob(self._versions.routes(version))
        )
        row_counts, match_counts = Observation(), Observation()
        delivery_counts = Observation()
        steps: list[Callable[[], object]] = [
            lambda: _count_documents(documents),
            lambda: self._write(
                staging, "documents", matching.documents_table(_count_rows(results, row_counts))
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
            lambda: self._deliver(
                staging,
                deliveries(matches, routes).observe(
                    delivery_counts, F.count("*").alias("deliveries")
                ),
                documents,
            ),
        ]
        document_counts = run_parallel(self._session, *steps)[0]
        assert isinstance(document_counts, Row)
        counts = row_counts.get
        table_rows = {
            "documents": counts["read"],
            "matches": match_counts.get["rows"],
            "deliveries": delivery_counts.get["deliveries"],
        }
        for name, count in table_rows.items():
            self._check_rows(staging, name, count)
        tables = [*table_rows]
        if counts["refused"] or counts["undecided"]:
            self._write(staging, "errors", matching.errors_table(results))
            tables.append("errors")
        if self._settings.dedupe is not None:
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
            bytes=counts["bytes"],
            matches=match_counts.get["matches"],
            deliveries=delivery_counts.get["deliveries"],
            latest=document_counts["latest"],
            tables=tuple(tables),
        )

    def _deliver(self, staging: str, table: DataFrame, documents: DataFrame) -> None:
        self._write(staging, "deliveries", table)
        if self._outbox is not None:
            path = self._path(staging, "deliveries")
            staged = self._session.read.schema(DELIVERIES_DDL).parquet(escape_glob(path))
            self._outbox.stage(outbox_rows(staged, documents), self._path(staging, _OUTBOX_FOLDER))

    def _find_repeats(self, staging: str, documents: DataFrame, plan: Plan) -> DataFrame | None:
        """Stage and return the repeated documents, together with the hashes that later batches
        need.
        """
        window = self._settings.dedupe
        if window is None:
            return None
        self._write(staging, "hashes", hashes(documents, plan.started))
        new_hashes = self._session.read.parquet(escape_glob(self._path(staging, "hashes")))
        earliest = new_hashes.agg(F.min("time").cast("double")).head()
        earliest_time = None if earliest is None else earliest[0]
        earlier_hashes = None
        hash_folders = [
            self._store.storage.path(f"hashes/batch={number}")
            for number, outcome in self._store.outcomes().items()
            if "hashes" in outcome.tables
            and earliest_time is not None
            and outcome.latest is not None
            and outcome.latest >= earliest_time - window
        ]
        if hash_folders:
            earlier_hashes = self._session.read.parquet(*map(escape_glob, hash_folders))
        self._write(staging, "repeats", find_repeats(new_hashes, earlier_hashes, window))
        return self._session.read.parquet(escape_glob(self._path(staging, "repeats")))

    def _write(self, staging: str, name: str, table: DataFrame) -> None:
        table.write.mode("overwrite").parquet(self._path(staging, name))

    def _check_rows(self, staging: str, name: str, count: int) -> None:
        """Check that the driver sees the workers' rows: on a cluster, each machine may have its own
        disk.
        """
        visible = self._store.storage.count_rows(f"{staging}/{name}")
        if visible is not None and visible != count:
            raise PipelineError(
                "output",
                f"workers wrote {count:,} rows of {name} to {self._path(staging, name)}, "
                f"and {visible:,} are there",
                hint="all machines must see the folder of results under the same name",
            )

    def _path(self, staging: str, name: str) -> str:
        return self._store.storage.path(f"{staging}/{name}")

    def _publish(self, batch: int, outcome: BatchOutcome) -> BatchOutcome:
        undelivered_count = 0
        if self._outbox is not None:
            outbox_staging = self._path(outcome.staging, _OUTBOX_FOLDER)
            self._outbox.publish(self._session, outbox_staging)
            undeliverable = self._outbox.undeliverable(self._session, outbox_staging)
            if undeliverable is not None:
                undelivered_count = self._publish_undeliverable(batch, outcome, undeliverable)
        self._store.publish_tables(batch, outcome)
        return replace(outcome, undelivered=undelivered_count)

    def _publish_undeliverable(
        self, batch: int, outcome: BatchOutcome, undeliverable: DataFrame
    ) -> int:
        row = undeliverable.agg(F.coalesce(F.sum(F.size("subscribers")), F.lit(0))).head()
        count = 0 if row is None else int(row[0])
        if count and f"batch={batch}" not in self._store.storage.names("undelivered"):
            self._write(outcome.staging, "undelivered", undeliverable)
            staged = f"{outcome.staging}/undelivered"
            self._store.storage.move(staged, f"undelivered/batch={batch}")
        return count


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


def _count_documents(documents: DataFrame) -> Row:
    """Return the number of documents and the time of the newest."""
    row = documents.agg(
        F.count("*").alias("documents"), F.max("time").cast("double").alias("latest")
    ).head()
    assert row is not None
    return row


def _check_documents_accounted_for(outcome: BatchOutcome) -> None:
    """Raise PipelineError unless every document is matched, unmatched, refused or repeated."""
    accounted = outcome.matched + outcome.unmatched + outcome.refused + outcome.repeated
    if accounted != outcome.documents:
        raise PipelineError(
            "lost",
            f"{outcome.documents:,} documents came in, but {accounted:,} are accounted for",
            hint="this is a fault of pathcast's; nothing of the batch was published",
        )
