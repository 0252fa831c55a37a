"""The change of a table: the entries that one update exposes and hides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Change"]

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Change(Generic[T_co]):
    """The difference between a table before and after an update.

    `exposed` are the entries that the update added to the table, `hidden` those that it took out.
    The two sets are disjoint.
    """

    exposed: frozenset[T_co] = frozenset()
    hidden: frozenset[T_co] = frozenset()
