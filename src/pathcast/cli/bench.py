"""`pathcast bench`: run one of our benchmarks and say which targets it meets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pathcast.cli.terminal import FAILED, Output, fail, progress
from pathcast.errors import FormatError
from pathcast.formats.draft import file_draft

__all__ = ["bench"]


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which benchmark; without it they are listed."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller inputs: a minute or two instead of many.")
    ] = False,
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
    every machine. Let nothing else run meanwhile.

    Exit code: 0 if all targets are met; 1 if one is missed; 2 for a bad call.

    Example: `pathcast bench workload --quick`
    """
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
        with progress("measuring", None, with_data=False) as bar:
            task = bar.task_ids[0]
            report = run(name, quick=quick, tell=lambda what: bar.update(task, description=what))
        if as_json:
            output.json(report.as_dict())
        else:
            output.text(report.table())
        if out is not None:  # last: whatever is wrong with the file, the figures have been said
            try:
                with file_draft(out) as stream:
                    stream.write(json.dumps(report.as_dict(), indent=2).encode() + b"\n")
            except FormatError as error:
                fail(str(error))
    if not report.passed:
        raise typer.Exit(FAILED)
