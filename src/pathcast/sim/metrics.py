"""What a simulation counts.

`received` counts messages that brokers received from other brokers, by kind, those included that a link drops since it has had them; `bytes` what wires carried. `doubled` are
documents that a link let pass and that a broker or a subscriber had already. `vain` are documents that a broker received although neither its
subscribers nor anybody beyond wanted them. What a broker counted stays counted when it crashes.
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
    from pathcast.broker import Broker
    from pathcast.sim.simulation import Simulation

__all__ = ["Metrics", "Summary", "kind_of", "size_of", "tally"]

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
            Subscribe(interest=interest, except_origins=except_origins)
            | Unsubscribe(interest=interest, except_origins=except_origins)
        ):
            return HEADER + len(interest.pattern.text) + sum(map(len, except_origins))
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
    refusals: dict[str, str] = field(default_factory=dict)  # documents, and why
    accepted: int = 0
    journeys: dict[str, dict[tuple[str, str], None]] | None = None  # the links that each took
    past: Counter[str] = field(default_factory=Counter)  # what brokers counted that have crashed


def tally(broker: Broker) -> Counter[str]:
    """What a broker has counted in this life."""
    counters = broker.router.counters
    return Counter(
        outside=counters.outside,
        vain=counters.wasted,
        decisions=counters.decisions,
        doubled=broker.counts.doubled,
        resent=sum(one.resent for one in broker.endpoints.values()),
    )


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
        for ends, wire in run.wires.items():
            links["-".join(sorted(ends))] += wire.bytes
        busiest = max(links.items(), key=_second, default=("", 0))
        crossings = sum(metrics.crossings.values())
        hops = [one.hops for one in metrics.deliveries if one.hops is not None]
        counted = Counter(metrics.past)
        for one in live.values():
            counted.update(tally(one))
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
            counted["outside"],
            metrics.doubled + counted["doubled"],
            counted["vain"],
            counted["decisions"],
            sum(wire.lost for wire in run.wires.values()),
            counted["resent"],
            {name: one.router.entry_count() for name, one in live.items()},
            {name: one.router.trees.offer_count() for name, one in live.items()},
            run.now,
        )

    def as_dict(self) -> dict[str, object]:
        """For JSON; times to the nanosecond."""
        link, many = self.busiest_link
        return {
            **{
                key: round(value, 9) if isinstance(value, float) else value
                for key, value in asdict(self).items()
            },
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
