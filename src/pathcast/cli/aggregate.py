"""`pathcast aggregate`: reduce a file of subscriptions to its covering roots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import Output, fail, plural, progress, say
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import SubscriptionFileOptions, SubscriptionsArgument
from pathcast.cli.read_subscriptions import load_subscriptions
from pathcast.cli.schema import CatalogOption, RootOption, load_schema, with_dtd
from pathcast.errors import SubscriptionError

if TYPE_CHECKING:
    from pathcast.covering import Aggregate
    from pathcast.files import Subscription
    from pathcast.schema import Schema
    from pathcast.xpath import Pattern

__all__ = ["aggregate"]

Id = str | int


@with_option_groups
def aggregate(
    subscriptions: SubscriptionsArgument,
    file_options: SubscriptionFileOptions,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw below each root the subscriptions it stands for.")
    ] = False,
    index: Annotated[
        str,
        typer.Option(
            "--index",
            metavar="features|factorization|regions|subscription-tree",
            help="The index that finds covering subscriptions. All give the same result; features "
            "is the fastest, the others are those of the literature.",
        ),
    ] = "features",
    merge: Annotated[
        float | None,
        typer.Option(
            "--merge",
            metavar="D",
            min=0.0,
            max=1.0,
            help="Merge roots that are linear paths, as long as at most this share of the paths "
            "that a merger matches is wasted; 0 for perfect mergers only. Needs --dtd.",
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
    """Find the subscriptions that no other covers.

    A document that matches any subscription matches one of these roots. Each is written as a
    line: id, how many subscriptions it stands for (itself included), XPath. Of equivalent
    subscriptions the first stands for the others. A merger has no id; its D follows it.

    Exit code: 0; 2 for a bad call or bad subscriptions.

    Example: `pathcast aggregate subscriptions.txt --tree`

    Example: `pathcast aggregate subscriptions.txt --merge 0.1 --dtd news`

    Example: `pathcast aggregate subscriptions.txt --index subscription-tree`
    """
    if (merge is None) != (dtd is None):
        fail("--merge and --dtd go together: D is the share of the DTD's paths")
    if dtd is None:
        with_dtd(root, catalog)
    schema = None if dtd is None else load_schema(dtd, root, catalog)
    from pathcast.covering import Aggregate
    from pathcast.covering.indexes import INDEXES
    from pathcast.xpath import parse

    if index not in INDEXES:
        fail(f"--index: {index!r} is not one of {', '.join(INDEXES)}")
    table: Aggregate[Id] = Aggregate.of(INDEXES[index])
    texts: dict[Id, str] = {}
    patterns: dict[Id, Pattern] = {}

    def add(row: Subscription) -> None:
        pattern = parse(row.xpath, row.namespaces)
        if row.id in table:
            raise SubscriptionError("duplicate", f"the id {row.id!r} is there twice")
        table.add(row.id, pattern)
        texts[row.id] = row.xpath
        if merge is not None:
            patterns[row.id] = pattern

    load_subscriptions(add, subscriptions, file_options)
    children = _children(table, texts)
    roots = list(table.roots())
    mergers: list[_MergedRoots] = []
    if merge is not None and schema is not None:
        mergers = _merge_roots({id: patterns[id] for id in roots}, schema, merge)
    unmerged = set(roots).difference(*(merger.roots for merger in mergers))
    with Output() as output:
        for merger in mergers:
            _write(
                output,
                None,
                merger.xpath,
                merger.roots,
                children,
                texts,
                tree,
                as_json,
                merger.degree,
            )
        for id in roots:
            if id in unmerged:
                _write(output, id, texts[id], [id], children, texts, tree, as_json)
    stats = table.stats()
    total = stats["subscriptions"]
    share = f" ({len(roots) / total:.1%})" if total else ""
    summary = (
        f"{plural(total, 'subscription')}, {stats['patterns']:,} of them different: "
        f"{plural(len(roots), 'root')}{share}"
    )
    if merge is not None:
        summary += f"; merged: {len(unmerged) + len(mergers):,} entries"
    say(summary)


@dataclass(frozen=True, slots=True)
class _MergedRoots:
    """A merger, its imperfect degree, and the roots that it replaces."""

    xpath: str
    degree: float
    roots: list[Id]


def _merge_roots(roots: dict[Id, Pattern], schema: Schema, limit: float) -> list[_MergedRoots]:
    """Return the mergers of the roots that are linear paths."""
    from pathcast.covering.merging import PathDistribution, merge
    from pathcast.covering.merging.linear import to_steps, to_xpath

    paths = {id: steps for id, root in roots.items() if (steps := to_steps(root)) is not None}
    ids: dict[str, list[Id]] = {}
    for id, steps in paths.items():
        ids.setdefault(to_xpath(steps), []).append(id)
    with progress("merging", None, with_data=False):
        table = merge([roots[id] for id in paths], PathDistribution.uniform(schema), limit)
        return [
            _MergedRoots(
                merger.pattern,
                float(merger.degree),
                [id for member in sorted(merger.members) for id in ids.get(member, [])],
            )
            for merger in table.mergers()
        ]


def _write(
    output: Output,
    id: Id | None,
    xpath: str,
    roots: list[Id],
    children: dict[Id, list[Id]],
    texts: dict[Id, str],
    tree: bool,
    as_json: bool,
    degree: float | None = None,
) -> None:
    """Write an entry of the table: a root, or a merger of roots."""
    suffix = "" if degree is None else f"\tD = {degree:.3f}"
    if as_json:
        ids = sorted((below for root in roots for _, below in _preorder(root, children)), key=str)
        entry = {"id": id, "xpath": xpath, "stands_for": ids}
        output.json(entry if degree is None else {**entry, "degree": degree})
    elif tree:
        indent = 0
        if degree is not None:
            output.text(f"-\t{xpath}{suffix}")
            indent = 1
        for root in roots:
            for depth, below in _preorder(root, children):
                output.text(f"{'  ' * (indent + depth)}{below}\t{texts[below]}")
    else:
        count = sum(1 for root in roots for _ in _preorder(root, children))
        output.text(f"{'-' if id is None else id}\t{count}\t{xpath}{suffix}")


def _children(table: Aggregate[Id], texts: dict[Id, str]) -> dict[Id, list[Id]]:
    """Return for each subscription those that it hides, in the order of the file."""
    children: dict[Id, list[Id]] = {}
    for id in texts:
        parent = table.parent_of(id)
        if parent is not None:
            children.setdefault(parent, []).append(id)
    return children


def _preorder(root: Id, children: dict[Id, list[Id]]) -> Iterator[tuple[int, Id]]:
    """Yield the depth and the id of each subscription below a root, itself first."""
    waiting = [(0, root)]
    while waiting:
        depth, id = waiting.pop()
        yield depth, id
        waiting += [(depth + 1, child) for child in reversed(children.get(id, []))]
