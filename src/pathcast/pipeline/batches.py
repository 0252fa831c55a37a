"""One batch, from documents to deliveries: the same code for a single run and for a micro-batch.

    plan      choose the version; written before anything else
    stage     documents -> result rows -> tables and outbox files, in the staging folder
    publish   move the staged files to where readers look
    done      the outcome; written last

`batch_log` defines which steps a retry skips. Documents are parsed and matched once. Staging is one
Spark job in which workers write all tables (`one_pass`), or where that is impossible several jobs
with Spark's own writers (`multi_pass`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pathcast.documents import Limits
from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome, Plan
from pathcast.pipeline.hash_index import HashIndex
from pathcast.pipeline.metrics import StepTimer
from pathcast.pipeline.multi_pass import MultiPassStaging
from pathcast.pipeline.one_pass import stage_in_one_pass
from pathcast.pipeline.partials import MAX_DOCUMENTS, write_partials
from pathcast.pipeline.partitioning import PartitionedMatcher
from pathcast.pipeline.sinks import OUTBOX_FOLDER, Outbox
from pathcast.pipeline.stage_worker import StageTask
from pathcast.pipeline.storage import LocalStorage, local_path
from pathcast.pipeline.versions import Version, VersionStore
from pathcast.pipeline.worker import MatchTask

__all__ = ["BatchRunner", "BatchSettings"]

_MAX_FILES: Final = 100_000
"""Deliveries of a batch beyond which an outbox with a file for each is reported."""


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
    own_times: bool = False
    """Whether the times of documents are their own, not those of their files."""
    deliveries: bool = True
    """Whether to write the table of deliveries."""
    one_pass: bool = True
    """Whether to stage in one pass where that is possible."""


class BatchRunner:
    """Runs batches, one at a time."""

    def __init__(
        self,
        session: SparkSession,
        store: BatchLog,
        versions: VersionStore,
        settings: BatchSettings,
        matcher: PartitionedMatcher,
        outbox: Outbox | None,
        on_many_files: Callable[[int, int], None],
    ) -> None:
        """Create the runner; it calls `on_many_files` before a batch publishes so many files."""
        self._session = session
        self._store = store
        self._versions = versions
        self._settings = settings
        self._matcher = matcher
        self._outbox = outbox
        self._on_many_files = on_many_files
        self._hash_index = None if settings.dedupe is None else HashIndex(store, settings.dedupe)
        self._multi_pass = MultiPassStaging(
            session, store, versions, outbox, self._hash_index, settings.deliveries
        )

    def run(
        self,
        batch: int,
        documents: DataFrame,
        version: Callable[[], str],
        *,
        has_own_ids: bool = False,
    ) -> BatchOutcome:
        """Run a batch that is not done, or resume it; call `version` only if the batch has no plan
        yet.

        Documents that bring their own ids are checked for duplicates within the batch.
        """
        timer = StepTimer()
        plan = self._store.plan(batch)
        if plan is None:
            plan = Plan(version(), time.time())
            self._store.write_plan(batch, plan)
        timer.end("plan")
        outcome = self._store.staged_outcome(batch)
        if outcome is None:
            attempt = self._store.start_attempt(batch)
            outcome = self._stage(batch, documents, plan, attempt, has_own_ids=has_own_ids)
            timer.end("stage")
            outcome = replace(outcome, steps=timer.seconds)
            self._store.write_staged_outcome(batch, outcome)
        outcome = self._publish(batch, outcome)
        timer.end("publish")
        outcome = self._add_times(outcome, timer)
        self._store.write_done_outcome(batch, outcome)
        if self._hash_index is not None:
            self._hash_index.add(outcome)
        return outcome

    def _add_times(self, outcome: BatchOutcome, timer: StepTimer) -> BatchOutcome:
        """Add the seconds of the steps, of an earlier attempt too, and the lag."""
        steps = {**outcome.steps, **timer.seconds}
        lag = None
        if self._settings.own_times and outcome.latest is not None:
            lag = round(time.time() - outcome.latest, 3)
        return replace(outcome, steps=steps, seconds=round(sum(steps.values()), 3), lag=lag)

    def _stage(
        self, batch: int, documents: DataFrame, plan: Plan, staging: str, *, has_own_ids: bool
    ) -> BatchOutcome:
        version = self._versions.get(plan.version)
        task = MatchTask(
            version.name,
            version.file,
            self._settings.limits,
            self._settings.structures,
            self._settings.deadline,
            version.hops,
            version.routes_file,
        )
        if self._allows_one_pass(version, documents):
            outcome = self._stage_in_one_pass(
                batch, documents, task, version, staging, has_own_ids=has_own_ids
            )
        else:
            outcome = self._multi_pass.stage(
                documents,
                lambda rows: self._matcher.match(rows, version, task),
                version,
                batch,
                plan,
                staging,
                has_own_ids=has_own_ids,
            )
            outcome = self._add_partials(batch, outcome, staging)
        files = self._store.staged_files(batch, staging, outcome.tables)
        outbox = "" if self._outbox is None else self._outbox.name
        outcome = replace(
            outcome, started=plan.started, staging=staging, outbox=outbox, files=files
        )
        _check_documents_accounted_for(outcome)
        return outcome

    def _add_partials(self, batch: int, outcome: BatchOutcome, staging: str) -> BatchOutcome:
        """Stage partial statistics, if this process sees the staged tables."""
        storage = self._store.storage
        if not isinstance(storage, LocalStorage) or outcome.documents > MAX_DOCUMENTS:
            return outcome
        write_partials(storage.root / staging, batch, outcome.version)
        return replace(outcome, tables=(*outcome.tables, "partials"))

    def _allows_one_pass(self, version: Version, documents: DataFrame) -> bool:
        """Return whether workers can write all tables of a batch while they match."""
        return (
            self._settings.one_pass
            and self._settings.dedupe is None
            and isinstance(self._store.storage, LocalStorage)
            and self._matcher.strategy(version, documents).name == "documents"
        )

    def _stage_in_one_pass(
        self,
        batch: int,
        documents: DataFrame,
        task: MatchTask,
        version: Version,
        staging: str,
        *,
        has_own_ids: bool,
    ) -> BatchOutcome:
        version.ship(self._session.sparkContext)
        stage_task = StageTask(
            task,
            batch,
            str(local_path(self._store.storage.path(staging))),
            deliveries=self._settings.deliveries,
            outbox=None if self._outbox is None else self._outbox.staging(),
            digest_ids=has_own_ids,
        )
        tables = ["documents", "matches", "partials"]
        if self._settings.deliveries:
            tables.append("deliveries")
        manifest = stage_in_one_pass(documents, stage_task, tables)
        if manifest.refused or manifest.undecided:
            tables.append("errors")
        return BatchOutcome(
            version=version.name,
            documents=manifest.documents,
            matched=manifest.matched,
            unmatched=manifest.unmatched,
            refused=sum(manifest.refused.values()),
            undecided=manifest.undecided,
            refusals=dict(manifest.refused),
            bytes=manifest.bytes,
            matches=manifest.matches,
            deliveries=None if stage_task.skips_deliveries else manifest.deliveries,
            matching_seconds=round(manifest.matching_seconds, 3),
            latest=manifest.latest,
            tables=tuple(tables),
        )

    def _path(self, staging: str, name: str) -> str:
        return self._store.storage.path(f"{staging}/{name}")

    def _publish(self, batch: int, outcome: BatchOutcome) -> BatchOutcome:
        self._check_outbox(batch, outcome)
        if self._outbox is not None and outcome.outbox:
            files = (outcome.deliveries or 0) if self._outbox.writes_file_per_delivery else 0
            if files > _MAX_FILES:
                self._on_many_files(batch, files)
            outbox_staging = self._path(outcome.staging, OUTBOX_FOLDER)
            self._outbox.publish(self._session, outbox_staging, batch)
            undeliverable = self._outbox.undeliverable(self._session, outbox_staging)
            if undeliverable is not None:
                outcome = self._publish_undeliverable(batch, outcome, undeliverable)
        self._store.publish_tables(batch, outcome)
        return outcome

    def _check_outbox(self, batch: int, outcome: BatchOutcome) -> None:
        """Raise PipelineError if the batch was staged for an outbox of another name."""
        outbox = "" if self._outbox is None else self._outbox.name
        if outcome.outbox not in ("", outbox):
            raise PipelineError(
                "outbox",
                f"batch {batch} is staged for other outboxes ({outcome.outbox}) than those of this"
                f" run ({outbox or 'none'})",
                hint="start the run once with the --deliver that it had; then change it",
            )

    def _publish_undeliverable(
        self, batch: int, outcome: BatchOutcome, undeliverable: DataFrame
    ) -> BatchOutcome:
        """Publish the table of rejected deliveries as one file, which exists once it is moved."""
        row = undeliverable.agg(F.coalesce(F.sum(F.size("subscribers")), F.lit(0))).head()
        count = 0 if row is None else int(row[0])
        if not count:
            return outcome
        files = self._store.published_files(batch, "undelivered")
        if not files:
            path = self._path(outcome.staging, "undelivered")
            numbered = undeliverable.withColumn("batch", F.lit(batch).cast("bigint"))
            numbered.coalesce(1).write.mode("overwrite").parquet(path)
            staged = self._store.staged_files(batch, outcome.staging, ["undelivered"])
            self._store.publish_tables(batch, replace(outcome, files=staged))
            files = staged["undelivered"]
        return replace(outcome, undelivered=count, files={**outcome.files, "undelivered": files})


def _check_documents_accounted_for(outcome: BatchOutcome) -> None:
    """Raise PipelineError unless every document is matched, unmatched, refused or repeated."""
    accounted = outcome.matched + outcome.unmatched + outcome.refused + outcome.repeated
    if accounted != outcome.documents:
        raise PipelineError(
            "lost",
            f"{outcome.documents:,} documents came in, but {accounted:,} are accounted for",
            hint="this is a fault of pathcast's; nothing of the batch was published",
        )
