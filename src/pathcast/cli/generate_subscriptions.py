"""`pathcast generate subscriptions`: XPath subscriptions from a DTD, as a subscription file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.console import Output, fail
from pathcast.cli.generate_common import (
    CatalogOption,
    JsonOption,
    OptionalDtdArgument,
    OutOption,
    PresetOption,
    RootOption,
    SeedOption,
    counted,
    part_of,
    preset_of,
    reported,
    schemas_of,
    shares,
    told,
)
from pathcast.cli.generate_values import ValuesOption, values_of
from pathcast.cli.options import format_name
from pathcast.files import FORMATS, Format, Subscription, format_of, line_of, write_subscriptions

if TYPE_CHECKING:
    from pathcast.generators.statistics import SubscriptionStatistics
    from pathcast.generators.subscriptions import PredicateKinds

__all__ = ["generate_subscriptions"]

_COUNT = 1000
_KINDS = ("attribute", "value", "position", "existence")


def generate_subscriptions(
    dtd: OptionalDtdArgument = None,
    preset: PresetOption = None,
    count: Annotated[
        str | None,
        typer.Option(
            "--count", "-n", metavar="N|all", help=f"How many; {_COUNT} if nothing says it."
        ),
    ] = None,
    seed: SeedOption = 1,
    out: OutOption = None,
    file_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS),
            parser=format_name,
            help="What to write, where the name of --out does not say it.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Most steps of a path; 6.")
    ] = None,
    min_depth: Annotated[
        int | None, typer.Option("--min-depth", help="Fewest steps of its longest path; 1.")
    ] = None,
    full: Annotated[
        bool | None,
        typer.Option("--full/--any-depth", help="Walk as deep as the DTD goes, up to --max-depth."),
    ] = None,
    wildcard: Annotated[
        float | None, typer.Option("--wildcard", help="Probability of * at a step; 0.2.")
    ] = None,
    descendant: Annotated[
        float | None, typer.Option("--descendant", help="Probability of // at a step; 0.2.")
    ] = None,
    relative: Annotated[
        float | None, typer.Option("--relative", help="Share that starts at any depth; 0.")
    ] = None,
    branch: Annotated[
        float | None,
        typer.Option("--branch", help="Probability of branches at a node (or query); 0."),
    ] = None,
    branches: Annotated[
        int | None, typer.Option("--branches", help="Most root-to-leaf paths of a query; 2.")
    ] = None,
    branching: Annotated[
        str | None,
        typer.Option(
            "--branching", metavar="node|query", help="Whose probability --branch is; node."
        ),
    ] = None,
    predicate: Annotated[
        float | None,
        typer.Option("--predicate", help="Probability that a query has predicates; 0."),
    ] = None,
    predicates: Annotated[
        int | None, typer.Option("--predicates", help="How many it has then; 1.")
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND[=WEIGHT]",
            help="Kinds of predicates, and how often each is drawn: attribute, value, position, existence.",
        ),
    ] = None,
    values: ValuesOption = None,
    operators: Annotated[
        list[str] | None,
        typer.Option("--operator", metavar="OP", help="Of comparisons; several times; all but !=."),
    ] = None,
    theta: Annotated[
        float | None, typer.Option("--theta", help="Skew of the choice of names (Zipf); 0.")
    ] = None,
    distinct: Annotated[
        bool | None,
        typer.Option("--distinct/--duplicates", help="No text twice, or as they come; distinct."),
    ] = None,
    match_ratio: Annotated[
        float | None,
        typer.Option("--match-ratio", help="Mean share of them that a document should match."),
    ] = None,
    disjoint: Annotated[
        int | None,
        typer.Option("--disjoint", help="Instead of paths, N value profiles that never overlap."),
    ] = None,
    root: RootOption = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Generate subscriptions that documents of a DTD can match.

    Written to a .txt, .tsv, .jsonl or .parquet file (perhaps with .gz), or to stdout as lines of text. Then
    statistics of what came out are shown. The same seed gives the same bytes.

    Exit code: 0; 2 for a bad call, a bad DTD or parameters that cannot be met.

    Example: `pathcast generate subscriptions news -n 100000 --wildcard 0.1 -o subscriptions.txt`

    Example: `pathcast generate subscriptions --preset miliaraki2008-nitf -o subscriptions.parquet`
    """
    out = None if out == "-" else out
    wanted = _wanted(count)
    kind = _format(out, file_format)
    given: dict[str, Any] = {
        "max_depth": max_depth,
        "min_depth": min_depth,
        "full": full,
        "wildcard": wildcard,
        "descendant": descendant,
        "relative": relative,
        "branch": branch,
        "branches": branches,
        "branching": branching,
        "predicate": predicate,
        "predicates": predicates,
        "theta": theta,
        "distinct": distinct,
        "match_ratio": match_ratio,
        "disjoint": disjoint,
    }
    with Output() as output, told():
        from pathcast.generators.statistics import SubscriptionStatistics
        from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions

        known = preset_of(preset)
        schemas = schemas_of(dtd, known, root, catalog)
        options = known.subscriptions if known else SubscriptionOptions()
        given["kinds"] = _kinds(options.kinds, kinds, values, operators)
        options = dataclasses.replace(options, **_those(given))
        if count is None:
            wanted = known.subscription_count if known else _COUNT
        if wanted is None and not options.distinct:
            fail("--count all needs --distinct: duplicates have no end")
        found = SubscriptionStatistics()
        made_for = known.documents if known else None
        texts = subscriptions(schemas, options, seed, wanted, documents=made_for)
        with counted(texts, wanted, with_data=out is None) as passing:
            rows = _rows(passing, found)
            if out is not None:
                write_subscriptions(out, rows, file_format=kind)
            else:
                _write_stdout(output, kind, rows)
        figures = _figures(found)
        if texts.achieved_ratio is not None:
            figures["match_ratio"] = round(texts.achieved_ratio, 4)
        about = {"schemas": [one.name for one in schemas], "preset": preset, "seed": seed}
        reported(
            output, about | figures, _table(found, figures), as_json=as_json, aside=out is None
        )


