"""What all lines of a scenario have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Line"]


@dataclass(frozen=True, slots=True)
class Line:
    """`line` is where it stands in the text, and no part of the value."""

    line: int = field(default=0, compare=False, kw_only=True)
