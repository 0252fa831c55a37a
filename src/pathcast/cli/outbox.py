"""`pathcast outbox`: the documents that a run delivered to a subscriber, without Spark."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from pathcast.cli.console import Output, fail, plural, printable, say
from pathcast.errors import FormatError
from pathcast.files.file_names import file_name
from pathcast.files.outboxes import OutboxEntry, outbox_name, read_outbox

__all__ = ["outbox"]


def outbox(
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The folder that `pathcast run` wrote its results to."),
    ],
    subscriber: Annotated[str, typer.Argument(metavar="SUBSCRIBER")],
    since: Annotated[
        int,
        typer.Option("--since", metavar="BATCH", min=0, help="The first batch to read."),
    ] = 0,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Write the documents themselves, one after the other.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FOLDER",
            help="Save each document as FOLDER/BATCH#DOCUMENT.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object per document.")
    ] = False,
) -> None:
    """List the documents that a run delivered to a subscriber, in the order of their batches.

    A line has the batch, the size in bytes, and the document's id. With `--json` it also has the
    file that contains the document, and its offset there.

    Exit code: 0, also if there are none; 2 for a bad call, a folder without outboxes, or an unknown
    subscriber.

    Example: `pathcast outbox results desk --since 12 --save inbox`
    """
    if bodies and as_json:
        raise typer.BadParameter("not with --json", param_hint="--bodies")
    count = 0
    with Output() as output:
        try:
            if save is not None:
                save.mkdir(parents=True, exist_ok=True)
            for entry in read_outbox(out, subscriber, since=since):
                count += 1
                if save is not None:
                    _save(entry, save)
                if bodies:
                    output.document(entry.read())
                elif as_json:
                    output.json(_as_dict(entry))
                else:
                    batch = "-" if entry.batch is None else entry.batch
                    output.text(f"{batch}\t{entry.length}\t{printable(entry.document)}")
        except FormatError as error:
            fail(str(error))
        except OSError as error:
            fail(f"{save}: {error.strerror or error}")
    if not count:
        say(f"pathcast: {plural(count, 'document')} for {subscriber}")


def _save(entry: OutboxEntry, folder: Path) -> None:
    """Write the document under a hidden name, and rename it when it is complete."""
    name = file_name(entry.document)
    target = folder / (name if entry.batch is None else outbox_name(entry.batch, name))
    draft = folder / f".{secrets.token_hex(8)}"
    try:
        draft.write_bytes(entry.read())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _as_dict(entry: OutboxEntry) -> dict[str, object]:
    return {
        "batch": entry.batch,
        "document": entry.document,
        "bytes": entry.length,
        "file": str(entry.path),
        "offset": entry.offset,
    }
