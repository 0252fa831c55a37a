"""`pathcast match`: match documents and write one line of JSON per document.

Documents are read one at a time; a document that fails is a line like the others. If a subscription
is undecided on a document (an expensive one after its deadline), the line's `errors` has its id as
text. The answer is then incomplete, and the exit code says so as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Sequence
from typing import Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, progress, say
from pathcast.cli.content_options import ContentOptions, open_arguments
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import (
    ExpensiveOptions,
    LimitOptions,
    SubscriptionFileOptions,
    SubscriptionsArgument,
)
from pathcast.cli.read_subscriptions import load_into_matcher
from pathcast.cli.unmatched import UnmatchedSubscriptions
from pathcast.containers.arguments import DocumentArgument
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.errors import DocumentError
from pathcast.matching import Matcher

__all__ = ["match"]


@with_option_groups
def match(
    subscriptions: SubscriptionsArgument,
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT",
            help="Files, folders (every file below, unless its name begins with . or _), archives"
            " (.zip, .tar, .gz), JSON lines with a body, tables (.parquet), rows (.csv, .json),"
            " or - for standard input.",
        ),
    ],
    file_options: SubscriptionFileOptions,
    expensive: ExpensiveOptions,
    limit_options: LimitOptions,
    contents: ContentOptions,
    report_unmatched: Annotated[
        bool | None,
        typer.Option(
            "--unmatched/--no-unmatched",
            help="Whether to name subscriptions that matched no document, and why, on stderr;"
            " by default unless --stats is given.",
        ),
    ] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Write the matcher's counters to stderr, as JSON.")
    ] = False,
) -> None:
    """Say which subscriptions each document matches, as a line of JSON per document.

    Lines are `{"document": path, "matches": [ids]}` or `{"document": path, "error": {...}}`. A line
    also has `"errors": {id: {...}}` if subscriptions are undecided. Afterwards, stderr gets the
    number of subscriptions that matched no document, and for the first ten the reason if a name
    shows it: one that occurs only in another namespace, or nowhere.

    Exit code: 0, also if there are no documents or no subscriptions, which is reported; 1 if a
    document failed or a subscription is undecided; 2 for a bad call or bad subscriptions.

    Example: `pathcast match subscriptions.txt documents/ archive.zip | jq .matches`
    """
    deadline = expensive.seconds()
    if subscriptions == "-" and "-" in documents:
        fail("standard input (-) cannot be both subscriptions and a document")
    limits = limit_options.limits()
    file_options.namespaces()  # a usage error comes before any work
    arguments = contents.arguments(documents, limits.size)
    bodies = open_arguments(arguments)
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
        if report_unmatched is None:
            report_unmatched = not stats  # a program may read the counters
        unmatched = UnmatchedSubscriptions(matcher, limits) if report_unmatched else None
        count = failed = 0
        with progress("matching", _count(arguments)) as bar:
            for document in bodies:
                row = _row(matcher, document, unmatched)
                output.json(row)
                count += 1
                failed += "matches" not in row or "errors" in row
                bar.advance(bar.task_ids[0])
        if not count:
            say(f"pathcast: there are no documents in {', '.join(documents)}", "yellow")
        if unmatched is not None:
            unmatched.report(subscriptions)
        if stats:
            say(json.dumps(dataclasses.asdict(matcher.stats())))
    if failed:
        raise typer.Exit(FAILED)


def _count(arguments: Sequence[DocumentArgument]) -> int | None:
    """Return the number of documents, None if it is known only after they are read."""
    return len(arguments) if all(argument.is_single for argument in arguments) else None


def _row(
    matcher: Matcher, document: UnpackedDocument, unmatched: UnmatchedSubscriptions | None
) -> dict[str, object]:
    if document.body is None:
        kind, message = document.fault or ("unreadable", "")
        return {"document": document.id, "error": {"kind": kind, "message": message}}
    try:
        matches = matcher.match(document.body)
    except DocumentError as error:
        return {"document": document.id, "error": error.as_dict()}
    if unmatched is not None:
        unmatched.on_match(document.body, matches)
    row: dict[str, object] = {"document": document.id, "matches": list(matches)}
    if matches.errors:
        row["errors"] = {str(key): error.as_dict() for key, error in matches.errors.items()}
    return row
