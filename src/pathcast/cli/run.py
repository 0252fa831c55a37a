"""`pathcast run`: the pipeline on Spark, once over all that is there or as a stream.

The room that knows Spark is imported when the command runs: the others start without it, and can be used where it is not installed.
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
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathcast.cli.console import FAILED, Output, fail, say
from pathcast.cli.durations import seconds_of
from pathcast.cli.options import FormatOption, MaxSize, NamespaceOption, limits_of, namespaces_of
from pathcast.cli.run_output import Totals, Watcher
from pathcast.errors import PathcastError

Partition = Literal["documents", "subscriptions", "auto"]
Kind = Literal[
    "files", "rows", "bodies", "parquet"
]  # of pipeline.sources, which is not loaded for --help

if TYPE_CHECKING:
    from pathcast.pipeline.running import RunSpec
    from pathcast.pipeline.sinks import Outbox
    from pathcast.pipeline.sources import Source

__all__ = ["require_spark", "run", "settings_of"]

_DEADLINE = 1.0


def run(
    documents: Annotated[
        str,
        typer.Option(
            "--documents",
            "-d",
            metavar="IN",
            help="A folder of documents and archives, a table (.parquet), files of rows, nats://HOST:PORT/STREAM or kafka://HOST:PORT/TOPIC.",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="The folder for all results.")
    ],
    subscriptions: Annotated[
        Path | None,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="S",
            help="A file of subscriptions, a folder of such files, or a parquet table.",
        ),
    ] = None,
    hops: Annotated[
        Path | None,
        typer.Option(
            "--hops",
            metavar="TABLE",
            help="Instead of --subscriptions, the table of a broker, whose subscribers are hops: documents are tagged with "
            "the hops that they take, and nobody looks for the entries that they match.",
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Go on with what is new until interrupted; start again to go on."
        ),
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="With --stream: take what is there now, then end.")
    ] = False,
    master: Annotated[
        str,
        typer.Option(
            "--master",
            help="Any Spark master; local[*,4] is this machine, all its cores, each task tried up to four times.",
        ),
    ] = "local[*,4]",
    read: Annotated[
        Kind | None,
        typer.Option(
            "--read",
            help="What IN holds: documents in files, rows of .csv, .json or .jsonl, JSON lines with a body, a parquet "
            "table with a body. By default what its name says; `nats://` and `kafka://` are brokers.",
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by",
            metavar="COLUMN",
            help="Rows that follow one another with the same value here are one document.",
        ),
    ] = None,
    xslt: Annotated[
        Path | None,
        typer.Option(
            "--xslt",
            metavar="SHEET",
            help="A style sheet that makes messages of rows (`<rows><row column='value'/></rows>`) or documents.",
        ),
    ] = None,
    xslt_deadline: Annotated[
        float,
        typer.Option("--xslt-deadline", metavar="SECONDS", min=0.001, help="For one document."),
    ] = 1.0,
    deliver: Annotated[
        str,
        typer.Option(
            "--deliver",
            help="files: a folder for each subscriber in OUT/outboxes; `nats://HOST:PORT/PREFIX`: a subject for each; "
            "none: tables only.",
        ),
    ] = "files",
    partition: Annotated[
        Partition,
        typer.Option(
            "--partition",
            help="What is spread over workers: documents, with all subscriptions in each; subscriptions, where they are too "
            "many for one; auto decides by measuring.",
        ),
    ] = "auto",
    dedupe: Annotated[
        str | None,
        typer.Option(
            "--dedupe",
            metavar="TIME",
            help="Drop documents with the same content as one at most so much older: 90s, 10m, 2h.",
        ),
    ] = None,
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, help="The most files in a batch of a stream.")
    ] = 1000,
    structures: Annotated[
        float,
        typer.Option(
            "--structures",
            min=0,
            max=1,
            help="The share of documents whose structure is looked at, for the statistics.",
        ),
    ] = 0.1,
    file_format: FormatOption = None,
    namespace: NamespaceOption = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Report bad subscriptions and go on without them.")
    ] = False,
    allow_expensive: Annotated[
        bool,
        typer.Option(
            "--allow-expensive",
            help="Accept expensive XPaths; they run in processes of their own, under a deadline.",
        ),
    ] = False,
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline",
            metavar="SECONDS",
            max=86_400,
            help="With --allow-expensive: the most that one XPath may take for one document; 1.",
        ),
    ] = None,
    max_size: MaxSize = None,
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark's; may be repeated."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the summary as a JSON object.")
    ] = False,
) -> None:
    """Match documents, and deliver them to their subscribers, on Spark.

    OUT gets the tables `matches`, `deliveries`, `errors` and `documents` (parquet, a part for each batch) and an
    outbox for each subscriber. A run that was stopped, however, goes on where it was when it is started again; every delivery is there once.

    Exit code: 0, also if documents were refused (they are in `errors`); 1 if the run failed; 2 for a bad call, bad subscriptions or a
    source that cannot be read.

    Example: `pathcast run --subscriptions all.jsonl --documents feed/ --out results --stream`
    """
    table = hops or subscriptions
    if table is None or (hops is not None and subscriptions is not None):
        problem = "there is nothing to match: one is needed" if table is None else "one of them"
        raise typer.BadParameter(problem, param_hint="--subscriptions or --hops")
    if hops is not None and partition == "subscriptions":
        problem = "a table of hops cannot be spread: every worker has all of it"
        raise typer.BadParameter(problem, param_hint="--partition")
    if once and not stream:
        raise typer.BadParameter("needs --stream", param_hint="--once")
    if deadline is not None and not (allow_expensive and deadline > 0):
        problem = "must be more than 0" if allow_expensive else "needs --allow-expensive"
        raise typer.BadParameter(problem, param_hint="--deadline")
    limits = limits_of(max_size, None, None, None, None)
    window = None if dedupe is None else seconds_of(dedupe, "--dedupe")
    prefixes = namespaces_of(namespace)
    settings = settings_of(conf)
    require_spark()
    from pathcast.pipeline.batches import BatchSettings
    from pathcast.pipeline.running import RunSpec
    from pathcast.pipeline.subscriptions import SubscriptionSource

    order = RunSpec(
        SubscriptionSource(
            table, file_format, prefixes, allow_expensive, skip_bad, hops is not None
        ),
        _source(documents, read, limits.size, group_by, xslt, xslt_deadline),
        out,
        BatchSettings(
            limits, structures, window, (deadline or _DEADLINE) if allow_expensive else None
        ),
        _outboxes(deliver),
        batch_size,
        partition,
    )
    with Output() as output, Watcher() as watcher:
        totals = _perform(order, master, settings, watcher, stream=stream, once=once)
        if as_json:
            output.json({**totals.as_dict(), "out": out})
        else:
            output.text(totals.table())
            output.text(f"{'results':<15} {out}")


def require_spark() -> None:
    """Say what to install, if the pipeline cannot be had."""
    try:
        import pathcast.pipeline.session  # noqa: F401 - whether it is there
    except ModuleNotFoundError as error:
        fail(f"{error.name} is not installed; try: pip install 'pathcast[spark]'")


def _source(
    path: str, read: Kind | None, most: int, group: str | None, xslt: Path | None, deadline: float
) -> Source:
    from pathcast.pipeline.sources import Source, kind_of
    from pathcast.pipeline.sources.xslt import XsltTransform

    kind = read or ("rows" if group is not None else kind_of(path))
    if xslt is not None and kind == "bodies" and read is None:
        kind = "rows"  # a sheet for lines of JSON is for their fields
    if group is not None and kind != "rows":
        raise typer.BadParameter("only rows can be grouped", param_hint="--group-by")
    try:
        style = None if xslt is None else XsltTransform.load(xslt, most, deadline=deadline)
    except PathcastError as error:
        fail(str(error))
    return Source(path, kind, most, group, style)


def _outboxes(deliver: str) -> Callable[[str], Outbox] | None:
    if deliver == "none":
        return None
    if deliver == "files":
        return _file_outboxes
    if "://" not in deliver:
        problem = f"{deliver!r} is neither files, none nor an address"
        raise typer.BadParameter(problem, param_hint="--deliver")
    from pathcast.pipeline.jetstream import OutboxAddress
    from pathcast.pipeline.sinks.nats import NatsOutbox

    try:
        outbox = NatsOutbox(OutboxAddress.parse(deliver))
    except PathcastError as error:
        fail(str(error))
    return lambda _: outbox


def _file_outboxes(out: str) -> Outbox:
    from pathcast.pipeline.sinks.files import FileOutboxes
    from pathcast.pipeline.storage import local_path

    return FileOutboxes(local_path(out).resolve() / "outboxes")


def settings_of(pairs: list[str] | None) -> dict[str, str]:
    """The settings of Spark's in `--conf` options, or a usage error."""
    found = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE", param_hint="--conf")
        found[key] = value
    return found


