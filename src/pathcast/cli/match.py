"""`pathcast match`: match documents and write one line of JSON per document.

Documents are read one at a time; a document that fails is a line like the others. If a subscription
is undecided on a document (an expensive one after its deadline), the line's `errors` has its id as
text. The answer is then incomplete, and the exit code says so as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, progress, say
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import (
    ExpensiveOptions,
    LimitOptions,
    RecordOption,
    SubscriptionFileOptions,
    SubscriptionsArgument,
)
from pathcast.cli.read_subscriptions import load_into_matcher
from pathcast.documents import Limits, split_records
from pathcast.errors import DocumentError, FormatError
from pathcast.files import DocumentFile, iter_documents
from pathcast.matching import Matcher

__all__ = ["match"]


@with_option_groups
def match(
    subscriptions: SubscriptionsArgument,
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT",
            help="Files, folders (every file below, hidden ones too), or - for standard input.",
        ),
    ],
    file_options: SubscriptionFileOptions,
    expensive: ExpensiveOptions,
    limit_options: LimitOptions,
    record: RecordOption = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Write the matcher's counters to stderr, as JSON.")
    ] = False,
) -> None:
    """Say which subscriptions each document matches, as a line of JSON per document.

    Lines are `{"document": path, "matches": [ids]}` or `{"document": path, "error": {...}}`. A line
    also has `"errors": {id: {...}}` if subscriptions are undecided.

    Exit code: 0, also if there are no documents or no subscriptions, which is reported; 1 if a
    document failed or a subscription is undecided; 2 for a bad call or bad subscriptions.

    Example: `pathcast match subscriptions.txt documents/ | jq .matches`
    """
    deadline = expensive.seconds()
    if subscriptions == "-" and "-" in documents:
        fail("standard input (-) cannot be both subscriptions and a document")
    limits = limit_options.limits()
    file_options.namespaces()  # a usage error comes before any work
    try:
        files = iter_documents(documents, limit=limits.size)
    except FormatError as error:
        fail(error.message)
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(Output())
        runner = None
        if deadline is not None:
            from pathcast.sandbox import ProcessRunner  # slow to import, and seldom needed

            runner = stack.enter_context(ProcessRunner(deadline, limits))
        matcher = Matcher(limits=limits, runner=runner)
        load_into_matcher(
            matcher, subscriptions, file_options, allow_expensive=expensive.allow_expensive
        )
        count = failed = 0
        with progress("matching", _count(documents)) as bar:
            for document in files:
                for name, body in _bodies(document, record, limits):
                    row = _row(matcher, name, body)
                    output.json(row)
                    count += 1
                    failed += "matches" not in row or "errors" in row
                bar.advance(bar.task_ids[0])
        if not count:
            say(f"pathcast: there are no documents in {', '.join(documents)}", "yellow")
        if stats:
            say(json.dumps(dataclasses.asdict(matcher.stats())))
    if failed:
        raise typer.Exit(FAILED)


def _count(arguments: list[str]) -> int | None:
    """Return the number of documents, None if that would need a walk through folders."""
    return None if any(Path(name).is_dir() for name in arguments) else len(arguments)


def _bodies(
    document: DocumentFile, record: str | None, limits: Limits
) -> Iterator[tuple[str, bytes | DocumentError]]:
    """Yield the document, or its records, with their names; an error in the place of a body."""
    try:
        if record is None:
            yield document.name, document.read()
            return
        stream = document.open()
    except DocumentError as error:
        yield document.name, error
        return
    with contextlib.nullcontext(stream) if document.name == "-" else stream:
        for number, body in enumerate(split_records(stream, record, limits), 1):
            yield f"{document.name}#{number}", body


def _row(matcher: Matcher, name: str, body: bytes | DocumentError) -> dict[str, object]:
    if isinstance(body, DocumentError):
        return {"document": name, "error": body.as_dict()}
    try:
        matches = matcher.match(body)
    except DocumentError as error:
        return {"document": name, "error": error.as_dict()}
    row: dict[str, object] = {"document": name, "matches": list(matches)}
    if matches.errors:
        row["errors"] = {str(key): error.as_dict() for key, error in matches.errors.items()}
    return row
