"""The options `--metrics` and `--metrics-port` of `pathcast run`, and what they open.

A failure to write metrics never ends a run: it is reported once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pathcast.cli.console import fail, say
from pathcast.cli.option_groups import option_group
from pathcast.errors import PipelineError
from pathcast.pipeline.metrics import RunTotals, batch_record, metrics_of, prometheus_text

__all__ = ["MetricsOptions"]

_DEFAULT_HOST = "127.0.0.1"


@option_group
class MetricsOptions:
    """Metrics of each batch, for programs."""

    metrics: Annotated[
        Path | None,
        typer.Option(
            "--metrics",
            metavar="FILE",
            help="Append the metrics of each batch to a file, as a line of JSON.",
        ),
    ] = None
    metrics_port: Annotated[
        str | None,
        typer.Option(
            "--metrics-port",
            metavar="[HOST:]PORT",
            help="Serve metrics for Prometheus at http://HOST:PORT/metrics; HOST is 127.0.0.1"
            " unless given.",
        ),
    ] = None

    @contextmanager
    def open(self) -> Iterator[Callable[[RunTotals], None]]:
        """Yield a function that records the last batch of the totals, or end the command."""
        with ExitStack() as stack:
            recorders: list[Callable[[RunTotals], None]] = []
            if self.metrics is not None:
                recorders.append(stack.enter_context(_append_lines(self.metrics)))
            if self.metrics_port is not None:
                recorders.append(stack.enter_context(_serve(self.metrics_port)))

            def record(totals: RunTotals) -> None:
                for recorder in recorders:
                    recorder(totals)

            yield record


@contextmanager
def _append_lines(path: Path) -> Iterator[Callable[[RunTotals], None]]:
    try:
        file = path.open("ab", buffering=0)
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")
    is_failing = False

    def record(totals: RunTotals) -> None:
        nonlocal is_failing
        if totals.last is None:
            return
        line = json.dumps(batch_record(totals.last_batch, totals.last, totals.last_time))
        try:
            file.write(f"{line}\n".encode())
            is_failing = False
        except OSError as error:
            if not is_failing:
                say(f"pathcast: {path}: {error.strerror or error}", "yellow")
            is_failing = True

    with file:
        yield record


@contextmanager
def _serve(address: str) -> Iterator[Callable[[RunTotals], None]]:
    from pathcast.pipeline.metrics_server import MetricsServer

    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit()):
        raise typer.BadParameter(f"{address!r} is not [HOST:]PORT", param_hint="--metrics-port")
    try:
        server = MetricsServer(host or _DEFAULT_HOST, int(port))
    except PipelineError as error:
        fail(str(error))
    server.publish(prometheus_text(metrics_of(RunTotals())))
    say(f"pathcast: metrics at {server.address}")
    try:
        yield lambda totals: server.publish(prometheus_text(metrics_of(totals)))
    finally:
        server.close()
