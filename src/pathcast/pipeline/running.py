"""A run of the pipeline: one batch over all documents, or a stream of micro-batches.

Both process a batch in the same way (`batches`). A single run is batch 0 of its folder. A stream's
batches are Spark's micro-batches: Spark records the input of each in its checkpoint before it
starts. Together with the batch's plan, this makes a retry process the same input under the same
version.

A batch reads the state of the subscription files when it starts. If they changed, it compiles them
and is the first batch under the new version. If they cannot be compiled (a bad row, a file being
written), the old version stays in use, and the run emits `SubscriptionsRejected`.

A stream ends between two batches. Setting the `stopping` event asks it to end; a batch that has
started completes first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from pathcast.errors import PathcastError
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome
from pathcast.pipeline.batches import BatchRunner, BatchSettings
from pathcast.pipeline.partition_strategy import PartitionMode, PartitionStrategy
from pathcast.pipeline.partitioning import PartitionedMatcher
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.sources import Source
from pathcast.pipeline.spark_errors import spark_errors_as, to_pipeline_error
from pathcast.pipeline.storage import Storage, open_storage
from pathcast.pipeline.subscriptions import FilesState, RejectedRow, SubscriptionSource
from pathcast.pipeline.versions import Version, VersionCompiler, VersionStore

__all__ = [
    "BatchDone",
    "PipelineRun",
    "RunEvent",
    "RunSpec",
    "StrategyChosen",
    "SubscriptionsLoaded",
    "SubscriptionsRejected",
]

_POLL_SECONDS: Final = 0.2  # between checks of the stop event


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What to run."""

    subscriptions: SubscriptionSource
    source: Source
    out: str
    settings: BatchSettings
    make_outbox: Callable[[str], Outbox] | None = None
    """Creates the outboxes for a result folder."""
    batch_size: int = 1000
    """The maximum number of files or messages in a micro-batch."""
    partition: PartitionMode = "auto"


@dataclass(frozen=True, slots=True)
class SubscriptionsLoaded:
    """A version is in use from the next batch on; `skipped` lists its rejected rows."""

    version: str
    subscriptions: int
    skipped: tuple[RejectedRow, ...]


@dataclass(frozen=True, slots=True)
class SubscriptionsRejected:
    """Changed subscriptions could not be compiled; the previous version stays in use."""

    error: PathcastError


