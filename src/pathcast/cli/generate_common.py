"""What the `generate` commands share: presets and schemas by name, where things go, and errors.

Data goes to `--out`, or to stdout if there is none. The statistics of what came out go to stdout if the data did not,
else to stderr. Whatever the generators or the writers object to ends the command with exit code 2, and nothing
half-written stays under the final name.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pathcast.cli.console import Output, fail, progress, say
from pathcast.cli.schema import CatalogOption, RootOption, load_schema
from pathcast.errors import PathcastError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress

    from pathcast.generators.presets import Preset
    from pathcast.schema import Schema

__all__ = [
    "CatalogOption",
    "JsonOption",
    "OptionalDtdArgument",
    "OutOption",
    "PresetOption",
    "RootOption",
    "SeedOption",
    "counted",
    "part_of",
    "preset_of",
    "reported",
    "schemas_of",
    "shares",
    "told",
]

T = TypeVar("T")
_TICK = 64  # things that the progress bar learns of at once

OptionalDtdArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="DTD",
        help="The file of a DTD, or the name of a bundled schema; a preset has its own.",
        show_default=False,
    ),
]
PresetOption = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="The workload of a paper, which other options change; `pathcast generate presets` lists them.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Another seed, another workload.")]
OutOption = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="PATH", help="Where to write; stdout if not given."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write the statistics as a JSON object.")]


@contextlib.contextmanager
def told() -> Iterator[None]:
    """An error of ours ends the command: it says what is wrong and what to try."""
    try:
        yield
    except PathcastError as error:
        fail(str(error))


def preset_of(name: str | None) -> Preset | None:
    """The preset of this name; a name that there is not ends the command."""
    if name is None:
        return None
    from pathcast.generators.presets import PRESETS
    from pathcast.schema.similar_names import similar_names

    if name not in PRESETS:
        fail(
            f"there is no preset {name!r}\n  hint: there are {', '.join(similar_names(name, PRESETS) or PRESETS)}"
        )
    return PRESETS[name]


def schemas_of(
    dtd: str | None, preset: Preset | None, root: str | None, catalog: Path | None
) -> list[Schema]:
    """The schema that is named, or else those of the preset."""
    if dtd is not None:
        return [load_schema(dtd, root, catalog)]
    from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema

    if preset is None:
        fail(
            f"there is no DTD\n  hint: name a file, a preset (--preset) or one of {', '.join(SCHEMA_NAMES)}"
        )
    if root is not None or catalog is not None:
        fail("--root and --catalog need a DTD")
    return [bundled_schema(name) for name in preset.schemas]


@contextlib.contextmanager
def counted(items: Iterable[T], total: int | None, *, with_data: bool) -> Iterator[Iterator[T]]:
    """The same items, with a progress bar while the block lasts."""
    with progress("generating", total, with_data=with_data) as bar:
        yield _ticking(items, bar)


def _ticking(items: Iterable[T], bar: Progress) -> Iterator[T]:
    for number, item in enumerate(items, 1):
        yield item
        if number % _TICK == 0:
            bar.advance(bar.task_ids[0], _TICK)


def reported(
    output: Output,
    figures: dict[str, object],
    rows: dict[str, str],
    *,
    as_json: bool,
    aside: bool,
) -> None:
    """The statistics as a table, or as JSON; on stderr if they go `aside` because stdout has the data."""
    if as_json:
        text = json.dumps(figures)
    else:
        width = max(len(name) for name in rows)
        text = "\n".join(f"{name:<{width}}  {value}" for name, value in rows.items())
    if aside:
        say(text)
    else:
        output.text(text)


def part_of(part: int, whole: int) -> str:
    """A share for people.

    >>> part_of(1, 3), part_of(0, 0)
    ('33.3%', '0.0%')
    """
    return f"{100 * part / whole if whole else 0.0:.1f}%"


def shares(counts: Counter[int]) -> str:
    """How often each number came, for people.

    >>> shares(Counter({3: 1, 2: 3}))
    '2: 75.0%, 3: 25.0%'
    """
    whole = counts.total()
    return ", ".join(
        f"{number}: {part_of(count, whole)}" for number, count in sorted(counts.items())
    )
