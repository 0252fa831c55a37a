"""Simulation: an overlay of brokers and their clients, on a simulated network.

`pathcast.sim.network` drives the brokers. This module adds the clients, performs the effects of
brokers (storage, deliveries, answers to publishers) and keeps the metrics. The same seed gives the
same trace, byte for byte.

Clients outlive their broker and repeat their requests after it restarts (see `clients`). A broker
that crashes loses its tables and its queue; its `MemoryStorage` survives.

A broker whose neighbour is down retransmits for ever, and a publisher whose broker is down submits
again for ever. `run_until_idle` needs its limit for such runs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pathcast.broker import (
    Accepted,
    Broker,
    ClientRequest,
    ClientsKnown,
    DocumentSubmitted,
    Effect,
    MemoryStorage,
    Settings,
)
from pathcast.errors import RoutingError
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.backend import Backend
from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import Message, Publication
from pathcast.routing.outputs import Deliver, Refuse
from pathcast.routing.requests import Announce, Cancel, Register, Request, RequestBatch, Retract
from pathcast.sim.clients import Clients, Delivery
from pathcast.sim.costs import Costs, input_seconds
from pathcast.sim.metrics import Metrics, broker_counters, frame_size
from pathcast.sim.network import Host, Network
from pathcast.sim.topology import Topology
from pathcast.sim.wires import Faults, Wire
from pathcast.transport import Frame
from pathcast.xpath import parse

__all__ = ["BrokerHost", "Simulation"]

IDLE_LIMIT = 3600.0  # virtual seconds
RESUBMIT_DELAY = 1.0  # seconds after which a publisher submits an unanswered document again
_SHOWN_DOCUMENTS = 3  # that a line of `blockers` names


@dataclass(slots=True)
class BrokerHost:
    """The machine of one broker: its place in the network, its disk, and its clients."""

    host: Host[Broker]
    storage: MemoryStorage
    clients: Clients = field(default_factory=Clients)

    @property
    def broker(self) -> Broker | None:
        """The running broker; None while it is down."""
        return self.host.node


class Simulation:
    """Brokers, links and clients in virtual time; `trace` takes each line of the trace."""

    def __init__(
        self,
        topology: Topology,
        settings: Settings,
        backend: Backend,
        *,
        seed: int = 0,
        costs: Costs | None = None,
        bandwidth: float | None = None,
        trace: Callable[[str], object] | None = None,
    ) -> None:
        self.topology = topology
        self.settings = settings
        self.metrics = Metrics()
        self.published: dict[str, float] = {}  # documents, with the time
        self.documents: dict[str, Publication] = {}
        self.subscribers: dict[str, None] = {}  # including those that cancelled
        self._backend = backend
        self._neighbours = topology.neighbours()
        self._broker_of: dict[Hashable, str] = {}  # of a subscription or ("publisher", name)
        self._network = Network(
            self._make_broker,
            seed=seed,
            latency=topology.latencies(),
            bandwidth=bandwidth,
            frame_size=frame_size,
            describe_frame=_describe_frame,
            trace=trace,
            on_receive=self.metrics.on_receive,
            on_effect=self._perform,
        )
        self.costs = costs
        for left, right in topology.latencies():
            self._network.wire(left, right)
        self.hosts = {
            name: BrokerHost(
                self._network.host(name), MemoryStorage(max_seen_ids=settings.max_seen_ids)
            )
            for name in topology.brokers
        }
        for name in topology.brokers:
            self._network.start(name)

    def _make_broker(self, name: str) -> Broker:
        storage = self.hosts[name].storage
        return Broker(name, self._neighbours[name], self._backend, self.settings, storage)

    # --- the overlay as it stands -------------------------------------------------------------

    @property
    def wires(self) -> Mapping[tuple[str, str], Wire]:
        """The wires of all links, by (sender, receiver)."""
        return self._network.wires

    @property
    def costs(self) -> Costs | None:
        """How long brokers take for an input; None for no time."""
        return self._costs

    @costs.setter
    def costs(self, costs: Costs | None) -> None:
        self._costs = costs
        self._network.input_cost = partial(input_seconds, costs) if costs else None

    def host(self, broker: str) -> BrokerHost:
        """Return the host of a broker; raise RoutingError for an unknown name."""
        host = self.hosts.get(broker)
        if host is None:
            names = self.topology.brokers
            hint = "brokers are " + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise RoutingError("topology", f"there is no broker {broker}", hint=hint)
        return host

    def brokers(self) -> dict[str, Broker]:
        """Return the brokers that are up, by name."""
        return {name: host.broker for name, host in self.hosts.items() if host.broker is not None}

    def brokers_down(self) -> list[str]:
        return [name for name, host in self.hosts.items() if host.broker is None]

    def links_cut(self) -> list[str]:
        links = self.topology.links
        return [str(link) for link in links if self.wires[link.left, link.right].cut]

    def blockers(self) -> list[str]:
        """Say what may keep the overlay from being idle: outages, and documents that wait."""
        reasons = [f"{name} is down" for name in self.brokers_down()]
        reasons += [f"{link} is cut" for link in self.links_cut()]
        for name, host in self.hosts.items():
            reasons += [
                f"{document.publisher} waits for {name} to take {id}"
                for id, document in host.clients.unaccepted.items()
            ]
            if host.broker is not None and host.broker.backlog:
                ids = list(host.storage.documents)
                hidden = len(ids) - _SHOWN_DOCUMENTS
                more = f" and {hidden:,} more" if hidden > 0 else ""
                reasons.append(f"{name} keeps {', '.join(ids[:_SHOWN_DOCUMENTS])}{more} for others")
        return reasons

    # --- time ---------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Virtual time in seconds."""
        return self._network.now

    def schedule(self, time: float, action: Callable[[], object]) -> None:
        """Run an action at a time; raise RoutingError if the time has passed."""
        self._network.schedule(time, action)

    def run(self, until: float) -> None:
        """Let virtual time pass up to a time."""
        self._network.run(until)

    def run_until_idle(self, limit: float = IDLE_LIMIT) -> bool:
        """Let time pass until it is idle, `limit` seconds at most; return whether it is."""
        return self._network.run_until_idle(limit)

    def step(self) -> bool:
        """Run the next event; return False if none is pending."""
        return self._network.step()

    # --- clients ------------------------------------------------------------------------------

    def subscribe(
        self,
        broker: str,
        id: str,
        xpath: str,
        subscriber: str | None = None,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        """Subscribe at a broker; raise SubscriptionError or RoutingError."""
        self._require_new_id(id)
        register = self._check(Register(id, parse(xpath, namespaces), subscriber or id))
        self.host(broker).clients.subscriptions[id] = register
        self._broker_of[id] = broker
        self.subscribers[register.subscriber] = None
        self._network.trace_line(f"{broker} {id} subscribes {xpath}")
        self._request(broker, register)

    def subscribe_all(self, broker: str, subscriber: str, xpaths: Mapping[str, str]) -> None:
        """Subscribe to many XPaths, by id, in one request; raise SubscriptionError."""
        registers = [
            self._check(Register(id, parse(xpath), subscriber)) for id, xpath in xpaths.items()
        ]
        self.subscribers[subscriber] = None
        for register in registers:
            self._require_new_id(register.id)
            self._broker_of[register.id] = broker
            self.host(broker).clients.subscriptions[register.id] = register
        self._network.trace_line(f"{broker} {subscriber} subscribes {len(registers)} at once")
        self._request(broker, RequestBatch(tuple(registers)))

    def _require_new_id(self, id: Hashable) -> None:
        if id in self._broker_of:
            raise RoutingError("duplicate-id", f"there is a subscription {id} already")

    def _check(self, register: Register) -> Register:
        """Raise SubscriptionError for a subscription that the broker would reject."""
        if register.pattern.residual is not None:
            self._backend.selector().add(register.id, self._backend.interest(register.pattern))
        return register

    def cancel(self, id: str) -> None:
        """Cancel a subscription."""
        if id not in self._broker_of:
            raise RoutingError("unknown", f"there is no subscription {id}")
        broker = self._broker_of.pop(id)
        del self.hosts[broker].clients.subscriptions[id]
        self._network.trace_line(f"{broker} {id} cancels")
        self._request(broker, Cancel(id))

    def announce(
        self, broker: str, publisher: str, advertisement: Advertisement, *, widens: bool = False
    ) -> None:
        """Attach a publisher, or replace its advertisement.

        With `widens`, each document outside the advertisement extends it.
        """
        if self._broker_of.setdefault(("publisher", publisher), broker) != broker:
            raise RoutingError("publisher", f"{publisher} is at another broker already")
        announce = Announce(publisher, advertisement, widens)
        self.host(broker).clients.publishers[publisher] = announce
        self._network.trace_line(f"{broker} {publisher} advertises")
        self._request(broker, announce)

    def retract(self, publisher: str) -> None:
        """Withdraw the advertisement of a publisher."""
        broker = self._broker_of.pop(("publisher", publisher), None)
        if broker is None:
            raise RoutingError("unknown", f"there is no publisher {publisher}")
        del self.hosts[broker].clients.publishers[publisher]
        self._network.trace_line(f"{broker} {publisher} retracts")
        self._request(broker, Retract(publisher))

    def publish(self, broker: str, publisher: str, id: str, body: bytes) -> None:
        """Submit a document, repeatedly until the broker accepts or refuses it."""
        document = Publication(id, broker, publisher, body)
        self.host(broker).clients.unaccepted[id] = document
        self.published.setdefault(id, self.now)
        self.documents[id] = document
        self._network.trace_line(f"{broker} {publisher} publishes {id}")
        self._submit(broker, id)

    def _submit(self, broker: str, id: str) -> None:
        document = self.hosts[broker].clients.unaccepted.get(id)
        if document is None:
            return
        self._network.submit(broker, DocumentSubmitted(document))
        if self.settings.reliable:
            self.schedule(self.now + RESUBMIT_DELAY, partial(self._submit, broker, id))

    def _request(self, broker: str, request: Request) -> None:
        self._network.submit(broker, ClientRequest(request))

    # --- faults -------------------------------------------------------------------------------

    def cut(self, left: str, right: str) -> None:
        """Cut a link; frames in flight are lost."""
        self._network.cut(left, right)

    def heal(self, left: str, right: str) -> None:
        """Undo a cut."""
        self._network.heal(left, right)

    def set_faults(self, faults: Faults, left: str, right: str) -> None:
        """Set the probabilities of faults on a link, from now on."""
        self._network.set_faults(faults, left, right)

    def crash(self, broker: str) -> None:
        """Stop a broker; its storage and its clients survive."""
        node = self.host(broker).broker
        if node is not None:
            self.metrics.crashed.update(broker_counters(node))
        self._network.crash(broker)

    def restart(self, broker: str, *, tables: bool | None = None) -> None:
        """Start a broker again, with or without its stored tables; by default with, if stored."""
        host = self.host(broker)
        if host.broker is not None:
            raise RoutingError("restart", f"{broker} is up")
        if tables is None:
            tables = self.settings.keep_tables
        if tables and not self.settings.keep_tables:
            hint = "let brokers keep tables, or restart it without"
            raise RoutingError("restart", f"{broker} has not kept its tables", hint=hint)
        if not tables or not host.storage.tables_complete:
            host.storage.lose_tables()
        stored = {  # requests of clients, in order
            entry.fact: None for entry in host.storage.facts.values() if entry.source == LOCAL
        }
        self._network.restart(broker, f" {'with' if tables else 'without'} its tables")
        self._reconcile_clients(broker, host.clients, stored)

    def _reconcile_clients(
        self, broker: str, clients: Clients, stored: Mapping[Message | Request, None]
    ) -> None:
        """Bring a restarted broker up to date, as step 2 of the driver's contract says."""
        requests = list(clients.requests())
        for fact in stored:
            match fact:
                case Register(id=id) if clients.subscriptions.get(id) != fact:
                    self._network.handle(broker, ClientRequest(Cancel(id)))
                case Announce(publisher=publisher) if publisher not in clients.publishers:
                    self._network.handle(broker, ClientRequest(Retract(publisher)))
        for request in requests:
            if request not in stored:
                self._network.handle(broker, ClientRequest(request))
        self._network.handle(broker, ClientsKnown())

    # --- effects of brokers -------------------------------------------------------------------

    def _perform(self, name: str, effect: Effect) -> None:
        host = self.hosts[name]
        match effect:
            case Deliver():
                self._deliver(name, host, effect)
            case Accepted(id=id):
                if host.clients.unaccepted.pop(id, None) is not None:
                    self.metrics.accepted += 1
            case Refuse(document=document, reason=reason):
                if host.clients.unaccepted.pop(document.id, None) is not None:
                    self.metrics.refusals[document.id] = reason
                self._network.trace_line(f"{name} refuses {document.id}: {reason}")
            case _:
                host.storage.perform(effect)

    def _deliver(self, name: str, host: BrokerHost, effect: Deliver) -> None:
        document, subscriber = effect.document, effect.subscriber
        if (document.id, subscriber) in host.clients.received:
            self.metrics.duplicates += 1
            return
        host.clients.received[document.id, subscriber] = None
        ids = ", ".join(map(str, effect.subscriptions))
        self._network.trace_line(f"{name} delivers {document.id} to {subscriber} for {ids}")
        delay = self.now - self.published[document.id]
        hops = host.broker.router.trees.distance(document.origin) if host.broker else None
        delivery = Delivery(
            document.id, subscriber, effect.subscriptions, self.now, delay, name, hops
        )
        self.metrics.deliveries.append(delivery)


def _describe_frame(frame: Frame[Message]) -> str | None:
    return None if frame.message is None else str(frame.message)
