"""`pathcast aggregate`: the subscriptions that stand for all the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import Output, fail, many, progress, say
from pathcast.cli.options import (
    FormatOption,
    NamespaceOption,
    SubscriptionsArgument,
    namespaces_of,
)
from pathcast.cli.read_subscriptions import load_with
from pathcast.cli.schema import CatalogOption, RootOption, load_schema, with_dtd
from pathcast.errors import SubscriptionError

if TYPE_CHECKING:
    from pathcast.covering import Aggregate
    from pathcast.files import Subscription
    from pathcast.schema import Schema
    from pathcast.xpath import Pattern

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
    merge: Annotated[
        float | None,
        typer.Option(
            "--merge",
            metavar="D",
            min=0.0,
            max=1.0,
            help="Merge roots that are paths, as long as at most this share of what a merger lets through was asked for by nobody; 0 for perfect mergers alone. Needs --dtd.",
        ),
    ] = None,
    dtd: Annotated[
        str | None,
        typer.Option(
            "--dtd",
            metavar="DTD",
            help="What publishers send, for --merge: a file, or a bundled schema's name.",
        ),
    ] = None,
    root: RootOption = None,
    catalog: CatalogOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object for each root, a line each.")
    ] = False,
) -> None:
    """Find the subscriptions that no other covers: a document that matches any matches one of these.

    Written are the roots, a line each: id, how many subscriptions it stands for (itself included), XPath. Of equivalent
    ones the first stands for the others. A merger has no id, and its D is written behind it.

    Exit code: 0; 2 for a bad call or bad subscriptions.

    Example: `pathcast aggregate subscriptions.txt --tree`

    Example: `pathcast aggregate subscriptions.txt --merge 0.1 --dtd news`
    """
    if (merge is None) != (dtd is None):
        fail("--merge and --dtd go together: D is the share of the DTD's paths")
    if dtd is None:
        with_dtd(root, catalog)
    schema = None if dtd is None else load_schema(dtd, root, catalog)
    from pathcast.covering import Aggregate
    from pathcast.xpath import parse

    table: Aggregate[Id] = Aggregate.of()
    texts: dict[Id, str] = {}
    patterns: dict[Id, Pattern] = {}

    def take(row: Subscription) -> None:
        pattern = parse(row.xpath, row.namespaces)
        if row.id in table:
            raise SubscriptionError("duplicate", f"the id {row.id!r} is there twice")
        table.add(row.id, pattern)
        texts[row.id] = row.xpath
        if merge is not None:
            patterns[row.id] = pattern

    load_with(
        take,
        subscriptions,
        file_format=file_format,
        namespaces=namespaces_of(namespace),
        skip_bad=skip_bad,
    )
    below = _below(table, texts)
    roots = list(table.roots())
    mergers: list[_Merger] = []
    if merge is not None and schema is not None:
        mergers = _merged({root: patterns[root] for root in roots}, schema, merge)
    alone = set(roots).difference(*(merger.roots for merger in mergers))
    with Output() as output:
        for merger in mergers:
            _write(
                output, None, merger.xpath, merger.roots, below, texts, tree, as_json, merger.degree
            )
        for one in roots:
            if one in alone:
                _write(output, one, texts[one], [one], below, texts, tree, as_json)
    stats = table.stats()
    total = stats["subscriptions"]
    share = f" ({len(roots) / total:.1%})" if total else ""
    told = f"{many(total, 'subscription')}, {stats['patterns']:,} of them different: {many(len(roots), 'root')}{share}"
    if merge is not None:
        told += f"; merged: {len(alone) + len(mergers):,} entries"
    say(told)


@dataclass(frozen=True, slots=True)
class _Merger:
    xpath: str
    degree: float
    roots: list[Id]


def _merged(roots: dict[Id, Pattern], schema: Schema, limit: float) -> list[_Merger]:
    """The mergers of roots that are paths, and whom each stands for."""
    from pathcast.covering.merging import PathDistribution, merge
    from pathcast.covering.merging.linear import to_steps, to_xpath

    paths = {id: steps for id, one in roots.items() if (steps := to_steps(one)) is not None}
    by_text: dict[str, list[Id]] = {}
    for id, steps in paths.items():
        by_text.setdefault(to_xpath(steps), []).append(id)
    with progress("merging", None, with_data=False):
        table = merge([roots[id] for id in paths], PathDistribution.uniform(schema), limit)
        return [
            _Merger(
                one.pattern,
                float(one.degree),
                [id for member in sorted(one.members) for id in by_text.get(member, [])],
            )
            for one in table.mergers()
        ]


def _write(
    output: Output,
    id: Id | None,
    xpath: str,
    roots: list[Id],
    below: dict[Id, list[Id]],
    texts: dict[Id, str],
    tree: bool,
    as_json: bool,
    degree: float | None = None,
) -> None:
    """An entry of the table: a root with what it stands for, or a merger of roots."""
    behind = "" if degree is None else f"\tD = {degree:.3f}"
    if as_json:
        ids = sorted((one for root in roots for one in _all(root, below)), key=str)
        told = {"id": id, "xpath": xpath, "stands_for": ids}
        output.json(told if degree is None else {**told, "degree": degree})
    elif tree:
        start = 0
        if degree is not None:
            output.text(f"-\t{xpath}{behind}")
            start = 1
        for root in roots:
            for depth, one in _drawn(root, below):
                output.text(f"{'  ' * (start + depth)}{one}\t{texts[one]}")
    else:
        count = sum(1 for root in roots for _ in _all(root, below))
        output.text(f"{'-' if id is None else id}\t{count}\t{xpath}{behind}")


def _below(table: Aggregate[Id], texts: dict[Id, str]) -> dict[Id, list[Id]]:
    """For each subscription those that it keeps, in the order of the file."""
    found: dict[Id, list[Id]] = {}
    for id in texts:
        keeper = table.parent_of(id)
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
