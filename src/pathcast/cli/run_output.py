"""The display of a pipeline run: a progress line, messages, and a summary at the end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pathcast.cli.console import say

if TYPE_CHECKING:
    from pathcast.pipeline.batch_log import BatchOutcome
    from pathcast.pipeline.running import RunEvent

__all__ = ["RunDisplay", "RunTotals"]


@dataclass(slots=True)
class RunTotals:
    """The sums over all batches of a run."""

    batches: int = 0
    documents: int = 0
    matched: int = 0
    unmatched: int = 0
    refused: int = 0
    repeated: int = 0
    undecided: int = 0
    bytes: int = 0
    matches: int = 0
    deliveries: int = 0
    undelivered: int = 0
    seconds: float = 0.0
    lag: float | None = None
    versions: list[str] = field(default_factory=list)

    def add(self, outcome: BatchOutcome, lag: float | None) -> None:
        """Add the counts of a batch."""
        self.batches += 1
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(outcome, name))
        self.lag = lag
        if outcome.version not in self.versions[-1:]:
            self.versions.append(outcome.version)

    @property
    def rate(self) -> float:
        return self.documents / max(self.seconds, 1e-9)

    @property
    def megabytes_per_second(self) -> float:
        return self.bytes / 1e6 / max(self.seconds, 1e-9)

    def as_dict(self) -> dict[str, object]:
        totals: dict[str, object] = {name: getattr(self, name) for name in ("batches", *_SUMMED)}
        totals["seconds"] = round(self.seconds, 3)
        totals["documents_per_second"] = round(self.rate, 1)
        totals["megabytes_per_second"] = round(self.megabytes_per_second, 3)
        totals["lag"] = None if self.lag is None else round(self.lag, 3)
        totals["versions"] = self.versions
        return totals

    def table(self) -> str:
        rows = [
            (
                "documents",
                f"{self.documents:,} in {self.batches:,} batch{'' if self.batches == 1 else 'es'}",
            ),
            ("matched", f"{self.matched:,}"),
            ("unmatched", f"{self.unmatched:,}"),
            ("refused", f"{self.refused:,}"),
            ("repeated", f"{self.repeated:,}"),
            ("undecided", f"{self.undecided:,} subscriptions"),
            ("matches", f"{self.matches:,}"),
            ("deliveries", f"{self.deliveries:,}"),
            ("undelivered", f"{self.undelivered:,}"),
            ("documents/s", f"{self.rate:,.0f} ({self.megabytes_per_second:.2f} MB/s)"),
            ("versions", ", ".join(self.versions)),
        ]
        optional = {
            "repeated": self.repeated,
            "undecided": self.undecided,
            "undelivered": self.undelivered,
        }
        return "\n".join(f"{name:<15} {text}" for name, text in rows if optional.get(name, True))


_SUMMED = (
    "documents", "matched", "unmatched", "refused", "repeated",
    "undecided", "bytes", "matches", "deliveries", "undelivered", "seconds",
)  # fmt: skip


class RunDisplay:
    """Observes the events of a run, shows them on stderr, and sums up the batches.

    On a terminal it updates one line; elsewhere it writes a line per batch, at most one a second.
    """

    def __init__(self) -> None:
        self.totals = RunTotals()
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._live,
        )
        self._task = self._bar.add_task("", total=None)
        self._last_line_time = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._bar.stop()

    def show_step(self, step: str) -> None:
        """Show the current step."""
        self._bar.update(self._task, description=step)

    def on_stop(self) -> None:
        say("pathcast: ending after this batch", "yellow", self._bar.console)

    def on_event(self, event: RunEvent) -> None:
        """Handle an event of the run; may be called from another thread."""
        from pathcast.pipeline.running import (
            BatchDone,
            StrategyChosen,
            SubscriptionsLoaded,
            SubscriptionsRejected,
        )

        match event:
            case SubscriptionsLoaded(version, subscriptions, skipped):
                for bad in skipped:
                    say(str(bad), "yellow", self._bar.console)
                suffix = f", {len(skipped):,} skipped" if skipped else ""
                self._say(f"version {version}: {subscriptions:,} subscriptions{suffix}")
                self.show_step("waiting for documents")
            case StrategyChosen(version, partition, _, reason):
                self._say(f"version {version}: {partition} are partitioned, {reason}")
            case SubscriptionsRejected(error):
                say(
                    f"pathcast: the previous subscriptions stay in use: {error}",
                    "yellow",
                    self._bar.console,
                )
            case BatchDone(batch, outcome, lag):
                self.totals.add(outcome, lag)
                self.show_step(self._line())
                now = time.monotonic()
                if not self._live and now - self._last_line_time >= 1:
                    self._last_line_time = now
                    self._say(f"after batch {batch}: {self._line()}")

    def _line(self) -> str:
        totals = self.totals
        lag = "" if totals.lag is None else f", lag {totals.lag:,.1f} s"
        return (
            f"{totals.documents:,} documents, {totals.rate:,.0f}/s,"
            f" {totals.megabytes_per_second:.2f} MB/s, {totals.matches:,} matches,"
            f" {totals.refused:,} refused{lag}, version {totals.versions[-1]}"
        )

    def _say(self, text: str) -> None:
        say(f"pathcast: {text}", console=self._bar.console)
