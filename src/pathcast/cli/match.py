"""`pathcast match`: a line of JSON per document, as soon as it is known.

Documents are read one at a time, and one that fails is a line like the others. A subscription that could
not be decided on a document (an expensive one whose deadline passed) is named in that line's `errors`,
by its id as text: the answer is then incomplete, and the exit code says so as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from pathcast.cli.console import FAILED, Output, fail, progress, say
from pathcast.cli.options import (
    FormatOption,
    MaxAttributes,
    MaxAttributesTotal,
    MaxDepth,
    MaxElements,
    MaxSize,
    NamespaceOption,
    SubscriptionsArgument,
    limits_of,
    namespaces_of,
)
from pathcast.cli.read_subscriptions import load
from pathcast.errors import DocumentError, FormatError
from pathcast.files import DocumentFile, iter_documents
from pathcast.matching import Matcher

__all__ = ["match"]

_DEADLINE = 1.0


def match(
    subscriptions: SubscriptionsArgument,
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT",
            help="Files, folders (every file below, hidden ones too), or - for standard input.",
        ),
    ],
    file_format: FormatOption = None,
    namespace: NamespaceOption = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Report bad subscriptions and go on without them.")
    ] = False,
    allow_expensive: Annotated[
        bool,
        typer.Option(
            "--allow-expensive",
            help="Accept expensive XPaths; they run in a process of their own, under a deadline.",
        ),
    ] = False,
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline",
            metavar="SECONDS",
            max=86_400,
            help="With --allow-expensive: the most that one XPath may take for one document; 1.",
        ),
    ] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Write the matcher's figures to stderr, as JSON.")
    ] = False,
    max_size: MaxSize = None,
    max_depth: MaxDepth = None,
    max_elements: MaxElements = None,
    max_attributes: MaxAttributes = None,
    max_attributes_total: MaxAttributesTotal = None,
) -> None:
    """Say which subscriptions each document matches, as a line of JSON per document.

    Lines are `{"document": path, "matches": [ids]}` or `{"document": path, "error": {...}}`. A line
    also has `"errors": {id: {...}}` if subscriptions could not be decided.

    Exit code: 0; 1 if a document failed or a subscription was not decided; 2 for a bad call or bad
    subscriptions.

    Example: `pathcast match subscriptions.txt documents/ | jq .matches`
    """
    if deadline is not None and not (allow_expensive and deadline > 0):
        problem = "must be more than 0" if allow_expensive else "needs --allow-expensive"
        raise typer.BadParameter(problem, param_hint="--deadline")
    if subscriptions == "-" and "-" in documents:
        fail("standard input (-) cannot be both subscriptions and a document")
    limits = limits_of(max_size, max_depth, max_elements, max_attributes, max_attributes_total)
    prefixes = namespaces_of(namespace)
    try:
        found = iter_documents(documents, limit=limits.size)
    except FormatError as error:
        fail(error.message)
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(Output())
        runner = None
        if allow_expensive:
            from pathcast.sandbox import ProcessRunner  # few need it, and all would wait for it

            runner = stack.enter_context(ProcessRunner(deadline or _DEADLINE, limits))
        matcher = Matcher(limits=limits, runner=runner)
        load(
            matcher,
            subscriptions,
            file_format=file_format,
            namespaces=prefixes,
            skip_bad=skip_bad,
            allow_expensive=allow_expensive,
        )
        failed = 0
        with progress("matching", _total(documents)) as bar:
            for document in found:
                row = _row(matcher, document)
                output.json(row)
                failed += "matches" not in row or "errors" in row
                bar.advance(bar.task_ids[0])
        if stats:
            say(json.dumps(dataclasses.asdict(matcher.stats())))
    if failed:
        raise typer.Exit(FAILED)


def _total(arguments: list[str]) -> int | None:
    """How many documents there will be, if that is known without walking through folders."""
    return None if any(Path(name).is_dir() for name in arguments) else len(arguments)


def _row(matcher: Matcher, document: DocumentFile) -> dict[str, object]:
    try:
        matches = matcher.match(document.read())
    except DocumentError as error:
        return {"document": document.name, "error": error.as_dict()}
    row: dict[str, object] = {"document": document.name, "matches": list(matches)}
    if matches.errors:
        row["errors"] = {str(key): error.as_dict() for key, error in matches.errors.items()}
    return row
