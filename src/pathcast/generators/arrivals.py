"""Arrival processes: non-decreasing times in seconds at which messages arrive.

    poisson:0.85                    independent, 0.85 a second on average (Cao 2012, table 5.5)
    fixed:30                        one every 30 seconds
    bursts:2,size=10                2 a second on average, in bursts of ten
    bursts:2,size=10,spacing=0.1    bursts of ten at intervals of 0.1 s, with pauses between them

Every process has a mean rate, and the text above is its canonical form. Times are positive. A
process is a value; its `times` draw from the generator that the caller passes, so a run can be
repeated. They use no logarithm (`SeededRandom.exponential`), so they are the same on every machine.
Rates and intervals lie between 1e-9 and 1e9, which keeps times finite.

The pause after a burst is exponential, with the mean that yields the requested long-run rate.

>>> from itertools import islice
>>> list(islice(parse_arrivals("fixed:30").times(SeededRandom(1)), 3))
[30.0, 60.0, 90.0]
>>> print(parse_arrivals("bursts:2,size=10"))
bursts:2,size=10
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from pathcast.errors import WorkloadError
from pathcast.rng import SeededRandom

__all__ = ["Arrivals", "Bursts", "Fixed", "Poisson", "parse_arrivals"]

_HINT = "write poisson:RATE, fixed:SECONDS or bursts:RATE,size=N[,spacing=SECONDS]"
_MIN_VALUE, _MAX_VALUE = 1e-9, 1e9  # rates and seconds
_MAX_BURST_SIZE = 1_000_000_000  # messages


@dataclass(frozen=True, slots=True)
class Poisson:
    """Poisson process: independent arrivals, `rate` a second on average."""

    rate: float

    def __post_init__(self) -> None:
        _check("the rate", self.rate)

    def times(self, rng: SeededRandom) -> Iterator[float]:
        now = 0.0
        while True:
            now += rng.exponential() / self.rate
            yield now

    def __str__(self) -> str:
        return f"poisson:{_format_number(self.rate)}"


@dataclass(frozen=True, slots=True)
class Fixed:
    """One arrival every `interval` seconds."""

    interval: float

    def __post_init__(self) -> None:
        _check("the interval", self.interval)

    @property
    def rate(self) -> float:
        return 1.0 / self.interval

    def times(self, rng: SeededRandom) -> Iterator[float]:  # noqa: ARG002 -- common signature
        # A product, not a sum: rounding errors do not accumulate.
        return (number * self.interval for number in itertools.count(1))

    def __str__(self) -> str:
        return f"fixed:{_format_number(self.interval)}"


@dataclass(frozen=True, slots=True)
class Bursts:
    """Bursts of `size` arrivals, `spacing` seconds apart, with pauses; `rate` a second overall."""

    rate: float
    size: int
    spacing: float = 0.0

    def __post_init__(self) -> None:
        _check("the rate", self.rate)
        if not 1 <= self.size <= _MAX_BURST_SIZE:
            raise WorkloadError("arrivals", f"a burst has 1 to {_MAX_BURST_SIZE} messages")
        if not 0.0 <= self.spacing <= _MAX_VALUE:
            raise WorkloadError("arrivals", f"the spacing must be from 0 to {_MAX_VALUE:g} seconds")
        if self._pause <= 0.0:
            message = (
                f"bursts of {self.size}, {self.spacing} s apart, "
                f"are slower than {self.rate} a second"
            )
            hint = "lower the rate or the spacing"
            raise WorkloadError("arrivals", message, hint=hint)

    @property
    def _pause(self) -> float:
        return self.size / self.rate - (self.size - 1) * self.spacing

    def times(self, rng: SeededRandom) -> Iterator[float]:
        end = 0.0
        while True:
            start = end + rng.exponential() * self._pause
            for number in range(self.size):
                end = start + number * self.spacing
                yield end

    def __str__(self) -> str:
        spacing = f",spacing={_format_number(self.spacing)}" if self.spacing else ""
        return f"bursts:{_format_number(self.rate)},size={self.size}{spacing}"


Arrivals = Poisson | Fixed | Bursts


def parse_arrivals(text: str) -> Arrivals:
    """Parse an arrival process; the module's docstring shows the syntax."""
    kind, colon, arguments = text.strip().partition(":")
    first, *others = (part.strip() for part in arguments.split(","))
    if not colon:
        raise WorkloadError("arrivals", f"{text!r} is no arrival process", hint=_HINT)
    match kind.strip(), others:
        case "poisson", []:
            return Poisson(_parse_number(first))
        case "fixed", []:
            return Fixed(_parse_number(first))
        case "bursts", _:
            options = _parse_options(others)
            size = options.get("size", "")
            if not (size.isascii() and size.isdigit() and len(size) <= len(str(_MAX_BURST_SIZE))):
                message = (
                    f"a burst needs a whole number to {_MAX_BURST_SIZE} as its size, "
                    f"not {size[:20]!r}"
                )
                raise WorkloadError("arrivals", message, hint=_HINT)
            return Bursts(
                _parse_number(first), int(size), _parse_number(options.get("spacing", "0"))
            )
    raise WorkloadError("arrivals", f"{text!r} is no arrival process", hint=_HINT)


def _parse_options(parts: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in parts:
        name, equals, value = (field.strip() for field in part.partition("="))
        if not equals or name in options or name not in ("size", "spacing"):
            raise WorkloadError("arrivals", f"{part!r} is not understood", hint=_HINT)
        options[name] = value
    return options


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WorkloadError("arrivals", f"{text!r} is no number", hint=_HINT) from None


def _check(subject: str, number: float) -> None:
    if not _MIN_VALUE <= number <= _MAX_VALUE:
        message = f"{subject} must be from {_MIN_VALUE:g} to {_MAX_VALUE:g}"
        raise WorkloadError("arrivals", message, hint=_HINT)


def _format_number(number: float) -> str:
    """Return the shortest text that parses as this number."""
    return repr(number).removesuffix(".0")
