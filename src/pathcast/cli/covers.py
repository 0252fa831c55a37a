"""`pathcast covers`: how two subscriptions relate.

The exit code answers the question that the command's name asks: 0 if A covers B, 1 if not (or nobody knows), 2 for a bad call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import BAD_CALL, FAILED, Output, say
from pathcast.cli.options import NamespaceOption, namespaces_of
from pathcast.cli.schema import CatalogOption, RootOption, load_schema, with_dtd
from pathcast.errors import SubscriptionError

if TYPE_CHECKING:
    from pathcast.covering import Verdict

__all__ = ["covers"]

_RELATIONS = {
    (True, True): "equivalent",
    (True, False): "covers",
    (False, True): "covered",
    (False, False): "incomparable",
}


def covers(
    a: Annotated[str, typer.Argument(metavar="A", help="An XPath.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    namespace: NamespaceOption = None,
    dtd: Annotated[
        str | None,
        typer.Option(
            "--dtd",
            metavar="DTD",
            help="Look only at documents that are valid under this DTD: a file, or a bundled schema's name.",
        ),
    ] = None,
    root: RootOption = None,
    catalog: CatalogOption = None,
    witness: Annotated[
        bool, typer.Option("--witness", help="Show documents that tell them apart as well.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object.")] = False,
) -> None:
    """Say whether XPath A matches every document that XPath B matches.

    The answer is `covers`; or `equivalent` if B also covers A, `covered` if only B covers A, `incomparable` if neither does, and
    `unknown` where one of the two could not be decided. With --witness, a document for every no, from which nothing can be taken away.

    Exit code: 0 if A covers B; 1 if not, or if that is not known; 2 for a bad call or a bad XPath.

    Example: `pathcast covers '//item[price>15]' '/shop/item[price>20]' --witness`

    Example: `pathcast covers '/bib//book/title' '//title' --dtd bib`
    """
    from pathcast.covering import covers as decided

    if dtd is None:
        with_dtd(root, catalog)
    schema = None if dtd is None else load_schema(dtd, root, catalog)
    prefixes = namespaces_of(namespace)
    try:
        there = decided(a, b, prefixes, dtd=schema)
        back = decided(b, a, prefixes, dtd=schema)
    except SubscriptionError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
    relation = "unknown"
    if there.answer is not None and back.answer is not None:
        relation = _RELATIONS[there.answer, back.answer]
    with Output() as output:
        if as_json:
            said = {"covers": _told(there), "covered": _told(back)}
            output.json({"a": a, "b": b, "relation": relation, **said})
        else:
            output.text(relation)
            for line in (*_lines(there, "A", "B", witness), *_lines(back, "B", "A", witness)):
                output.text(line)
    if not there:
        raise typer.Exit(FAILED)


def _told(verdict: Verdict) -> dict[str, object]:
    document = None if verdict.witness is None else verdict.witness.decode()
    return {"answer": verdict.answer, "witness": document, "reason": verdict.reason or None}


def _lines(verdict: Verdict, wide: str, narrow: str, witness: bool) -> list[str]:
    if verdict.answer is None:
        return [f"  whether {wide} covers {narrow} is not known: {verdict.reason}"]
    if verdict.witness is None or not witness:
        return []
    return [f"  matches {narrow}, not {wide}: {verdict.witness.decode()}"]
