"""The base of all statements of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["StatementBase"]


@dataclass(frozen=True, slots=True)
class StatementBase:
    """`line` is the statement's place in the text; it does not take part in comparisons."""

    line: int = field(default=0, compare=False, kw_only=True)
