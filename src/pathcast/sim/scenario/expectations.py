"""Expectations of a scenario, each checked at the moment at which it stands.

expect d1 reaches s1 s3            exactly these subscribers; `none`
expect d1 reaches at least s1      these subscribers, and possibly others
expect d1 reaches at most s1 s3    no other subscribers
expect d1 crosses b1-b2 b2-b4      exactly these links, in this direction; `none`
expect d1 not wasted               each link it crossed led to a subscriber; no broker got it twice
expect d1 refused                  its broker refused it
expect entries b1 3                table entries that b1 matches documents against
expect b1 sent b2 /a ; //b         the interests that b1 has sent to b2; `none`
expect messages subscribe 12       messages that brokers received from brokers, by kind
expect wasted 2                    documents received where no subscriber there or beyond matches
expect duplicates 1                documents dropped because broker or subscriber had them
expect tables empty                no broker holds an interest, an advertisement or a document
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pathcast.sim.scenario.actions import LinkEnds
from pathcast.sim.scenario.statement import StatementBase

__all__ = [
    "MESSAGE_KINDS",
    "Bound",
    "Crosses",
    "DocumentMetric",
    "EntryCount",
    "Expectation",
    "InterestsSent",
    "IsRefused",
    "MessageCount",
    "MetricEquals",
    "NotWasted",
    "Reaches",
    "TablesEmpty",
]

MESSAGE_KINDS = (
    "advertise",
    "unadvertise",
    "subscribe",
    "unsubscribe",
    "publish",
    "presence",
    "recovery",
)


class Bound(Enum):
    """How the subscribers of `Reaches` limit the actual ones; the value is its text."""

    EXACTLY = "reaches"
    AT_LEAST = "reaches at least"
    AT_MOST = "reaches at most"


class DocumentMetric(Enum):
    """A counter of the whole overlay; the value is its text."""

    WASTED = "wasted"
    DUPLICATES = "duplicates"


@dataclass(frozen=True, slots=True)
class Reaches(StatementBase):
    document: str
    subscribers: tuple[str, ...]
    bound: Bound = Bound.EXACTLY

    def __str__(self) -> str:
        return f"expect {self.document} {self.bound.value} {' '.join(self.subscribers) or 'none'}"


@dataclass(frozen=True, slots=True)
class Crosses(StatementBase):
    document: str
    links: tuple[LinkEnds, ...]

    def __str__(self) -> str:
        links = " ".join(map("-".join, self.links))
        return f"expect {self.document} crosses {links or 'none'}"


@dataclass(frozen=True, slots=True)
class NotWasted(StatementBase):
    """Perfect routing of one document."""

    document: str

    def __str__(self) -> str:
        return f"expect {self.document} not wasted"


@dataclass(frozen=True, slots=True)
class IsRefused(StatementBase):
    document: str

    def __str__(self) -> str:
        return f"expect {self.document} refused"


@dataclass(frozen=True, slots=True)
class EntryCount(StatementBase):
    broker: str
    number: int

    def __str__(self) -> str:
        return f"expect entries {self.broker} {self.number}"


@dataclass(frozen=True, slots=True)
class InterestsSent(StatementBase):
    broker: str
    neighbour: str
    xpaths: tuple[str, ...]

    def __str__(self) -> str:
        xpaths = " ; ".join(self.xpaths)
        return f"expect {self.broker} sent {self.neighbour} {xpaths or 'none'}"


@dataclass(frozen=True, slots=True)
class MessageCount(StatementBase):
    kind: str
    number: int

    def __str__(self) -> str:
        return f"expect messages {self.kind} {self.number}"


@dataclass(frozen=True, slots=True)
class MetricEquals(StatementBase):
    metric: DocumentMetric
    number: int

    def __str__(self) -> str:
        return f"expect {self.metric.value} {self.number}"


@dataclass(frozen=True, slots=True)
class TablesEmpty(StatementBase):
    def __str__(self) -> str:
        return "expect tables empty"


Expectation: TypeAlias = (
    Reaches
    | Crosses
    | NotWasted
    | IsRefused
    | EntryCount
    | InterestsSent
    | MessageCount
    | MetricEquals
    | TablesEmpty
)
