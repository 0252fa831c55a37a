"""Lengths of time on the command line.

>>> seconds_of("90", "--window"), seconds_of("10m", "--window"), seconds_of("1.5h", "--window")
(90.0, 600.0, 5400.0)
"""

from __future__ import annotations

import re

import typer

__all__ = ["seconds_of"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_FORM = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)", re.ASCII)


def seconds_of(text: str, option: str) -> float:
    """Seconds, or a usage error of an option."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        problem = f"{text!r} is not a time such as 30, 90s, 10m, 2h or 1d"
        raise typer.BadParameter(problem, param_hint=option)
    return float(found[1]) * _UNITS[found[2]]
