"""The snapshot as a value: subscriptions by number, and the patterns that are not linear paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pathcast.matching.matches import Id
from pathcast.matching.residual import Check

__all__ = [
    "LabelCodes",
    "SavedAlternatives",
    "SavedBranch",
    "SavedPattern",
    "Snapshot",
    "snapshot_ints",
    "to_saved_pattern",
]

LabelCodes: TypeAlias = tuple[int, ...]
SavedBranch: TypeAlias = "tuple[LabelCodes, tuple[SavedBranch, ...]]"
SavedAlternatives: TypeAlias = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class SavedPattern:
    """A pattern that is not a linear path."""

    text: str
    namespaces: tuple[tuple[str, str], ...]
    check: str | None
    """The expression that libxml2 evaluates, if the pattern has a residual."""
    quadratic_on_sibling_runs: bool
    expensive: bool
    alternatives: SavedAlternatives
    """The plan, as `PlanEncoder.encode_plan` returns it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions of a matcher, numbered from 0 without gaps.

    `labels`, `ends`, `hops` and `entries` are arrays of int32. `read` returns them as memoryviews
    of ints into one buffer.
    """

    ids: list[Id]
    names: list[str]
    """The names of the vocabulary, from `FIRST_NAME_CODE` on."""
    values: list[tuple[str, str, str]]
    """The value tests of the vocabulary."""
    labels: bytes | memoryview
    """The codes of all linear paths, concatenated."""
    ends: bytes | memoryview
    """By subscription number: the end of its path in `labels`."""
    hops: bytes | memoryview
    """By subscription number: its hop, -1 if it has none."""
    entries: bytes | memoryview
    """By subscription number: its index in `patterns`, -1 if it is a linear path."""
    patterns: list[SavedPattern]


def to_saved_pattern(
    text: str,
    namespaces: tuple[tuple[str, str], ...],
    check: Check | None,
    alternatives: Iterable[tuple[str, object]],
) -> SavedPattern:
    """Return the saved form of a pattern with its residual and its plan."""
    return SavedPattern(
        text,
        namespaces,
        None if check is None else check.expression.xpath,
        check is not None and check.quadratic_on_sibling_runs,
        check is not None and check.expensive,
        tuple(alternatives),
    )


def snapshot_ints(section: bytes | memoryview) -> memoryview:
    """Return an array of a snapshot as a view of int32."""
    return memoryview(section).cast("B").cast("i")
