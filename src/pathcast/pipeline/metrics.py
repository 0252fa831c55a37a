"""Metrics of a run: totals over its batches, as JSON lines and as Prometheus text.

`RunTotals` sums up the outcomes of batches. `metrics_of` turns the totals into `Metric` values, and
`prometheus_text` renders any such values in the text format 0.0.4 of Prometheus. Metrics whose name
ends with `_total` are counters since the run started; the others are gauges of the last batch.
`batch_record` is the outcome of one batch as a JSON object.

>>> print(prometheus_text([Metric("refused_total", "Refused.", {(("kind", "size"),): 2})]), end="")
# HELP pathcast_refused_total Refused.
# TYPE pathcast_refused_total counter
pathcast_refused_total{kind="size"} 2
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathcast.pipeline.batch_log import BatchOutcome

__all__ = ["Metric", "RunTotals", "StepTimer", "batch_record", "metrics_of", "prometheus_text"]

_PREFIX: Final = "pathcast_"
_OUTCOMES: Final = ("matched", "unmatched", "refused", "repeated")
_COUNTS: Final = (
    *("documents", *_OUTCOMES),
    *("undecided", "bytes", "matches", "deliveries", "undelivered"),
)
MetricLabels = tuple[tuple[str, str], ...]


class StepTimer:
    """Measures consecutive steps: each ends where the next begins."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def end(self, step: str) -> None:
        """Record the seconds since the end of the previous step."""
        now = time.perf_counter()
        self.seconds[step] = round(now - self._last, 4)
        self._last = now


@dataclass(slots=True)
class RunTotals:
    """The sums over all batches of a run, and its last batch."""

    batches: int = 0
    documents: int = 0
    matched: int = 0
    unmatched: int = 0
    refused: int = 0
    repeated: int = 0
    undecided: int = 0
    bytes: int = 0
    matches: int = 0
    deliveries: int | None = None
    """None if no batch counted them."""
    undelivered: int = 0
    seconds: float = 0.0
    matching_seconds: float = 0.0
    """CPU seconds of matching itself, in all workers."""
    refusals: Counter[str] = field(default_factory=Counter)
    steps: dict[str, float] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    first: BatchOutcome | None = None
    last: BatchOutcome | None = None
    last_batch: int = -1
    last_time: float = 0.0
    """When the last batch was done, in seconds since 1970."""

    def add(self, batch: int, outcome: BatchOutcome, at: float | None = None) -> None:
        """Add the counts of a batch that was done at this time, by default now."""
        self.batches += 1
        for name in (*_COUNTS, "seconds", "matching_seconds"):
            if (amount := getattr(outcome, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + amount)
        self.refusals.update(outcome.refusals)
        for step, seconds in outcome.steps.items():
            self.steps[step] = self.steps.get(step, 0.0) + seconds
        if outcome.version not in self.versions[-1:]:
            self.versions.append(outcome.version)
        self.first = self.first or outcome
        self.last, self.last_batch = outcome, batch
        self.last_time = time.time() if at is None else at

    @property
    def lag(self) -> float | None:
        """The lag of the last batch."""
        return None if self.last is None else self.last.lag

    @property
    def rate(self) -> float:
        """Documents per second in steady state: without the first batch, if there are others."""
        return self._per_second("documents")

    @property
    def megabytes_per_second(self) -> float:
        """Megabytes per second in steady state."""
        return self._per_second("bytes") / 1e6

    @property
    def engine_rate(self) -> float | None:
        """Documents that the engine matches per CPU second, likewise; None if it is unknown."""
        return self._per_second("documents", "matching_seconds") if self.matching_seconds else None

    def _per_second(self, name: str, seconds_name: str = "seconds") -> float:
        amount, seconds = getattr(self, name), getattr(self, seconds_name)
        if self.batches > 1:
            amount -= getattr(self.first, name)
            seconds -= getattr(self.first, seconds_name)
        return float(amount / max(seconds, 1e-9))

    def as_dict(self) -> dict[str, object]:
        """Return the totals as values of JSON."""
        totals: dict[str, object] = {name: getattr(self, name) for name in ("batches", *_COUNTS)}
        totals["refusals"] = dict(self.refusals)
        totals["seconds"] = round(self.seconds, 3)
        totals["steps"] = {step: round(seconds, 3) for step, seconds in self.steps.items()}
        totals["documents_per_second"] = round(self.rate, 1)
        rate = self.engine_rate
        totals["engine_documents_per_second"] = None if rate is None else round(rate, 1)
        totals["megabytes_per_second"] = round(self.megabytes_per_second, 3)
        totals["lag"] = self.lag
        totals["versions"] = self.versions
        return totals


def batch_record(batch: int, outcome: BatchOutcome, at: float) -> dict[str, object]:
    """Return the metrics of a batch that was done at this time, as a JSON object."""
    return {
        "time": datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
        "batch": batch,
        "version": outcome.version,
        **{name: getattr(outcome, name) for name in _COUNTS},
        "refusals": dict(outcome.refusals),
        "seconds": outcome.seconds,
        "steps": dict(outcome.steps),
        "lag": outcome.lag,
    }


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of Prometheus, without the prefix of its name: a value for each set of labels."""

    name: str
    help: str
    values: Mapping[MetricLabels, float]


def metrics_of(totals: RunTotals) -> list[Metric]:
    """Return the metrics of a run."""

    def by_label(label: str, values: Mapping[str, float]) -> dict[MetricLabels, float]:
        return {((label, key),): value for key, value in values.items()}

    outcomes = {name: getattr(totals, name) for name in _OUTCOMES}
    metrics = [
        Metric("batches_total", "Batches done.", {(): totals.batches}),
        Metric("documents_total", "Documents by outcome.", by_label("outcome", outcomes)),
        Metric("refused_total", "Refused documents.", by_label("kind", totals.refusals)),
        Metric("bytes_total", "Bytes of documents.", {(): totals.bytes}),
        Metric("matches_total", "Pairs of document and subscription.", {(): totals.matches}),
        Metric("undelivered_total", "Rejected deliveries.", {(): totals.undelivered}),
        Metric("undecided_total", "Undecided subscriptions.", {(): totals.undecided}),
        Metric("step_seconds_total", "Seconds by step.", by_label("step", totals.steps)),
    ]
    if totals.deliveries is not None:
        help_text = "Pairs of document and subscriber."
        metrics.append(Metric("deliveries_total", help_text, {(): totals.deliveries}))
    if totals.last is not None:
        last = totals.last
        metrics += [
            Metric("batch", "The number of the last batch.", {(): totals.last_batch}),
            Metric("batch_documents", "Documents of the last batch.", {(): last.documents}),
            Metric("batch_seconds", "Seconds of the last batch.", {(): last.seconds}),
            Metric("batch_timestamp_seconds", "When it was done.", {(): totals.last_time}),
        ]
        if last.lag is not None:
            metrics.append(Metric("lag_seconds", "Age of its newest document.", {(): last.lag}))
    return metrics


def prometheus_text(metrics: Iterable[Metric]) -> str:
    """Render metrics in the text format of Prometheus."""
    lines = []
    for metric in metrics:
        name = f"{_PREFIX}{metric.name}"
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {metric.help}", f"# TYPE {name} {kind}"]
        for labels, value in metric.values.items():
            pairs = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
            lines.append(f"{name}{{{pairs}}} {value}" if pairs else f"{name} {value}")
    return "".join(f"{line}\n" for line in lines)


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