def _wanted(count: str | None) -> int | None:
    if count is None or count == "all":
        return None
    if not (count.isascii() and count.isdigit()):
        raise typer.BadParameter(f"{count!r} is neither a number nor 'all'", param_hint="--count")
    return int(count)


def _format(out: str | None, given: Format | None) -> Format:
    """The format to write; what cannot be written ends the command before anything is generated."""
    if out is None:
        if given == "parquet":
            fail("parquet is not for standard output\n  hint: give --out FILE")
        return given or "txt"
    kind = given or format_of(out)
    if kind is None:
        hint = "name it .txt, .tsv, .jsonl or .parquet (and perhaps .gz), or give --format"
        fail(f"the format of {out!r} is not known\n  hint: {hint}")
    return kind


def _those(given: dict[str, Any]) -> dict[str, Any]:
    """What was given; the options check it when they are made."""
    return {name: value for name, value in given.items() if value is not None}


def _kinds(
    base: PredicateKinds,
    weights: list[str] | None,
    values: str | None,
    operators: list[str] | None,
) -> PredicateKinds:
    changes: dict[str, Any] = {"values": values_of(base.values, values)}
    if weights:
        changes |= dict.fromkeys(_KINDS, 0.0) | dict(_weight(pair) for pair in weights)
    if operators:
        changes["operators"] = tuple(operators)
    return dataclasses.replace(base, **changes)


def _weight(pair: str) -> tuple[str, float]:
    name, _, number = pair.partition("=")
    try:
        weight = float(number or 1)
    except ValueError:
        raise typer.BadParameter(f"{number!r} is no number", param_hint="--kind") from None
    if name not in _KINDS:
        problem = f"{name!r} is not one of {', '.join(_KINDS)}"
        raise typer.BadParameter(problem, param_hint="--kind")
    return name, weight


def _rows(texts: Iterable[str], found: SubscriptionStatistics) -> Iterator[Subscription]:
    for number, text in enumerate(texts, 1):
        found.add(text)
        yield Subscription(number, text)


def _write_stdout(output: Output, kind: Format, rows: Iterable[Subscription]) -> None:
    assert kind != "parquet"
    for number, row in enumerate(rows):
        output.text(line_of(kind, row, number).removesuffix("\n"))


def _figures(found: SubscriptionStatistics) -> dict[str, object]:
    return {
        "subscriptions": found.count,
        "distinct": found.distinct,
        "steps": found.steps,
        "wildcards": found.wildcards,
        "descendants": found.descendants,
        "relative": found.relative,
        "branched": found.branched,
        "with_predicates": found.predicated,
        "predicates": found.predicates,
        "depths": dict(sorted(found.depths.items())),
        "characters": found.lengths.as_dict(),
    }


def _table(found: SubscriptionStatistics, figures: Mapping[str, Any]) -> dict[str, str]:
    count = found.count
    duplicates = count - figures["distinct"]
    table = {
        "subscriptions": f"{count:,}",
        "duplicates": f"{duplicates:,} ({part_of(duplicates, count)})",
        "depths": shares(found.depths),
        "steps": f"{found.steps:,}",
        "  with *": part_of(found.wildcards, found.steps),
        "  with //": part_of(found.descendants, found.steps),
        "relative": part_of(found.relative, count),
        "branched": part_of(found.branched, count),
        "with predicates": f"{part_of(found.predicated, count)} ({found.predicates:,} predicates)",
        "characters": str(found.lengths),
    }
    if "match_ratio" in figures:
        table["match ratio"] = f"{figures['match_ratio']} (of sample documents)"
    return table
