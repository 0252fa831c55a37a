"""Metrics of a simulated overlay.

`received` counts the messages that brokers received from brokers, by kind; retransmissions and
duplicates that the receiver's endpoint drops count as well. `bytes` are on wires. `duplicates` are
documents that passed the endpoint, but that the broker or the subscriber had already. `wasted` are
documents that a broker received although no subscriber there or beyond matches. The counters of a
broker survive its crash.
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
from pathcast.transport import Frame

if TYPE_CHECKING:
    from pathcast.broker import Broker
    from pathcast.sim.simulation import Simulation

__all__ = ["Metrics", "RunSummary", "broker_counters", "frame_size", "message_kind"]

FRAME_HEADER_SIZE = 40  # bytes of a frame besides its message
DEPRECATED_KEYS = {"vain": "wasted", "doubled": "duplicates"}  # of `as_dict`


def message_kind(message: Message) -> str:
    """Return the kind under which `Metrics.received` counts a message."""
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


def frame_size(frame: Frame[Message]) -> int:
    """Return an estimate of a frame's bytes on a wire."""
    return FRAME_HEADER_SIZE + _message_size(frame.message)


def _message_size(message: Message | None) -> int:
    match message:
        case None | Complete() | Recall():
            return 0
        case Publish(document=document):
            return len(document.id) + len(document.body)
        case (
            Subscribe(interest=interest, except_origins=except_origins)
            | Unsubscribe(interest=interest, except_origins=except_origins)
        ):
            return len(interest.pattern.text) + sum(map(len, except_origins))
        case Advertise(path=path, publisher=publisher, advertisement=advertisement):
            return len(publisher) + sum(map(len, path)) + len(str(advertisement))
        case Unadvertise(origin=origin, publisher=publisher):
            return len(origin) + len(publisher)


@dataclass(slots=True)
class Metrics:
    """The counters of a running simulation.

    `crossings` counts documents by (sender, receiver). `links_by_document` lists the links that
    each document took; the caller sets it to a dict to switch it on. `crashed` sums the counters of
    brokers that crashed. `refusals` maps a document to the reason.
    """

    received: Counter[str] = field(default_factory=Counter)
    crossings: Counter[tuple[str, str]] = field(default_factory=Counter)
    deliveries: list[Delivery] = field(default_factory=list)
    duplicates: int = 0
    refusals: dict[str, str] = field(default_factory=dict)
    accepted: int = 0
    links_by_document: dict[str, dict[tuple[str, str], None]] | None = None
    crashed: Counter[str] = field(default_factory=Counter)

    def on_receive(self, sender: str, receiver: str, frame: Frame[Message]) -> None:
        """Count a frame that reaches a running broker."""
        message = frame.message
        if message is None:
            return
        self.received[message_kind(message)] += 1
        if isinstance(message, Publish):
            self.crossings[sender, receiver] += 1
            if self.links_by_document is not None:
                links = self.links_by_document.setdefault(message.document.id, {})
                links[sender, receiver] = None


def broker_counters(broker: Broker) -> Counter[str]:
    """Return what a broker counted in its present session."""
    counters = broker.router.counters
    return Counter(
        outside=counters.outside,
        wasted=counters.wasted,
        decisions=counters.decisions,
        duplicates=broker.counters.duplicates,
        retransmissions=sum(end.retransmissions for end in broker.endpoints.values()),
    )


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The metrics of a simulation at one moment. docs/guide/overlay.md explains each field."""

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
    duplicates: int
    wasted: int
    decisions: int
    lost_frames: int
    resent_frames: int
    entries: dict[str, int]
    advertisements: dict[str, int]
    time: float

    @classmethod
    def of(cls, run: Simulation) -> RunSummary:
        """Compute the summary of a simulation as it stands."""
        metrics = run.metrics
        brokers = run.brokers()
        link_bytes: Counter[str] = Counter()
        for ends, wire in run.wires.items():
            link_bytes["-".join(sorted(ends))] += wire.bytes
        delays = [delivery.delay for delivery in metrics.deliveries]
        hops = [delivery.hops for delivery in metrics.deliveries if delivery.hops is not None]
        counters = Counter(metrics.crashed)
        for broker in brokers.values():
            counters.update(broker_counters(broker))
        crossings = sum(metrics.crossings.values())
        return cls(
            received=dict(sorted(metrics.received.items())),
            bytes=sum(link_bytes.values()),
            busiest_link=max(link_bytes.items(), key=lambda item: item[1], default=("", 0)),
            stress=crossings / metrics.accepted if metrics.accepted else 0.0,
            deliveries=len(metrics.deliveries),
            delay=fmean(delays) if delays else 0.0,
            longest=max(delays, default=0.0),
            hops=fmean(hops) if hops else 0.0,
            accepted=metrics.accepted,
            refused=len(metrics.refusals),
            outside=counters["outside"],
            duplicates=metrics.duplicates + counters["duplicates"],
            wasted=counters["wasted"],
            decisions=counters["decisions"],
            lost_frames=sum(wire.lost for wire in run.wires.values()),
            resent_frames=counters["retransmissions"],
            entries={name: broker.router.entry_count() for name, broker in brokers.items()},
            advertisements={
                name: broker.router.trees.offer_count() for name, broker in brokers.items()
            },
            time=run.now,
        )

    def as_dict(self) -> dict[str, object]:
        """Return the summary for JSON, with times to the nanosecond.

        The keys of `DEPRECATED_KEYS` repeat the values of their new names.
        """
        link, link_bytes = self.busiest_link
        values: dict[str, object] = {
            key: round(value, 9) if isinstance(value, float) else value
            for key, value in asdict(self).items()
        }
        return {
            **values,
            "busiest_link": {"link": link, "bytes": link_bytes},
            "traffic": self.traffic,
            **{old: values[new] for old, new in DEPRECATED_KEYS.items()},
        }

    @property
    def traffic(self) -> int:
        """Messages between brokers as the papers count them: without presence and recovery."""
        kinds = ("advertise", "unadvertise", "subscribe", "unsubscribe", "publish")
        return sum(self.received.get(kind, 0) for kind in kinds)
