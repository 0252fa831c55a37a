"""Number, time and text formats of the report.

>>> format_count(1234567), format_bytes(123_456), format_share(0.000321)
('1,234,567', '123 KB', '0.032%')
>>> [format_share(share) for share in (1, 0.99996, 0.333333, 0.02, 1e-9)]
['100%', '>99.9%', '33.3%', '2%', '<0.001%']
>>> shorten("a" * 30, 8), shorten("tab\\there", 20)
('aaaaaaa…', 'tab�here')
>>> format_quantity(1, "batch", "batches"), format_quantity(1200, "batch", "batches")
('1 batch', '1,200 batches')
>>> format_duration(90), format_duration(7_200), format_duration(0.001)
('90 s', '2 h', '0.001 s')
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

__all__ = [
    "EPOCH",
    "UNKNOWN",
    "format_bytes",
    "format_count",
    "format_duration",
    "format_quantity",
    "format_rate",
    "format_share",
    "format_time",
    "format_times",
    "shorten",
]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN: Final = "-"
_UNITS: Final = ((604_800, "weeks"), (86_400, "days"), (3_600, "h"), (60, "min"))


def format_count(value: int) -> str:
    return f"{value:,}"


def format_quantity(count: float, singular: str, plural: str) -> str:
    """Format a number with its noun."""
    return f"{count:,.15g} {singular if count == 1 else plural}"


def format_rate(value: float | None) -> str:
    """Format a rate with three significant digits."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def format_bytes(value: float | None) -> str:
    """Format a number of bytes with a decimal unit."""
    if value is None:
        return UNKNOWN
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1_000:
            return f"{value:.3g} {unit}"
        value /= 1_000
    return f"{value:,.3g} TB"


def format_share(value: float | None) -> str:
    """Format a share as a percentage: with one decimal, or two significant digits below 1%.

    Only all is 100%, and only none is 0%.
    """
    if value is None:
        return UNKNOWN
    percent = 100 * value
    if 0 < percent < 0.001:
        return "<0.001%"
    if 99.95 <= percent < 100:
        return ">99.9%"
    return f"{percent:.2g}%" if percent < 1 else f"{percent:.1f}".removesuffix(".0") + "%"


def shorten(text: object, length: int) -> str:
    """Truncate untrusted text, and replace unprintable and direction-changing characters."""
    printable = "".join(
        character if character.isprintable() else "\ufffd" for character in str(text)[: length + 1]
    )
    return printable if len(printable) <= length else printable[: length - 1] + "…"


def format_time(time: datetime | None) -> str:
    return UNKNOWN if time is None else f"{time:%Y-%m-%d %H:%M:%S}"


def format_times(times: Sequence[datetime]) -> list[str]:
    """Format the ticks of a time axis, with the precision that their span requires."""
    span = (times[-1] - times[0]).total_seconds()
    if span > 2 * 86_400:
        return [f"{time:%m-%d}" if span > 8 * 86_400 else f"{time:%m-%d %Hh}" for time in times]
    if span > 600:
        return [f"{time:%H:%M}" for time in times]
    if span > 8:
        return [f"{time:%H:%M:%S}" for time in times]
    return [f"{time:%S.%f}"[:-3] + " s" for time in times]


def format_duration(seconds: float) -> str:
    for length, name in _UNITS:
        if seconds >= 2 * length or seconds == length:
            return f"{seconds / length:g} {name}"
    return f"{seconds:g} s"
