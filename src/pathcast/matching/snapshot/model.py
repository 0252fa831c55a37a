"""What is saved, as values: subscriptions by number, and those patterns among them that are no paths alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.matching.matches import Id
from pathcast.matching.residual import Check

__all__ = [
    "Alternatives",
    "Labels",
    "SavedPattern",
    "Snapshot",
    "Tree",
    "snapshot_ints",
    "to_saved_pattern",
]

Labels: TypeAlias = tuple[int, ...]
Tree: TypeAlias = "tuple[Labels, tuple[Tree, ...]]"
Alternatives: TypeAlias = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class SavedPattern:
    """A pattern that is no path alone."""

    text: str
    namespaces: tuple[tuple[str, str], ...]
    check: str | None
    """The expression of its residual."""
    quadratic_on_sibling_runs: bool
    expensive: bool
    alternatives: Alternatives
    """As `PlanEncoder.encode_plan` gives them."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions of a matcher, numbered from 0 without gaps. Arrays are of int32.

    `read` gives them as memoryviews of ints, all of them parts of one buffer.
    """

    ids: list[Id]
    names: list[str]
    """The keys of the vocabulary, from the first that is a name."""
    values: list[tuple[str, str, str]]
    """The value tests of the vocabulary."""
    labels: bytes | memoryview
    ends: bytes | memoryview
    hops: bytes | memoryview
    entries: bytes | memoryview
    """For every number its place in `patterns`, -1 if it is a path."""
    patterns: list[SavedPattern]


def to_saved_pattern(
    text: str,
    namespaces: tuple[tuple[str, str], ...],
    check: Check | None,
    alternatives: Iterable[tuple[str, object]],
) -> SavedPattern:
    """A pattern with its residual and its plan, as it is saved."""
    return SavedPattern(
        text,
        namespaces,
        None if check is None else check.expression.xpath,
        check is not None and check.quadratic_on_sibling_runs,
        check is not None and check.expensive,
        tuple(alternatives),
    )


def snapshot_ints(section: bytes | memoryview) -> memoryview:
    """An array of a snapshot as numbers."""
    return memoryview(section).cast("B").cast("i")
