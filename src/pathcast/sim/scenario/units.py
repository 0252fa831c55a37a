"""Times, probabilities and names as a scenario writes them.

Times are integers of microseconds, probabilities integers of millionths. So each value has one
canonical text, and reading it again gives the same value.

>>> time_text(read_time("0.005s")), time_text(2_000_000), time_text(1)
('5ms', '2s', '1us')
>>> percent_text(read_percent("12.50%"))
'12.5%'
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

__all__ = [
    "MILLION",
    "NAME",
    "percent_text",
    "read_percent",
    "read_time",
    "time_text",
]

MILLION: Final = 1_000_000
NAME: Final = re.compile(r"[^\W\d][\w@]*(?:\.[\w@]+)*")
_TIME = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)", re.ASCII)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%", re.ASCII)
_UNITS = {"us": 1, "ms": 1_000, "s": MILLION}
_MAX_TIME = 10**9 * MILLION  # about thirty years


def read_time(text: str) -> int | None:
    """Return microseconds, or None if the text is not a time."""
    match = _TIME.fullmatch(text)
    time = None if match is None else _scale(match[1], _UNITS[match[2]])
    return None if time is None or time > _MAX_TIME else time


def time_text(time: int) -> str:
    for unit in ("s", "ms"):
        if time % _UNITS[unit] == 0:
            return f"{time // _UNITS[unit]}{unit}"
    return f"{time}us"


def read_percent(text: str) -> int | None:
    """Return millionths, or None if the text is not a percentage from 0% to 100%."""
    match = _PERCENT.fullmatch(text)
    probability = None if match is None else _scale(match[1], MILLION // 100)
    return None if probability is None or probability > MILLION else probability


def percent_text(probability: int) -> str:
    return f"{Decimal(probability) / (MILLION // 100):f}%"


def _scale(digits: str, unit: int) -> int | None:
    try:
        value = Decimal(digits) * unit
        return int(value) if value == int(value) else None
    except InvalidOperation:
        return None
