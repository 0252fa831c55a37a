"""`pathcast schema show`: the contents of a DTD as tables, as JSON, or as a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import BAD_CALL, Output, fail, say
from pathcast.cli.dtd_options import DtdArgument, DtdOptions
from pathcast.cli.option_groups import with_option_groups
from pathcast.errors import SchemaError

if TYPE_CHECKING:
    from pathcast.schema import Schema

__all__ = ["schema_app"]

_MAX_PATHS = 1_000_000  # the root paths of a depth are in memory while they are written
_SUMMARY_DEPTHS = 10  # rows of the table of depths

schema_app = typer.Typer(
    name="schema",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Inspect a DTD, and check subscriptions against it.\n\n"
    "Example: `pathcast schema check news '//body.head[headline]' '/news/boddy'`",
)


@schema_app.command()
@with_option_groups
def show(
    dtd: DtdArgument,
    dtd_options: DtdOptions,
    element: Annotated[
        str | None,
        typer.Option(
            "--element",
            metavar="NAME",
            help="Show one element: content model, attributes, parents and children.",
        ),
    ] = None,
    paths: Annotated[
        int | None,
        typer.Option(
            "--paths", metavar="N", min=1, max=1000, help="List the root paths up to depth N."
        ),
    ] = None,
    dot: Annotated[
        bool, typer.Option("--dot", help="Write the element graph in DOT, for Graphviz.")
    ] = False,
    svg: Annotated[
        str | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="Also draw the element graph into an SVG file; - writes only the drawing, to"
            " standard output.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object.")] = False,
) -> None:
    """Show the elements of a DTD, their attributes, the recursion and the depths of documents.

    Exit code: 0; 2 for a bad call or a DTD that cannot be used.

    Example: `pathcast schema show news --svg news.svg`
    """
    views = {"--element": element, "--paths": paths, "--dot": dot, "--svg -": svg == "-"}
    given = [name for name, value in views.items() if value not in (None, False)]
    if len(given) > 1:
        fail(f"{' and '.join(given)} cannot be written at once")
    if as_json and (dot or svg == "-"):
        fail(f"{given[0]} and --json cannot be written at once")
    schema = dtd_options.load(dtd)
    if svg is not None and svg != "-":
        _draw(schema, svg)
    with Output() as output:
        if dot:
            from pathcast.schema.drawing.dot import dot as draw_dot

            output.text(draw_dot(schema).rstrip("\n"))
        elif svg == "-":
            from pathcast.schema.drawing.svg import svg as draw_svg

            output.text(draw_svg(schema).rstrip("\n"))
        elif element is not None:
            _show_element(output, schema, element, as_json)
        elif paths is not None:
            _show_paths(output, schema, paths, as_json)
        else:
            _show_all(output, schema, dtd, as_json)


def _draw(schema: Schema, target: str) -> None:
    from pathcast.schema.drawing.svg import svg

    try:
        Path(target).write_text(svg(schema), encoding="utf-8")
    except OSError as error:
        fail(f"{target}: cannot write the drawing: {error.strerror or error}")
    say(f"{target}: {len(schema.graph.depth):,} elements drawn")


def _show_paths(output: Output, schema: Schema, depth: int, as_json: bool) -> None:
    from pathcast.schema import count_paths, root_paths

    counts = count_paths(schema, depth)
    if sum(counts) > _MAX_PATHS:
        allowed = next(level for level in range(depth) if sum(counts[: level + 1]) > _MAX_PATHS)
        fail(
            f"--paths: {schema.name} has more than {_MAX_PATHS:,} root paths up to depth {depth};"
            f" --paths {allowed} has {sum(counts[:allowed]):,}"
        )
    paths = ("/" + "/".join(path) for path in root_paths(schema, depth))
    if as_json:
        output.json({"schema": schema.name, "counts": counts, "paths": list(paths)})
    else:
        for path in paths:
            output.text(path)


def _show_all(output: Output, schema: Schema, dtd: str, as_json: bool) -> None:
    from pathcast.cli.schema_tables import element_table, render, summary_tables
    from pathcast.generators.bundled import SCHEMA_NAMES, describe_schema
    from pathcast.schema.summary import describe_element, summarize

    summary = summarize(schema, _SUMMARY_DEPTHS)
    about = describe_schema(dtd) if dtd in SCHEMA_NAMES else None
    if as_json:
        description = {"about": about} if about else {}
        elements = [describe_element(schema, name).as_dict() for name in schema.elements]
        output.json({**description, "summary": summary.as_dict(), "elements": elements})
    else:
        output.text(render(*summary_tables(summary, about), element_table(schema)))


def _show_element(output: Output, schema: Schema, name: str, as_json: bool) -> None:
    from pathcast.cli.schema_tables import element_details_tables, render
    from pathcast.schema.summary import describe_element

    try:
        details = describe_element(schema, name)
    except SchemaError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
    if as_json:
        output.json({"schema": schema.name, **details.as_dict()})
    else:
        output.text(render(*element_details_tables(details)))
