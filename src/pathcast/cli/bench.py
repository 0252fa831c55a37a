"""`pathcast bench`: run one of our benchmarks and say which targets it meets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, progress, say
from pathcast.cli.schema import load_schema
from pathcast.errors import FormatError, WorkloadError
from pathcast.files.atomic_write import atomic_file

if TYPE_CHECKING:
    from pathcast.bench.registry import Benchmark
    from pathcast.bench.report import Line

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
            help="filter: subscriptions and documents of this DTD (a file, or a bundled schema); news if not given.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PART",
            help="Measure this part alone, where a benchmark has parts; may be given several times.",
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

    Figures are ratios between things that ran in turns in the same run, so that they mean the same on
    every machine. Let nothing else run meanwhile. Each is told on stderr when it is there, and all of them at the end.

    Exit code: 0 if all targets are met; 1 if one is missed; 2 for a bad call.

    Example: `pathcast bench filter --quick --only linear`
    """
    from pathcast.bench.options import Wish
    from pathcast.bench.registry import BENCHMARKS, run  # loads what it measures

    with Output() as output:
        if name is None:
            listed = {key: one.about for key, one in BENCHMARKS.items()}
            if as_json:
                output.json(listed)
            else:
                width = max(len(key) for key in listed)
                output.text("\n".join(f"{key:<{width}}  {about}" for key, about in listed.items()))
            return
        if name not in BENCHMARKS:
            fail(f"there is no benchmark {name!r}\n  hint: there are {', '.join(BENCHMARKS)}")
        _check(name, BENCHMARKS[name], dtd, only or [])
        schema = None if dtd is None else load_schema(dtd)
        with progress("measuring", None, with_data=False) as bar:
            task = bar.task_ids[0]

            def tell(what: str) -> None:
                bar.update(task, description=what)

            def found(line: Line) -> None:
                say(str(line), console=bar.console)

            try:
                report = run(name, Wish(quick, tell, schema, tuple(only or ()), found))
            except WorkloadError as error:  # the DTD has not what is asked of it
                fail(str(error))
        if as_json:
            output.json(report.as_dict())
        else:
            output.text(report.table())
        if out is not None:  # last: whatever is wrong with the file, the figures have been said
            try:
                with atomic_file(out) as stream:
                    stream.write(json.dumps(report.as_dict(), indent=2).encode() + b"\n")
            except FormatError as error:
                fail(str(error))
    if not report.passed:
        raise typer.Exit(FAILED)


def _check(name: str, benchmark: Benchmark, dtd: str | None, only: Sequence[str]) -> None:
    """Whether the benchmark can do what the options ask for."""
    if dtd is not None and not benchmark.any_schema:
        fail(f"--dtd: the benchmark {name} has schemas of its own")
    for part in only:
        if part not in benchmark.parts:
            hint = f"there are {', '.join(benchmark.parts)}" if benchmark.parts else "it has none"
            fail(f"--only: the benchmark {name} has no part {part!r}\n  hint: {hint}")
