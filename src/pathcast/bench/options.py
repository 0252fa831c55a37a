"""Options of a benchmark run: its size, its schema, its parts, and who observes its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pathcast.bench.report import Progress, ReportLine
from pathcast.schema import Schema

__all__ = ["BenchOptions"]


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Without a `schema` a suite uses its own; without names in `only` it runs all parts.

    `progress` receives the name of the measurement that starts. `on_line` receives each line when
    it is complete, so that a long run that is interrupted has shown its figures.
    """

    quick: bool = False
    progress: Progress = lambda _: None
    schema: Schema | None = None
    only: tuple[str, ...] = ()
    on_line: Callable[[ReportLine], None] = lambda _: None
