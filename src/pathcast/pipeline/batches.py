"""One batch, from documents to deliveries: the same for a job that runs once and for each step of a stream.

    plan      which version; written down before anything else
    stage     documents -> rows -> tables and mail, in the staging folder
    publish   what is staged becomes visible
    done      the outcome, written down last

`store` says what is skipped when a batch is run again. The documents are parsed and matched once; all tables are views of the rows that
this gives, which Spark keeps in memory or on its disks while the batch lasts.
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
from pathcast.pipeline.dedup import find_repeats, hashes
from pathcast.pipeline.hadoop import escape_glob
from pathcast.pipeline.parallel_jobs import run_parallel
from pathcast.pipeline.routes import DELIVERIES_DDL, ROUTES_DDL, deliveries, outbox_rows
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.store import BatchOutcome, Plan, Store
from pathcast.pipeline.versions import Version, VersionStore
from pathcast.pipeline.worker import MatchTask

__all__ = ["BatchRunner", "BatchSettings", "MatchFunction"]

_STORAGE_LEVEL: Final = StorageLevel.MEMORY_AND_DISK
_OUTBOX_FOLDER: Final = "mail"
MatchFunction = Callable[[DataFrame, Version, MatchTask], DataFrame]
"""Documents, a version, what to match with -> rows: the strategy."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """What holds for all batches of a run."""

    limits: Limits
    structures: float = 0.0
    """The share of documents whose structure is looked at."""
    dedupe: float | None = None
    """Seconds within which a document with the same content is a repeat."""
    deadline: float | None = None
    """Seconds for an expensive subscription on a document."""


class BatchRunner:
    """Runs batches, one at a time."""

    def __init__(
        self,
        session: SparkSession,
        store: Store,
        versions: VersionStore,
        settings: BatchSettings,
        matched: MatchFunction,
        outbox: Outbox | None,
    ) -> None:
        self._session = session
        self._store = store
        self._versions = versions
        self._settings = settings
        self._matched = matched
        self._outbox = outbox

    def run(
        self,
        batch: int,
        documents: DataFrame,
        version: Callable[[], str],
        *,
        shuffled: bool = False,
    ) -> BatchOutcome:
        """Make a batch happen that is not done, or what is left of it; `version` is asked if it has no plan yet.

        Documents that are `shuffled` are read before anything else is begun. If that fails while another thread wants what is kept of
        them, Spark waits for itself: it lets go of them, and of what depends on them, with locks that the other has in the other order.
        """
        plan = self._store.plan(batch)
        if plan is None:
            plan = Plan(version(), time.time())
            self._store.write_plan(batch, plan)
        outcome = self._store.staged(batch)
        if outcome is None:
            outcome = self._stage(documents, plan, self._store.restart(batch), shuffled)
            self._store.mark_staged(batch, outcome)
        outcome = self._publish(batch, outcome)
        self._store.mark_done(batch, outcome)
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
        # Read once: a file may be gone, or another, when it is read again.
        documents = documents.persist(_STORAGE_LEVEL)
        found = None
        try:
            if shuffled:
                _count_documents(documents)
            repeated = self._repeated(staging, documents, plan)
            fresh = documents
            if repeated is not None:
                again = repeated.select(F.col("document").alias("id"))
                fresh = documents.join(again, "id", "left_anti")
            found = self._matched(fresh, version, task).persist(_STORAGE_LEVEL)
            outcome = self._tables(staging, found, version, documents)
        finally:
            documents.unpersist()
            if found is not None:
                found.unpersist()
        again_count = 0 if repeated is None else repeated.count()
        outcome = replace(
            outcome,
            repeated=again_count,
            staging=staging,
            seconds=round(time.perf_counter() - start, 3),
        )
        _check_documents_accounted_for(outcome)
        return outcome

    def _tables(
        self, staging: str, found: DataFrame, version: Version, documents: DataFrame
    ) -> BatchOutcome:
        """Stage the tables, and the mail, several at a time: most of the time of a small one is waiting."""
        matches = matching.matches_table(found)
        routes = self._session.read.schema(ROUTES_DDL).parquet(
            escape_glob(self._versions.routes(version))
        )
        first, hits = Observation(), Observation()
        sent = Observation()
        steps: list[Callable[[], object]] = [
            lambda: _count_documents(documents),
            lambda: self._write(
                staging, "documents", matching.documents_table(_count_rows(found, first))
            ),
            lambda: self._write(
                staging,
                "matches",
                matches.observe(
                    hits,
                    F.coalesce(F.sum(F.size("subscriptions")), F.lit(0)).alias("matches"),
                    F.count("*").alias("rows"),
                ),
            ),
            lambda: self._deliver(
                staging,
                deliveries(matches, routes).observe(sent, F.count("*").alias("deliveries")),
                documents,
            ),
        ]
        given = run_parallel(self._session, *steps)[0]
        assert isinstance(given, Row)
        counted = first.get
        rows = {
            "documents": counted["read"],
            "matches": hits.get["rows"],
            "deliveries": sent.get["deliveries"],
        }
        for name, count in rows.items():
            self._check_rows(staging, name, count)
        names = [*rows]
        if counted["refused"] or counted["undecided"]:
            self._write(staging, "errors", matching.errors_table(found))
            names.append("errors")
        if self._settings.dedupe is not None:
            names += ["repeats", "hashes"]
        matched = counted["matched"]
        if counted["scattered"]:
            matched = (
                matches.where(F.size("subscriptions") > 0).select("document").distinct().count()
            )
        return BatchOutcome(
            version=version.name,
            documents=given["documents"],
            matched=matched,
            unmatched=counted["read"] - counted["refused"] - matched,
            refused=counted["refused"],
            undecided=counted["undecided"],
            bytes=counted["bytes"],
            matches=hits.get["matches"],
            deliveries=sent.get["deliveries"],
            latest=given["latest"],
            tables=tuple(names),
        )

    def _deliver(self, staging: str, delivered: DataFrame, documents: DataFrame) -> None:
        self._write(staging, "deliveries", delivered)
        if self._outbox is not None:
            path = self._path(staging, "deliveries")
            staged = self._session.read.schema(DELIVERIES_DDL).parquet(escape_glob(path))
            self._outbox.stage(outbox_rows(staged, documents), self._path(staging, _OUTBOX_FOLDER))

    def _repeated(self, staging: str, documents: DataFrame, plan: Plan) -> DataFrame | None:
        """The repeats among documents, staged with the hashes that find later ones."""
        window = self._settings.dedupe
        if window is None:
            return None
        self._write(staging, "hashes", hashes(documents, plan.started))
        new = self._session.read.parquet(escape_glob(self._path(staging, "hashes")))
        first = new.agg(F.min("time").cast("double")).head()
        start = None if first is None else first[0]
        earlier = None
        parts = [
            self._store.storage.path(f"hashes/batch={number}")
            for number, outcome in self._store.outcomes().items()
            if "hashes" in outcome.tables
            and start is not None
            and outcome.latest is not None
            and outcome.latest >= start - window
        ]
        if parts:
            earlier = self._session.read.parquet(*map(escape_glob, parts))
        self._write(staging, "repeats", find_repeats(new, earlier, window))
        return self._session.read.parquet(escape_glob(self._path(staging, "repeats")))

    def _write(self, staging: str, name: str, table: DataFrame) -> None:
        table.write.mode("overwrite").parquet(self._path(staging, name))

    def _check_rows(self, staging: str, name: str, count: int) -> None:
        """What workers wrote is here: on a cluster the folder may be one on each machine."""
        here = self._store.storage.rows(f"{staging}/{name}")
        if here is not None and here != count:
            raise PipelineError(
                "output",
                f"workers wrote {count:,} rows of {name} to {self._path(staging, name)}, and {here:,} are there",
                hint="all machines must see the folder of results under the same name",
            )

    def _path(self, staging: str, name: str) -> str:
        return self._store.storage.path(f"{staging}/{name}")

    def _publish(self, batch: int, outcome: BatchOutcome) -> BatchOutcome:
        undelivered = 0
        if self._outbox is not None:
            mail_folder = self._path(outcome.staging, _OUTBOX_FOLDER)
            self._outbox.publish(self._session, mail_folder)
            refused = self._outbox.refused(self._session, mail_folder)
            if refused is not None:
                undelivered = self._publish_refused(batch, outcome, refused)
        self._store.publish_tables(batch, outcome)
        return replace(outcome, undelivered=undelivered)

    def _publish_refused(self, batch: int, outcome: BatchOutcome, refused: DataFrame) -> int:
        row = refused.agg(F.coalesce(F.sum(F.size("subscribers")), F.lit(0))).head()
        count = 0 if row is None else int(row[0])
        if count and f"batch={batch}" not in self._store.storage.names("undelivered"):
            self._write(outcome.staging, "undelivered", refused)
            staged = f"{outcome.staging}/undelivered"
            self._store.storage.move(staged, f"undelivered/batch={batch}")
        return count


def _count_rows(found: DataFrame, counts: Observation) -> DataFrame:
    """Rows, counted as they pass."""
    hits = F.when(F.col("kind").isNull(), F.size("subscriptions")).otherwise(0)
    first = F.col("first")
    return found.observe(
        counts,
        F.count_if(first).alias("read"),
        F.count_if(first & F.col("kind").isNotNull()).alias("refused"),
        F.count_if(~first & F.col("kind").isNotNull()).alias("undecided"),
        F.count_if(first & (hits > 0)).alias("matched"),
        F.count_if(~first & (hits > 0)).alias("scattered"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
    )


def _count_documents(documents: DataFrame) -> Row:
    """How many documents came, and when the newest of them is from."""
    row = documents.agg(
        F.count("*").alias("documents"), F.max("time").cast("double").alias("latest")
    ).head()
    assert row is not None
    return row


def _check_documents_accounted_for(outcome: BatchOutcome) -> None:
    """No document is missing."""
    known = outcome.matched + outcome.unmatched + outcome.refused + outcome.repeated
    if known != outcome.documents:
        raise PipelineError(
            "lost",
            f"{outcome.documents:,} documents came in, but {known:,} are accounted for",
            hint="this is a fault of pathcast's; nothing of the batch was published",
        )
