"""`pathcast aggregate`: the subscriptions that stand for all the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.loading import load_with
from pathcast.cli.options import (
    FormatOption,
    NamespaceOption,
    SubscriptionsArgument,
    namespaces_of,
)
from pathcast.cli.terminal import Output, say
from pathcast.errors import SubscriptionError

if TYPE_CHECKING:
    from pathcast.covering import Aggregate
    from pathcast.formats import Subscription

__all__ = ["aggregate"]

Id = str | int


def aggregate(
    subscriptions: SubscriptionsArgument,
    file_format: FormatOption = None,
    namespace: NamespaceOption = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Go on without bad subscriptions.")
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw below each root the subscriptions it stands for.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object for each root, a line each.")
    ] = False,
) -> None:
    """Find the subscriptions that no other covers: a document that matches any matches one of these.

    Written are the roots, a line each: id, how many subscriptions it stands for (itself included), XPath. Of equivalent
    ones the first stands for the others.

    Exit code: 0; 2 for a bad call or bad subscriptions.

    Example: `pathcast aggregate subscriptions.txt --tree`
    """
    from pathcast.covering import Aggregate
    from pathcast.pattern import parse

    table: Aggregate[Id] = Aggregate.of()
    texts: dict[Id, str] = {}

    def take(row: Subscription) -> None:
        pattern = parse(row.xpath, row.namespaces)
        if row.id in table:
            raise SubscriptionError("duplicate", f"the id {row.id!r} is there twice")
        table.add(row.id, pattern)
        texts[row.id] = row.xpath

    load_with(
        take,
        subscriptions,
        file_format=file_format,
        namespaces=namespaces_of(namespace),
        skip_bad=skip_bad,
    )
    below = _below(table, texts)
    with Output() as output:
        for root in table.roots():
            if as_json:
                ids = sorted(_all(root, below), key=str)
                output.json({"id": root, "xpath": texts[root], "stands_for": ids})
            elif tree:
                for depth, id in _drawn(root, below):
                    output.text(f"{'  ' * depth}{id}\t{texts[id]}")
            else:
                output.text(f"{root}\t{sum(1 for _ in _all(root, below))}\t{texts[root]}")
    stats = table.stats()
    total, roots = stats["subscriptions"], stats["roots"]
    share = f" ({roots / total:.1%})" if total else ""
    say(f"{total:,} subscriptions, {stats['patterns']:,} of them different: {roots:,} roots{share}")


def _below(table: Aggregate[Id], texts: dict[Id, str]) -> dict[Id, list[Id]]:
    """For each subscription those that it keeps, in the order of the file."""
    found: dict[Id, list[Id]] = {}
    for id in texts:
        keeper = table.keeper_of(id)
        if keeper is not None:
            found.setdefault(keeper, []).append(id)
    return found


def _drawn(root: Id, below: dict[Id, list[Id]]) -> Iterator[tuple[int, Id]]:
    waiting = [(0, root)]
    while waiting:
        depth, id = waiting.pop()
        yield depth, id
        waiting += [(depth + 1, one) for one in reversed(below.get(id, []))]


def _all(root: Id, below: dict[Id, list[Id]]) -> Iterator[Id]:
    return (id for _, id in _drawn(root, below))
