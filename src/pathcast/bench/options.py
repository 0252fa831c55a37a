"""What is wanted of a benchmark: how thorough it should be, on which schema, which of its parts, and who hears of it meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pathcast.bench.report import Line, Tell
from pathcast.schema import Schema

__all__ = ["Wish"]

Bench = TypeVar("Bench")


@dataclass(frozen=True, slots=True)
class Wish:
    """Without a `schema` a benchmark takes its own; without names in `only` it measures everything.

    `tell` hears what is being measured, `found` each line as soon as it is there: a long run that is ended has not been in vain.
    """

    quick: bool = False
    tell: Tell = lambda _: None
    schema: Schema | None = None
    only: tuple[str, ...] = ()
    found: Callable[[Line], None] = lambda _: None

    def gather(
        self, parts: Mapping[str, Callable[[Bench], Iterable[Line]]], bench: Bench
    ) -> list[Line]:
        """The lines of the parts that are wished for, in the order of the table."""
        lines: list[Line] = []
        for name, part in parts.items():
            if not self.only or name in self.only:
                for line in part(bench):
                    self.found(line)
                    lines.append(line)
        return lines
