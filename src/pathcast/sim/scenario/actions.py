"""Actions of a scenario, performed line by line, each at the present virtual time.

publisher P at b1 advertises dtd book     a bundled schema, one of the scenario, or a file
publisher P at b1 advertises anything     or /a(/b)+/c /a/d, or like SAMPLE ...
advertise P /a/b                          replace its advertisement
retract P
subscribe s1 at b4 /a/b                   or: subscribe s1 for ann at b4 /a/b
cancel s1
publish d1 by P <a><b/></a>               or: file d.xml, sample NAME, generated from DTD
publish d1..d20 by P generated from book every 10ms
cut b1-b2;  heal b1-b2;  heal everywhere
lose 10% on b1-b2;  duplicate 5% everywhere;  reorder 30% everywhere
delay 10% up to 300ms on b1-b2
clear faults everywhere                   set these probabilities to zero
crash b3;  restart b3 with its tables;  restart b3 without its tables
at 5s;  after 10ms;  until idle           let virtual time pass
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pathcast.sim.scenario.statement import StatementBase
from pathcast.sim.scenario.units import percent_text, time_text

__all__ = [
    "EVERYWHERE",
    "Action",
    "AddPublisher",
    "AddSubscription",
    "AdvertisementSource",
    "Anything",
    "BodyFromDtd",
    "BodyFromFile",
    "BodyFromSample",
    "CancelSubscription",
    "ClearFaults",
    "CrashBroker",
    "CutLink",
    "DocumentBody",
    "Fault",
    "FromDtd",
    "FromPaths",
    "FromSamples",
    "HealLinks",
    "InlineBody",
    "LinkEnds",
    "PublishDocuments",
    "ReplaceAdvertisement",
    "RestartBroker",
    "RetractAdvertisement",
    "RunFor",
    "RunUntil",
    "RunUntilIdle",
    "SetFault",
]

LinkEnds: TypeAlias = tuple[str, str]
EVERYWHERE = None


# --- advertisements and documents -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Anything:
    def __str__(self) -> str:
        return "anything"


@dataclass(frozen=True, slots=True)
class FromDtd:
    name: str

    def __str__(self) -> str:
        return f"dtd {self.name}"


@dataclass(frozen=True, slots=True)
class FromPaths:
    expressions: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.expressions)


@dataclass(frozen=True, slots=True)
class FromSamples:
    """An advertisement inferred from samples."""

    samples: tuple[str, ...]

    def __str__(self) -> str:
        return f"like {' '.join(self.samples)}"


AdvertisementSource: TypeAlias = Anything | FromDtd | FromPaths | FromSamples


@dataclass(frozen=True, slots=True)
class InlineBody:
    xml: str

    def __str__(self) -> str:
        return self.xml


@dataclass(frozen=True, slots=True)
class BodyFromFile:
    name: str

    def __str__(self) -> str:
        return f"file {self.name}"


@dataclass(frozen=True, slots=True)
class BodyFromSample:
    name: str

    def __str__(self) -> str:
        return f"sample {self.name}"


@dataclass(frozen=True, slots=True)
class BodyFromDtd:
    """Generated from a DTD with the scenario's seed; the number in the document's id selects it."""

    dtd: str

    def __str__(self) -> str:
        return f"generated from {self.dtd}"


DocumentBody: TypeAlias = InlineBody | BodyFromFile | BodyFromSample | BodyFromDtd


# --- clients ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddPublisher(StatementBase):
    """Attach a publisher to a broker, with or without an advertisement."""

    name: str
    broker: str
    advertised: AdvertisementSource | None = None

    def __str__(self) -> str:
        source = "" if self.advertised is None else f" advertises {self.advertised}"
        return f"publisher {self.name} at {self.broker}{source}"


@dataclass(frozen=True, slots=True)
class ReplaceAdvertisement(StatementBase):
    publisher: str
    advertised: AdvertisementSource

    def __str__(self) -> str:
        return f"advertise {self.publisher} {self.advertised}"


@dataclass(frozen=True, slots=True)
class RetractAdvertisement(StatementBase):
    publisher: str

    def __str__(self) -> str:
        return f"retract {self.publisher}"


@dataclass(frozen=True, slots=True)
class AddSubscription(StatementBase):
    id: str
    broker: str
    xpath: str
    subscriber: str | None = None

    def __str__(self) -> str:
        subscriber = "" if self.subscriber is None else f" for {self.subscriber}"
        return f"subscribe {self.id}{subscriber} at {self.broker} {self.xpath}"


@dataclass(frozen=True, slots=True)
class CancelSubscription(StatementBase):
    id: str

    def __str__(self) -> str:
        return f"cancel {self.id}"


@dataclass(frozen=True, slots=True)
class PublishDocuments(StatementBase):
    """Publish one document, or those from `id` to `last`, at once or at an interval."""

    id: str
    publisher: str
    body: DocumentBody
    last: str | None = None
    every: int | None = None  # microseconds

    def __str__(self) -> str:
        last = "" if self.last is None else f"..{self.last}"
        every = "" if self.every is None else f" every {time_text(self.every)}"
        return f"publish {self.id}{last} by {self.publisher} {self.body}{every}"


# --- faults -----------------------------------------------------------------------------------


class Fault(Enum):
    LOSE = "lose"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    DELAY = "delay"


@dataclass(frozen=True, slots=True)
class CutLink(StatementBase):
    link: LinkEnds

    def __str__(self) -> str:
        return f"cut {'-'.join(self.link)}"


@dataclass(frozen=True, slots=True)
class HealLinks(StatementBase):
    link: LinkEnds | None = EVERYWHERE

    def __str__(self) -> str:
        return f"heal {'everywhere' if self.link is None else '-'.join(self.link)}"


@dataclass(frozen=True, slots=True)
class SetFault(StatementBase):
    """Set the probability of one kind of fault; `max_delay` is for delays, in microseconds."""

    fault: Fault
    probability: int  # in millionths
    link: LinkEnds | None = EVERYWHERE
    max_delay: int | None = None

    def __str__(self) -> str:
        limit = "" if self.max_delay is None else f" up to {time_text(self.max_delay)}"
        percent = percent_text(self.probability)
        return f"{self.fault.value} {percent}{limit} {_where(self.link)}"


@dataclass(frozen=True, slots=True)
class ClearFaults(StatementBase):
    link: LinkEnds | None = EVERYWHERE

    def __str__(self) -> str:
        return f"clear faults {_where(self.link)}"


@dataclass(frozen=True, slots=True)
class CrashBroker(StatementBase):
    broker: str

    def __str__(self) -> str:
        return f"crash {self.broker}"


@dataclass(frozen=True, slots=True)
class RestartBroker(StatementBase):
    broker: str
    tables: bool

    def __str__(self) -> str:
        return f"restart {self.broker} {'with' if self.tables else 'without'} its tables"


# --- time -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunUntil(StatementBase):
    time: int

    def __str__(self) -> str:
        return f"at {time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class RunFor(StatementBase):
    time: int

    def __str__(self) -> str:
        return f"after {time_text(self.time)}"


@dataclass(frozen=True, slots=True)
class RunUntilIdle(StatementBase):
    """Let time pass until the overlay is idle; an expectation too: within an hour it must be."""

    def __str__(self) -> str:
        return "until idle"


Action: TypeAlias = (
    AddPublisher
    | ReplaceAdvertisement
    | RetractAdvertisement
    | AddSubscription
    | CancelSubscription
    | PublishDocuments
    | CutLink
    | HealLinks
    | SetFault
    | ClearFaults
    | CrashBroker
    | RestartBroker
    | RunUntil
    | RunFor
    | RunUntilIdle
)


def _where(link: LinkEnds | None) -> str:
    return "everywhere" if link is None else f"on {'-'.join(link)}"
