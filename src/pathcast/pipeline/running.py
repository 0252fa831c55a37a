"""A run: once over all that is there, or as a stream that goes on.

Both do the same with a batch (`batches`). A run over all that is there is batch 0 of its folder. A stream's batches are Spark's
micro-batches: what is in one, Spark writes down in its checkpoint before it begins, which with the plan of the batch makes it
the same when it is run again.

Subscriptions are looked at when a batch begins; if they have changed, they are compiled, and this batch is the first under the new
version. If they cannot be (a bad row, a file that is being written), the old version stays and that is told.

A stream ends between two batches. Whoever wants it to end says so by `stopping`; a batch that has begun is finished first.
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
from pathcast.pipeline.batches import BatchRunner, BatchSettings
from pathcast.pipeline.partitioning import PartitionedMatcher
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.sources import Source
from pathcast.pipeline.spark_errors import spark_errors_as, to_pipeline_error
from pathcast.pipeline.storage import Storage, open_storage
from pathcast.pipeline.store import BatchOutcome, Store
from pathcast.pipeline.strategy import PartitionMode, PartitionStrategy
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

_POLL_SECONDS: Final = 0.2  # seconds between two looks at whether to stop


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What to run."""

    subscriptions: SubscriptionSource
    source: Source
    out: str
    settings: BatchSettings
    make_outbox: Callable[[str], Outbox] | None = None
    """Makes the outboxes of a folder of results."""
    batch_size: int = 1000
    """The most files or messages in a batch of a stream."""
    partition: PartitionMode = "auto"


@dataclass(frozen=True, slots=True)
class SubscriptionsLoaded:
    """Subscriptions are in use from the next batch on; some may have been skipped."""

    version: str
    subscriptions: int
    skipped: tuple[RejectedRow, ...]


@dataclass(frozen=True, slots=True)
class SubscriptionsRejected:
    """Subscriptions have changed and cannot be taken; those before stay in use."""

    error: PathcastError


@dataclass(frozen=True, slots=True)
class StrategyChosen:
    """How a version is matched: documents are spread, or subscriptions over so many fragments."""

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
    """One run of an order; `tell` hears what happens, in whichever thread that is.

    A `compiler` that has compiled the subscriptions before need not do so again.
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
        """All documents that are there, as one batch."""
        with self._open(streaming=False) as run:
            documents = self._spec.source.documents(self._session)
            run.claim()
            return self._batch(run, 0, documents)

    def run_stream(self, stopping: threading.Event, *, until_caught_up: bool = False) -> None:
        """Batch after batch until `stopping` is set, or with `available` until what was there has been taken."""
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
        store = Store(storage)
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
            return outcome  # Spark had not heard of it
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
    store: Store
    belongs: dict[str, str]
    batches: BatchRunner
    watch: _SubscriptionWatcher

    def claim(self) -> None:
        self.store.claim(self.belongs)


class _SubscriptionWatcher:
    """The subscriptions, as they are when a batch begins."""

    def __init__(
        self,
        source: SubscriptionSource,
        versions: VersionStore,
        on_event: Callable[[RunEvent], None],
    ) -> None:
        self._source = source
        self._versions = versions
        self._on_event = on_event
        self._seen: FilesState | None = None
        self._current = ""

    def begin(self) -> None:
        """Compile what is there; PipelineError if that cannot be."""
        self._seen = self._source.read_state()
        self._load()

    def version(self) -> str:
        """The name of the version for a batch that begins now."""
        try:
            state = self._source.read_state()
            if state != self._seen:
                self._load()
                self._seen = state if self._source.read_state() == state else None
        except PathcastError as error:
            self._seen = None  # look again next time
            self._on_event(SubscriptionsRejected(error))
        return self._current

    def _load(self) -> None:
        version, skipped = self._source.compile(self._versions.add)
        if version.name != self._current:
            self._current = version.name
            self._on_event(SubscriptionsLoaded(version.name, version.subscriptions, tuple(skipped)))


class _StreamStopping(Exception):
    """A batch was to begin after the stream was told to stop: Spark will begin it again next time."""


class _BatchCallback:
    """What Spark calls with each batch; it remembers what went wrong, which Spark would only tell as text."""

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
    """Wait for the end of a stream, and bring it about when told to."""
    try:
        while query.isActive and not stopping.wait(_POLL_SECONDS):
            pass
        # A batch that has begun is finished first, and Spark told so; the next one ends the stream by itself.
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
