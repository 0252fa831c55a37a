"""Times, chances and names as a scenario writes them: exact, and with one text for each value.

Times are whole microseconds, chances whole millionths, so that what is read and written again is the same.

>>> time_text(read_time("0.005s")), time_text(2_000_000), time_text(1)
('5ms', '2s', '1us')
>>> chance_text(read_chance("12.50%"))
'12.5%'
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

__all__ = [
    "MILLION",
    "NAME",
    "chance_text",
    "read_chance",
    "read_time",
    "time_text",
]

MILLION: Final = 1_000_000
NAME: Final = re.compile(r"[^\W\d][\w@]*(?:\.[\w@]+)*")
_TIME = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)", re.ASCII)
_CHANCE = re.compile(r"(\d+(?:\.\d+)?)%", re.ASCII)
_UNITS = {"us": 1, "ms": 1_000, "s": MILLION}
_LONGEST = 10**9 * MILLION  # some thirty years


def read_time(text: str) -> int | None:
    """Microseconds, or None for what is no time."""
    found = _TIME.fullmatch(text)
    time = None if found is None else _whole(found[1], _UNITS[found[2]])
    return None if time is None or time > _LONGEST else time


def time_text(time: int) -> str:
    for unit in ("s", "ms"):
        if time % _UNITS[unit] == 0:
            return f"{time // _UNITS[unit]}{unit}"
    return f"{time}us"


def read_chance(text: str) -> int | None:
    """Millionths, or None for what is no chance."""
    found = _CHANCE.fullmatch(text)
    chance = None if found is None else _whole(found[1], MILLION // 100)
    return None if chance is None or chance > MILLION else chance


def chance_text(chance: int) -> str:
    return f"{Decimal(chance) / (MILLION // 100):f}%"


def _whole(digits: str, unit: int) -> int | None:
    try:
        found = Decimal(digits) * unit
        return int(found) if found == int(found) else None
    except InvalidOperation:
        return None
