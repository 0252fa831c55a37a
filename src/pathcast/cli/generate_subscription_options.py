"""The options of `pathcast generate subscriptions`, in groups: paths, predicates, selection.

Most fields are named as those of the generator's `SubscriptionOptions`, which checks their values.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathcast.cli.generate_values import ValuesOption, change_domain
from pathcast.cli.option_groups import given_options, option_group

if TYPE_CHECKING:
    from pathcast.generators.subscriptions import PredicateKinds, SubscriptionOptions

__all__ = ["PathShapeOptions", "PredicateOptions", "SelectionOptions", "change_options"]

_PREDICATE_KINDS = ("attribute", "value", "position", "existence")


@option_group
class PathShapeOptions:
    """The steps and branches of generated subscriptions."""

    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Most steps of a path; default 6.")
    ] = None
    min_depth: Annotated[
        int | None,
        typer.Option("--min-depth", help="Fewest steps of the longest path; default 1."),
    ] = None
    full: Annotated[
        bool | None,
        typer.Option(
            "--full/--any-depth",
            help="Make paths as long as the DTD and --max-depth allow, or of any length; default"
            " --any-depth.",
        ),
    ] = None
    wildcard: Annotated[
        float | None, typer.Option("--wildcard", help="Probability of * at a step; default 0.2.")
    ] = None
    descendant: Annotated[
        float | None, typer.Option("--descendant", help="Probability of // at a step; default 0.2.")
    ] = None
    relative: Annotated[
        float | None, typer.Option("--relative", help="Share of relative paths; default 0.")
    ] = None
    branch: Annotated[
        float | None,
        typer.Option("--branch", help="Probability of branches (see --branching); default 0."),
    ] = None
    branches: Annotated[
        int | None,
        typer.Option(
            "--branches", help="Most root-to-leaf paths of a branched subscription; default 2."
        ),
    ] = None
    branching: Annotated[
        str | None,
        typer.Option(
            "--branching",
            metavar="node|query",
            help="Whether --branch applies to each node or to each subscription; default node.",
        ),
    ] = None


@option_group
class PredicateOptions:
    """The predicates of generated subscriptions."""

    predicate: Annotated[
        float | None,
        typer.Option(
            "--predicate", help="Probability that a subscription has predicates; default 0."
        ),
    ] = None
    predicates: Annotated[
        int | None,
        typer.Option("--predicates", help="How many predicates it then has; default 1."),
    ] = None
    kind_weights: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND[=WEIGHT]",
            help="A kind of predicate and its weight: attribute, value, position or existence;"
            " repeatable.",
        ),
    ] = None
    values: ValuesOption = None
    operators: Annotated[
        list[str] | None,
        typer.Option(
            "--operator",
            metavar="OP",
            help="A comparison operator; repeatable; default all except !=.",
        ),
    ] = None

    def change_kinds(self, base: PredicateKinds) -> PredicateKinds:
        """Return the kinds of predicates, changed by the options that were given."""
        changes: dict[str, Any] = {"values": change_domain(base.values, self.values)}
        if self.kind_weights:
            changes |= dict.fromkeys(_PREDICATE_KINDS, 0.0)
            changes |= dict(map(_parse_weight, self.kind_weights))
        if self.operators:
            changes["operators"] = tuple(self.operators)
        return dataclasses.replace(base, **changes)


@option_group
class SelectionOptions:
    """The choice of names, and the properties of the subscriptions as a set."""

    theta: Annotated[
        float | None, typer.Option("--theta", help="Zipf skew of the choice of names; default 0.")
    ] = None
    distinct: Annotated[
        bool | None,
        typer.Option(
            "--distinct/--duplicates", help="Drop duplicates, or keep them; default --distinct."
        ),
    ] = None
    match_ratio: Annotated[
        float | None,
        typer.Option(
            "--match-ratio", help="Mean share of the subscriptions that a document should match."
        ),
    ] = None
    disjoint: Annotated[
        int | None,
        typer.Option("--disjoint", help="Instead of paths: N value profiles that never overlap."),
    ] = None


def change_options(
    base: SubscriptionOptions,
    shape: PathShapeOptions,
    predicate_options: PredicateOptions,
    selection: SelectionOptions,
) -> SubscriptionOptions:
    """Return the generator's options, changed by those that were given."""
    changes = given_options(shape) | given_options(selection)
    for name in ("predicate", "predicates"):
        value = getattr(predicate_options, name)
        if value is not None:
            changes[name] = value
    return dataclasses.replace(base, kinds=predicate_options.change_kinds(base.kinds), **changes)


def _parse_weight(pair: str) -> tuple[str, float]:
    name, _, number = pair.partition("=")
    try:
        weight = float(number or 1)
    except ValueError:
        raise typer.BadParameter(f"{number!r} is no number", param_hint="--kind") from None
    if name not in _PREDICATE_KINDS:
        problem = f"{name!r} is not one of {', '.join(_PREDICATE_KINDS)}"
        raise typer.BadParameter(problem, param_hint="--kind")
    return name, weight
