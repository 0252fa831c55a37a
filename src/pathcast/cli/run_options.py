"""The options of `pathcast run`, in groups: source, subscriptions, batches, results.

Each group checks its options and converts them to the values that the pipeline takes. The pipeline
is imported inside the methods, because `--help` must not load Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathcast.cli.console import fail
from pathcast.cli.durations import parse_duration
from pathcast.cli.option_groups import option_group
from pathcast.cli.options import MaxSizeOption
from pathcast.documents import Limits
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.sinks import Outbox
    from pathcast.pipeline.sources import Source

__all__ = ["BatchOptions", "RegisteredOptions", "ResultOptions", "SourceOptions"]

SourceKind = Literal["files", "rows", "bodies", "parquet"]  # as in pipeline.sources
Partition = Literal["documents", "subscriptions", "auto"]


@option_group
class SourceOptions:
    """Where documents come from, and how they become XML."""

    documents: Annotated[
        str,
        typer.Option(
            "--documents",
            "-d",
            metavar="IN",
            help="A folder of documents and archives, a table (.parquet), files of rows,"
            " nats://HOST:PORT/STREAM or kafka://HOST:PORT/TOPIC.",
        ),
    ]
    read: Annotated[
        SourceKind | None,
        typer.Option(
            "--read",
            help="What IN holds: documents in files, rows of .csv, .json or .jsonl, JSON lines with"
            " a body, a parquet table with a body; default: by its name.",
        ),
    ] = None
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by",
            metavar="COLUMN",
            help="Consecutive rows with the same value in this column are one document.",
        ),
    ] = None
    xslt: Annotated[
        Path | None,
        typer.Option(
            "--xslt",
            metavar="SHEET",
            help="A style sheet that makes messages from rows"
            " (`<rows><row column='value'/></rows>`) or documents.",
        ),
    ] = None
    xslt_deadline: Annotated[
        float,
        typer.Option("--xslt-deadline", metavar="SECONDS", min=0.001, help="For one document."),
    ] = 1.0
    max_size: MaxSizeOption = None

    def limits(self) -> Limits:
        return Limits() if self.max_size is None else Limits(size=self.max_size)

    def source(self) -> Source:
        """Return the source, or end the command."""
        from pathcast.pipeline.sources import Source, kind_of
        from pathcast.pipeline.sources.xslt import XsltTransform

        kind = self.read or ("rows" if self.group_by is not None else kind_of(self.documents))
        if self.xslt is not None and kind == "bodies" and self.read is None:
            kind = "rows"  # a style sheet for JSON lines applies to their fields
        if self.group_by is not None and kind != "rows":
            raise typer.BadParameter("only rows can be grouped", param_hint="--group-by")
        size = self.limits().size
        try:
            transform = (
                None
                if self.xslt is None
                else XsltTransform.load(self.xslt, size, deadline=self.xslt_deadline)
            )
        except PathcastError as error:
            fail(str(error))
        return Source(self.documents, kind, size, self.group_by, transform)


@option_group
class RegisteredOptions:
    """What documents are matched against: subscriptions, or a broker's table of hops."""

    subscriptions: Annotated[
        Path | None,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="S",
            help="A file of subscriptions, a folder of such files, or a parquet table.",
        ),
    ] = None
    hops: Annotated[
        Path | None,
        typer.Option(
            "--hops",
            metavar="TABLE",
            help="Instead of --subscriptions: a broker's table, whose subscribers are hops."
            " Documents are tagged with their next hops; entries are not enumerated.",
        ),
    ] = None
    partition: Annotated[
        Partition,
        typer.Option(
            "--partition",
            help="What is spread over workers: documents, with all subscriptions in each;"
            " subscriptions, if they exceed a worker's memory; auto measures and decides.",
        ),
    ] = "auto"

    def table(self) -> Path:
        """Return the file of subscriptions or hops, or raise a usage error."""
        table = self.hops or self.subscriptions
        if table is None or (self.hops is not None and self.subscriptions is not None):
            problem = "there is nothing to match: one is needed" if table is None else "one of them"
            raise typer.BadParameter(problem, param_hint="--subscriptions or --hops")
        if self.hops is not None and self.partition == "subscriptions":
            problem = "a table of hops cannot be partitioned: every worker has all of it"
            raise typer.BadParameter(problem, param_hint="--partition")
        return table


@option_group
class BatchOptions:
    """One batch over the present documents, or a stream of micro-batches."""

    stream: Annotated[
        bool,
        typer.Option("--stream", help="Process new documents until interrupted; resumable."),
    ] = False
    once: Annotated[
        bool, typer.Option("--once", help="With --stream: process the present documents, then end.")
    ] = False
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, help="The most files in a micro-batch.")
    ] = 1000

    def check(self) -> None:
        if self.once and not self.stream:
            raise typer.BadParameter("needs --stream", param_hint="--once")


@option_group
class ResultOptions:
    """What is written to OUT, and where deliveries go."""

    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="The folder for all results.")
    ]
    deliver: Annotated[
        str,
        typer.Option(
            "--deliver",
            help="files: a folder per subscriber in OUT/outboxes; `nats://HOST:PORT/PREFIX`: a"
            " subject per subscriber; none: tables only.",
        ),
    ] = "files"
    dedupe: Annotated[
        str | None,
        typer.Option(
            "--dedupe",
            metavar="TIME",
            help="Drop a document with the same content as one at most this much older:"
            " 90s, 10m, 2h.",
        ),
    ] = None
    structures: Annotated[
        float,
        typer.Option(
            "--structures",
            min=0,
            max=1,
            help="The share of documents whose structure is recorded for the statistics.",
        ),
    ] = 0.1

    def window(self) -> float | None:
        """Return the seconds of `--dedupe`."""
        return None if self.dedupe is None else parse_duration(self.dedupe, "--dedupe")

    def outboxes(self) -> Callable[[str], Outbox] | None:
        """Return a function from OUT to its outboxes, None for tables only."""
        if self.deliver == "none":
            return None
        if self.deliver == "files":
            return _file_outboxes
        if "://" not in self.deliver:
            problem = f"{self.deliver!r} is neither files, none nor an address"
            raise typer.BadParameter(problem, param_hint="--deliver")
        from pathcast.pipeline.jetstream import OutboxAddress
        from pathcast.pipeline.sinks.nats import NatsOutbox

        try:
            outbox = NatsOutbox(OutboxAddress.parse(self.deliver))
        except PathcastError as error:
            fail(str(error))
        return lambda _: outbox


def _file_outboxes(out: str) -> Outbox:
    from pathcast.pipeline.sinks.files import FileOutboxes
    from pathcast.pipeline.storage import local_path

    return FileOutboxes(local_path(out).resolve() / "outboxes")
