"""Settings of a scenario: the overlay, and how its brokers work. Each value is one line of the
text.

seed 7
topology binary 3                    or links, one by one:
link b1-b2 5ms
latency 2ms                          of every link of the topology
bandwidth 125000                     bytes a second, of every link
strategy with-Adv-with-CovIPM(0.1)
mergers by dtd book                  the path distribution over which mergers are judged
mergers by path /a/b 5               ... or paths with their rates, line by line
costs li2008                         processing costs: a bundled name or a file
refuse outside                       refuse documents outside their publisher's advertisement
keep tables                          brokers persist their tables
retry 50ms 1s 64                     first and longest retransmission delay; window of messages
perfect links                        links and brokers never fail, so nothing is acknowledged
namespace p urn:example
schema small <!ELEMENT a (b*)> <!ELEMENT b EMPTY>
sample one <a><b/></a>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pathcast.sim.scenario.statement import StatementBase
from pathcast.sim.scenario.units import time_text

__all__ = [
    "BandwidthSetting",
    "CostsSetting",
    "KeepTables",
    "LatencySetting",
    "LinkSetting",
    "MergersByDtd",
    "MergersByPath",
    "NamespaceSetting",
    "PerfectLinks",
    "RefuseOutside",
    "RetrySetting",
    "SampleSetting",
    "SchemaSetting",
    "SeedSetting",
    "Setting",
    "StrategySetting",
    "TopologySetting",
]


@dataclass(frozen=True, slots=True)
class SeedSetting(StatementBase):
    number: int

    def __str__(self) -> str:
        return f"seed {self.number}"


@dataclass(frozen=True, slots=True)
class TopologySetting(StatementBase):
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"topology {' '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class LinkSetting(StatementBase):
    left: str
    right: str
    latency: int | None = None  # microseconds, as all times of a scenario

    def __str__(self) -> str:
        latency = "" if self.latency is None else f" {time_text(self.latency)}"
        return f"link {self.left}-{self.right}{latency}"


@dataclass(frozen=True, slots=True)
class LatencySetting(StatementBase):
    time: int

    def __str__(self) -> str:
        return f"latency {time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class BandwidthSetting(StatementBase):
    rate: int

    def __str__(self) -> str:
        return f"bandwidth {self.rate}"


@dataclass(frozen=True, slots=True)
class StrategySetting(StatementBase):
    name: str

    def __str__(self) -> str:
        return f"strategy {self.name}"


@dataclass(frozen=True, slots=True)
class MergersByDtd(StatementBase):
    name: str

    def __str__(self) -> str:
        return f"mergers by dtd {self.name}"


@dataclass(frozen=True, slots=True)
class MergersByPath(StatementBase):
    path: tuple[str, ...]
    rate: int

    def __str__(self) -> str:
        return f"mergers by path /{'/'.join(self.path)} {self.rate}"


@dataclass(frozen=True, slots=True)
class CostsSetting(StatementBase):
    name: str

    def __str__(self) -> str:
        return f"costs {self.name}"


@dataclass(frozen=True, slots=True)
class RefuseOutside(StatementBase):
    def __str__(self) -> str:
        return "refuse outside"


@dataclass(frozen=True, slots=True)
class KeepTables(StatementBase):
    def __str__(self) -> str:
        return "keep tables"


@dataclass(frozen=True, slots=True)
class RetrySetting(StatementBase):
    initial_delay: int
    max_delay: int
    window: int | None = None

    def __str__(self) -> str:
        window = "" if self.window is None else f" {self.window}"
        return f"retry {time_text(self.initial_delay)} {time_text(self.max_delay)}{window}"


@dataclass(frozen=True, slots=True)
class PerfectLinks(StatementBase):
    def __str__(self) -> str:
        return "perfect links"


@dataclass(frozen=True, slots=True)
class NamespaceSetting(StatementBase):
    prefix: str
    uri: str

    def __str__(self) -> str:
        return f"namespace {self.prefix} {self.uri}"


@dataclass(frozen=True, slots=True)
class SchemaSetting(StatementBase):
    name: str
    text: str

    def __str__(self) -> str:
        return f"schema {self.name} {self.text}"


@dataclass(frozen=True, slots=True)
class SampleSetting(StatementBase):
    name: str
    body: str

    def __str__(self) -> str:
        return f"sample {self.name} {self.body}"


Setting: TypeAlias = (
    SeedSetting
    | TopologySetting
    | LinkSetting
    | LatencySetting
    | BandwidthSetting
    | StrategySetting
    | MergersByDtd
    | MergersByPath
    | CostsSetting
    | RefuseOutside
    | KeepTables
    | RetrySetting
    | PerfectLinks
    | NamespaceSetting
    | SchemaSetting
    | SampleSetting
)
