"""Durations on the command line.

>>> [parse_duration(text, "--window") for text in ("90", "10m", "1.5h")]
[90.0, 600.0, 5400.0]
"""

from __future__ import annotations

import re

import typer

__all__ = ["parse_duration"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)", re.ASCII)


def parse_duration(text: str, option: str) -> float:
    """Return seconds, or raise a usage error for the option."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        problem = f"{text!r} is not a time such as 30, 90s, 10m, 2h or 1d"
        raise typer.BadParameter(problem, param_hint=option)
    return float(match[1]) * _UNITS[match[2]]
