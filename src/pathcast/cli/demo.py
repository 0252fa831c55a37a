"""`pathcast demo`: streams a generated feed through the pipeline, from subscriptions to a report.

The first half of the feed is written to a folder, and the pipeline streams it. When that half is
processed, some readers are replaced by new ones, and the second half is written. At the end an
audit compares a sample of the deliveries with the results of lxml.
"""

from __future__ import annotations

import shutil
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, say
from pathcast.cli.demo_feed import generate_feed, generate_subscriptions
from pathcast.cli.interruptible import run_interruptibly
from pathcast.cli.option_groups import option_group, with_option_groups
from pathcast.cli.report import BusySubscription, busiest_lines, write_statistics
from pathcast.cli.run import require_spark
from pathcast.cli.run_output import RunDisplay, totals_table
from pathcast.errors import PathcastError
from pathcast.files import Subscription, write_subscriptions
from pathcast.files.outboxes import SEGMENTS_FOLDER

if TYPE_CHECKING:
    from pathcast.pipeline.audit import AuditResult
    from pathcast.pipeline.running import RunEvent
    from pathcast.pipeline.session import SparkSession

__all__ = ["demo"]

_MARKER = ".pathcast-demo"  # marks a folder that a later demo may replace
_BATCHES_PER_PHASE = 2
_REPLACEMENT_INTERVAL = 20  # one subscription in 20 gets a new reader in the second phase
_AUDITED_DOCUMENTS = 12


@option_group
class DemoOptions:
    """The size of the demonstration, its seed and its folder."""

    documents: Annotated[
        int, typer.Option("--documents", min=0, help="How many documents to generate.")
    ] = 4000
    subscriptions: Annotated[
        int, typer.Option("--subscriptions", min=0, help="How many subscriptions to generate.")
    ] = 10_000
    readers: Annotated[
        int, typer.Option("--readers", min=1, help="How many subscribers own them.")
    ] = 500
    seed: Annotated[
        int, typer.Option("--seed", help="The random seed; the same seed gives the same feed.")
    ] = 1
    folder: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="The folder for everything; that of an earlier demo is replaced.",
        ),
    ] = Path("pathcast-demo")

    @property
    def results(self) -> Path:
        return self.folder / "results"


