"""What a scenario expects, at the moment where it says so.

expect d1 reaches s1 s3                   these subscribers and no others; `nobody`
expect d1 reaches at least s1             and perhaps others
expect d1 reaches at most s1 s3           or fewer
expect d1 crosses b1-b2 b2-b4             these links and no others, in this direction; `nothing`
expect d1 in vain nowhere                 wherever it went, somebody there or beyond got it, and no broker got it twice
expect d1 refused
expect entries b1 3                       what a document is matched against at a broker
expect b1 tells b2 /a ; //b               the interests that a broker has told a neighbour; `nothing`
expect messages subscribe 12              that brokers have received from brokers, by kind
expect vain 2                             documents that a broker received though nobody there or beyond wanted them
expect doubled 1                          documents that came once more to a broker or a subscriber, and were dropped
expect tables empty                       nobody wants anything, and nobody advertises anything
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pathcast.sim.scenario.actions import Pair
from pathcast.sim.scenario.statement import Line

__all__ = [
    "KINDS",
    "Bound",
    "Check",
    "Count",
    "Counted",
    "Crosses",
    "Entries",
    "InVainNowhere",
    "Messages",
    "Reaches",
    "Refused",
    "TablesEmpty",
    "Tells",
]

KINDS = ("advertise", "unadvertise", "subscribe", "unsubscribe", "publish", "presence", "recovery")


class Bound(Enum):
    EXACTLY = "reaches"
    AT_LEAST = "reaches at least"
    AT_MOST = "reaches at most"


class Counted(Enum):
    VAIN = "vain"
    DOUBLED = "doubled"


@dataclass(frozen=True, slots=True)
class Reaches(Line):
    document: str
    subscribers: tuple[str, ...]
    bound: Bound = Bound.EXACTLY

    def __str__(self) -> str:
        return f"expect {self.document} {self.bound.value} {' '.join(self.subscribers) or 'nobody'}"


@dataclass(frozen=True, slots=True)
class Crosses(Line):
    document: str
    links: tuple[Pair, ...]

    def __str__(self) -> str:
        links = " ".join(map("-".join, self.links))
        return f"expect {self.document} crosses {links or 'nothing'}"


@dataclass(frozen=True, slots=True)
class InVainNowhere(Line):
    document: str

    def __str__(self) -> str:
        return f"expect {self.document} in vain nowhere"


@dataclass(frozen=True, slots=True)
class Refused(Line):
    document: str

    def __str__(self) -> str:
        return f"expect {self.document} refused"


@dataclass(frozen=True, slots=True)
class Entries(Line):
    broker: str
    number: int

    def __str__(self) -> str:
        return f"expect entries {self.broker} {self.number}"


@dataclass(frozen=True, slots=True)
class Tells(Line):
    broker: str
    neighbour: str
    xpaths: tuple[str, ...]

    def __str__(self) -> str:
        told = " ; ".join(self.xpaths)
        return f"expect {self.broker} tells {self.neighbour} {told or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Messages(Line):
    kind: str
    number: int

    def __str__(self) -> str:
        return f"expect messages {self.kind} {self.number}"


@dataclass(frozen=True, slots=True)
class Count(Line):
    what: Counted
    number: int

    def __str__(self) -> str:
        return f"expect {self.what.value} {self.number}"


@dataclass(frozen=True, slots=True)
class TablesEmpty(Line):
    def __str__(self) -> str:
        return "expect tables empty"


Check: TypeAlias = (
    Reaches | Crosses | InVainNowhere | Refused | Entries | Tells | Messages | Count | TablesEmpty
)
