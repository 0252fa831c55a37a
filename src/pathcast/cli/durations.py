"""Lengths of time on the command line.

>>> seconds_of("90"), seconds_of("10m"), seconds_of("1.5h")
(90.0, 600.0, 5400.0)
"""

from __future__ import annotations

import re

import typer

__all__ = ["seconds_of"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_FORM = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)", re.ASCII)


def seconds_of(text: str) -> float:
    """Seconds, or a usage error."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is not a time such as 30, 90s, 10m, 2h or 1d")
    return float(found[1]) * _UNITS[found[2]]