@with_option_groups
def demo(
    options: DemoOptions,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Stream a generated feed through the pipeline, deliver it, and check a sample.

    The feed has weather, weather alerts, stock quotes and stock news; a few of its documents are
    malformed on purpose. Half way through, some readers are replaced by new ones.

    Exit code: 0; 1 if the run failed, or a delivery differs from the result of lxml; 2 for a bad
    call.

    Example: `pathcast demo --documents 2000 --seed 7`
    """
    require_spark()
    _prepare(options.folder)
    with Output() as output, RunDisplay() as display:
        try:
            display.show_step("writing the feed")
            demonstration = _Demonstration(options, display)
            audit_result = run_interruptibly(demonstration.run, on_stop=display.close)
        except PathcastError as error:
            display.close()
            say(f"pathcast: {error}", "red")
            raise typer.Exit(FAILED) from None
        if as_json:
            output.json(_as_dict(options, display, audit_result, demonstration.busiest))
        else:
            for line in _summary_lines(options, display, audit_result, demonstration.busiest):
                output.text(line)
    for mismatch in audit_result.mismatches:
        say(f"pathcast: {mismatch}", "red")
    if audit_result.mismatches:
        raise typer.Exit(FAILED)


def _as_dict(
    options: DemoOptions,
    display: RunDisplay,
    audit_result: AuditResult,
    busiest: list[BusySubscription],
) -> dict[str, object]:
    audit = {
        "documents": audit_result.documents,
        "deliveries": audit_result.deliveries,
        "wrong": audit_result.mismatches,
    }
    paths = {name: str(path) for name, path in _result_paths(options).items()}
    rows = [asdict(row) for row in busiest]
    totals = display.totals.as_dict()
    return {"seed": options.seed, **totals, "busiest": rows, "audit": audit, **paths}


def _summary_lines(
    options: DemoOptions,
    display: RunDisplay,
    audit_result: AuditResult,
    busiest: list[BusySubscription],
) -> list[str]:
    wrong = len(audit_result.mismatches)
    verdict = f"{wrong:,} WRONG" if wrong else "all agree with lxml"
    checked = f"{audit_result.deliveries:,} deliveries of {audit_result.documents:,} documents"
    return [
        totals_table(display.totals),
        *busiest_lines(busiest),
        f"{'checked':<15} {checked}: {verdict}",
        *(f"{name:<15} {path}" for name, path in _result_paths(options).items()),
    ]


def _result_paths(options: DemoOptions) -> dict[str, Path]:
    return {
        "outboxes": options.results / SEGMENTS_FOLDER,
        "report": options.results / "report.html",
    }


def _prepare(folder: Path) -> None:
    """Create the folder anew; end the command if it exists and no demo created it."""
    if folder.exists():
        if not (folder / _MARKER).exists() and (not folder.is_dir() or any(folder.iterdir())):
            fail(f"{folder} is there already, and no demo made it; choose another with --out")
        shutil.rmtree(folder)
    try:
        (folder / "feed").mkdir(parents=True)
        (folder / _MARKER).touch()
    except OSError as error:
        fail(f"cannot make {folder}: {error.strerror or error}")


@dataclass(slots=True)
class _Phase:
    """One half of the feed, and the subscriptions in force."""

    documents: list[tuple[str, bytes]]
    subscriptions: list[Subscription]


class _Demonstration:
    """Runs the pipeline over two phases: writes the next when the last is processed."""

    def __init__(self, options: DemoOptions, display: RunDisplay) -> None:
        documents = list(generate_feed(options.documents, options.seed))
        middle = len(documents) // 2
        subscriptions = list(
            generate_subscriptions(options.subscriptions, options.readers, options.seed)
        )
        self._phases = [
            _Phase(documents[:middle], subscriptions),
            _Phase(documents[middle:], _replace_readers(subscriptions)),
        ]
        self._folder = options.folder
        self._results = options.results.resolve()
        self._display = display
        self._batch_size = max(1, -(-options.documents // (2 * _BATCHES_PER_PHASE)))
        self._stopping = threading.Event()
        self.busiest: list[BusySubscription] = []
        self._written_phases = 0
        self._versions: dict[str, list[Subscription]] = {}

    def run(self, stopping: threading.Event) -> AuditResult:
        """Run both phases, or until `stopping` is set; return what the audit found."""
        self._stopping = stopping
        from pathcast.documents import Limits
        from pathcast.pipeline.batches import BatchSettings
        from pathcast.pipeline.running import PipelineRun, RunSpec
        from pathcast.pipeline.session import session_for
        from pathcast.pipeline.sinks.segments import SegmentOutboxes
        from pathcast.pipeline.sources import Source
        from pathcast.pipeline.statistics import is_small_run
        from pathcast.pipeline.subscriptions import SubscriptionSource

        self._write_next_phase()
        results = self._results
        spec = RunSpec(
            SubscriptionSource(self._folder / "subscriptions.jsonl"),
            Source(str((self._folder / "feed").resolve()), "files", Limits().size),
            str(results),
            BatchSettings(Limits(), structures=1.0),
            lambda _: SegmentOutboxes(results / SEGMENTS_FOLDER),
            self._batch_size,
        )
        self._display.show_step("starting Spark")
        with session_for(brief=True) as session:
            if any(phase.documents for phase in self._phases):
                PipelineRun(session, spec, self._on_event).run_stream(self._stopping)
                self._display.show_step("computing statistics")
                report = write_statistics(
                    None if is_small_run(str(results), {}) else session,
                    str(results),
                    on_step=self._display.show_progress,
                )
                self.busiest = report.busiest
            self._display.show_step("auditing with lxml")
            return self._audit(session)

    def _write_next_phase(self) -> None:
        """Write the subscriptions and documents of the next phase; skip one without documents."""
        phase = self._phases[self._written_phases]
        write_subscriptions(self._folder / "subscriptions.jsonl", phase.subscriptions)
        for name, body in phase.documents:
            hidden_file = self._folder / "feed" / f".{name}"  # the source ignores hidden files
            hidden_file.write_bytes(body)
            hidden_file.rename(self._folder / "feed" / name)
        self._written_phases += 1
        if not phase.documents and self._written_phases < len(self._phases):
            self._write_next_phase()

    def _on_event(self, event: RunEvent) -> None:
        from pathcast.pipeline.running import SubscriptionsLoaded

        self._display.on_event(event)
        if isinstance(event, SubscriptionsLoaded):
            self._versions[event.version] = self._phases[self._written_phases - 1].subscriptions
        expected = sum(len(phase.documents) for phase in self._phases[: self._written_phases])
        if self._display.totals.documents >= expected:
            if self._written_phases < len(self._phases):
                self._write_next_phase()
            else:
                self._stopping.set()

    def _audit(self, session: SparkSession) -> AuditResult:
        from pathcast.pipeline.audit import AuditResult, audit

        documents = [document for phase in self._phases for document in phase.documents]
        if not documents:
            return AuditResult(0, 0, ())
        step = max(1, len(documents) // _AUDITED_DOCUMENTS)
        sample = dict(documents[::step][:_AUDITED_DOCUMENTS])
        return audit(session, self._results, sample, self._versions)


def _replace_readers(subscriptions: list[Subscription]) -> list[Subscription]:
    """Return the subscriptions, some with a new id and a new reader."""
    return [
        Subscription(f"{row.id}-new", row.xpath, row.namespaces, f"{row.subscriber}-new")
        if number % _REPLACEMENT_INTERVAL == 0
        else row
        for number, row in enumerate(subscriptions)
    ]
