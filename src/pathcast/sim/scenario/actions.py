"""What happens in a scenario, line by line, and when.

publisher P at b1 advertises dtd book           a bundled schema, one of the scenario's own, or a file
publisher P at b1 advertises anything           or /a(/b)+/c /a/d, or like SAMPLE ...
advertise P /a/b                                it changes its mind
retract P
subscribe s1 at b4 /a/b                         or: subscribe s1 for ann at b4 /a/b
cancel s1
publish d1 by P <a><b/></a>                     or: file d.xml, sample NAME, generated from DTD
publish d1..d20 by P generated from book every 10ms
cut b1-b2;  heal b1-b2;  heal everywhere
lose 10% on b1-b2;  double 5% everywhere;  reorder 30% everywhere;  delay 10% up to 300ms on b1-b2
calm everywhere                                 no such faults any more
crash b3;  restart b3 with its tables;  restart b3 without its tables
at 5s;  after 10ms                              let time pass
quiet                                           let time pass until nothing happens any more
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pathcast.sim.scenario.statement import Line
from pathcast.sim.scenario.units import chance_text, time_text

__all__ = [
    "EVERYWHERE",
    "Action",
    "Advertised",
    "After",
    "Anything",
    "At",
    "Body",
    "Calm",
    "Cancelling",
    "ChangeOf",
    "Crash",
    "Cut",
    "Disturb",
    "Fault",
    "Generated",
    "Heal",
    "InFile",
    "Inline",
    "Like",
    "OfDtd",
    "OfSample",
    "Pair",
    "Paths",
    "Publisher",
    "Publishing",
    "Quiet",
    "Restart",
    "Retracting",
    "Subscribing",
]

Pair: TypeAlias = tuple[str, str]
EVERYWHERE = None


# --- advertisements and documents -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Anything:
    def __str__(self) -> str:
        return "anything"


@dataclass(frozen=True, slots=True)
class OfDtd:
    name: str

    def __str__(self) -> str:
        return f"dtd {self.name}"


@dataclass(frozen=True, slots=True)
class Paths:
    expressions: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.expressions)


@dataclass(frozen=True, slots=True)
class Like:
    """Inferred from samples."""

    samples: tuple[str, ...]

    def __str__(self) -> str:
        return f"like {' '.join(self.samples)}"


Advertised: TypeAlias = Anything | OfDtd | Paths | Like


@dataclass(frozen=True, slots=True)
class Inline:
    xml: str

    def __str__(self) -> str:
        return self.xml


@dataclass(frozen=True, slots=True)
class InFile:
    name: str

    def __str__(self) -> str:
        return f"file {self.name}"


@dataclass(frozen=True, slots=True)
class OfSample:
    name: str

    def __str__(self) -> str:
        return f"sample {self.name}"


@dataclass(frozen=True, slots=True)
class Generated:
    """From a DTD, with the scenario's seed; the number in its id says which."""

    dtd: str

    def __str__(self) -> str:
        return f"generated from {self.dtd}"


Body: TypeAlias = Inline | InFile | OfSample | Generated


# --- clients ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Publisher(Line):
    """Without an advertisement it is only known where it is."""

    name: str
    broker: str
    advertised: Advertised | None = None

    def __str__(self) -> str:
        said = "" if self.advertised is None else f" advertises {self.advertised}"
        return f"publisher {self.name} at {self.broker}{said}"


@dataclass(frozen=True, slots=True)
class ChangeOf(Line):
    """A publisher advertises something else."""

    publisher: str
    advertised: Advertised

    def __str__(self) -> str:
        return f"advertise {self.publisher} {self.advertised}"


@dataclass(frozen=True, slots=True)
class Retracting(Line):
    publisher: str

    def __str__(self) -> str:
        return f"retract {self.publisher}"


@dataclass(frozen=True, slots=True)
class Subscribing(Line):
    id: str
    broker: str
    xpath: str
    subscriber: str | None = None

    def __str__(self) -> str:
        subscriber = "" if self.subscriber is None else f" for {self.subscriber}"
        return f"subscribe {self.id}{subscriber} at {self.broker} {self.xpath}"


@dataclass(frozen=True, slots=True)
class Cancelling(Line):
    id: str

    def __str__(self) -> str:
        return f"cancel {self.id}"


@dataclass(frozen=True, slots=True)
class Publishing(Line):
    """One document, or those from `id` to `last`, at once or one after the other."""

    id: str
    publisher: str
    body: Body
    last: str | None = None
    every: int | None = None

    def __str__(self) -> str:
        last = "" if self.last is None else f"..{self.last}"
        every = "" if self.every is None else f" every {time_text(self.every)}"
        return f"publish {self.id}{last} by {self.publisher} {self.body}{every}"


# --- faults -----------------------------------------------------------------------------------


class Fault(Enum):
    LOSE = "lose"
    DOUBLE = "double"
    REORDER = "reorder"
    DELAY = "delay"


@dataclass(frozen=True, slots=True)
class Cut(Line):
    link: Pair

    def __str__(self) -> str:
        return f"cut {'-'.join(self.link)}"


@dataclass(frozen=True, slots=True)
class Heal(Line):
    link: Pair | None = EVERYWHERE

    def __str__(self) -> str:
        return f"heal {'everywhere' if self.link is None else '-'.join(self.link)}"


@dataclass(frozen=True, slots=True)
class Disturb(Line):
    """`longer`: for delays, at most so many microseconds."""

    fault: Fault
    chance: int
    link: Pair | None = EVERYWHERE
    longer: int | None = None

    def __str__(self) -> str:
        longer = "" if self.longer is None else f" up to {time_text(self.longer)}"
        return f"{self.fault.value} {chance_text(self.chance)}{longer} {_where(self.link)}"


@dataclass(frozen=True, slots=True)
class Calm(Line):
    link: Pair | None = EVERYWHERE

    def __str__(self) -> str:
        return f"calm {_where(self.link)}"


@dataclass(frozen=True, slots=True)
class Crash(Line):
    broker: str

    def __str__(self) -> str:
        return f"crash {self.broker}"


@dataclass(frozen=True, slots=True)
class Restart(Line):
    broker: str
    tables: bool

    def __str__(self) -> str:
        return f"restart {self.broker} {'with' if self.tables else 'without'} its tables"


# --- time -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class At(Line):
    time: int

    def __str__(self) -> str:
        return f"at {time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class After(Line):
    time: int

    def __str__(self) -> str:
        return f"after {time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class Quiet(Line):
    """It is an expectation too: within an hour there must be silence."""

    def __str__(self) -> str:
        return "quiet"


Action: TypeAlias = (
    Publisher
    | ChangeOf
    | Retracting
    | Subscribing
    | Cancelling
    | Publishing
    | Cut
    | Heal
    | Disturb
    | Calm
    | Crash
    | Restart
    | At
    | After
    | Quiet
)


def _where(link: Pair | None) -> str:
    return "everywhere" if link is None else f"on {'-'.join(link)}"
