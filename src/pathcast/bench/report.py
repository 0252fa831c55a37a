"""What a benchmark found: lines with their targets, what went in, and the machine it ran on.

A line is a figure, and a target if one was set for it: "at least" for speeds, "less than" for memory, or "at least,
and at most" for what must lie between two bounds. A line without a target is there to be seen and cannot be missed. The hashes of the inputs tell whether two
reports are about the same work.

>>> line = Line("parsing", 0.31, "x", target=0.25, spread=(0.3, 0.33))
>>> line.verdict, Line("memory", 1200, "MB", target=1000, at_least=False).verdict
('pass', 'MISS')
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from pathcast import __version__

__all__ = ["Findings", "Line", "Report", "Tell", "fingerprint", "machine"]

Tell = Callable[[str], None]  # is told what is being measured


@dataclass(frozen=True, slots=True)
class Line:
    """One figure; `spread` is its lowest and highest over the rounds."""

    what: str
    figure: float
    unit: str
    target: float | None = None
    at_least: bool = True
    spread: tuple[float, float] | None = None
    note: str = ""
    most: float | None = None  # the upper bound, where the target is the lower one

    @property
    def passed(self) -> bool:
        if self.target is None:
            return True
        if self.most is not None and self.figure > self.most:
            return False
        return self.figure >= self.target if self.at_least else self.figure < self.target

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "pass" if self.passed else "MISS"

    def __str__(self) -> str:
        aim = f" ({_aim(self).rstrip()}: {self.verdict})" if self.target is not None else ""
        return f"{self.what}: {_shown(self.figure)} {self.unit}".rstrip() + aim

    def as_dict(self) -> dict[str, object]:
        return {
            "what": self.what,
            "figure": _rounded(self.figure),
            "unit": self.unit,
            "target": self.target,
            "at_least": self.at_least,
            "most": self.most,
            "spread": self.spread and [_rounded(one) for one in self.spread],
            "passed": None if self.target is None else self.passed,
            "note": self.note,
        }


Findings = tuple[
    list[Line], dict[str, str]
]  # the lines, and the fingerprints of the inputs by name


@dataclass(frozen=True, slots=True)
class Report:
    """All that one run of a benchmark says."""

    name: str
    quick: bool
    lines: tuple[Line, ...]
    inputs: Mapping[str, str] = field(hash=False)  # name -> fingerprint
    machine: Mapping[str, str] = field(hash=False)

    @property
    def passed(self) -> bool:
        return all(line.passed for line in self.lines)

    def as_dict(self) -> dict[str, object]:
        return {
            "benchmark": self.name,
            "quick": self.quick,
            "passed": self.passed,
            "lines": [line.as_dict() for line in self.lines],
            "inputs": dict(self.inputs),
            "machine": dict(self.machine),
        }

    def table(self) -> str:
        """The report for people, in columns."""
        rows = [("", "figure", "spread", "target", "", "")]
        for line in self.lines:
            low, high = line.spread or (None, None)
            spread = "" if low is None or high is None else f"{_shown(low)}..{_shown(high)}"
            figure = f"{_shown(line.figure)} {line.unit}"
            rows.append((line.what, figure, spread, _aim(line), line.verdict, line.note))
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        shown = [
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}"
            f"  {row[3]:<{widths[3]}}  {row[4]:<{widths[4]}}  {row[5]}".rstrip()
            for row in rows
        ]
        mode = " (quick: smaller inputs)" if self.quick else ""
        facts = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        prints = [f"input {value}  {key}" for key, value in self.inputs.items()]
        return "\n".join([f"benchmark {self.name}{mode}", "", *shown, "", *prints, facts])


def fingerprint(parts: Iterable[bytes]) -> str:
    """A hash of the parts, which also tells where one ends and the next begins."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.hexdigest()


def machine() -> dict[str, str]:
    """What else the figures depend on."""
    from lxml import etree

    return {
        "pathcast": __version__,
        platform.python_implementation(): platform.python_version(),
        "lxml": ".".join(str(part) for part in etree.LXML_VERSION[:3]),
        "libxml2": ".".join(str(part) for part in etree.LIBXML_VERSION),
        "processors": str(os.cpu_count() or "unknown"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _aim(line: Line) -> str:
    if line.target is None:
        return ""
    if line.most is not None:
        return f"{_shown(line.target)}..{_shown(line.most)} {line.unit}"
    return f"{'>=' if line.at_least else '<'} {_shown(line.target)} {line.unit}"


def _rounded(figure: float) -> float:
    return float(f"{figure:.4g}")


def _shown(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.3g}"
