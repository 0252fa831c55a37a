"""`pathcast demo`: the main job on a feed of our own, from nothing to outboxes and a report.

The feed is written to a folder, half of it at first. The pipeline streams it; when that half is done, some readers leave and others come, and
the other half follows. At the end a sample of the deliveries is compared with what lxml says.
"""

from __future__ import annotations

import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, say
from pathcast.cli.demo_feed import feed, subscriptions
from pathcast.cli.report import write_statistics
from pathcast.cli.run import require_spark
from pathcast.cli.run_output import RunDisplay
from pathcast.errors import PathcastError
from pathcast.files import Subscription, write_subscriptions

if TYPE_CHECKING:
    from pathcast.pipeline.audit import AuditResult
    from pathcast.pipeline.running import RunEvent
    from pathcast.pipeline.session import SparkSession

__all__ = ["demo"]

_MARK = ".pathcast-demo"
_BATCHES = 2
"""Batches for each half of the feed."""
_CHANGED = 20
"""One reader in so many leaves, and as many come."""
_AUDITED = 12


def demo(
    documents: Annotated[
        int, typer.Option("--documents", min=0, help="How many documents to generate.")
    ] = 400,
    wanted: Annotated[
        int, typer.Option("--subscriptions", min=0, help="How many subscriptions to generate.")
    ] = 10_000,
    readers: Annotated[int, typer.Option("--readers", min=1, help="Whose they are.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another feed.")] = 1,
    folder: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FOLDER", help="Where all of it goes; an earlier demo's is replaced."
        ),
    ] = Path("pathcast-demo"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Stream a generated feed through the pipeline, deliver it, and check a sample.

    The feed has news, weather, stock quotes and alerts; a few of its documents are broken on purpose. On the way some
    readers leave and others come.

    Exit code: 0; 1 if the run failed, or a delivery was not as lxml says; 2 for a bad call.

    Example: `pathcast demo --documents 2000 --seed 7`
    """
    require_spark()
    _prepare(folder)
    with Output() as output, RunDisplay() as display:
        try:
            display.show_step("writing the feed")
            show = _Show(folder, documents, wanted, readers, seed, display)
            found = show.run()
        except PathcastError as error:
            display.close()
            say(f"pathcast: {error}", "red")
            raise typer.Exit(FAILED) from None
        totals = display.totals
        results = folder / "results"
        places = {"outboxes": results / "outboxes", "report": results / "report.html"}
        if as_json:
            told = {
                "documents": found.documents,
                "deliveries": found.deliveries,
                "wrong": found.mismatches,
            }
            files = {name: str(path) for name, path in places.items()}
            output.json({"seed": seed, **totals.as_dict(), "audit": told, **files})
        else:
            output.text(totals.table())
            verdict = f"{len(found.mismatches):,} WRONG" if found.mismatches else "all as lxml says"
            text = f"{found.deliveries:,} deliveries of {found.documents:,} documents: {verdict}"
            output.text(f"{'checked':<15} {text}")
            for name, path in places.items():
                output.text(f"{name:<15} {path}")
    for one in found.mismatches:
        say(f"pathcast: {one}", "red")
    if found.mismatches:
        raise typer.Exit(FAILED)


def _prepare(folder: Path) -> None:
    """An empty folder, in place of one that an earlier demo made."""
    if folder.exists():
        if not (folder / _MARK).exists() and (not folder.is_dir() or any(folder.iterdir())):
            fail(f"{folder} is there already, and no demo made it; choose another with --out")
        shutil.rmtree(folder)
    try:
        (folder / "feed").mkdir(parents=True)
        (folder / _MARK).touch()
    except OSError as error:
        fail(f"cannot make {folder}: {error.strerror or error}")


@dataclass(slots=True)
class _Half:
    """A part of the feed, and who reads it."""

    documents: list[tuple[str, bytes]]
    readers: list[Subscription]


class _Show:
    """What happens, one thing after the other."""

    def __init__(
        self,
        folder: Path,
        documents: int,
        wanted: int,
        readers: int,
        seed: int,
        display: RunDisplay,
    ) -> None:
        everything = list(feed(documents, seed))
        middle = len(everything) // 2
        first = list(subscriptions(wanted, readers, seed))
        self._halves = [
            _Half(everything[:middle], first),
            _Half(everything[middle:], _changed(first)),
        ]
        self._folder = folder
        self._display = display
        self._batch = max(1, -(-documents // (2 * _BATCHES)))
        self._stopping = threading.Event()
        self._shown = 0
        self._versions: dict[str, list[Subscription]] = {}

    def run(self) -> AuditResult:
        from pathcast.documents import Limits
        from pathcast.pipeline.batches import BatchSettings
        from pathcast.pipeline.running import PipelineRun, RunSpec
        from pathcast.pipeline.session import session_for
        from pathcast.pipeline.sinks.files import FileOutboxes
        from pathcast.pipeline.sources import Source
        from pathcast.pipeline.subscriptions import SubscriptionSource

        self._show()
        results = (self._folder / "results").resolve()
        order = RunSpec(
            SubscriptionSource(self._folder / "subscriptions.jsonl"),
            Source(str((self._folder / "feed").resolve()), "files", Limits().size),
            str(results),
            BatchSettings(Limits(), structures=1.0),
            lambda _: FileOutboxes(results / "outboxes"),
            self._batch,
        )
        self._display.show_step("starting Spark")
        with session_for(brief=True) as session:
            if any(half.documents for half in self._halves):
                PipelineRun(session, order, self._hear).run_stream(self._stopping)
                self._display.show_step("computing statistics")
                write_statistics(session, str(results))
            self._display.show_step("asking lxml")
            return self._audit(session, results)

    def _show(self) -> None:
        """The next half."""
        half = self._halves[self._shown]
        write_subscriptions(self._folder / "subscriptions.jsonl", half.readers)
        for name, body in half.documents:
            draft = self._folder / "feed" / f".{name}"
            draft.write_bytes(body)
            draft.rename(self._folder / "feed" / name)
        self._shown += 1
        if not half.documents and self._shown < len(self._halves):
            self._show()

    def _hear(self, event: RunEvent) -> None:
        from pathcast.pipeline.running import SubscriptionsLoaded

        self._display.on_event(event)
        if isinstance(event, SubscriptionsLoaded):
            self._versions[event.version] = self._halves[self._shown - 1].readers
        awaited = sum(len(half.documents) for half in self._halves[: self._shown])
        if self._display.totals.documents >= awaited:
            if self._shown < len(self._halves):
                self._show()
            else:
                self._stopping.set()

    def _audit(self, session: SparkSession, results: Path) -> AuditResult:
        from pathcast.pipeline.audit import AuditResult, audit

        everything = [one for half in self._halves for one in half.documents]
        if not everything:
            return AuditResult(0, 0, ())
        step = max(1, len(everything) // _AUDITED)
        return audit(session, results, dict(everything[::step][:_AUDITED]), self._versions)


def _changed(before: list[Subscription]) -> list[Subscription]:
    """Some leave, and others come, who want the same."""
    return [
        Subscription(f"{one.id}-new", one.xpath, one.namespaces, f"{one.subscriber}-new")
        if number % _CHANGED == 0
        else one
        for number, one in enumerate(before)
    ]
