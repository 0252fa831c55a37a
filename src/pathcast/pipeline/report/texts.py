"""Values as people read them.

>>> whole(1234567), size(123_456), share(0.000321), short("a" * 30, 8), short("tab\\there", 20)
('1,234,567', '123 KB', '0.0321%', 'aaaaaaa…', 'tab�here')
>>> several(1, "batch", "batches"), several(1200, "batch", "batches")
('1 batch', '1,200 batches')
>>> lasting(90), lasting(7_200), lasting(0.001)
('90 s', '2 h', '0.001 s')
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

__all__ = [
    "EPOCH",
    "UNKNOWN",
    "lasting",
    "moment",
    "moments",
    "number",
    "several",
    "share",
    "short",
    "size",
    "whole",
]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN: Final = "-"
_UNITS: Final = ((604_800, "weeks"), (86_400, "days"), (3_600, "h"), (60, "min"))


def whole(value: int) -> str:
    """A count."""
    return f"{value:,}"


def several(count: float, one: str, more: str) -> str:
    """So many of something."""
    return f"{count:,.15g} {one if count == 1 else more}"


def number(value: float | None) -> str:
    """A rate: three digits that say something."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size(value: float | None) -> str:
    """Bytes."""
    if value is None:
        return UNKNOWN
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1_000:
            return f"{value:.3g} {unit}"
        value /= 1_000
    return f"{value:,.3g} TB"


def share(value: float | None) -> str:
    """A share as a percentage."""
    if value is None:
        return UNKNOWN
    percent = 100 * value
    return f"{percent:.3g}%" if percent >= 0.001 or not percent else f"{percent:.1e}%"


def short(text: object, length: int) -> str:
    """A text from anywhere: cut, and without what does not print or turns a line around."""
    shown = "".join(one if one.isprintable() else "\ufffd" for one in str(text)[: length + 1])
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def moment(at: datetime | None) -> str:
    """A time."""
    return UNKNOWN if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def moments(times: Sequence[datetime]) -> list[str]:
    """Times side by side, no more exact than they must be."""
    span = (times[-1] - times[0]).total_seconds()
    if span > 2 * 86_400:
        return [f"{at:%m-%d}" if span > 8 * 86_400 else f"{at:%m-%d %Hh}" for at in times]
    if span > 600:
        return [f"{at:%H:%M}" for at in times]
    if span > 8:
        return [f"{at:%H:%M:%S}" for at in times]
    return [f"{at:%S.%f}"[:-3] + " s" for at in times]


def lasting(seconds: float) -> str:
    """A length of time."""
    for length, name in _UNITS:
        if seconds >= 2 * length or seconds == length:
            return f"{seconds / length:g} {name}"
    return f"{seconds:g} s"
