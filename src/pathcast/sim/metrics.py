"""What a simulation counts.

`received` counts messages that brokers received from other brokers, by kind; `bytes` what wires carried. `doubled` are documents that came
once more to a broker, or to a subscriber, and were dropped. `vain` are documents that a broker received although neither its subscribers nor anybody beyond wanted them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from pathcast.routing.messages import (
    Advertise,
    Complete,
    Message,
    Publish,
    Recall,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from pathcast.sim.clients import Delivery

if TYPE_CHECKING:
    from pathcast.sim.simulation import Simulation

__all__ = ["Metrics", "Summary", "kind_of", "size_of"]

HEADER = 40  # bytes of a frame besides its message


def kind_of(message: Message) -> str:
    match message:
        case Advertise(publisher="") | Unadvertise(publisher=""):
            return "presence"
        case Advertise():
            return "advertise"
        case Unadvertise():
            return "unadvertise"
        case Subscribe():
            return "subscribe"
        case Unsubscribe():
            return "unsubscribe"
        case Publish():
            return "publish"
        case Recall() | Complete():
            return "recovery"


def size_of(message: Message | None) -> int:
    """Bytes on a wire, about."""
    match message:
        case None | Complete() | Recall():
            return HEADER
        case Publish(document=document):
            return HEADER + len(document.id) + len(document.body)
        case (
            Subscribe(interest=interest, without=without)
            | Unsubscribe(interest=interest, without=without)
        ):
            return HEADER + len(interest.pattern.text) + sum(map(len, without))
        case Advertise(path=path, publisher=publisher, advertisement=advertisement):
            return HEADER + len(publisher) + sum(map(len, path)) + len(str(advertisement))
        case Unadvertise(origin=origin, publisher=publisher):
            return HEADER + len(origin) + len(publisher)


@dataclass(slots=True)
class Metrics:
    """Counted while a simulation runs."""

    received: Counter[str] = field(default_factory=Counter)
    crossings: Counter[tuple[str, str]] = field(default_factory=Counter)  # documents by link
    deliveries: list[Delivery] = field(default_factory=list)
    doubled: int = 0
    refusals: list[str] = field(default_factory=list)
    accepted: int = 0
    journeys: dict[str, dict[tuple[str, str], None]] | None = None  # the links that each took


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to; `as_dict` for machines."""

    received: dict[str, int]
    bytes: int
    busiest_link: tuple[str, int]
    stress: float
    deliveries: int
    delay: float
    longest: float
    hops: float
    accepted: int
    refused: int
    outside: int
    doubled: int
    vain: int
    decisions: int
    lost_frames: int
    resent_frames: int
    entries: dict[str, int]
    advertisements: dict[str, int]
    time: float

    @classmethod
    def of(cls, run: Simulation) -> Summary:
        metrics = run.metrics
        live = {name: one.broker for name, one in run.hosts.items() if one.broker is not None}
        links: Counter[str] = Counter()
        for (one, other), wire in run.wires.items():
            links["-".join(sorted((one, other)))] += wire.bytes
        busiest = max(links.items(), key=_second, default=("", 0))
        crossings = sum(metrics.crossings.values())
        hops = [one.hops for one in metrics.deliveries if one.hops is not None]
        return cls(
            dict(sorted(metrics.received.items())),
            sum(links.values()),
            busiest,
            crossings / metrics.accepted if metrics.accepted else 0.0,
            len(metrics.deliveries),
            fmean(one.after for one in metrics.deliveries) if metrics.deliveries else 0.0,
            max((one.after for one in metrics.deliveries), default=0.0),
            fmean(hops) if hops else 0.0,
            metrics.accepted,
            len(metrics.refusals),
            sum(one.router.counters.outside for one in live.values()),
            metrics.doubled + sum(one.counts.doubled for one in live.values()),
            sum(one.router.counters.vain for one in live.values()),
            sum(one.router.counters.decisions for one in live.values()),
            sum(wire.lost for wire in run.wires.values()),
            sum(e.resent for b in live.values() for e in b.endpoints.values()),
            {name: one.router.entries() for name, one in live.items()},
            {name: one.router.trees.size() for name, one in live.items()},
            run.now,
        )

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        link, many = self.busiest_link
        return {
            **asdict(self),
            "busiest_link": {"link": link, "bytes": many},
            "traffic": self.traffic,
        }

    @property
    def traffic(self) -> int:
        """Messages between brokers as the papers count them: advertisements, subscriptions, publications and their inverses."""
        counted = ("advertise", "unadvertise", "subscribe", "unsubscribe", "publish")
        return sum(self.received.get(kind, 0) for kind in counted)


def _second(pair: tuple[str, int]) -> int:
    return pair[1]
