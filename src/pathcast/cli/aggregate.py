"""`pathcast aggregate`: reduce a file of subscriptions to its covering roots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pathcast.cli.console import Output, fail, plural, progress, say
from pathcast.cli.dtd_options import DtdOption, DtdOptions
from pathcast.cli.option_groups import with_option_groups
from pathcast.cli.options import SubscriptionFileOptions, SubscriptionsArgument
from pathcast.cli.read_subscriptions import load_subscriptions
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
    *,
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
    dtd: DtdOption = None,
    dtd_options: DtdOptions,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object for each root, a line each.")
    ] = False,
) -> None:
    """Reduce a file of subscriptions to its covering roots: those that no other covers.

    A document that matches any subscription matches one of the roots. Each is written as a line:
    id, how many subscriptions it stands for (itself included), XPath. Of equivalent subscriptions
    the first stands for the others. A merger has no id; its D follows it.

    Exit code: 0; 2 for a bad call or bad subscriptions.

    Example: `pathcast aggregate subscriptions.txt --tree`

    Example: `pathcast aggregate subscriptions.txt --merge 0.1 --dtd news`

    Example: `pathcast aggregate subscriptions.txt --index subscription-tree`
    """
    if (merge is None) != (dtd is None):
        fail("--merge and --dtd go together: D is the share of the DTD's paths")
    from pathcast.xpath import parse

    schema = dtd_options.load_optional(dtd)
    table = _empty_table(index)
    texts: dict[Id, str] = {}
    patterns: dict[Id, Pattern] = {}  # only if they are merged

    def add(row: Subscription) -> None:
        pattern = parse(row.xpath, row.namespaces)
        if row.id in table:
            raise SubscriptionError("duplicate", f"the id {row.id!r} is there twice")
        table.add(row.id, pattern)
        texts[row.id] = row.xpath
        if merge is not None:
            patterns[row.id] = pattern

    load_subscriptions(add, subscriptions, file_options)
    roots = list(table.roots())
    mergers: list[_MergedRoots] = []
    if merge is not None and schema is not None:
        mergers = _merge_roots({id: patterns[id] for id in roots}, schema, merge)
    unmerged = set(roots).difference(*(merger.roots for merger in mergers))
    with Output() as output:
        writer = _EntryWriter(output, _children(table, texts), texts, tree, as_json)
        for merger in mergers:
            writer.write(None, merger.xpath, merger.roots, merger.degree)
        for id in roots:
            if id in unmerged:
                writer.write(id, texts[id], [id])
    summary = _summarize(table, len(roots))
    if merge is not None:
        summary += f"; merged: {len(unmerged) + len(mergers):,} entries"
    say(summary)


def _empty_table(index: str) -> Aggregate[Id]:
    from pathcast.covering import Aggregate
    from pathcast.covering.index_registry import INDEXES

    if index not in INDEXES:
        fail(f"--index: {index!r} is not one of {', '.join(INDEXES)}")
    return Aggregate.of(INDEXES[index])


def _summarize(table: Aggregate[Id], root_count: int) -> str:
    stats = table.stats()
    total = stats["subscriptions"]
    share = f" ({root_count / total:.1%})" if total else ""
    return (
        f"{plural(total, 'subscription')}, {stats['patterns']:,} of them different: "
        f"{plural(root_count, 'root')}{share}"
    )


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


@dataclass(frozen=True, slots=True)
class _EntryWriter:
    """Writes entries of the reduced table: roots, or mergers of roots."""

    output: Output
    children: Mapping[Id, list[Id]]
    texts: Mapping[Id, str]
    tree: bool
    as_json: bool

    def write(
        self, id: Id | None, xpath: str, roots: Sequence[Id], degree: float | None = None
    ) -> None:
        """Write an entry; a merger has no id, but a degree."""
        members = [row for root in roots for row in _preorder(root, self.children)]
        suffix = "" if degree is None else f"\tD = {degree:.3f}"
        if self.as_json:
            ids = sorted((member for _, member in members), key=str)
            entry = {"id": id, "xpath": xpath, "stands_for": ids}
            self.output.json(entry if degree is None else {**entry, "degree": degree})
        elif self.tree:
            indent = 0
            if degree is not None:
                self.output.text(f"-\t{xpath}{suffix}")
                indent = 1
            for depth, member in members:
                self.output.text(f"{'  ' * (indent + depth)}{member}\t{self.texts[member]}")
        else:
            self.output.text(f"{'-' if id is None else id}\t{len(members)}\t{xpath}{suffix}")


def _children(table: Aggregate[Id], texts: dict[Id, str]) -> dict[Id, list[Id]]:
    """Return for each subscription those that it hides, in the order of the file."""
    children: dict[Id, list[Id]] = {}
    for id in texts:
        parent = table.parent_of(id)
        if parent is not None:
            children.setdefault(parent, []).append(id)
    return children


def _preorder(root: Id, children: Mapping[Id, list[Id]]) -> Iterator[tuple[int, Id]]:
    """Yield the depth and the id of each subscription below a root, itself first."""
    waiting = [(0, root)]
    while waiting:
        depth, id = waiting.pop()
        yield depth, id
        waiting += [(depth + 1, child) for child in reversed(children.get(id, []))]
