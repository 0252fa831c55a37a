"""`pathcast explain`: why a document matches an XPath, or what stood in the way.

The exit code is grep's: 0 if it matches, 1 if it does not (or the document is bad), 2 for a bad call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathcast import matching
from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, say
from pathcast.cli.options import (
    MaxAttributes,
    MaxAttributesTotal,
    MaxDepth,
    MaxElements,
    MaxSize,
    NamespaceOption,
    limits_of,
    namespaces_of,
)
from pathcast.errors import DocumentError, FormatError, SubscriptionError
from pathcast.files import iter_documents

__all__ = ["explain"]


def explain(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", help="The subscription's expression.")],
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="A file, or - for standard input.")
    ],
    namespace: NamespaceOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the explanation as a JSON object.")
    ] = False,
    allow_expensive: Annotated[
        bool,
        typer.Option(
            "--allow-expensive", help="Run an expensive XPath too, however long it takes."
        ),
    ] = False,
    max_size: MaxSize = None,
    max_depth: MaxDepth = None,
    max_elements: MaxElements = None,
    max_attributes: MaxAttributes = None,
    max_attributes_total: MaxAttributesTotal = None,
) -> None:
    """Say why a document matches an XPath, or which step or predicate failed first and where.

    Exit code: 0 if it matches; 1 if it does not, or the document is bad; 2 for a bad call or a bad
    XPath.

    Example: `pathcast explain "/news[@lang='en']//person" story.xml`
    """
    limits = limits_of(max_size, max_depth, max_elements, max_attributes, max_attributes_total)
    prefixes = namespaces_of(namespace)
    if document != "-" and Path(document).is_dir():
        fail(f"{document}: a folder; explain takes one document")
    try:
        (found,) = iter_documents([document], limit=limits.size)
        explanation = matching.explain(
            xpath, found.read(), prefixes, limits, allow_expensive=allow_expensive
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
