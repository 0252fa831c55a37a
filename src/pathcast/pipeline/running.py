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
    outbox: Callable[[str], Outbox] | None = None
    """Makes the outboxes of a folder of results."""
    batch: int = 1000
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
        order: RunSpec,
        tell: Callable[[RunEvent], None],
        compiler: VersionCompiler | None = None,
    ) -> None:
        self._session = session
        self._order = order
        self._tell = tell
        self._compiler = compiler

    def once(self) -> BatchOutcome:
        """All documents that are there, as one batch."""
        with self._opened(streaming=False) as parts:
            documents = self._order.source.documents(self._session)
            parts.claim()
            return self._batch(parts, 0, documents)

    def stream(self, stopping: threading.Event, *, available: bool = False) -> None:
        """Batch after batch until `stopping` is set, or with `available` until what was there has been taken."""
        with self._opened(streaming=True) as parts:
            step = _BatchCallback(lambda number, rows: self._step(parts, number, rows), stopping)
            documents = self._order.source.documents(self._session, self._order.batch)
            parts.claim()
            writer = documents.writeStream.foreachBatch(step).option(
                "checkpointLocation", parts.store.storage.path("checkpoint")
            )
            trigger = (
                writer.trigger(availableNow=True)
                if available
                else writer.trigger(processingTime="0 seconds")
            )
            with spark_errors_as("stream", self._order.out):
                query = trigger.start()
            _await_end(query, step, stopping)

    @contextmanager
    def _opened(self, *, streaming: bool) -> Iterator[_OpenRun]:
        with TemporaryDirectory(prefix="pathcast-") as cache:
            self._order.source.check_apart(self._session, self._order.out)
            storage = open_storage(self._session, self._order.out, Path(cache))
            try:
                yield self._parts(storage, Path(cache), streaming=streaming)
            finally:
                storage.close()

    def _parts(self, storage: Storage, cache: Path, *, streaming: bool) -> _OpenRun:
        order = self._order
        store = Store(storage)
        kind = "stream" if streaming else "batch"
        belongs = {"run": kind, "documents": order.source.name}
        store.lock(belongs, again=streaming)
        compiler = self._compiler or order.subscriptions.compiler(cache / "versions")
        versions = VersionStore(storage, compiler)
        outbox = None if order.outbox is None else order.outbox(order.out)
        assignment = PartitionedMatcher(
            self._session, order.partition, self._chosen, cache / "fragments"
        )
        batches = BatchRunner(
            self._session, store, versions, order.settings, assignment.match, outbox
        )
        watch = _SubscriptionWatcher(order.subscriptions, versions, self._tell)
        watch.begin()
        if not streaming:
            versions.close()
        return _OpenRun(store, belongs, batches, watch)

    def _chosen(self, version: Version, strategy: PartitionStrategy) -> None:
        self._tell(StrategyChosen(version.name, strategy.name, strategy.fragments, strategy.reason))

    def _step(self, parts: _OpenRun, number: int, documents: DataFrame) -> BatchOutcome:
        storage = parts.store.storage
        found = self._order.source.with_empty(self._session, documents, storage, number)
        return self._batch(parts, number, found)

    def _batch(self, parts: _OpenRun, number: int, documents: DataFrame) -> BatchOutcome:
        if (done := parts.store.done(number)) is not None:
            return done  # Spark had not heard of it
        try:
            whole = self._order.source.checked(documents)
            outcome = parts.batches.run(
                number, whole, parts.watch.version, shuffled=self._order.source.has_ids
            )
        except PathcastError:
            raise
        except Exception as error:
            raise to_pipeline_error(error) from error
        lag = None if outcome.latest is None else time.time() - outcome.latest
        self._tell(BatchDone(number, outcome, lag))
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
        self, source: SubscriptionSource, versions: VersionStore, tell: Callable[[RunEvent], None]
    ) -> None:
        self._source = source
        self._versions = versions
        self._tell = tell
        self._seen: FilesState | None = None
        self._current = ""

    def begin(self) -> None:
        """Compile what is there; PipelineError if that cannot be."""
        self._seen = self._source.state()
        self._take()

    def version(self) -> str:
        """The name of the version for a batch that begins now."""
        try:
            state = self._source.state()
            if state != self._seen:
                self._take()
                self._seen = state if self._source.state() == state else None
        except PathcastError as error:
            self._seen = None  # look again next time
            self._tell(SubscriptionsRejected(error))
        return self._current

    def _take(self) -> None:
        version, skipped = self._source.compiled(self._versions.add)
        if version.name != self._current:
            self._current = version.name
            self._tell(SubscriptionsLoaded(version.name, version.subscriptions, tuple(skipped)))


class _StreamStopping(Exception):
    """A batch was to begin after the stream was told to stop: Spark will begin it again next time."""


class _BatchCallback:
    """What Spark calls with each batch; it remembers what went wrong, which Spark would only tell as text."""

    def __init__(
        self, batch: Callable[[int, DataFrame], BatchOutcome], stopping: threading.Event
    ) -> None:
        self._batch = batch
        self._stopping = stopping
        self.failed: Exception | None = None

    def __call__(self, documents: DataFrame, number: int) -> None:
        if self._stopping.is_set():
            raise _StreamStopping
        try:
            self._batch(number, documents)
        except Exception as error:
            self.failed = error
            raise


def _await_end(query: StreamingQuery, step: _BatchCallback, stopping: threading.Event) -> None:
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
    if step.failed is not None:
        raise step.failed
    error = query.exception()
    if error is not None and not stopping.is_set():
        raise to_pipeline_error(error, "stream") from error
