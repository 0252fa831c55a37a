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
from pathcast.cli.content_options import ContentOptions
from pathcast.cli.durations import parse_duration
from pathcast.cli.option_groups import option_group
from pathcast.cli.options import MaxSizeOption, parse_size
from pathcast.documents import Limits
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathcast.pipeline.sinks import Outbox
    from pathcast.pipeline.sources import AfterReading, Source

__all__ = ["BatchOptions", "RegisteredOptions", "ResultOptions", "SourceOptions"]

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

    def source(self, contents: ContentOptions) -> Source:
        """Return the source, or end the command."""
        from pathcast.pipeline.sources import Source, kind_of
        from pathcast.pipeline.sources.xslt import XsltTransform

        kind = contents.kind(kind_of(self.documents))
        if self.xslt is not None and kind == "bodies" and not (contents.read or contents.body):
            kind = "rows"  # a style sheet for JSON lines applies to their fields
        contents.check(kind)
        size = self.limits().size
        try:
            transform = (
                None
                if self.xslt is None
                else XsltTransform.load(self.xslt, size, deadline=self.xslt_deadline)
            )
        except PathcastError as error:
            fail(str(error))
        return Source(
            self.documents,
            kind,
            size,
            contents.group_by,
            transform,
            contents.fields(),
            contents.record,
        )


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
    batch_documents: Annotated[
        int,
        typer.Option("--batch-documents", min=1, help="The most files or messages in a batch."),
    ] = 1000
    batch_size: Annotated[int | None, typer.Option("--batch-size", min=1, hidden=True)] = None
    batch_bytes: Annotated[
        int | None,
        typer.Option(
            "--batch-bytes",
            metavar="SIZE",
            parser=parse_size,
            help="The most bytes of files in a batch, unless one file has more: 500K, 64M.",
        ),
    ] = None
    after_reading: Annotated[
        str,
        typer.Option(
            "--after-reading",
            metavar="ACTION",
            help="With --stream, what becomes of a file when its batch is done: keep, delete,"
            " or move:FOLDER.",
        ),
    ] = "keep"

    def check(self) -> None:
        if self.once and not self.stream:
            raise typer.BadParameter("needs --stream", param_hint="--once")
        if self.batch_bytes is not None and self.batch_bytes < 1:
            raise typer.BadParameter("at least 1", param_hint="--batch-bytes")

    def limits(self) -> tuple[int, int | None]:
        """Return the most files or messages, and bytes, in a batch."""
        return self.batch_size or self.batch_documents, self.batch_bytes

    def files_action(self) -> AfterReading:
        """Return what becomes of files, or raise a usage error."""
        from pathcast.pipeline.sources import AfterReading

        try:
            action = AfterReading.parse(self.after_reading)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--after-reading") from None
        if not action.keeps and not self.stream:
            problem = "needs --stream; with --once it processes the present documents"
            raise typer.BadParameter(problem, param_hint="--after-reading")
        return action


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
            help="segments: a few files per batch, read by `pathcast outbox`; files: a file per"
            " delivery, in a folder per subscriber; links: the same as hard links to one file;"
            " `nats://HOST:PORT/PREFIX`: a subject per subscriber; none.",
        ),
    ] = "segments"
    deliveries: Annotated[
        bool | None,
        typer.Option(
            "--deliveries/--no-deliveries",
            help="Whether to write the table of deliveries; by default unless --deliver is none.",
        ),
    ] = None
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

    def writes_deliveries(self) -> bool:
        """Return whether to write the table of deliveries."""
        return self.deliver != "none" if self.deliveries is None else self.deliveries

    def outboxes(self) -> Callable[[str], Outbox] | None:
        """Return a function from OUT to its outboxes, None for tables only."""
        from pathcast.pipeline.sinks.choice import outbox_factory

        try:
            return outbox_factory(self.deliver)
        except PathcastError as error:
            raise typer.BadParameter(error.message, param_hint="--deliver") from None
