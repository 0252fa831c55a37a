"""The options that name a DTD, and `load_schema`, which loads the schema behind them.

A DTD is a file, or the name of a bundled schema. Parts that a DTD lacks (files missing from the
catalog, undeclared elements) are warnings on stderr, not errors: the remainder is usable.

`pathcast.schema` is imported inside the functions, because other commands should start without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import BAD_CALL, fail, say
from pathcast.cli.option_groups import option_group
from pathcast.errors import SchemaError

if TYPE_CHECKING:
    from pathcast.schema import Schema

__all__ = ["DtdArgument", "DtdOption", "DtdOptions", "OptionalDtdArgument", "load_schema"]

_MAX_WARNED_NAMES = 10

DtdArgument = Annotated[
    str,
    typer.Argument(
        metavar="DTD",
        help="A DTD file, or a bundled schema: news, protein, book, bib, auction, bibliography,"
        " alert, weather, stock or invoice (./news is a file).",
    ),
]
OptionalDtdArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="DTD",
        help="A DTD file, or the name of a bundled schema (./news is a file).",
        show_default=False,
    ),
]
DtdOption = Annotated[
    str | None,
    typer.Option(
        "--dtd",
        metavar="DTD",
        help="The DTD that all documents conform to: a file, or the name of a bundled schema.",
    ),
]


@option_group
class DtdOptions:
    """How to read a DTD."""

    root: Annotated[
        str | None,
        typer.Option(
            "--root",
            metavar="NAME",
            help="The root element; default: every element that no other contains.",
        ),
    ] = None
    catalog: Annotated[
        Path | None,
        typer.Option(
            "--catalog",
            metavar="PATH",
            help="An OASIS catalog, or a folder, with the files that the DTD includes; default:"
            " the DTD's folder.",
        ),
    ] = None

    def has_values(self) -> bool:
        """Return whether any of the options was given."""
        return self.root is not None or self.catalog is not None

    def load(self, dtd: str) -> Schema:
        """Return the schema of a DTD, or end the command."""
        return load_schema(dtd, self.root, self.catalog)

    def load_optional(self, dtd: str | None) -> Schema | None:
        """Return the schema of `--dtd`, None without it; end the command on unusable options."""
        if dtd is not None:
            return self.load(dtd)
        for option, value in (("--root", self.root), ("--catalog", self.catalog)):
            if value is not None:
                fail(f"{option} needs a DTD (--dtd)")
        return None


def load_schema(dtd: str, root: str | None = None, catalog: Path | None = None) -> Schema:
    """Return the schema of a DTD file or of a bundled name; report an error and end the command."""
    from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
    from pathcast.schema import Catalog, Schema, load_dtd

    try:
        if dtd in SCHEMA_NAMES:
            if catalog is not None:
                fail(f"--catalog: the bundled schema {dtd} asks for no files (./{dtd} is a file)")
            schema = bundled_schema(dtd)
            return schema if root is None else Schema.of(dtd, schema.elements, root)
        opened_catalog = None if catalog is None else Catalog.open(catalog)
        schema = load_dtd(dtd, opened_catalog, root)
    except SchemaError as error:
        say(f"pathcast: {error}", "red")
        if error.kind == "unreadable" and dtd.isidentifier() and not Path(dtd).exists():
            say(f"  hint: {_suggest_name(dtd, SCHEMA_NAMES)}")
        raise typer.Exit(BAD_CALL) from None
    _warn(schema)
    return schema


def _suggest_name(name: str, schema_names: tuple[str, ...]) -> str:
    from pathcast.schema.similar_names import similar_names

    suggestions = similar_names(name, schema_names)
    if suggestions:
        return f"did you mean {' or '.join(suggestions)}?"
    return f"bundled schemas are {', '.join(schema_names)}"


def _warn(schema: Schema) -> None:
    for names, problem in (
        (schema.missing, "included files that the catalog does not have, treated as empty"),
        (schema.undeclared_names, "undeclared elements in content models"),
        (tuple(schema.ambiguous), "elements whose content model is not deterministic"),
    ):
        if names:
            shown = ", ".join(names[:_MAX_WARNED_NAMES])
            omitted = len(names) - _MAX_WARNED_NAMES
            suffix = f" and {omitted:,} more" if omitted > 0 else ""
            say(f"{schema.name}: {problem}: {shown}{suffix}", "yellow")
