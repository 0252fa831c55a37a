"""A scenario as a value: what stands at the head, then what happens and what is expected, in order.

`str` is its canonical text: one line a statement, without comments; read again it is the same scenario.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from pathcast.errors import RoutingError
from pathcast.sim.scenario.actions import Action
from pathcast.sim.scenario.checks import Check
from pathcast.sim.scenario.header import (
    LinkOf,
    MergersByDtd,
    MergersByPath,
    NamespaceOf,
    Sample,
    SchemaOf,
    Setup,
)

__all__ = ["Scenario", "Statement"]

Statement: TypeAlias = Setup | Action | Check
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scenario:
    head: tuple[Setup, ...]
    body: tuple[Action | Check, ...]

    def __post_init__(self) -> None:
        for statement in self.statements():
            if len(str(statement).splitlines()) > 1:
                raise RoutingError("scenario", f"a statement is one line: {str(statement)!r}")

    def statements(self) -> Iterator[Statement]:
        yield from self.head
        yield from self.body

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements()))

    def one(self, kind: type[T]) -> T | None:
        """The statement of this kind at the head, if there is one."""
        found = self.all(kind)
        return found[-1] if found else None

    def all(self, kind: type[T]) -> list[T]:
        """All statements of this kind at the head."""
        return [statement for statement in self.head if isinstance(statement, kind)]

    def twice(self) -> Setup | None:
        """The first statement at the head that says again what one before it has said."""
        seen: set[object] = set()
        for statement in self.head:
            key: object = type(statement)
            match statement:
                case LinkOf(one=one, other=other):
                    key = (key, frozenset((one, other)))
                case NamespaceOf(prefix=name) | Sample(name=name) | SchemaOf(name=name):
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
