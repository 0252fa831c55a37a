"""The display of a pipeline run: a progress line, messages, and a summary at the end."""

from __future__ import annotations

import time
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pathcast.cli.console import plural, say
from pathcast.pipeline.metrics import RunTotals

if TYPE_CHECKING:
    from pathcast.pipeline.batch_log import BatchOutcome
    from pathcast.pipeline.run_events import RunEvent
    from pathcast.pipeline.session import SparkSession

__all__ = ["RunDisplay", "batch_line", "totals_table"]


def totals_table(totals: RunTotals) -> str:
    """Return the totals of a run, a line each."""
    batches = f"{totals.batches:,} batch{'' if totals.batches == 1 else 'es'}"
    rows = [
        ("documents", f"{totals.documents:,} in {batches}"),
        ("matched", f"{totals.matched:,}"),
        ("unmatched", f"{totals.unmatched:,}"),
        ("refused", f"{totals.refused:,}"),
        ("repeated", f"{totals.repeated:,}"),
        ("undecided", f"{totals.undecided:,} subscriptions"),
        ("matches", f"{totals.matches:,}"),
        ("deliveries", f"{totals.deliveries or 0:,}"),
        ("undelivered", f"{totals.undelivered:,}"),
        ("documents/s", f"{totals.rate:,.0f} ({totals.megabytes_per_second:.2f} MB/s)"),
        ("engine", f"{totals.engine_rate or 0:,.0f} documents/s on each core"),
        ("versions", ", ".join(totals.versions)),
    ]
    optional = {
        "repeated": totals.repeated,
        "deliveries": totals.deliveries is not None,
        "undecided": totals.undecided,
        "undelivered": totals.undelivered,
        "engine": totals.engine_rate,
    }
    return "\n".join(f"{name:<15} {text}" for name, text in rows if optional.get(name, True))


class RunDisplay:
    """Observes the events of a run, shows them on stderr, and sums up the batches.

    On a terminal it updates one line; elsewhere it writes a line per batch, at most one a second.
    Lines of a stream begin with the time.
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

    def show_progress(self, complete: int, total: int) -> None:
        """Show how much of the current step is complete; a total of 0 is unknown."""
        self._bar.update(self._task, completed=complete, total=total or None)

    def show_tasks(self) -> None:
        """Show how many tasks of the running Spark stages are complete."""
        from pathcast.pipeline.session import task_progress

        if self._live:
            self.show_progress(*task_progress())

    def show_ui(self, session: SparkSession) -> None:
        """Say where Spark's web interface is, if it is on."""
        from pathcast.pipeline.session import ui_address

        address = ui_address(session)
        if address is not None:
            self._say(f"Spark's web interface: {address}")

    def on_stop(self) -> None:
        self._say("ending after this batch", "yellow")

    def on_event(self, event: RunEvent) -> None:
        """Handle an event of the run; may be called from another thread."""
        from pathcast.pipeline.run_events import (
            BatchDone,
            ManyFilesStaged,
            StrategyChosen,
            StreamIdle,
            SubscriptionsLoaded,
            SubscriptionsRejected,
        )

        match event:
            case SubscriptionsLoaded(version, subscriptions, skipped):
                for bad in skipped:
                    say(str(bad), "yellow", self._bar.console)
                suffix = f", {len(skipped):,} skipped" if skipped else ""
                self._say(f"version {version}: {plural(subscriptions, 'subscription')}{suffix}")
                self.show_step("waiting for documents")
            case StrategyChosen(version, partition, _, reason):
                self._say(f"version {version}: {partition} are partitioned, {reason}")
            case SubscriptionsRejected(error):
                self._say(f"{_clock()} the previous subscriptions stay in use: {error}", "yellow")
            case StreamIdle(seconds):
                self._say(f"{_clock()} no documents for {seconds:.0f} s, waiting")
                self.show_step("waiting for documents")
            case ManyFilesStaged(batch, files):
                text = f"batch {batch} delivers {files:,} files; --deliver segments needs a few"
                self._say(f"{_clock()} {text}", "yellow")
            case BatchDone(batch, outcome):
                self.totals.add(batch, outcome)
                line = f"{_clock()} {batch_line(batch, outcome)}"
                self.show_step(line)
                now = time.monotonic()
                if not self._live and now - self._last_line_time >= 1:
                    self._last_line_time = now
                    self._say(line)

    def _say(self, text: str, style: str = "") -> None:
        say(f"pathcast: {text}", style, self._bar.console)


def batch_line(batch: int, outcome: BatchOutcome) -> str:
    """Return the line of a batch: its own counts, time and rate."""
    seconds = max(outcome.seconds, 1e-9)
    lag = "" if outcome.lag is None else f", lag {outcome.lag:,.1f} s"
    return (
        f"batch {batch}: {plural(outcome.documents, 'document')} in {outcome.seconds:.2f} s,"
        f" {outcome.documents / seconds:,.0f}/s, {outcome.bytes / 1e6 / seconds:.2f} MB/s,"
        f" {outcome.matches:,} matches, {outcome.refused:,} refused{lag}"
    )


def _clock() -> str:
    return f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
