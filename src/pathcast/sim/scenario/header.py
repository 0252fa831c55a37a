"""What stands at the head of a scenario: the overlay, and how its brokers work. Each value is one line of the text.

seed 7
topology binary 3                    or links, one by one:
link b1-b2 5ms
latency 2ms                          of every link of the topology
bandwidth 125000                     bytes a second, of every link
strategy with-Adv-with-CovIPM(0.1)
mergers by dtd book                  what a merger lets through in vain is counted over these paths
mergers by path /a/b 5               ... or over paths with rates, line by line
costs li2008                         how long brokers take: a bundled name or a file
refuse outside                       documents that their publisher has not advertised
keep tables                          brokers write them down
patience 50ms 1s 64                  until something is sent again, at first and at most; messages on their way
perfect links                        nothing ever fails, so nothing is acknowledged
namespace p urn:example
schema small <!ELEMENT a (b*)> <!ELEMENT b EMPTY>
sample one <a><b/></a>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pathcast.sim.scenario.statement import Line
from pathcast.sim.scenario.units import time_text

__all__ = [
    "Bandwidth",
    "CostsOf",
    "KeepTables",
    "Latency",
    "LinkOf",
    "MergersByDtd",
    "MergersByPath",
    "NamespaceOf",
    "PatienceOf",
    "PerfectLinks",
    "RefuseOutside",
    "Sample",
    "SchemaOf",
    "Seed",
    "Setup",
    "StrategyOf",
    "TopologyOf",
]


@dataclass(frozen=True, slots=True)
class Seed(Line):
    number: int

    def __str__(self) -> str:
        return f"seed {self.number}"


@dataclass(frozen=True, slots=True)
class TopologyOf(Line):
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"topology {' '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class LinkOf(Line):
    one: str
    other: str
    latency: int | None = None

    def __str__(self) -> str:
        latency = "" if self.latency is None else f" {time_text(self.latency)}"
        return f"link {self.one}-{self.other}{latency}"


@dataclass(frozen=True, slots=True)
class Latency(Line):
    time: int

    def __str__(self) -> str:
        return f"latency {time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class Bandwidth(Line):
    rate: int

    def __str__(self) -> str:
        return f"bandwidth {self.rate}"


@dataclass(frozen=True, slots=True)
class StrategyOf(Line):
    name: str

    def __str__(self) -> str:
        return f"strategy {self.name}"


@dataclass(frozen=True, slots=True)
class MergersByDtd(Line):
    name: str

    def __str__(self) -> str:
        return f"mergers by dtd {self.name}"


@dataclass(frozen=True, slots=True)
class MergersByPath(Line):
    path: tuple[str, ...]
    rate: int

    def __str__(self) -> str:
        return f"mergers by path /{'/'.join(self.path)} {self.rate}"


@dataclass(frozen=True, slots=True)
class CostsOf(Line):
    name: str

    def __str__(self) -> str:
        return f"costs {self.name}"


@dataclass(frozen=True, slots=True)
class RefuseOutside(Line):
    def __str__(self) -> str:
        return "refuse outside"


@dataclass(frozen=True, slots=True)
class KeepTables(Line):
    def __str__(self) -> str:
        return "keep tables"


@dataclass(frozen=True, slots=True)
class PatienceOf(Line):
    first: int
    most: int
    window: int | None = None

    def __str__(self) -> str:
        window = "" if self.window is None else f" {self.window}"
        return f"patience {time_text(self.first)} {time_text(self.most)}{window}"


@dataclass(frozen=True, slots=True)
class PerfectLinks(Line):
    def __str__(self) -> str:
        return "perfect links"


@dataclass(frozen=True, slots=True)
class NamespaceOf(Line):
    prefix: str
    uri: str

    def __str__(self) -> str:
        return f"namespace {self.prefix} {self.uri}"


@dataclass(frozen=True, slots=True)
class SchemaOf(Line):
    name: str
    text: str

    def __str__(self) -> str:
        return f"schema {self.name} {self.text}"


@dataclass(frozen=True, slots=True)
class Sample(Line):
    name: str
    body: str

    def __str__(self) -> str:
        return f"sample {self.name} {self.body}"


Setup: TypeAlias = (
    Seed
    | TopologyOf
    | LinkOf
    | Latency
    | Bandwidth
    | StrategyOf
    | MergersByDtd
    | MergersByPath
    | CostsOf
    | RefuseOutside
    | KeepTables
    | PatienceOf
    | PerfectLinks
    | NamespaceOf
    | SchemaOf
    | Sample
)
