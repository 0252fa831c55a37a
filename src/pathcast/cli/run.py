"""`pathcast run`: the pipeline on Spark, as one batch or as a stream.

The command imports Spark when it runs: other commands start without it, and work where it is not
installed.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, say
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import ExpensiveOptions, SparkOptions, SubscriptionFileOptions
from pathcast.cli.run_options import (
    BatchOptions,
    RegisteredOptions,
    ResultOptions,
    SourceOptions,
)
from pathcast.cli.run_output import RunDisplay, RunTotals
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.running import RunSpec

__all__ = ["require_spark", "run"]

CALLER_ERRORS = (
    "subscriptions",
    "source",
    "output",
    "checkpoint",
    "java",
    "master",
    "nats",
    "kafka",
)  # kinds of errors that are the caller's fault if no batch has run


@with_option_groups
def run(
    source: SourceOptions,
    registered: RegisteredOptions,
    results: ResultOptions,
    batches: BatchOptions,
    file_options: SubscriptionFileOptions,
    expensive: ExpensiveOptions,
    spark: SparkOptions,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Match documents, and deliver them to their subscribers, on Spark.

    OUT gets the tables `matches`, `deliveries`, `errors` and `documents` (parquet, a part per
    batch) and an outbox per subscriber. A run that was interrupted in any way resumes when it is
    started again; every delivery exists once.

    Exit code: 0, also if documents were refused (they are in `errors`); 1 if the run failed; 2 for
    a bad call, bad subscriptions or a source that cannot be read.

    Example: `pathcast run --subscriptions all.jsonl --documents feed/ --out results --stream`
    """
    table = registered.table()
    batches.check()
    deadline, window, settings = expensive.seconds(), results.window(), spark.settings()
    namespaces, limits = file_options.namespaces(), source.limits()
    require_spark()
    from pathcast.pipeline.batches import BatchSettings
    from pathcast.pipeline.running import RunSpec
    from pathcast.pipeline.subscriptions import SubscriptionSource

    spec = RunSpec(
        SubscriptionSource(
            table,
            file_options.file_format,
            namespaces,
            expensive.allow_expensive,
            file_options.skip_bad,
            registered.hops is not None,
        ),
        source.source(),
        results.out,
        BatchSettings(limits, results.structures, window, deadline),
        results.outboxes(),
        batches.batch_size,
        registered.partition,
    )
    with Output() as output, RunDisplay() as display:
        totals = _perform(spec, spark.master, settings, display, batches)
        if as_json:
            output.json({**totals.as_dict(), "out": results.out})
        else:
            output.text(totals.table())
            output.text(f"{'results':<15} {results.out}")


def require_spark() -> None:
    """End the command with installation advice if PySpark is missing."""
    try:
        import pathcast.pipeline.session  # noqa: F401 - tests whether it can be imported
    except ModuleNotFoundError as error:
        fail(f"{error.name} is not installed; try: pip install 'pathcast[spark]'")


def _perform(
    spec: RunSpec,
    master: str,
    settings: dict[str, str],
    display: RunDisplay,
    batches: BatchOptions,
) -> RunTotals:
    from pathcast.pipeline.running import PipelineRun
    from pathcast.pipeline.session import session_for

    try:
        with TemporaryDirectory(prefix="pathcast-") as folder, ExitStack() as stack:
            display.show_step("compiling subscriptions")
            compiler = spec.subscriptions.compiler(Path(folder))
            spec.subscriptions.compile(compiler.compile)  # reports bad ones before Spark starts
            display.show_step("starting Spark")
            session = stack.enter_context(session_for(master, settings=settings))
            display.show_step("looking for documents")
            pipeline_run = PipelineRun(session, spec, display.on_event, compiler)
            if batches.stream:
                with _stop_on_signal(display.on_stop) as stopping:
                    pipeline_run.run_stream(stopping, until_caught_up=batches.once)
            else:
                pipeline_run.run_once()
    except PathcastError as error:
        display.close()
        if display.totals.batches or error.kind not in CALLER_ERRORS:
            say(f"pathcast: {error}", "red")
            raise typer.Exit(FAILED) from None
        fail(str(error))
    return display.totals


@contextmanager
def _stop_on_signal(on_stop: Callable[[], None]) -> Iterator[threading.Event]:
    """Yield an event that SIGINT and SIGTERM set; a second signal ends the process."""
    stopping = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            sys.exit(128 + number)
        stopping.set()
        on_stop()

    handlers = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
