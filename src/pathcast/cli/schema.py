"""`pathcast schema show`: what a DTD says, as tables, as JSON, or drawn.

A schema is named by the file of its DTD, or by the name of a bundled one; `load_schema` is the way from that word to
a `Schema` for every command. What a DTD lacks (files that the catalog does not have, elements that nobody declares) is
said on stderr and is no error: the rest of it may well be what somebody needs.

The packages behind it are imported by the functions that need them: `pathcast match` should not wait for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import BAD_CALL, Output, fail, say
from pathcast.errors import SchemaError

if TYPE_CHECKING:
    from pathcast.schema import Schema

__all__ = ["CatalogOption", "DtdArgument", "RootOption", "load_schema", "schema_app", "with_dtd"]

_MOST_PATHS = 1_000_000  # a level of root paths is held in memory while it is written
_LEVELS = 10
_NAMED = 10  # how many names a warning lists

schema_app = typer.Typer(
    name="schema",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Look at DTDs: elements, attributes, recursion, depths, drawings.",
)

DtdArgument = Annotated[
    str,
    typer.Argument(
        metavar="DTD",
        help="The file of a DTD, or a bundled schema: news, protein, book, bib, auction, bibliography,"
        " alert, weather, stock or invoice (./news is a file).",
    ),
]
RootOption = Annotated[
    str | None,
    typer.Option(
        "--root",
        metavar="NAME",
        help="The root element; if not given, what no other element leads to.",
    ),
]
CatalogOption = Annotated[
    Path | None,
    typer.Option(
        "--catalog",
        metavar="PATH",
        help="Where files that the DTD asks for may be: an OASIS catalog or a folder; its own folder if not given.",
    ),
]


@schema_app.command()
def show(
    dtd: DtdArgument,
    root: RootOption = None,
    catalog: CatalogOption = None,
    element: Annotated[
        str | None,
        typer.Option(
            "--element", metavar="NAME", help="Show one element: content, attributes, neighbours."
        ),
    ] = None,
    paths: Annotated[
        int | None,
        typer.Option(
            "--paths", metavar="N", min=1, max=1000, help="List the root paths up to depth N."
        ),
    ] = None,
    dot: Annotated[
        bool, typer.Option("--dot", help="Draw the element graph in DOT, for Graphviz.")
    ] = False,
    svg: Annotated[
        str | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="Draw the element graph into an SVG file as well; - writes it to standard output.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write what is shown as a JSON object.")
    ] = False,
) -> None:
    """Show the elements of a DTD, its attributes, its recursion and how deep documents may be.

    Exit code: 0; 2 for a bad call or a DTD that cannot be used.

    Example: `pathcast schema show news --svg news.svg`
    """
    views = {"--element": element, "--paths": paths, "--dot": dot, "--svg -": svg == "-"}
    chosen = [name for name, value in views.items() if value not in (None, False)]
    if len(chosen) > 1:
        fail(f"{' and '.join(chosen)} cannot be written at once")
    if as_json and (dot or svg == "-"):
        fail(f"{chosen[0]} and --json cannot be written at once")
    schema = load_schema(dtd, root, catalog)
    if svg is not None and svg != "-":
        _draw(schema, svg)
    with Output() as output:
        if dot:
            from pathcast.schema.drawing.dot import dot as drawn

            output.text(drawn(schema).rstrip("\n"))
        elif svg == "-":
            from pathcast.schema.drawing.svg import svg as drawn

            output.text(drawn(schema).rstrip("\n"))
        elif element is not None:
            _show_element(output, schema, element, as_json)
        elif paths is not None:
            _show_paths(output, schema, paths, as_json)
        else:
            _show_all(output, schema, dtd, as_json)


def with_dtd(root: str | None, catalog: Path | None) -> None:
    """Without a DTD nobody would look at these."""
    for option, value in (("--root", root), ("--catalog", catalog)):
        if value is not None:
            fail(f"{option} goes with a DTD (--dtd)")


def load_schema(dtd: str, root: str | None = None, catalog: Path | None = None) -> Schema:
    """The schema of a DTD file or of a bundled name; says what is wrong with it and ends the command."""
    from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
    from pathcast.schema import Catalog, Schema, load_dtd
    from pathcast.schema.similar_names import similar_names

    try:
        if dtd in SCHEMA_NAMES:
            if catalog is not None:
                fail(f"--catalog: the bundled schema {dtd} asks for no files (./{dtd} is a file)")
            schema = bundled_schema(dtd)
            return schema if root is None else Schema.of(dtd, schema.elements, root)
        opened = None if catalog is None else Catalog.open(catalog)
        schema = load_dtd(dtd, opened, root)
    except SchemaError as error:
        say(f"pathcast: {error}", "red")
        if error.kind == "unreadable" and dtd.isidentifier() and not Path(dtd).exists():
            close = similar_names(dtd, SCHEMA_NAMES)
            known = (
                f"did you mean {' or '.join(close)}?"
                if close
                else f"bundled schemas are {', '.join(SCHEMA_NAMES)}"
            )
            say(f"  hint: {known}")
        raise typer.Exit(BAD_CALL) from None
    _warn(schema)
    return schema


def _warn(schema: Schema) -> None:
    for names, problem in (
        (schema.missing, "files that it asks for and the catalog does not have, taken as empty"),
        (schema.undeclared_names, "undeclared elements in content models"),
        (tuple(schema.ambiguous), "elements whose content model is not deterministic"),
    ):
        if names:
            listed = ", ".join(names[:_NAMED])
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            say(f"{schema.name}: {problem}: {listed}{more}", "yellow")


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
    if sum(counts) > _MOST_PATHS:
        fits = next(level for level in range(depth) if sum(counts[: level + 1]) > _MOST_PATHS)
        fail(
            f"--paths: {schema.name} has more than {_MOST_PATHS:,} root paths up to depth {depth};"
            f" --paths {fits} has {sum(counts[:fits]):,}"
        )
    found = ("/" + "/".join(path) for path in root_paths(schema, depth))
    if as_json:
        output.json({"schema": schema.name, "counts": counts, "paths": list(found)})
    else:
        for path in found:
            output.text(path)


def _show_all(output: Output, schema: Schema, dtd: str, as_json: bool) -> None:
    from pathcast.cli.schema_tables import element_table, summary_tables, written
    from pathcast.generators.bundled import SCHEMA_NAMES, describe_schema
    from pathcast.schema.summary import describe_element, summarize

    summary = summarize(schema, _LEVELS)
    line = describe_schema(dtd) if dtd in SCHEMA_NAMES else None
    if as_json:
        found = {"about": line} if line else {}
        elements = [describe_element(schema, name).as_dict() for name in schema.elements]
        output.json({**found, "summary": summary.as_dict(), "elements": elements})
    else:
        output.text(written(*summary_tables(summary, line), element_table(schema)))


def _show_element(output: Output, schema: Schema, name: str, as_json: bool) -> None:
    from pathcast.cli.schema_tables import detail_tables, written
    from pathcast.schema.summary import describe_element

    try:
        found = describe_element(schema, name)
    except SchemaError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
    if as_json:
        output.json({"schema": schema.name, **found.as_dict()})
    else:
        output.text(written(*detail_tables(found)))
