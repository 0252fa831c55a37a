"""`pathcast bench`: run a benchmark suite and compare its figures with their targets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, progress, say
from pathcast.cli.dtd_options import load_schema
from pathcast.errors import FormatError, WorkloadError
from pathcast.files.atomic_write import atomic_file

if TYPE_CHECKING:
    from pathcast.bench.report import Report, ReportLine
    from pathcast.bench.suite import AnySuite
    from pathcast.schema import Schema

__all__ = ["bench"]


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which benchmark; without it they are listed."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller inputs: a minute or two instead of many.")
    ] = False,
    dtd: Annotated[
        str | None,
        typer.Option(
            "--dtd",
            metavar="FILE",
            help="filter: generate inputs for this DTD (a file or bundled schema); default news.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PART",
            help="Measure only this part; repeatable. An unknown name lists the parts.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the report as a JSON object.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write the JSON object to a file."),
    ] = None,
) -> None:
    """Measure, and compare the figures with their targets.

    A figure is a ratio between two workloads that ran alternately in the same run, so that it is
    comparable between machines. Leave the machine idle otherwise. Each figure appears on stderr
    when it is complete, and all of them on stdout at the end.

    Exit code: 0 if all targets are met; 1 if one is missed; 2 for a bad call.

    Example: `pathcast bench filter --quick --only linear`
    """
    from pathcast.bench.registry import SUITES  # imports everything that is measured

    with Output() as output:
        if name is None:
            _list_suites(output, SUITES, as_json)
            return
        if name not in SUITES:
            fail(f"there is no benchmark {name!r}\n  hint: there are {', '.join(SUITES)}")
        _check_options(name, SUITES[name], dtd, only or [])
        report = _measure(name, quick, None if dtd is None else load_schema(dtd), only or [])
        if as_json:
            output.json(report.as_dict())
        else:
            output.text(report.table())
        if out is not None:  # after the output, which an unwritable file must not prevent
            _write_report(out, report)
    if not report.passed:
        raise typer.Exit(FAILED)


def _list_suites(output: Output, suites: Mapping[str, AnySuite], as_json: bool) -> None:
    summaries = {name: suite.summary for name, suite in suites.items()}
    if as_json:
        output.json(summaries)
        return
    width = max(map(len, summaries))
    output.text("\n".join(f"{name:<{width}}  {text}" for name, text in summaries.items()))


def _measure(name: str, quick: bool, schema: Schema | None, only: Sequence[str]) -> Report:
    """Run a suite with progress on stderr."""
    from pathcast.bench.options import BenchOptions
    from pathcast.bench.registry import run

    with progress("measuring", None, with_data=False) as bar:
        task = bar.task_ids[0]

        def show_step(step: str) -> None:
            bar.update(task, description=step)

        def show_line(line: ReportLine) -> None:
            say(str(line), console=bar.console)

        try:
            return run(name, BenchOptions(quick, show_step, schema, tuple(only), show_line))
        except WorkloadError as error:  # the DTD cannot produce the inputs
            fail(str(error))


def _write_report(out: Path, report: Report) -> None:
    try:
        with atomic_file(out) as stream:
            stream.write(json.dumps(report.as_dict(), indent=2).encode() + b"\n")
    except FormatError as error:
        fail(str(error))


def _check_options(name: str, suite: AnySuite, dtd: str | None, only: Sequence[str]) -> None:
    """Fail if the suite does not support the options."""
    if dtd is not None and not suite.any_schema:
        fail(f"--dtd: the benchmark {name} has schemas of its own")
    for part in only:
        if part not in suite.parts:
            fail(
                f"--only: the benchmark {name} has no part {part!r}\n"
                f"  hint: there are {', '.join(suite.parts)}"
            )