@dataclass(frozen=True, slots=True)
class StrategyChosen:
    """How a version is matched: documents partitioned, or subscriptions in this many fragments."""

    version: str
    partition: str
    fragments: int
    reason: str


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A batch is published."""

    batch: int
    outcome: BatchOutcome
    lag: float | None
    """Seconds since its newest document."""


RunEvent = SubscriptionsLoaded | SubscriptionsRejected | StrategyChosen | BatchDone


class PipelineRun:
    """One run of a spec; it calls `on_event` in any thread.

    A `compiler` that already compiled the subscriptions avoids compiling them again.
    """

    def __init__(
        self,
        session: SparkSession,
        spec: RunSpec,
        on_event: Callable[[RunEvent], None],
        compiler: VersionCompiler | None = None,
    ) -> None:
        self._session = session
        self._spec = spec
        self._on_event = on_event
        self._compiler = compiler

    def run_once(self) -> BatchOutcome:
        """Process all present documents as one batch."""
        with self._open(streaming=False) as run:
            documents = self._spec.source.documents(self._session)
            run.claim()
            return self._batch(run, 0, documents)

    def run_stream(self, stopping: threading.Event, *, until_caught_up: bool = False) -> None:
        """Process micro-batches until `stopping` is set.

        With `until_caught_up`, end when the documents present at the start are processed.
        """
        with self._open(streaming=True) as run:
            callback = _BatchCallback(lambda number, rows: self._step(run, number, rows), stopping)
            documents = self._spec.source.documents(self._session, self._spec.batch_size)
            run.claim()
            writer = documents.writeStream.foreachBatch(callback).option(
                "checkpointLocation", run.store.storage.path("checkpoint")
            )
            trigger = (
                writer.trigger(availableNow=True)
                if until_caught_up
                else writer.trigger(processingTime="0 seconds")
            )
            with spark_errors_as("stream", self._spec.out):
                query = trigger.start()
            _await_end(query, callback, stopping)

    @contextmanager
    def _open(self, *, streaming: bool) -> Iterator[_OpenRun]:
        with TemporaryDirectory(prefix="pathcast-") as cache:
            self._spec.source.check_output_outside(self._session, self._spec.out)
            storage = open_storage(self._session, self._spec.out, Path(cache))
            try:
                yield self._prepare(storage, Path(cache), streaming=streaming)
            finally:
                storage.close()

    def _prepare(self, storage: Storage, cache: Path, *, streaming: bool) -> _OpenRun:
        spec = self._spec
        store = BatchLog(storage)
        kind = "stream" if streaming else "batch"
        identity = {"run": kind, "documents": spec.source.name}
        store.lock(identity, resume=streaming)
        compiler = self._compiler or spec.subscriptions.compiler(cache / "versions")
        versions = VersionStore(storage, compiler)
        outbox = None if spec.make_outbox is None else spec.make_outbox(spec.out)
        matcher = PartitionedMatcher(
            self._session, spec.partition, self._on_strategy_chosen, cache / "fragments"
        )
        batches = BatchRunner(self._session, store, versions, spec.settings, matcher.match, outbox)
        watcher = _SubscriptionWatcher(spec.subscriptions, versions, self._on_event)
        watcher.begin()
        if not streaming:
            versions.close()
        return _OpenRun(store, identity, batches, watcher)

    def _on_strategy_chosen(self, version: Version, strategy: PartitionStrategy) -> None:
        self._on_event(
            StrategyChosen(version.name, strategy.name, strategy.fragments, strategy.reason)
        )

    def _step(self, run: _OpenRun, batch: int, documents: DataFrame) -> BatchOutcome:
        storage = run.store.storage
        complete = self._spec.source.add_empty_files(self._session, documents, storage, batch)
        return self._batch(run, batch, complete)

    def _batch(self, run: _OpenRun, batch: int, documents: DataFrame) -> BatchOutcome:
        if (outcome := run.store.done_outcome(batch)) is not None:
            return outcome  # Spark did not commit the batch before it stopped
        try:
            checked = self._spec.source.reject_duplicate_ids(documents)
            outcome = run.batches.run(
                batch, checked, run.watch.version, shuffled=self._spec.source.has_own_ids
            )
        except PathcastError:
            raise
        except Exception as error:
            raise to_pipeline_error(error) from error
        lag = None if outcome.latest is None else time.time() - outcome.latest
        self._on_event(BatchDone(batch, outcome, lag))
        return outcome


@dataclass(frozen=True, slots=True)
class _OpenRun:
    store: BatchLog
    belongs: dict[str, str]
    batches: BatchRunner
    watch: _SubscriptionWatcher

    def claim(self) -> None:
        self.store.claim(self.belongs)


class _SubscriptionWatcher:
    """Compiles the subscriptions again whenever their files changed."""

    def __init__(
        self,
        source: SubscriptionSource,
        versions: VersionStore,
        on_event: Callable[[RunEvent], None],
    ) -> None:
        self._source = source
        self._versions = versions
        self._on_event = on_event
        self._last_state: FilesState | None = None
        self._current = ""

    def begin(self) -> None:
        """Compile the current subscriptions, or raise PipelineError."""
        self._last_state = self._source.read_state()
        self._load()

    def version(self) -> str:
        """Return the name of the version for a batch that starts now."""
        try:
            state = self._source.read_state()
            if state != self._last_state:
                self._load()
                self._last_state = state if self._source.read_state() == state else None
        except PathcastError as error:
            self._last_state = None  # retry at the next batch
            self._on_event(SubscriptionsRejected(error))
        return self._current

    def _load(self) -> None:
        version, skipped = self._source.compile(self._versions.add)
        if version.name != self._current:
            self._current = version.name
            self._on_event(SubscriptionsLoaded(version.name, version.subscriptions, tuple(skipped)))


class _StreamStopping(Exception):
    """Raised when a batch starts after the stop event; Spark repeats the batch in the next run."""


class _BatchCallback:
    """The `foreachBatch` callback; it keeps the original exception, which Spark reports as text
    only.
    """

    def __init__(
        self, run_batch: Callable[[int, DataFrame], BatchOutcome], stopping: threading.Event
    ) -> None:
        self._batch = run_batch
        self._stopping = stopping
        self.failed: Exception | None = None

    def __call__(self, documents: DataFrame, batch: int) -> None:
        if self._stopping.is_set():
            raise _StreamStopping
        try:
            self._batch(batch, documents)
        except Exception as error:
            self.failed = error
            raise


def _await_end(query: StreamingQuery, callback: _BatchCallback, stopping: threading.Event) -> None:
    """Wait until the stream ends; stop it when `stopping` is set."""
    try:
        while query.isActive and not stopping.wait(_POLL_SECONDS):
            pass
        # A batch that has started completes and is committed. If another one starts, it ends the
        # stream itself.
        while query.isActive and query.status["isTriggerActive"]:
            time.sleep(_POLL_SECONDS / 4)
        query.stop()
    except BaseException:
        query.stop()
        raise
    if callback.failed is not None:
        raise callback.failed
    error = query.exception()
    if error is not None and not stopping.is_set():
        raise to_pipeline_error(error, "stream") from error
