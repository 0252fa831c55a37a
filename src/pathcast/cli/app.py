"""The list of commands, and `main`.

Typer's tracebacks are off: an unexpected error is a bug, and a bug report needs Python's traceback.
"""

from __future__ import annotations

from typing import Annotated

import typer

from pathcast import __version__
from pathcast.cli.advertise import advertise
from pathcast.cli.aggregate import aggregate
from pathcast.cli.bench import bench
from pathcast.cli.compact import compact
from pathcast.cli.console import Output
from pathcast.cli.covers import covers
from pathcast.cli.demo import demo
from pathcast.cli.draw import draw
from pathcast.cli.explain import explain
from pathcast.cli.generate import generate_app
from pathcast.cli.match import match
from pathcast.cli.outbox import outbox
from pathcast.cli.report import report
from pathcast.cli.run import run
from pathcast.cli.schema import schema_app
from pathcast.cli.schema_check import check
from pathcast.cli.simulate import simulate

__all__ = ["app", "main"]

app = typer.Typer(
    name="pathcast",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # XPath's brackets would be tags in the other mode
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(match)
app.command()(explain)
app.command()(draw)
app.command()(covers)
app.command()(aggregate)
app.command()(advertise)
app.command()(simulate)
app.command()(run)
app.command()(outbox)
app.command()(report)
app.command()(compact)
app.command()(demo)
app.command()(bench)
app.add_typer(generate_app)
schema_app.command()(check)
app.add_typer(schema_app)


def _print_version(requested: bool) -> None:
    if requested:
        with Output() as output:
            output.text(f"pathcast {__version__}")
        raise typer.Exit


@app.callback()
def pathcast(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Deliver XML documents to exactly the subscribers whose XPath they satisfy.

    Example: `pathcast match subscriptions.txt documents/`
    """


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    app(prog_name="pathcast")
