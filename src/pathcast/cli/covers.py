"""`pathcast covers`: how two subscriptions relate.

The exit code answers the question of the command's name: 0 if A covers B, 1 if not (or unknown), 2
for a bad call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.budget import DEFAULT_STEPS, WorkBudget
from pathcast.cli.console import BAD_CALL, FAILED, Output, say
from pathcast.cli.dtd_options import DtdOption, DtdOptions
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import BudgetOption, NamespaceOption, parse_namespaces
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


@with_option_groups
def covers(
    a: Annotated[str, typer.Argument(metavar="A", help="An XPath.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another XPath.")],
    *,
    namespace: NamespaceOption = None,
    dtd: DtdOption = None,
    dtd_options: DtdOptions,
    witness: Annotated[
        bool, typer.Option("--witness", help="Show a document for every no.")
    ] = False,
    budget: BudgetOption = DEFAULT_STEPS,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object.")] = False,
) -> None:
    """Say whether XPath A matches every document that XPath B matches.

    The answer is `covers`; `equivalent` if B also covers A; `covered` if only B covers A;
    `incomparable` if neither does; `unknown` if one of the two is undecided, with the reason.
    --witness shows a minimal document for every no. With --dtd, only documents that are valid under
    it count.

    Exit code: 0 if A covers B; 1 if not, or if unknown; 2 for a bad call or a bad XPath.

    Example: `pathcast covers '//item[price>15]' '/shop/item[price>20]' --witness`

    Example: `pathcast covers '/bib//book/title' '//title' --dtd bib`

    Example: `pathcast covers '//section//p' '//*//p' --dtd book --budget 10000000`
    """
    from pathcast.covering import covers as decide

    schema = dtd_options.load_optional(dtd)
    prefixes = parse_namespaces(namespace)
    try:
        forward = decide(a, b, prefixes, dtd=schema, budget=WorkBudget(budget))
        backward = decide(b, a, prefixes, dtd=schema, budget=WorkBudget(budget))
    except SubscriptionError as error:
        say(f"pathcast: {error}", "red")
        raise typer.Exit(BAD_CALL) from None
    relation = "unknown"
    if forward.answer is not None and backward.answer is not None:
        relation = _RELATIONS[forward.answer, backward.answer]
    with Output() as output:
        if as_json:
            verdicts = {"covers": _as_dict(forward), "covered": _as_dict(backward)}
            output.json({"a": a, "b": b, "relation": relation, **verdicts})
        else:
            output.text(relation)
            for line in (
                *_lines(forward, "A", "B", witness),
                *_lines(backward, "B", "A", witness),
            ):
                output.text(line)
    if not forward:
        raise typer.Exit(FAILED)


def _as_dict(verdict: Verdict) -> dict[str, object]:
    document = None if verdict.witness is None else verdict.witness.decode()
    return {"answer": verdict.answer, "witness": document, "reason": verdict.reason or None}


def _lines(verdict: Verdict, wide: str, narrow: str, witness: bool) -> list[str]:
    if verdict.answer is None:
        return [f"  whether {wide} covers {narrow} is unknown: {verdict.reason}"]
    if verdict.witness is None or not witness:
        return []
    return [f"  matches {narrow}, not {wide}: {verdict.witness.decode()}"]
