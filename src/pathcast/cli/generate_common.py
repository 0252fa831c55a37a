"""The parts that the `generate` commands share: option groups, progress, errors and statistics.

Data goes to `--out`, or to stdout without it. Statistics go to stdout, or to stderr if stdout has
the data. An error of a generator or a writer ends the command with exit code 2, and leaves no
partial file under the final name.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pathcast.cli.console import Output, fail, progress, say
from pathcast.cli.dtd_options import DtdOptions, OptionalDtdArgument
from pathcast.cli.option_groups import option_group
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from rich.progress import Progress

    from pathcast.generators.presets import Preset
    from pathcast.schema import Schema

__all__ = [
    "ArrivalsOption",
    "GenerateOptions",
    "WorkloadOptions",
    "fail_on_error",
    "format_distribution",
    "load_preset",
    "percentage",
    "show_progress",
]

T = TypeVar("T")
_PROGRESS_INTERVAL = 64  # items between two updates of the progress bar

ArrivalsOption = Annotated[
    str | None,
    typer.Option(
        "--arrivals",
        metavar="PROCESS",
        help="The arrival process: poisson:RATE, fixed:SECONDS or bursts:RATE,size=N."
        " Ids contain the arrival times.",
    ),
]


@option_group
class WorkloadOptions(DtdOptions):
    """The schemas of a workload: those of a DTD or of a preset."""

    dtd: OptionalDtdArgument = None
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="The workload of a paper, which other options change."
            " `pathcast generate presets` lists them.",
        ),
    ] = None

    def load_schemas(self, preset: Preset | None) -> list[Schema]:
        """Return the schema of the DTD, else those of the preset; or end the command."""
        if self.dtd is not None:
            return [self.load(self.dtd)]
        from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema

        if preset is None:
            hint = f"name a file, a preset (--preset) or one of {', '.join(SCHEMA_NAMES)}"
            fail(f"there is no DTD\n  hint: {hint}")
        if self.has_values():
            fail("--root and --catalog need a DTD")
        return [bundled_schema(name) for name in preset.schemas]


@option_group
class GenerateOptions:
    """The seed, the output and the form of the statistics."""

    seed: Annotated[
        int, typer.Option("--seed", help="The random seed; the same seed gives the same bytes.")
    ] = 1
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="PATH", help="Where to write; default stdout."),
    ] = None
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the statistics as a JSON object.")
    ] = False

    @property
    def path(self) -> str | None:
        """The file or folder to write; None for stdout."""
        return None if self.out == "-" else self.out

    def report(
        self, output: Output, figures: Mapping[str, object], rows: Mapping[str, str]
    ) -> None:
        """Write the statistics: `figures` as JSON, or `rows` as a table."""
        if self.as_json:
            text = json.dumps(figures)
        else:
            width = max(len(name) for name in rows)
            text = "\n".join(f"{name:<{width}}  {value}" for name, value in rows.items())
        if self.path is None:  # stdout has the data
            say(text)
        else:
            output.text(text)


@contextlib.contextmanager
def fail_on_error() -> Iterator[None]:
    """Report a PathcastError of the block and end the command."""
    try:
        yield
    except PathcastError as error:
        fail(str(error))


def load_preset(name: str | None) -> Preset | None:
    """Return the preset of this name, None without a name; an unknown one ends the command."""
    if name is None:
        return None
    from pathcast.generators.presets import PRESETS
    from pathcast.schema.similar_names import similar_names

    if name not in PRESETS:
        names = similar_names(name, PRESETS) or PRESETS
        fail(f"there is no preset {name!r}\n  hint: there are {', '.join(names)}")
    return PRESETS[name]


@contextlib.contextmanager
def show_progress(
    items: Iterable[T], total: int | None, *, with_data: bool
) -> Iterator[Iterator[T]]:
    """Yield an iterator over the items that advances a progress bar."""
    with progress("generating", total, with_data=with_data) as bar:
        yield _advance(items, bar)


def _advance(items: Iterable[T], bar: Progress) -> Iterator[T]:
    for number, item in enumerate(items, 1):
        yield item
        if number % _PROGRESS_INTERVAL == 0:
            bar.advance(bar.task_ids[0], _PROGRESS_INTERVAL)


def percentage(part: int, total: int) -> str:
    """Return a share in percent.

    >>> percentage(1, 3), percentage(0, 0)
    ('33.3%', '0.0%')
    """
    return f"{100 * part / total if total else 0.0:.1f}%"


def format_distribution(counts: Counter[int]) -> str:
    """Return the share of each number.

    >>> format_distribution(Counter({3: 1, 2: 3}))
    '2: 75.0%, 3: 25.0%'
    """
    total = counts.total()
    return ", ".join(
        f"{number}: {percentage(count, total)}" for number, count in sorted(counts.items())
    )
