"""Options of the subscription generator: the parameters of the papers' generators.

Shares and probabilities lie between 0 and 1. Where papers use one term for two things, both are
available. The probability of branches is that of a *node* (XNET, section 5: a node has more than
one child) or of a *query* (Cao 2012, table 5.4). The depth is uniform between least and most, or
`full`, as deep as the schema allows (YFilter's generator).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pathcast.errors import WorkloadError
from pathcast.generators.values import ValueDomain

__all__ = ["MAX_STEPS", "PredicateKinds", "SubscriptionOptions"]

MAX_STEPS = 200  # of a path; documents may have 256 levels
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class PredicateKinds:
    """How predicates are drawn: the weight of each kind, and the values to compare with.

    `attribute` compares an attribute, `value` the text of an element, `position` requires a
    position among the siblings of that name, `existence` the presence of an attribute. Operands
    come from `values`, which should be those of the documents; words are compared by `=` only. An
    enumeration is compared with one of its values and a fixed attribute with its value, by `=`.
    """

    attribute: float = 1.0
    value: float = 1.0
    position: float = 0.0
    existence: float = 0.0
    values: ValueDomain = field(default_factory=ValueDomain)
    operators: tuple[str, ...] = ("=", "<", "<=", ">", ">=")
    positions: int = 5  # the highest position

    def __post_init__(self) -> None:
        weights = (self.attribute, self.value, self.position, self.existence)
        if not all(0 <= weight < float("inf") for weight in weights) or not any(weights):
            raise WorkloadError(
                "option", "the weights of predicates are numbers from 0, and not all are 0"
            )
        if not self.operators or not set(self.operators) <= set(_OPERATORS):
            raise WorkloadError(
                "option", f"operators are some of {' '.join(_OPERATORS)}, not {self.operators}"
            )
        if self.positions < 1:
            raise WorkloadError("option", "positions count from 1")


@dataclass(frozen=True, slots=True)
class SubscriptionOptions:
    """Parameters of `subscriptions`.

    - `max_depth`, `min_depth`: steps of the longest path of a query; `full`: always walk as deep as
      possible.
    - `wildcard`, `descendant`: p(*) and p(//) of every step. `relative`: share of the queries that
      start at any depth and have no leading slash (`a/b`, which as a subscription means `//a/b`);
      their first step counts as a // step.
    - `branch`: with `branching` "node", the probability that a node has more than one child, while
      the query has fewer than `branches` root-to-leaf paths. With "query", the probability that a
      query has branches; it then has exactly that many paths.
    - `predicate`: the probability that a query has predicates; it then has `predicates` of them.
    - `theta`: the skew of the choice of names. `distinct`: no text twice.
    - `match_ratio`: the mean share of the subscriptions that a document matches, if requested.
    - `disjoint`: the number of distinct, non-overlapping value profiles, instead of paths (see
      `profiles`).
    """

    max_depth: int = 6
    min_depth: int = 1
    full: bool = False
    wildcard: float = 0.2
    descendant: float = 0.2
    relative: float = 0.0
    branch: float = 0.0
    branches: int = 2
    branching: Literal["node", "query"] = "node"
    predicate: float = 0.0
    predicates: int = 1
    kinds: PredicateKinds = field(default_factory=PredicateKinds)
    theta: float = 0.0
    distinct: bool = True
    match_ratio: float | None = None
    disjoint: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.min_depth <= self.max_depth <= MAX_STEPS:
            raise WorkloadError(
                "option",
                f"depths are from 1 to {MAX_STEPS}, the least not above the most: "
                f"not {self.min_depth} to {self.max_depth}",
            )
        for name, value in (
            ("wildcard", self.wildcard),
            ("descendant", self.descendant),
            ("relative", self.relative),
            ("branch", self.branch),
            ("predicate", self.predicate),
            ("match_ratio", 0.0 if self.match_ratio is None else self.match_ratio),
        ):
            if not 0 <= value <= 1:
                raise WorkloadError("option", f"{name} is a share from 0 to 1, not {value}")
        if self.branching not in ("node", "query"):
            raise WorkloadError(
                "option", f"branching is of a node or a query, not {self.branching}"
            )
        for name, least, number in (
            ("branches", 1, self.branches),
            ("predicates", 1, self.predicates),
            ("disjoint", 1, 1 if self.disjoint is None else self.disjoint),
        ):
            if number < least:
                raise WorkloadError("option", f"{name} is at least {least}, not {number}")
        if not 0 <= self.theta <= 100:
            raise WorkloadError("option", f"theta is from 0 to 100, not {self.theta}")
