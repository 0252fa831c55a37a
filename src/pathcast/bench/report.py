"""The report of a benchmark: lines with targets, fingerprints of the inputs, and the machine.

A line is a figure with an optional target: a lower bound for speeds, an upper bound for memory, or
both. A line without a target is informative and cannot fail. The fingerprints of the inputs show
whether two reports measured the same work.

>>> line = ReportLine("parsing", 0.31, "x", target=0.25, spread=(0.3, 0.33))
>>> line.verdict, ReportLine("memory", 1200, "MB", target=1000, at_least=False).verdict
('pass', 'MISS')
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from pathcast import __version__

__all__ = ["Measurements", "Progress", "Report", "ReportLine", "fingerprint", "machine"]

Progress = Callable[[str], None]  # receives the name of the measurement that starts


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One figure; `spread` is its lowest and highest value over the rounds."""

    label: str
    figure: float
    unit: str
    target: float | None = None
    at_least: bool = True
    spread: tuple[float, float] | None = None
    note: str = ""
    upper: float | None = None  # the upper bound, where the target is the lower one

    @property
    def passed(self) -> bool:
        if self.target is None:
            return True
        if self.upper is not None and self.figure > self.upper:
            return False
        return self.figure >= self.target if self.at_least else self.figure < self.target

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "pass" if self.passed else "MISS"

    def __str__(self) -> str:
        target = (
            f" ({_format_target(self).rstrip()}: {self.verdict})" if self.target is not None else ""
        )
        return f"{self.label}: {_format(self.figure)} {self.unit}".rstrip() + target

    def as_dict(self) -> dict[str, object]:
        return {
            "what": self.label,
            "figure": _round(self.figure),
            "unit": self.unit,
            "target": self.target,
            "at_least": self.at_least,
            "most": self.upper,
            "spread": self.spread and [_round(bound) for bound in self.spread],
            "passed": None if self.target is None else self.passed,
            "note": self.note,
        }


# The lines, and the fingerprints of the inputs by name.
Measurements = tuple[list[ReportLine], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one run of a suite."""

    name: str
    quick: bool
    lines: tuple[ReportLine, ...]
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
        """Return the report as text in columns."""
        rows = [("", "figure", "spread", "target", "", "")]
        for line in self.lines:
            low, high = line.spread or (None, None)
            spread = "" if low is None or high is None else f"{_format(low)}..{_format(high)}"
            figure = f"{_format(line.figure)} {line.unit}"
            rows.append((line.label, figure, spread, _format_target(line), line.verdict, line.note))
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        formatted = [
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}"
            f"  {row[3]:<{widths[3]}}  {row[4]:<{widths[4]}}  {row[5]}".rstrip()
            for row in rows
        ]
        mode = " (quick: smaller inputs)" if self.quick else ""
        facts = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        prints = [f"input {value}  {key}" for key, value in self.inputs.items()]
        return "\n".join([f"benchmark {self.name}{mode}", "", *formatted, "", *prints, facts])


def fingerprint(parts: Iterable[bytes]) -> str:
    """Return a hash of the parts and of their boundaries."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def machine() -> dict[str, str]:
    """Return the versions and hardware that the figures depend on."""
    from lxml import etree

    return {
        "pathcast": __version__,
        platform.python_implementation(): platform.python_version(),
        "lxml": ".".join(str(part) for part in etree.LXML_VERSION[:3]),
        "libxml2": ".".join(str(part) for part in etree.LIBXML_VERSION),
        "processors": str(os.cpu_count() or "unknown"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _format_target(line: ReportLine) -> str:
    if line.target is None:
        return ""
    if line.upper is not None:
        return f"{_format(line.target)}..{_format(line.upper)} {line.unit}"
    return f"{'>=' if line.at_least else '<'} {_format(line.target)} {line.unit}"


def _round(figure: float) -> float:
    return float(f"{figure:.4g}")


def _format(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.3g}"
