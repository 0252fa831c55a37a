"""The options that say what files hold: documents, rows, or documents in columns.

`pathcast run` and `pathcast match` read the same files by the same options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, TypeVar

import typer

from pathcast.cli.console import fail
from pathcast.cli.option_groups import option_group
from pathcast.cli.options import RecordOption
from pathcast.containers.arguments import DocumentArgument, read_arguments
from pathcast.containers.kinds import FileKind, file_kind
from pathcast.containers.rows import BodyField
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.errors import FormatError

__all__ = ["ContentOptions", "open_arguments"]

Kind = TypeVar("Kind", bound=str)


@option_group
class ContentOptions:
    """What files hold, and how it becomes documents."""

    read: Annotated[
        FileKind | None,
        typer.Option(
            "--read",
            help="What the input holds: documents in files, rows of .csv, .json or .jsonl, JSON"
            " lines with a body, a parquet table with a body; default: by its name.",
        ),
    ] = None
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by",
            metavar="COLUMN",
            help="Consecutive rows with the same value in this column are one document.",
        ),
    ] = None
    body: Annotated[
        str | None,
        typer.Option(
            "--body",
            metavar="COLUMN",
            help="The column of rows or of a table that holds the documents; default: body.",
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="The column that holds their ids; default: id, if there is one.",
        ),
    ] = None
    record: RecordOption = None

    def kind(self, implied: Kind) -> Kind | FileKind:
        """Return what a source holds, if its name implies `implied`."""
        if self.read is not None:
            return self.read
        if self.body is not None and implied == "rows":
            return "bodies"
        return implied if self.group_by is None else "rows"

    def check(self, kind: str) -> None:
        """Raise a usage error if an option does not fit what a source holds."""
        if self.group_by is not None and kind != "rows":
            raise typer.BadParameter("only rows can be grouped", param_hint="--group-by")
        for option, column in (("--body", self.body), ("--id", self.id_column)):
            if column is not None and kind not in ("bodies", "parquet"):
                problem = "only JSON lines and tables have columns of documents and ids"
                raise typer.BadParameter(problem, param_hint=option)
        if self.record is not None and kind not in ("files", "rows", "bodies"):
            raise typer.BadParameter("only files are split into records", param_hint="--record")

    def fields(self) -> BodyField:
        """Return the columns of documents and ids."""
        return BodyField(self.body or "body", self.id_column or "id")

    def arguments(self, names: Sequence[str], max_bytes: int) -> list[DocumentArgument]:
        """Return the DOCUMENT arguments of a command, or raise a usage error."""
        arguments = []
        for name in names:
            kind = self.kind(file_kind(name))
            self.check(kind)
            arguments.append(
                DocumentArgument(name, kind, max_bytes, self.group_by, self.fields(), self.record)
            )
        return arguments


def open_arguments(arguments: Sequence[DocumentArgument]) -> Iterator[UnpackedDocument]:
    """Return the documents of the arguments, or end the command if one cannot be read."""
    try:
        return read_arguments(arguments)
    except FormatError as error:
        fail(error.message if error.hint is None else f"{error.message}\n  hint: {error.hint}")
