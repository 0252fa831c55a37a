"""`pathcast run`: the pipeline on Spark, as one batch or as a stream.

The command imports Spark when it runs: other commands start without it, and work where it is not
installed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, say
from pathcast.cli.content_options import ContentOptions
from pathcast.cli.interruptible import run_interruptibly
from pathcast.cli.metrics_options import MetricsOptions
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import ExpensiveOptions, SparkOptions, SubscriptionFileOptions
from pathcast.cli.run_options import (
    BatchOptions,
    RegisteredOptions,
    ResultOptions,
    SourceOptions,
)
from pathcast.cli.run_output import RunDisplay, totals_table
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.metrics import RunTotals
    from pathcast.pipeline.run_events import RunEvent
    from pathcast.pipeline.running import RunSpec
    from pathcast.pipeline.versions import VersionCompiler

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
    "metrics",
)  # kinds of errors that are the caller's fault if no batch has run


@with_option_groups
def run(
    source: SourceOptions,
    contents: ContentOptions,
    registered: RegisteredOptions,
    results: ResultOptions,
    batches: BatchOptions,
    file_options: SubscriptionFileOptions,
    expensive: ExpensiveOptions,
    spark: SparkOptions,
    metrics: MetricsOptions,
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
    max_documents, max_bytes = batches.limits()
    require_spark()
    from pathcast.pipeline.batches import BatchSettings
    from pathcast.pipeline.run_events import BatchDone
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
        source.source(contents),
        results.out,
        BatchSettings(
            limits, results.structures, window, deadline, deliveries=results.writes_deliveries()
        ),
        results.outboxes(),
        max_documents,
        registered.partition,
        max_bytes,
        batches.files_action(),
    )
    with Output() as output, RunDisplay() as display, metrics.open() as record:

        def on_event(event: RunEvent) -> None:
            display.on_event(event)
            if isinstance(event, BatchDone):
                record(display.totals)

        totals = _perform(spec, spark.master, settings, display, batches, on_event)
        if as_json:
            output.json({**totals.as_dict(), "out": results.out})
        else:
            output.text(totals_table(totals))
            output.text(f"{'results':<15} {results.out}")


def require_spark() -> None:
    """End the command with installation advice if PySpark is missing."""
    try:
        import pathcast.pipeline.session  # noqa: F401 - tests whether it can be imported
    except ModuleNotFoundError as error:
        fail(f"{error.name} is not installed; try: pip install 'pathcast[spark]'")


def _perform(
    spec: RunSpec,
    master: str | None,
    settings: dict[str, str],
    display: RunDisplay,
    batches: BatchOptions,
    on_event: Callable[[RunEvent], None],
) -> RunTotals:
    from pathcast.pipeline.checks import check_files_options, check_inputs
    from pathcast.pipeline.running import PipelineRun
    from pathcast.pipeline.session import session_for

    def work(stopping: threading.Event, compiler: VersionCompiler) -> None:
        display.show_step("starting Spark")
        with session_for(master, settings=settings) as session:
            display.show_ui(session)
            display.show_step("looking for documents")
            pipeline_run = PipelineRun(session, spec, on_event, compiler)
            if batches.stream:
                pipeline_run.run_stream(stopping, until_caught_up=batches.once)
            elif stopping.is_set():
                raise KeyboardInterrupt
            else:
                pipeline_run.run_once()

    try:
        with TemporaryDirectory(prefix="pathcast-") as folder:
            check_files_options(spec.source, spec.after_reading, spec.batch_bytes)
            check_inputs(spec.source, spec.out, settings, streaming=batches.stream)
            display.show_step("compiling subscriptions")
            compiler = spec.subscriptions.compiler(Path(folder))
            spec.subscriptions.compile(compiler.compile)  # reports bad ones before Spark starts
            run_interruptibly(
                lambda stopping: work(stopping, compiler),
                cancel=not batches.stream,
                on_stop=display.on_stop if batches.stream else display.close,
                on_wait=display.show_tasks,
            )
    except PathcastError as error:
        display.close()
        if display.totals.batches or error.kind not in CALLER_ERRORS:
            say(f"pathcast: {error}", "red")
            raise typer.Exit(FAILED) from None
        fail(str(error))
    return display.totals
