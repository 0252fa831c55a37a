"""`pathcast schema check`: which subscriptions a valid document can match, and why others cannot.

The exit code is 1 if one of them cannot match, so that a script finds a misspelt name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.budget import DEFAULT_STEPS, WorkBudget
from pathcast.cli.console import BAD_CALL, FAILED, Output, fail, say
from pathcast.cli.dtd_options import DtdArgument, DtdOptions
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import BudgetOption, FormatOption, NamespaceOption, parse_namespaces
from pathcast.errors import FormatError, SubscriptionError
from pathcast.files import Format, Subscription, read_subscriptions

if TYPE_CHECKING:
    from pathcast.schema import Satisfiability

__all__ = ["check"]

_ANSWERS = {True: "yes", False: "no", None: "?"}
_MAX_EXAMPLE_CHARACTERS = 400


@with_option_groups
def check(
    dtd: DtdArgument,
    xpaths: Annotated[
        list[str] | None, typer.Argument(metavar="XPATH", help="Expressions to check.")
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--subscriptions", metavar="FILE", help="Check the subscriptions of this file as well."
        ),
    ] = None,
    file_format: FormatOption = None,
    dtd_options: DtdOptions,
    namespace: NamespaceOption = None,
    bad_only: Annotated[
        bool,
        typer.Option("--only-impossible", help="Write only the subscriptions that cannot match."),
    ] = False,
    budget: BudgetOption = DEFAULT_STEPS,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object a line.")] = False,
) -> None:
    """Say for each XPath whether a document that is valid under the DTD can match it.

    yes comes with a small document that matches, no with the step that prevents a match; ? means
    undecided.

    Exit code: 0; 1 if one cannot match; 2 for a bad call, a bad DTD or bad subscriptions.

    Example: `pathcast schema check news '//body.head[headline]' '/news/boddy'`

    Example: `pathcast schema check news --subscriptions desks.txt --budget 10000000`
    """
    from pathcast.schema import satisfiable

    schema = dtd_options.load(dtd)
    impossible = bad = 0
    answers: Counter[bool | None] = Counter()
    with Output() as output:
        for subscription in _subscriptions(xpaths, file, file_format, parse_namespaces(namespace)):
            try:
                verdict = satisfiable(
                    subscription.xpath,
                    schema,
                    subscription.namespaces,
                    budget=WorkBudget(budget),
                )
            except SubscriptionError as error:
                bad += 1
                say(f"{_place(subscription, file)}{error}", "red")
                continue
            impossible += verdict.answer is False
            answers[verdict.answer] += 1
            if bad_only and verdict.answer is not False:
                continue
            if as_json:
                output.json(
                    {"id": subscription.id, "xpath": subscription.xpath, **verdict.as_dict()}
                )
            else:
                output.text(_format(subscription, verdict, file))
    if answers.total() + bad > 1:
        unclear = f", {answers[None]:,} undecided" if answers[None] else ""
        wrong = f", {bad:,} bad" if bad else ""
        say(f"{answers[True]:,} can match, {answers[False]:,} cannot{unclear}{wrong}")
    if bad:
        raise typer.Exit(BAD_CALL)
    if impossible:
        raise typer.Exit(FAILED)


def _subscriptions(
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


def _place(subscription: Subscription, file: str | None) -> str:
    """Return the line of a subscription file; empty for one on the command line."""
    return "" if subscription.line is None else f"{file}:{subscription.line}: "


def _format(subscription: Subscription, verdict: Satisfiability, file: str | None) -> str:
    place = _place(subscription, file)
    lines = [f"{_ANSWERS[verdict.answer]:<4}{place}{subscription.xpath}"]
    if verdict.example is not None:
        example = verdict.example.decode()
        lines.append(
            "    "
            + (
                example
                if len(example) <= _MAX_EXAMPLE_CHARACTERS
                else example[:_MAX_EXAMPLE_CHARACTERS] + "..."
            )
        )
    else:
        at = verdict.culprit.at if verdict.culprit else None
        if at is not None and subscription.xpath.isprintable():
            lines.append(" " * (4 + len(place) + at) + "^")
        lines.append("    " + verdict.reason)
    return "\n".join(lines)
