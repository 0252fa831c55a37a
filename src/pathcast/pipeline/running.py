"""A run of the pipeline: one batch over all documents, or a stream of micro-batches.

Both process a batch in the same way (`batches`). A single run is batch 0 of its folder. A stream's
batches are Spark's micro-batches: Spark records the input of each in its checkpoint before it
starts. Together with the batch's plan, this makes a retry process the same input under the same
version.

A batch reads the state of the subscription files when it starts. If they changed, it compiles them
and is the first batch under the new version. If they cannot be compiled (a bad row, a file being
written), the old version stays in use, and the run emits `SubscriptionsRejected` once.

A stream ends between two batches. Setting the `stopping` event asks it to end; a batch that has
started completes first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from pathcast.errors import PathcastError
from pathcast.pipeline.batch_log import BatchLog, BatchOutcome
from pathcast.pipeline.batches import BatchRunner, BatchSettings
from pathcast.pipeline.checks import check_files_options, check_output_outside, run_identity
from pathcast.pipeline.hadoop import real_path
from pathcast.pipeline.partition_strategy import PartitionMode, PartitionStrategy
from pathcast.pipeline.partitioning import PartitionedMatcher
from pathcast.pipeline.run_events import (
    BatchDone,
    ManyFilesStaged,
    RunEvent,
    StrategyChosen,
    StreamIdle,
    SubscriptionsLoaded,
    SubscriptionsRejected,
)
from pathcast.pipeline.sinks import Outbox
from pathcast.pipeline.sources import AfterReading, BatchLimits, Source
from pathcast.pipeline.spark_errors import spark_errors_as, to_pipeline_error
from pathcast.pipeline.storage import Storage, open_storage
from pathcast.pipeline.subscription_watcher import SubscriptionWatcher
from pathcast.pipeline.subscriptions import SubscriptionSource
from pathcast.pipeline.versions import Version, VersionCompiler, VersionStore

__all__ = [
    "BatchDone",
    "ManyFilesStaged",
    "PipelineRun",
    "RunEvent",
    "RunSpec",
    "StrategyChosen",
    "StreamIdle",
    "SubscriptionsLoaded",
    "SubscriptionsRejected",
]

_POLL_SECONDS: Final = 0.2  # between checks of the stop event
_IDLE_SECONDS: Final = 10.0  # without a batch, until the stream counts as idle


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
    batch_bytes: int | None = None
    """The maximum number of bytes of files in a micro-batch, unless one file has more."""
    after_reading: AfterReading = field(default_factory=AfterReading)
    """What becomes of a file after the batch of a stream that read it."""


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
            folder = self._spec.source.open_streamed_folder(
                self._session,
                run.store.storage,
                self._spec.after_reading,
                lambda batch: run.store.done_outcome(batch) is not None,
            )

            def run_batch(number: int, rows: DataFrame) -> None:
                self._batch(run, number if folder is None else folder.number(number), rows)
                if folder is not None:
                    folder.finish(number)

            callback = _BatchCallback(run_batch, stopping)
            limits = BatchLimits(self._spec.batch_size, self._spec.batch_bytes)
            documents = self._spec.source.documents(self._session, limits, folder)
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
            _await_end(query, callback, stopping, self._on_event)

    @contextmanager
    def _open(self, *, streaming: bool) -> Iterator[_OpenRun]:
        with TemporaryDirectory(prefix="pathcast-") as cache:
            self._check_folders()
            storage = open_storage(self._session, self._spec.out, Path(cache))
            try:
                yield self._prepare(storage, Path(cache), streaming=streaming)
            finally:
                storage.close()

    def _check_folders(self) -> None:
        source, out = self._spec.source, self._spec.out
        check_files_options(source, self._spec.after_reading, self._spec.batch_bytes)
        if source.reads_files:
            paths = [real_path(self._session, path) for path in (source.path, out)]
            check_output_outside(source.path, out, *paths)

    def _prepare(self, storage: Storage, cache: Path, *, streaming: bool) -> _OpenRun:
        spec = self._spec
        store = BatchLog(storage)
        identity = run_identity(spec.source, streaming=streaming)
        store.lock(identity, resume=streaming)
        compiler = self._compiler or spec.subscriptions.compiler(cache / "versions")
        versions = VersionStore(storage, compiler)
        outbox = None if spec.make_outbox is None else spec.make_outbox(spec.out)
        matcher = PartitionedMatcher(
            self._session, spec.partition, self._on_strategy_chosen, cache / "fragments"
        )
        settings = replace(spec.settings, own_times=spec.source.has_own_times)
        batches = BatchRunner(
            self._session, store, versions, settings, matcher, outbox, self._on_many_files
        )
        watcher = SubscriptionWatcher(spec.subscriptions, versions, self._on_event)
        watcher.begin()
        if not streaming:
            versions.close()
        return _OpenRun(store, identity, batches, watcher, outbox)

    def _on_many_files(self, batch: int, files: int) -> None:
        self._on_event(ManyFilesStaged(batch, files))

    def _on_strategy_chosen(self, version: Version, strategy: PartitionStrategy) -> None:
        self._on_event(
            StrategyChosen(version.name, strategy.name, strategy.fragments, strategy.reason)
        )

    def _batch(self, run: _OpenRun, batch: int, documents: DataFrame) -> BatchOutcome:
        if (outcome := run.store.done_outcome(batch)) is not None:
            return outcome  # Spark did not commit the batch before it stopped
        try:
            outcome = run.batches.run(
                batch, documents, run.watch.version, has_own_ids=self._spec.source.has_own_ids
            )
        except PathcastError:
            raise
        except Exception as error:
            raise to_pipeline_error(error) from error
        self._on_event(BatchDone(batch, outcome))
        return outcome


@dataclass(frozen=True, slots=True)
class _OpenRun:
    store: BatchLog
    belongs: dict[str, str]
    batches: BatchRunner
    watch: SubscriptionWatcher
    outbox: Outbox | None

    def claim(self) -> None:
        self.store.claim(self.belongs)
        if self.outbox is not None:
            self.outbox.prepare()


class _StreamStopping(Exception):
    """Raised when a batch starts after the stop event; Spark repeats the batch in the next run."""


class _BatchCallback:
    """The `foreachBatch` callback; it keeps the original exception, which Spark reports as text
    only.
    """

    def __init__(
        self, run_batch: Callable[[int, DataFrame], None], stopping: threading.Event
    ) -> None:
        self._batch = run_batch
        self._stopping = stopping
        self._idle_since: float | None = time.monotonic()
        self.failed: Exception | None = None

    def __call__(self, documents: DataFrame, batch: int) -> None:
        if self._stopping.is_set():
            raise _StreamStopping
        self._idle_since = None
        try:
            self._batch(batch, documents)
        except Exception as error:
            self.failed = error
            raise
        self._idle_since = time.monotonic()

    def idle_seconds(self) -> float:
        """Return the seconds since the last batch; 0 while one runs."""
        since = self._idle_since
        return 0.0 if since is None else time.monotonic() - since


def _await_end(
    query: StreamingQuery,
    callback: _BatchCallback,
    stopping: threading.Event,
    on_event: Callable[[RunEvent], None],
) -> None:
    """Wait until the stream ends; stop it when `stopping` is set."""
    is_idle = False
    try:
        while query.isActive and not stopping.wait(_POLL_SECONDS):
            seconds = callback.idle_seconds()
            if seconds >= _IDLE_SECONDS and not is_idle:
                on_event(StreamIdle(seconds))
            is_idle = seconds >= _IDLE_SECONDS
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
