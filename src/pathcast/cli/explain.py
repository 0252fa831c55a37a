"""`pathcast explain`: why a document matches an XPath, or which step failed.

The exit code is that of grep: 0 for a match, 1 for none (or a bad document), 2 for a bad call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathcast import matching
from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, say
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import LimitOptions, NamespaceOption, parse_namespaces
from pathcast.errors import DocumentError, FormatError, SubscriptionError
from pathcast.files import iter_documents

__all__ = ["explain"]


@with_option_groups
def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The subscription's expression.")],
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="A file, or - for standard input.")
    ],
    limit_options: LimitOptions,
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

    Exit code: 0 if it matches; 1 if it does not, or the document is bad; 2 for a bad call or a bad
    XPath.

    Example: `pathcast explain "/news[@lang='en']//person" story.xml`
    """
    limits = limit_options.limits()
    prefixes = parse_namespaces(namespace)
    if document != "-" and Path(document).is_dir():
        fail(f"{document}: a folder; explain takes one document")
    try:
        (file,) = iter_documents([document], limit=limits.size)
        explanation = matching.explain(
            xpath, file.read(), prefixes, limits, allow_expensive=allow_expensive
        )
    except FormatError as error:
        fail(error.message)
    except SubscriptionError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
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
