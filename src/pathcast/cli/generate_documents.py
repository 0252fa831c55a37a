"""`pathcast generate documents`: valid documents from a DTD, as a folder or a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import Output
from pathcast.cli.document_output import (
    arrival_times,
    choose_document_format,
    document_figures,
    document_table,
    write_output,
)
from pathcast.cli.generate_common import (
    ArrivalsOption,
    GenerateOptions,
    WorkloadOptions,
    fail_on_error,
    load_preset,
    show_progress,
)
from pathcast.cli.generate_values import ValuesOption, change_domain
from pathcast.cli.option_groups import option_group, with_option_groups
from pathcast.cli.options import parse_size
from pathcast.files import DOCUMENT_FORMATS

if TYPE_CHECKING:
    from pathcast.generators.documents import DocumentOptions
    from pathcast.generators.statistics import DocumentStatistics
    from pathcast.schema import Schema

__all__ = ["generate_documents"]

DEFAULT_COUNT = 100


@option_group
class DocumentContentOptions:
    """The shape and the values of generated documents."""

    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Deepest element; default 10.")
    ] = None
    repetition: Annotated[
        int | None,
        typer.Option("--repetition", help="Most repetitions of a part with * or +; default 3."),
    ] = None
    optional: Annotated[
        float | None,
        typer.Option("--optional", help="Probability of an optional part; default 0.5."),
    ] = None
    recursion: Annotated[
        int | None,
        typer.Option("--recursion", help="Most occurrences of an element on one path."),
    ] = None
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="BYTES", help="Target size, such as 7000 or 10K."),
    ] = None
    repeat: Annotated[
        list[str] | None,
        typer.Option(
            "--repeat",
            metavar="ELEMENT=N",
            help="Exactly N of an element wherever it may repeat; repeatable.",
        ),
    ] = None
    values: ValuesOption = None
    length: Annotated[
        int | None, typer.Option("--length", help="Most values in one text; default 1.")
    ] = None

    def change(self, base: DocumentOptions) -> DocumentOptions:
        """Return the generator's options, changed by those that were given."""
        changes: dict[str, Any] = {
            "max_depth": self.max_depth,
            "repetition": self.repetition,
            "optional": self.optional,
            "recursion": self.recursion,
            "size": None if self.size is None else parse_size(self.size),
            "repeat": dict(map(_parse_repeat, self.repeat)) if self.repeat else None,
        }
        return dataclasses.replace(
            base,
            values=change_domain(base.values, self.values, self.length),
            **{name: value for name, value in changes.items() if value is not None},
        )


def _parse_repeat(pair: str) -> tuple[str, int]:
    name, _, number = pair.partition("=")
    if not (name and number.isascii() and number.isdigit()):
        raise typer.BadParameter(f"{pair!r} is not ELEMENT=N", param_hint="--repeat")
    return name, int(number)


@with_option_groups
def generate_documents(
    *,
    workload: WorkloadOptions,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            min=0,
            help=f"How many documents; default {DEFAULT_COUNT}, or the preset's number.",
        ),
    ] = None,
    content: DocumentContentOptions,
    arrivals: ArrivalsOption = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(DOCUMENT_FORMATS),
            help="The format of --out; default: by its suffix.",
        ),
    ] = None,
    common: GenerateOptions,
) -> None:
    """Generate documents that are valid under a DTD.

    They are written to a folder (a file ID.xml per document), to a .jsonl or a .parquet file, or to
    stdout as lines of JSON with an id and a body. Statistics of the documents follow.

    Exit code: 0; 2 for a bad call, a bad DTD or parameters that cannot be satisfied.

    Example: `pathcast generate documents news -n 1000 --size 10K -o documents`

    Example: `pathcast generate documents bib --repeat book=300 --values zipf:1.0 -o bib.jsonl`
    """
    document_format = choose_document_format(common.path, file_format)
    with Output() as output, fail_on_error():
        from pathcast.generators.arrivals import parse_arrivals
        from pathcast.generators.documents import DocumentOptions
        from pathcast.generators.statistics import DocumentStatistics

        preset = load_preset(workload.preset)
        schemas = workload.load_schemas(preset)
        options = content.change(preset.documents if preset else DocumentOptions())
        if count is None:
            count = preset.document_count if preset else DEFAULT_COUNT
        process = preset.arrival if preset else None
        if arrivals is not None:
            process = parse_arrivals(arrivals)
        statistics = DocumentStatistics()
        bodies = _generate(schemas, options, common.seed, count)
        with show_progress(bodies, count, with_data=common.path is None) as counted_bodies:
            documents = _add_ids(counted_bodies, statistics, arrival_times(process, common.seed))
            write_output(output, common.path, document_format, documents)
        figures = document_figures(statistics)
        parameters = {
            "schemas": [schema.name for schema in schemas],
            "preset": workload.preset,
            "seed": common.seed,
        }
        common.report(output, parameters | figures, document_table(statistics, figures))


def _generate(
    schemas: Sequence[Schema], options: DocumentOptions, seed: int, count: int
) -> Iterator[bytes]:
    """Yield documents of the schemas in turn."""
    from pathcast.generators.documents import Documents

    generators = [Documents(schema, options, seed) for schema in schemas]
    for number in range(count):
        index, turn = divmod(number, len(generators))
        yield generators[turn][index]


def _add_ids(
    bodies: Iterable[bytes], statistics: DocumentStatistics, times: Iterator[str] | None
) -> Iterator[tuple[str, bytes]]:
    """Yield each document with its id: its number, and its arrival time if there is one."""
    for number, body in enumerate(bodies, 1):
        statistics.add(body)
        yield f"{number:07}" + (f"-{next(times)}" if times else ""), body
