"""`pathcast schema check`: which subscriptions can match a valid document at all, and what is wrong with the others.

The exit code is 1 if one of them cannot: a subscriber who misspelt a name waits for ever, and this is how a script
finds out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, say
from pathcast.cli.options import FormatOption, NamespaceOption, namespaces_of
from pathcast.cli.schema import CatalogOption, DtdArgument, RootOption, load_schema
from pathcast.errors import FormatError, SubscriptionError
from pathcast.files import Format, Subscription, read_subscriptions

if TYPE_CHECKING:
    from pathcast.schema import Satisfiability

__all__ = ["check"]

_WORDS = {True: "yes", False: "no", None: "?"}
_SHOWN = 400  # characters of an example


def check(
    dtd: DtdArgument,
    xpaths: Annotated[
        list[str] | None, typer.Argument(metavar="[XPATH]...", help="Expressions to check.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--subscriptions", metavar="FILE", help="Check the subscriptions of this file as well."
        ),
    ] = None,
    file_format: FormatOption = None,
    root: RootOption = None,
    catalog: CatalogOption = None,
    namespace: NamespaceOption = None,
    bad_only: Annotated[
        bool, typer.Option("--only-impossible", help="Write only those that cannot match.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object a line.")] = False,
) -> None:
    """Say of each XPath whether any document that is valid under the DTD can match it.

    yes comes with a small document that matches, no with the step that stands in the way; ? means that neither
    was found. Exit code: 0; 1 if one cannot match; 2 for a bad call, a bad DTD or bad subscriptions.

    Example: `pathcast schema check news '//body.head[headline]' '/news/boddy'`
    """
    from pathcast.schema import satisfiable

    schema = load_schema(dtd, root, catalog)
    impossible = bad = 0
    answers: Counter[bool | None] = Counter()
    with Output() as output:
        for one in _asked(xpaths, file, file_format, namespaces_of(namespace)):
            try:
                found = satisfiable(one.xpath, schema, one.namespaces)
            except SubscriptionError as error:
                bad += 1
                say(f"{_place(one, file)}{error}", "red")
                continue
            impossible += found.answer is False
            answers[found.answer] += 1
            if bad_only and found.answer is not False:
                continue
            if as_json:
                output.json({"id": one.id, "xpath": one.xpath, **found.as_dict()})
            else:
                output.text(_shown(one, found, file))
    if answers.total() + bad > 1:
        unclear = f", {answers[None]:,} not known" if answers[None] else ""
        wrong = f", {bad:,} bad" if bad else ""
        say(f"{answers[True]:,} can match, {answers[False]:,} cannot{unclear}{wrong}")
    if bad:
        raise typer.Exit(BAD_CALL)
    if impossible:
        raise typer.Exit(FAILED)


def _asked(
    xpaths: list[str] | None,
    file: str | None,
    file_format: Format | None,
    namespaces: Mapping[str, str] | None,
) -> Iterator[Subscription]:
    if not xpaths and file is None:
        fail("give an XPath, or --subscriptions FILE")
    for number, xpath in enumerate(xpaths or (), 1):
        yield Subscription(id=number, xpath=xpath, namespaces=namespaces)
    if file is not None:
        try:
            yield from read_subscriptions(file, file_format=file_format, namespaces=namespaces)
        except FormatError as error:
            fail(f"{file}: {error}")


def _place(one: Subscription, file: str | None) -> str:
    """Where a subscription was read; those on the command line need no telling."""
    return "" if one.line is None else f"{file}:{one.line}: "


def _shown(one: Subscription, found: Satisfiability, file: str | None) -> str:
    place = _place(one, file)
    lines = [f"{_WORDS[found.answer]:<4}{place}{one.xpath}"]
    if found.example is not None:
        example = found.example.decode()
        lines.append("    " + (example if len(example) <= _SHOWN else example[:_SHOWN] + "..."))
    else:
        at = found.culprit.at if found.culprit else None
        if at is not None and one.xpath.isprintable():
            lines.append(" " * (4 + len(place) + at) + "^")
        lines.append("    " + found.reason)
    return "\n".join(lines)
