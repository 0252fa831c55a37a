"""`pathcast generate documents`: valid documents from a DTD, as a folder or a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import Output
from pathcast.cli.document_output import (
    arriving,
    document_figures,
    document_format,
    document_table,
    write_out,
)
from pathcast.cli.generate_common import (
    CatalogOption,
    JsonOption,
    OptionalDtdArgument,
    OutOption,
    PresetOption,
    RootOption,
    SeedOption,
    counted,
    preset_of,
    reported,
    schemas_of,
    told,
)
from pathcast.cli.generate_values import ValuesOption, values_of
from pathcast.cli.options import parse_size
from pathcast.files import DOCUMENT_FORMATS

if TYPE_CHECKING:
    from pathcast.generators.documents import DocumentOptions
    from pathcast.generators.statistics import DocumentStatistics
    from pathcast.schema import Schema

__all__ = ["generate_documents"]

_COUNT = 100


def generate_documents(
    dtd: OptionalDtdArgument = None,
    preset: PresetOption = None,
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", min=0, help=f"How many; {_COUNT} if nothing says it."),
    ] = None,
    seed: SeedOption = 1,
    out: OutOption = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(DOCUMENT_FORMATS),
            help="What --out is, where its name does not say it.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Deepest element; 10.")
    ] = None,
    repetition: Annotated[
        int | None, typer.Option("--repetition", help="Most times that * or + repeats; 3.")
    ] = None,
    optional: Annotated[
        float | None,
        typer.Option("--optional", help="Probability of what may be left out; 0.5."),
    ] = None,
    recursion: Annotated[
        int | None,
        typer.Option("--recursion", help="Most times that an element stands on one path."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="BYTES", help="Size to aim at, such as 7000 or 10K."),
    ] = None,
    repeat: Annotated[
        list[str] | None,
        typer.Option(
            "--repeat",
            metavar="ELEMENT=N",
            help="N of an element where it may repeat; several times.",
        ),
    ] = None,
    values: ValuesOption = None,
    length: Annotated[
        int | None, typer.Option("--length", help="Most values in one text; 1.")
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(
            "--arrivals",
            metavar="PROCESS",
            help="They come by poisson:RATE, fixed:SECONDS or bursts:RATE,size=N; ids tell when.",
        ),
    ] = None,
    root: RootOption = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Generate documents that are valid under a DTD.

    Written to a folder (a file ID.xml for each), a .jsonl or a .parquet file, or to stdout as lines of JSON with an id
    and a body. Then statistics of what came out are shown. The same seed gives the same bytes.

    Exit code: 0; 2 for a bad call, a bad DTD or parameters that cannot be met.

    Example: `pathcast generate documents news -n 1000 --size 10K -o documents`

    Example: `pathcast generate documents bib --repeat book=300 --values zipf:1.0 -o bib.jsonl`
    """
    out = None if out == "-" else out
    kind = document_format(out, file_format)
    given: dict[str, Any] = {
        "max_depth": max_depth,
        "repetition": repetition,
        "optional": optional,
        "recursion": recursion,
        "size": None if size is None else parse_size(size),
        "repeat": dict(_repeat(pair) for pair in repeat) if repeat else None,
    }
    with Output() as output, told():
        from pathcast.generators.arrivals import parse_arrivals
        from pathcast.generators.documents import DocumentOptions
        from pathcast.generators.statistics import DocumentStatistics

        known = preset_of(preset)
        schemas = schemas_of(dtd, known, root, catalog)
        options = known.documents if known else DocumentOptions()
        changes = {name: value for name, value in given.items() if value is not None}
        domain = values_of(options.values, values, length)
        options = dataclasses.replace(options, values=domain, **changes)
        if count is None:
            count = known.document_count if known else _COUNT
        process = known.arrival if known else None
        if arrivals is not None:
            process = parse_arrivals(arrivals)
        found = DocumentStatistics()
        bodies = _bodies(schemas, options, seed, count)
        with counted(bodies, count, with_data=out is None) as passing:
            write_out(output, out, kind, _named(passing, found, arriving(process, seed)))
        figures = document_figures(found)
        table = document_table(found, figures)
        about = {"schemas": [one.name for one in schemas], "preset": preset, "seed": seed}
        reported(output, about | figures, table, as_json=as_json, aside=out is None)


def _bodies(
    schemas: Sequence[Schema], options: DocumentOptions, seed: int, count: int
) -> Iterator[bytes]:
    """The schemas take turns."""
    from pathcast.generators.documents import Documents

    made = [Documents(schema, options, seed) for schema in schemas]
    for number in range(count):
        turn, which = divmod(number, len(made))
        yield made[which][turn]


def _named(
    bodies: Iterable[bytes], found: DocumentStatistics, times: Iterator[str] | None
) -> Iterator[tuple[str, bytes]]:
    for number, body in enumerate(bodies, 1):
        found.add(body)
        yield f"{number:07}" + (f"-{next(times)}" if times else ""), body


def _repeat(pair: str) -> tuple[str, int]:
    name, _, number = pair.partition("=")
    if not (name and number.isascii() and number.isdigit()):
        raise typer.BadParameter(f"{pair!r} is not ELEMENT=N", param_hint="--repeat")
    return name, int(number)
