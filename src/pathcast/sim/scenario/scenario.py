"""Scenario: the settings of an overlay, then actions and expectations in order, as a value.

`str` is the canonical text: one line a statement, without comments. Reading it again gives an equal
scenario.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from pathcast.errors import RoutingError
from pathcast.sim.scenario.actions import Action
from pathcast.sim.scenario.expectations import Expectation
from pathcast.sim.scenario.header import (
    LinkSetting,
    MergersByDtd,
    MergersByPath,
    NamespaceSetting,
    SampleSetting,
    SchemaSetting,
    Setting,
)

__all__ = ["Scenario", "Statement"]

Statement: TypeAlias = Setting | Action | Expectation
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario that was read or built; `run_scenario` runs it."""

    head: tuple[Setting, ...]
    body: tuple[Action | Expectation, ...]

    def __post_init__(self) -> None:
        for statement in self.statements():
            if len(str(statement).splitlines()) > 1:
                raise RoutingError("scenario", f"a statement is one line: {str(statement)!r}")

    def statements(self) -> Iterator[Statement]:
        yield from self.head
        yield from self.body

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements()))

    def setting(self, kind: type[T]) -> T | None:
        """Return the last setting of a kind, or None."""
        settings = self.settings(kind)
        return settings[-1] if settings else None

    def settings(self, kind: type[T]) -> list[T]:
        """Return all settings of a kind."""
        return [statement for statement in self.head if isinstance(statement, kind)]

    def repeated_setting(self) -> Setting | None:
        """Return the first setting that repeats or contradicts an earlier one, or None."""
        seen: set[object] = set()
        for statement in self.head:
            key: object = type(statement)
            match statement:
                case LinkSetting(left=left, right=right):
                    key = (key, frozenset((left, right)))
                case (
                    NamespaceSetting(prefix=name)
                    | SampleSetting(name=name)
                    | SchemaSetting(name=name)
                ):
                    key = (key, name)
                case MergersByPath(path=path):
                    key = (key, path)
                    if MergersByDtd in seen:
                        return statement
                    seen.add(MergersByPath)
                case MergersByDtd() if MergersByPath in seen:
                    return statement
            if key in seen:
                return statement
            seen.add(key)
        return None
