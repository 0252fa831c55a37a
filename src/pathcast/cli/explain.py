"""`pathcast explain`: why a document matches an XPath, or which step failed.

The command has two forms: an expression and a document, or a subscription of a file and any number
of documents. The exit code is that of grep: 0 for a match, 1 for none (or a bad document), 2 for a
bad call.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pathcast import matching
from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, progress, say
from pathcast.cli.content_options import ContentOptions, open_arguments
from pathcast.cli.explain_many import ExplanationGroups
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import FormatOption, LimitOptions, NamespaceOption, parse_namespaces
from pathcast.containers.unpacking import UnpackedDocument
from pathcast.documents import Limits
from pathcast.errors import DocumentError, FormatError, SubscriptionError
from pathcast.files import Format, Subscription, iter_documents, read_subscriptions

__all__ = ["explain"]


@with_option_groups
def explain(
    subscription: Annotated[
        str,
        typer.Argument(
            metavar="XPATH|FILE", help="An expression; or, before an ID, a file of subscriptions."
        ),
    ],
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="[ID] DOCUMENT",
            help="One document, or - for standard input; or the id of a subscription in FILE, and"
            " any documents that `pathcast match` reads.",
        ),
    ],
    limit_options: LimitOptions,
    contents: ContentOptions,
    file_format: FormatOption = None,
    namespace: NamespaceOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the explanation as a JSON object.")
    ] = False,
    allow_expensive: Annotated[
        bool,
        typer.Option(
            "--allow-expensive", help="Evaluate an expensive XPath too, without a deadline."
        ),
    ] = False,
) -> None:
    """Say why a document matches an XPath, or which step or predicate failed first and where.

    With a FILE and an ID: how many documents match the subscription, and how many fail at which
    step or predicate, with an example of each.

    Exit code: 0 if a document matches; 1 if none does, or a document is bad; 2 for a bad call or a
    bad XPath.

    Example: `pathcast explain "/news[@lang='en']//person" story.xml`

    Example: `pathcast explain subscriptions.tsv desk-7 documents/ archive.zip`
    """
    limits = limit_options.limits()
    prefixes = parse_namespaces(namespace)
    if len(documents) == 1:
        _explain_one(subscription, documents[0], prefixes, limits, as_json, allow_expensive)
        return
    id, *names = documents
    if subscription == "-" and "-" in names:
        fail("standard input (-) cannot be both subscriptions and a document")
    row = _find_subscription(subscription, id, file_format, prefixes)
    bodies = open_arguments(contents.arguments(names, limits.size))
    try:
        groups = _explain_many(row, bodies, limits, allow_expensive)
    except SubscriptionError as error:
        _refuse(f"{subscription}:{row.line}: {error}")
    if not groups.documents:
        say(f"pathcast: there are no documents in {', '.join(names)}", "yellow")
    with Output() as output:
        if as_json:
            output.json(groups.as_dict())
        else:
            output.text("\n".join(groups.lines()))
    if not groups.matched or groups.errors:
        raise typer.Exit(FAILED)


def _explain_many(
    row: Subscription, bodies: Iterator[UnpackedDocument], limits: Limits, allow_expensive: bool
) -> ExplanationGroups:
    """Explain a subscription on many documents; raise SubscriptionError."""
    groups = ExplanationGroups(row.id, row.xpath)
    with progress("explaining", None) as bar:
        for document in bodies:
            try:
                if document.body is None:
                    raise DocumentError(*(document.fault or ("unreadable", "")))
                explanation = matching.explain(
                    row.xpath,
                    document.body,
                    row.namespaces,
                    limits,
                    allow_expensive=allow_expensive,
                )
                groups.add(document.id, explanation)
            except DocumentError as error:
                groups.add_error(document.id, error)
            bar.advance(bar.task_ids[0])
    return groups


def _find_subscription(
    file: str, id: str, file_format: Format | None, prefixes: dict[str, str] | None
) -> Subscription:
    """Return the subscription of a file whose id has this text, or end the command."""
    if file != "-" and not Path(file).exists():
        fail(f"{file}: No such file; an XPath is explained on one document")
    try:
        rows = read_subscriptions(
            file, file_format=file_format, namespaces=prefixes, on_error=lambda _: None
        )
        row = next((row for row in rows if str(row.id) == id), None)
    except FormatError as error:
        fail(f"{file}: {error}")
    if row is None:
        fail(f"there is no subscription {id!r} in {file}")
    return row


def _explain_one(
    xpath: str,
    document: str,
    prefixes: dict[str, str] | None,
    limits: Limits,
    as_json: bool,
    allow_expensive: bool,
) -> None:
    """Explain an expression on one document."""
    if document != "-" and Path(document).is_dir():
        fail(f"{document}: a folder; an XPath is explained on one document")
    try:
        (file,) = iter_documents([document], limit=limits.size)
        explanation = matching.explain(
            xpath, file.read(), prefixes, limits, allow_expensive=allow_expensive
        )
    except FormatError as error:
        fail(error.message)
    except SubscriptionError as error:
        _refuse(f"pathcast: {error}")
    except DocumentError as error:
        say(f"{document}: {error}", "red")
        if as_json:
            with Output() as output:
                output.json({"document": document, "error": error.as_dict()})
        raise typer.Exit(FAILED) from None
    with Output() as output:
        if as_json:
            output.json({"document": document, **explanation.as_dict()})
        else:
            output.text(str(explanation))
    if not explanation.matched:
        raise typer.Exit(FAILED)


def _refuse(message: str) -> NoReturn:
    """Report a bad subscription and end the command."""
    say(message, "red")
    raise typer.Exit(BAD_CALL)
