"""`write_stream`: a stream of documents, matched into tables and outboxes exactly once.

It is `pathcast run --stream` for any streaming DataFrame. Every micro-batch becomes a batch of the
result folder (docs/reference/tables.md), by the same code. The checkpoint of the query is in the
folder. A query that was stopped or killed continues when `write_stream` is called again with the
same folder; batches that are done are not repeated.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from pathcast.documents import Limits
from pathcast.errors import PipelineError
from pathcast.pipeline.batch_log import BatchLog
from pathcast.pipeline.batches import BatchRunner, BatchSettings
from pathcast.pipeline.partitioning import PartitionedMatcher
from pathcast.pipeline.run_events import RunEvent, SubscriptionsRejected
from pathcast.pipeline.sinks.choice import outbox_factory
from pathcast.pipeline.sources.tables import row_documents
from pathcast.pipeline.spark_errors import spark_errors_as
from pathcast.pipeline.storage import Storage, open_storage
from pathcast.pipeline.subscription_watcher import SubscriptionWatcher
from pathcast.pipeline.subscriptions import SubscriptionSource
from pathcast.pipeline.versions import Version, VersionCompiler, VersionStore
from pathcast.pipeline.worker_files import WorkerFile
from pathcast.spark.columns import check_body, check_column, quote
from pathcast.spark.compiled import Compiled, SubscriptionsLike, compile_once

__all__ = ["write_stream"]

_LOG: Final = logging.getLogger("pathcast")
_IDENTITY: Final = {"run": "stream", "documents": "a DataFrame"}
_closers: dict[str, _Closer] = {}
"""The last query of each folder, which may still hold its lock for a moment after its end."""


def write_stream(
    df: DataFrame,
    subscriptions: Compiled | SubscriptionsLike,
    path: str | Path,
    *,
    column: str = "body",
    id: str = "id",
    deliver: str = "none",
    trigger: Mapping[str, Any] | None = None,
) -> StreamingQuery:
    """Match a stream into the folder `path`, exactly once; return the query, which runs.

    `column` holds the documents and `id` their ids, which must be unique in a micro-batch; a column
    `time` is recorded. If `subscriptions` is a path, changes to the files take effect with the next
    micro-batch. `deliver` is `none` (tables of matches and errors only), `segments`, `files`,
    `links` or an address of NATS, as `pathcast run --deliver`. `trigger` has the arguments of
    Spark's, such as `{"availableNow": True}`.

    Spark Connect cannot run it: there, write what `match` returns.
    """
    session = df.sparkSession
    if type(session).__module__ != "pyspark.sql.session":
        raise PipelineError(
            "stream",
            "write_stream needs a classic session, not one of Spark Connect",
            hint="write the stream that match() or deliveries() returns",
        )
    check_body(df, column)
    check_column(df, id, "id")
    if not df.isStreaming:
        raise PipelineError(
            "stream", "the DataFrame is not a stream", hint="use spark.readStream, or match()"
        )
    make_outbox = outbox_factory(deliver)
    _await_release(str(path))
    with ExitStack() as stack:
        cache = Path(stack.enter_context(TemporaryDirectory(prefix="pathcast-")))
        storage = open_storage(session, str(path), cache)
        stack.callback(storage.close)
        log = BatchLog(storage)
        log.lock(_IDENTITY, resume=True)
        settings, versions, version = _subscriptions(subscriptions, storage, cache, deliver)
        outbox = None if make_outbox is None else make_outbox(str(path))
        runner = BatchRunner(
            session,
            log,
            versions,
            settings,
            PartitionedMatcher(session, "auto", lambda *_: None, cache / "fragments"),
            outbox,
            lambda *_: None,
        )
        name = F.col(quote(id)).cast("string")
        documents = row_documents(df, name, column, str(path), settings.limits.size)
        log.claim(_IDENTITY)
        if outbox is not None:
            outbox.prepare()

        def run_batch(rows: DataFrame, batch: int) -> None:
            if log.done_outcome(batch) is None:
                runner.run(batch, rows, version, has_own_ids=True)

        writer = documents.writeStream.foreachBatch(run_batch).option(
            "checkpointLocation", storage.path("checkpoint")
        )
        with spark_errors_as("stream", str(path)):
            query = (writer.trigger(**trigger) if trigger else writer).start()
        _close_after(query, stack.pop_all(), str(path))
    return query


def _subscriptions(
    source: Compiled | SubscriptionsLike, storage: Storage, cache: Path, deliver: str
) -> tuple[BatchSettings, VersionStore, Callable[[], str]]:
    """Return the settings, the store of versions, and a function to the version of a new batch."""
    writes_deliveries = deliver != "none"
    if isinstance(source, str | Path):
        files = SubscriptionSource(Path(source))
        versions = VersionStore(storage, files.compiler(cache / "versions"))
        watcher = SubscriptionWatcher(files, versions, _report)
        watcher.begin()
        return BatchSettings(Limits(), deliveries=writes_deliveries), versions, watcher.version
    compiled = compile_once(source)
    versions = VersionStore(storage, VersionCompiler(cache / "versions"))
    name = versions.put(_version(compiled, cache)).name
    settings = BatchSettings(
        compiled.limits, deadline=compiled.deadline, deliveries=writes_deliveries
    )
    return settings, versions, lambda: name


def _version(compiled: Compiled, folder: Path) -> Version:
    """Write compiled subscriptions to files of this machine."""
    snapshot, routes = (
        _save(file, folder / file.name) for file in (compiled.snapshot, compiled.routes)
    )
    return Version(compiled.version, snapshot, routes, compiled.count, compiled.hops)


def _save(file: WorkerFile, path: Path) -> Path:
    content = file.locate()
    if isinstance(content, str):
        copyfile(content, path)
    else:
        path.write_bytes(content.read())
    return path


def _report(event: RunEvent) -> None:
    if isinstance(event, SubscriptionsRejected):
        _LOG.warning("the subscriptions changed and cannot be used: %s", event.error)


class _Closer(NamedTuple):
    query: StreamingQuery
    thread: threading.Thread


def _await_release(path: str) -> None:
    """Wait until a query of this process that has ended releases the folder."""
    closer = _closers.get(path)
    if closer is not None and not closer.query.isActive:
        closer.thread.join()


def _close_after(query: StreamingQuery, stack: ExitStack, path: str) -> None:
    """Release the folder when the query ends."""

    def wait() -> None:
        with stack:
            try:
                query.awaitTermination()
            except Exception:  # noqa: BLE001 - the caller gets it from the query
                _LOG.debug("the query failed", exc_info=True)

    thread = threading.Thread(target=wait, name="pathcast-stream", daemon=True)
    _closers[path] = _Closer(query, thread)
    thread.start()
