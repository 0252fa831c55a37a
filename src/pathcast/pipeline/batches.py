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
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.errors import PipelineError
from pathcast.pipeline import matching
from pathcast.pipeline.repeats import hashes, marked
from pathcast.pipeline.routes import deliveries, mail
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.store import Outcome, Plan, Store
from pathcast.pipeline.versions import Version, Versions
from pathcast.pipeline.worker import Task
from pathcast.stream import Limits

__all__ = ["Batches", "Matched", "Settings"]

_KEPT: Final = StorageLevel.MEMORY_AND_DISK
_MAIL: Final = "mail"
Matched = Callable[[DataFrame, Version, Task], DataFrame]
"""Documents, a version, what to match with -> rows: the strategy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for all batches of a run."""

    limits: Limits
    structures: float = 0.0
    """The share of documents whose structure is looked at."""
    dedupe: float | None = None
    """Seconds within which a document with the same content is a repeat."""
    deadline: float | None = None
    """Seconds for an expensive subscription on a document."""


class Batches:
    """Runs batches, one at a time."""

    def __init__(
        self,
        session: SparkSession,
        store: Store,
        versions: Versions,
        settings: Settings,
        matched: Matched,
        outbox: Outbox | None,
    ) -> None:
        self._session = session
        self._store = store
        self._versions = versions
        self._settings = settings
        self._matched = matched
        self._outbox = outbox

    def run(self, batch: int, documents: DataFrame, version: Callable[[], str]) -> Outcome:
        """Make a batch happen, or what is left of it; `version` is asked if it has no plan yet."""
        if (done := self._store.done(batch)) is not None:
            return done
        plan = self._store.plan(batch)
        if plan is None:
            plan = Plan(version(), time.time())
            self._store.write_plan(batch, plan)
        outcome = self._store.staged(batch)
        if outcome is None:
            self._store.restart(batch)
            outcome = self._stage(batch, documents, plan)
            self._store.mark_staged(batch, outcome)
        self._publish(batch, outcome)
        self._store.mark_done(batch, outcome)
        return outcome

    def _stage(self, batch: int, documents: DataFrame, plan: Plan) -> Outcome:
        start = time.perf_counter()
        version = self._versions.get(plan.version)
        version.ship(self._session.sparkContext)
        task = Task(
            version.name,
            version.file,
            self._settings.limits,
            self._settings.structures,
            self._settings.deadline,
        )
        # Read once: a file may be gone, or another, when it is read again.
        documents = documents.persist(_KEPT)
        found = None
        try:
            repeated = self._repeated(batch, documents, plan)
            fresh = documents
            if repeated is not None:
                again = repeated.select(F.col("document").alias("id"))
                fresh = documents.join(again, "id", "left_anti")
            found = self._matched(fresh, version, task).persist(_KEPT)
            outcome = _counted(found, documents, version.name, repeated)
            tables = self._tables(batch, found, version, documents, outcome)
            delivered = self._session.read.parquet(self._staged_path(batch, "deliveries")).count()
        finally:
            documents.unpersist()
            if found is not None:
                found.unpersist()
        return replace(
            outcome,
            deliveries=delivered,
            tables=tables,
            seconds=round(time.perf_counter() - start, 3),
        )

    def _tables(
        self, batch: int, found: DataFrame, version: Version, documents: DataFrame, outcome: Outcome
    ) -> tuple[str, ...]:
        """Stage the tables, and the mail; which tables there are."""
        made = {
            "documents": matching.documents(found),
            "matches": matching.matches(found),
        }
        if outcome.refused or outcome.undecided:
            made["errors"] = matching.errors(found)
        for name, table in made.items():
            self._write(batch, name, table)
        routes = self._session.read.parquet(self._versions.routes(version))
        self._write(batch, "deliveries", deliveries(matching.matches(found), routes))
        if self._outbox is not None:
            staged = self._session.read.parquet(self._staged_path(batch, "deliveries"))
            self._outbox.stage(mail(staged, documents), self._staged_path(batch, _MAIL))
        extra = ("repeats", "hashes") if self._settings.dedupe is not None else ()
        return (*made, "deliveries", *extra)

    def _repeated(self, batch: int, documents: DataFrame, plan: Plan) -> DataFrame | None:
        """The repeats among documents, staged with the hashes that find later ones."""
        window = self._settings.dedupe
        if window is None:
            return None
        self._write(batch, "hashes", hashes(documents, plan.started))
        new = self._session.read.parquet(self._staged_path(batch, "hashes"))
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
            earlier = self._session.read.parquet(*parts)
        self._write(batch, "repeats", marked(new, earlier, window))
        return self._session.read.parquet(self._staged_path(batch, "repeats"))

    def _write(self, batch: int, name: str, table: DataFrame) -> None:
        table.write.mode("overwrite").parquet(self._staged_path(batch, name))

    def _staged_path(self, batch: int, name: str) -> str:
        return self._store.storage.path(f"{self._store.staging(batch)}/{name}")

    def _publish(self, batch: int, outcome: Outcome) -> None:
        if self._outbox is not None:
            self._outbox.publish(self._session, self._staged_path(batch, _MAIL))
        self._store.publish_tables(batch, outcome)


def _counted(
    found: DataFrame, documents: DataFrame, version: str, repeated: DataFrame | None
) -> Outcome:
    """The figures of rows; that no document is missing is checked here."""
    hits = F.when(F.col("kind").isNull(), F.size("subscriptions")).otherwise(0)
    first = F.col("first")
    row = found.agg(
        F.count_if(first).alias("read"),
        F.count_if(first & F.col("kind").isNotNull()).alias("refused"),
        F.count_if(~first & F.col("kind").isNotNull()).alias("undecided"),
        F.count_distinct(F.when(hits > 0, F.col("document"))).alias("matched"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
        F.coalesce(F.sum(hits), F.lit(0)).alias("matches"),
    ).head()
    given = documents.agg(
        F.count("*").alias("documents"), F.max("time").cast("double").alias("latest")
    ).head()
    again = 0 if repeated is None else repeated.count()
    assert row is not None
    assert given is not None
    if row["read"] + again != given["documents"]:
        raise PipelineError(
            "lost",
            f"{given['documents']:,} documents came in, but {row['read'] + again:,} are accounted for",
            hint="this is a fault of pathcast's; nothing of the batch was published",
        )
    return Outcome(
        version=version,
        documents=given["documents"],
        matched=row["matched"],
        unmatched=row["read"] - row["refused"] - row["matched"],
        refused=row["refused"],
        repeated=again,
        undecided=row["undecided"],
        bytes=row["bytes"],
        matches=row["matches"],
        latest=given["latest"],
    )