def _perform(
    order: RunSpec,
    master: str,
    settings: dict[str, str],
    watcher: Watcher,
    *,
    stream: bool,
    once: bool,
) -> Totals:
    from pathcast.pipeline.running import PipelineRun
    from pathcast.pipeline.session import session_for

    try:
        with TemporaryDirectory(prefix="pathcast-") as folder, ExitStack() as stack:
            watcher.doing("compiling subscriptions")
            compiler = order.subscriptions.compiler(Path(folder))
            order.subscriptions.compile(compiler.compile)  # what is bad is told before Spark starts
            watcher.doing("starting Spark")
            session = stack.enter_context(session_for(master, settings=settings))
            watcher.doing("looking for documents")
            run = PipelineRun(session, order, watcher.hear, compiler)
            if stream:
                with _stopping(watcher.stopping) as stopping:
                    run.run_stream(stopping, until_caught_up=once)
            else:
                run.run_once()
    except PathcastError as error:
        watcher.close()
        if watcher.totals.batches or error.kind not in _CALL:
            say(f"pathcast: {error}", "red")
            raise typer.Exit(FAILED) from None
        fail(str(error))
    return watcher.totals


_CALL = ("subscriptions", "source", "output", "checkpoint", "java", "master", "nats", "kafka")
"""Kinds of errors that the call is to blame for, if nothing was done yet."""


@contextmanager
def _stopping(told: Callable[[], None]) -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; the second of them ends the process."""
    stopping = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        if stopping.is_set():
            sys.exit(128 + number)
        stopping.set()
        told()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, old in before.items():
            signal.signal(number, old)
