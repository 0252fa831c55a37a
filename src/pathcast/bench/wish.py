"""What is wanted of a benchmark: how thorough it should be, on which schema, and which of its parts."""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.bench.report import Tell
from pathcast.schema import Schema

__all__ = ["Wish"]


@dataclass(frozen=True, slots=True)
class Wish:
    """Without a `schema` a benchmark takes its own; without names in `only` it measures everything."""

    quick: bool = False
    tell: Tell = lambda _: None
    schema: Schema | None = None
    only: tuple[str, ...] = ()
