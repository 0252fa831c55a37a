"""`Progress`: the work of streaming queries as metrics for Prometheus.

    progress = Progress()
    spark.streams.addListener(progress)
    ...
    print(progress.text())

Spark reports every micro-batch to the listener: its rows and the seconds of its steps. Numbers that
a query observes under the name `pathcast` (`df.observe("pathcast", ...)`) are added up, too.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from pathcast.pipeline.metrics import Metric, prometheus_text

__all__ = ["Progress"]

_OBSERVATION: Final = "pathcast"


class _LastBatch(NamedTuple):
    number: int
    rows: int
    seconds: float


class Progress(StreamingQueryListener):
    """Adds up what Spark reports of streaming queries, by the name or the id of each."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._batches: dict[str, float] = {}
        self._rows: dict[str, float] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        self._observed: dict[tuple[str, str], float] = {}
        self._last: dict[str, _LastBatch] = {}
        self._running: dict[str, str] = {}

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Count the query as running."""
        with self._lock:
            self._running[str(event.id)] = event.name or str(event.id)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Add the numbers of a micro-batch."""
        progress = event.progress
        name = progress.name or str(progress.id)
        steps = {step: milliseconds / 1000 for step, milliseconds in progress.durationMs.items()}
        row = progress.observedMetrics.get(_OBSERVATION)
        with self._lock:
            _add(self._batches, name, 1)
            _add(self._rows, name, progress.numInputRows)
            for step, seconds in steps.items():
                if step != "triggerExecution":  # the sum of the others
                    _add(self._seconds, (name, step), seconds)
            for field, value in ({} if row is None else row.asDict()).items():
                _add(self._observed, (name, field), value or 0)
            self._last[name] = _LastBatch(
                progress.batchId, progress.numInputRows, steps.get("triggerExecution", 0.0)
            )

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Ignore that a query waits for rows."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Count the query as ended."""
        with self._lock:
            self._running.pop(str(event.id), None)

    def metrics(self) -> list[Metric]:
        """Return the metrics of all queries since the listener was added."""
        with self._lock:
            last = self._last.items()
            numbers, rows, seconds = (
                {name: batch[field] for name, batch in last} for field in range(3)
            )
            return [
                Metric("queries", "Queries that run.", {(): len(self._running)}),
                _metric("query_batches_total", "Micro-batches.", self._batches),
                _metric("query_rows_total", "Rows read.", self._rows),
                _metric("query_step_seconds_total", "Seconds by step.", self._seconds, "step"),
                _metric("query_observed_total", "Numbers observed.", self._observed, "name"),
                _metric("query_batch", "The number of the last micro-batch.", numbers),
                _metric("query_batch_rows", "Rows of the last micro-batch.", rows),
                _metric("query_batch_seconds", "Seconds of the last micro-batch.", seconds),
            ]

    def text(self) -> str:
        """Return the metrics in the text format of Prometheus."""
        return prometheus_text(self.metrics())


def _add(totals: dict[Any, float], key: object, value: float) -> None:
    totals[key] = totals.get(key, 0) + value


def _metric(name: str, help: str, values: Mapping[Any, float], label: str | None = None) -> Metric:
    """Return a metric by query, and by a second label if there is one."""
    if label is None:
        return Metric(name, help, {(("query", query),): value for query, value in values.items()})
    return Metric(
        name,
        help,
        {(("query", query), (label, part)): value for (query, part), value in values.items()},
    )
