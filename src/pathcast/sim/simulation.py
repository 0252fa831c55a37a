"""A simulation: brokers, wires and clients in virtual time. The same seed gives the same trace, byte for byte.

Events happen in the order of their time, and those of one time in the order in which they were planned. A broker works on one input after the other; each takes
the time that `costs` say, and what follows from it happens at the end of that time. A broker that crashes loses its queue and its tables; what it has kept (`Saved`)
is there when it starts again. Clients outlive their broker, and tell it again what they want (see `clients`).

`quiet` runs until nothing happens any more. A broker that waits for another one that is dead goes on asking, so such a run is ended by a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush

from pathcast.broker import (
    Accepted,
    Alarm,
    Ask,
    Broker,
    ClientsKnown,
    Effect,
    FrameIn,
    Input,
    Saved,
    Send,
    Start,
    Submit,
    Wake,
)
from pathcast.broker.broker import Settings
from pathcast.errors import RoutingError
from pathcast.rng import SeededRandom
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.backend import Backend
from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import Publication, Publish
from pathcast.routing.outputs import Deliver, Refuse
from pathcast.routing.requests import Announce, Cancel, Register, Request, RequestBatch, Retract
from pathcast.sim.clients import Clients, Delivery
from pathcast.sim.costs import Costs
from pathcast.sim.metrics import Metrics, kind_of, size_of, tally
from pathcast.sim.topology import Topology
from pathcast.sim.wires import Faults, Wire
from pathcast.xpath import parse

__all__ = ["Host", "Simulation"]

_FATES = (" (lost)", "", " (twice)")  # of a frame that arrives so often
_RETRY = 1.0  # seconds after which a publisher asks again


@dataclass(slots=True)
class Host:
    """A machine: the broker that lives on it, if one does, and what outlives it."""

    saved: Saved
    clients: Clients = field(default_factory=Clients)
    broker: Broker | None = None
    free: float = 0.0
    wake: float | None = None
    received: dict[tuple[str, str], None] = field(default_factory=dict)  # what its subscribers have


class Simulation:
    """`trace` takes each line of what happens; without one nothing is written down."""

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
        self.now = 0.0
        self.metrics = Metrics()
        self.hosts = {name: Host(Saved(memory=settings.memory)) for name in topology.brokers}
        self.wires = {
            (one, other): Wire(link.latency, bandwidth, SeededRandom(seed, "wire", one, other))
            for link in topology.links
            for one, other in ((link.one, link.other), (link.other, link.one))
        }
        self._near = topology.neighbours()
        self._backend = backend
        self.costs = costs
        self._trace = trace
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._planned = 0
        self.published: dict[str, float] = {}
        self.documents: dict[str, Publication] = {}
        self.subscribers: dict[str, None] = {}  # all that there have been
        self._homes: dict[Hashable, str] = {}
        for name in topology.brokers:
            self._live(name)

    # time

    def at(self, time: float, action: Callable[[], object]) -> None:
        """Plan something."""
        if time < self.now:
            raise RoutingError("time", f"{time:g} s has passed, it is {self.now:g} s")
        self._plan(time, action)

    def run(self, until: float) -> None:
        """Let time pass."""
        events = self._events
        while events and events[0][0] <= until:
            self._next()
        self.now = max(self.now, until)

    def quiet(self, most: float = 3600.0) -> bool:
        """Let time pass until nothing happens any more, or so many seconds; whether it is quiet."""
        end = self.now + most
        events = self._events
        while events and events[0][0] <= end:
            self._next()
        return not events

    def step(self) -> bool:
        """The next event; whether there was one."""
        if not self._events:
            return False
        self._next()
        return True

    def _plan(self, time: float, action: Callable[[], object]) -> None:
        self._planned += 1
        heappush(self._events, (time, self._planned, action))  # type: ignore[misc]

    def _next(self) -> None:
        self.now, _, action = heappop(self._events)
        action()

    def _say(self, text: str) -> None:
        if self._trace is not None:
            self._trace(f"{self.now:.6f} {text}")

    # clients

    def subscribe(
        self,
        broker: str,
        id: str,
        xpath: str,
        subscriber: str | None = None,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        """Raises SubscriptionError."""
        if id in self._homes:
            raise RoutingError("duplicate-id", f"there is a subscription {id} already")
        register = self._checked(Register(id, parse(xpath, namespaces), subscriber or id))
        self.host(broker).clients.subscriptions[id] = register
        self._homes[id] = broker
        self.subscribers[register.subscriber] = None
        self._say(f"{broker} {id} subscribes {xpath}")
        self._ask(broker, register)

    def subscribe_all(self, broker: str, subscriber: str, texts: Mapping[str, str]) -> None:
        """Many subscriptions of one subscriber at once, by their ids; raises SubscriptionError."""
        registers = [
            self._checked(Register(id, parse(xpath), subscriber)) for id, xpath in texts.items()
        ]
        self.subscribers[subscriber] = None
        for register in registers:
            if register.id in self._homes:
                raise RoutingError("duplicate-id", f"there is a subscription {register.id} already")
            self._homes[register.id] = broker
            self.host(broker).clients.subscriptions[register.id] = register
        self._say(f"{broker} {subscriber} subscribes {len(registers)} at once")
        self._ask(broker, RequestBatch(tuple(registers)))

    def _checked(self, register: Register) -> Register:
        """A client does not come with what its broker would refuse; raises SubscriptionError."""
        if register.pattern.residual is not None:
            self._backend.selector().add(register.id, self._backend.interest(register.pattern))
        return register

    def cancel(self, id: str) -> None:
        if id not in self._homes:
            raise RoutingError("unknown", f"there is no subscription {id}")
        broker = self._homes.pop(id)
        del self.hosts[broker].clients.subscriptions[id]
        self._say(f"{broker} {id} cancels")
        self._ask(broker, Cancel(id))

    def announce(
        self, broker: str, publisher: str, advertisement: Advertisement, *, widens: bool = False
    ) -> None:
        """A publisher begins, or advertises something else; `widens`: more, with every document that is outside."""
        if self._homes.setdefault(("publisher", publisher), broker) != broker:
            raise RoutingError("publisher", f"{publisher} is at another broker already")
        announce = Announce(publisher, advertisement, widens)
        self.host(broker).clients.publishers[publisher] = announce
        self._say(f"{broker} {publisher} advertises")
        self._ask(broker, announce)

    def retract(self, publisher: str) -> None:
        broker = self._homes.pop(("publisher", publisher), None)
        if broker is None:
            raise RoutingError("unknown", f"there is no publisher {publisher}")
        del self.hosts[broker].clients.publishers[publisher]
        self._say(f"{broker} {publisher} retracts")
        self._ask(broker, Retract(publisher))

    def publish(self, broker: str, publisher: str, id: str, body: bytes) -> None:
        """A publisher sends a document, again and again until it is accepted or refused."""
        document = Publication(id, broker, publisher, body)
        self.host(broker).clients.unaccepted[id] = document
        self.published.setdefault(id, self.now)
        self.documents[id] = document
        self._say(f"{broker} {publisher} publishes {id}")
        self._submit(broker, id)

    def _submit(self, broker: str, id: str) -> None:
        host = self.hosts[broker]
        document = host.clients.unaccepted.get(id)
        if document is None:
            return
        if host.broker is not None:
            self._arrive(broker, Submit(document))
        if self.settings.reliable:
            self._plan(self.now + _RETRY, partial(self._submit, broker, id))

    def _ask(self, broker: str, request: Request) -> None:
        if self.hosts[broker].broker is not None:
            self._arrive(broker, Ask(request))

    # faults

    def cut(self, one: str, other: str) -> None:
        self._say(f"{one}-{other} is cut")
        for wire in self._both(one, other):
            wire.cut = True
            wire.cuts += 1

    def heal(self, one: str, other: str) -> None:
        self._say(f"{one}-{other} is whole")
        for wire in self._both(one, other):
            wire.cut = False

    def disturb(self, faults: Faults, one: str, other: str) -> None:
        """Chances of faults on a link from now on."""
        for wire in self._both(one, other):
            wire.faults = faults

    def crash(self, broker: str) -> None:
        host = self.host(broker)
        if host.broker is None:
            raise RoutingError("crash", f"{broker} is down already")
        self._say(f"{broker} crashes")
        self.metrics.past.update(tally(host.broker))
        host.broker = None
        host.wake = None

    def restart(self, broker: str, *, tables: bool | None = None) -> None:
        """A new life: with its tables or without them; if nothing is said, with them if they are written down."""
        host = self.host(broker)
        if host.broker is not None:
            raise RoutingError("restart", f"{broker} is up")
        if tables is None:
            tables = self.settings.keep_tables
        if tables and not self.settings.keep_tables:
            hint = "let brokers keep tables, or restart it without"
            raise RoutingError("restart", f"{broker} has not kept its tables", hint=hint)
        if not tables:
            host.saved.lose_tables()
        self._say(f"{broker} restarts {'with' if tables else 'without'} its tables")
        self._live(broker)

    def _both(self, one: str, other: str) -> list[Wire]:
        if (one, other) not in self.wires:
            raise RoutingError("topology", f"there is no link {one}-{other}")
        return [self.wires[one, other], self.wires[other, one]]

    def waiting(self) -> list[str]:
        """What keeps it from being quiet: who is down, what is cut, and which documents wait for that."""
        found = [f"{name} is down" for name, host in self.hosts.items() if host.broker is None]
        found += [
            f"{one} is cut" for one in self.topology.links if self.wires[one.one, one.other].cut
        ]
        for name, host in self.hosts.items():
            found += [
                f"{document.publisher} waits for {name} to take {id}"
                for id, document in host.clients.unaccepted.items()
            ]
            if host.broker is not None and host.broker.backlog:
                kept = list(host.saved.documents)
                more = f" and {len(kept) - 3:,} more" if len(kept) > 3 else ""
                found.append(f"{name} keeps {', '.join(kept[:3])}{more} for others")
        return found

    # brokers

    def host(self, broker: str) -> Host:
        """Raises RoutingError."""
        host = self.hosts.get(broker)
        if host is None:
            names = self.topology.brokers
            known = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            hint = f"brokers are {known}"
            raise RoutingError("topology", f"there is no broker {broker}", hint=hint)
        return host

    def _live(self, name: str) -> None:
        host = self.hosts[name]
        host.broker = Broker(name, self._near[name], self._backend, self.settings, host.saved)
        known = {  # what it remembers by itself, in order
            note.fact: None for note in host.saved.facts.values() if note.source == LOCAL
        }
        host.free = self.now
        self._handle(name, host.broker, Start())
        if host.saved.lives == 1:
            return
        wanted = list(host.clients.requests())
        for fact in known:
            match fact:
                case Register(id=id) if host.clients.subscriptions.get(id) != fact:
                    self._handle(name, host.broker, Ask(Cancel(id)))
                case Announce(publisher=publisher) if publisher not in host.clients.publishers:
                    self._handle(name, host.broker, Ask(Retract(publisher)))
        for request in wanted:
            if request not in known:
                self._handle(name, host.broker, Ask(request))
        self._handle(name, host.broker, ClientsKnown())

    def _arrive(self, name: str, input: Input) -> None:
        """Something reaches a machine; the broker handles it when it has done with what came before."""
        host = self.hosts[name]
        broker = host.broker
        if broker is None:
            return
        if not self.costs:
            self._handle(name, broker, input)
            return
        host.free = max(host.free, self.now) + self._cost(self.costs, broker, input)
        self._plan(host.free, partial(self._handle, name, broker, input))

    def _cost(self, costs: Costs, broker: Broker, input: Input) -> float:
        match input:
            case FrameIn(frame=frame) if isinstance(frame.message, Publish):
                return costs.seconds(frame.message, broker.router.uncovered_count())
            case FrameIn(frame=frame) if frame.message is not None:
                return costs.seconds(frame.message, broker.router.entry_count())
            case Submit(document=document):
                return costs.seconds(Publish(document), broker.router.uncovered_count())
            case Ask(request=Register() | Cancel()):
                return costs.subscribe.seconds(broker.router.entry_count())
            case Ask(request=RequestBatch(requests=requests)):
                return len(requests) * costs.subscribe.seconds(broker.router.entry_count())
            case Ask():
                return costs.advertise.seconds(broker.router.entry_count())
        return 0.0

    def _handle(self, name: str, broker: Broker, input: Input) -> None:
        host = self.hosts[name]
        if host.broker is not broker:
            return  # it has died meanwhile
        for effect in broker.receive(input, self.now):
            self._perform(name, host, broker, effect)

    def _perform(self, name: str, host: Host, broker: Broker, effect: Effect) -> None:
        match effect:
            case Send(neighbour=neighbour, frame=frame):
                wire = self.wires[name, neighbour]
                message = frame.message
                size = size_of(message)
                arrive = partial(self._frame, name, neighbour, wire.cuts, FrameIn(name, frame))
                times = wire.carry(size, self.now)
                for time in times:
                    self._plan(time, arrive)
                if self._trace is not None and message is not None:
                    self._say(f"{name} -> {neighbour} {message}{_FATES[min(len(times), 2)]}")
            case Wake(at=at):
                if host.wake is None or at < host.wake or host.wake <= self.now:
                    host.wake = at
                    self._plan(at, partial(self._ring, name, broker, at))
            case Deliver(document=document, subscriber=subscriber, subscriptions=subscriptions):
                self._delivered(name, host, document, subscriber, subscriptions)
            case Accepted(id=id):
                if host.clients.unaccepted.pop(id, None) is not None:
                    self.metrics.accepted += 1
            case Refuse(document=document, reason=reason):
                if host.clients.unaccepted.pop(document.id, None) is not None:
                    self.metrics.refusals[document.id] = reason
                self._say(f"{name} refuses {document.id}: {reason}")
            case _:
                host.saved.perform(effect)

    def _frame(self, sender: str, receiver: str, cuts: int, input: FrameIn) -> None:
        wire, message = self.wires[sender, receiver], input.frame.message
        if wire.cuts != cuts or self.hosts[receiver].broker is None:
            wire.lost += 1
            if message is not None:
                why = "the link was cut" if wire.cuts != cuts else f"{receiver} is down"
                self._say(f"{sender} -> {receiver} {message} is lost: {why}")
            return
        if message is not None:
            self.metrics.received[kind_of(message)] += 1
            if isinstance(message, Publish):
                self.metrics.crossings[sender, receiver] += 1
                if self.metrics.journeys is not None:
                    journey = self.metrics.journeys.setdefault(message.document.id, {})
                    journey[sender, receiver] = None
        self._arrive(receiver, input)

    def _ring(self, name: str, broker: Broker, at: float) -> None:
        host = self.hosts[name]
        if host.broker is broker and host.wake == at:
            host.wake = None
            self._handle(name, broker, Alarm())

    def _delivered(
        self,
        name: str,
        host: Host,
        document: Publication,
        subscriber: str,
        subscriptions: tuple[Hashable, ...],
    ) -> None:
        if (document.id, subscriber) in host.received:
            self.metrics.doubled += 1
            return
        host.received[document.id, subscriber] = None
        ids = ", ".join(map(str, subscriptions))
        self._say(f"{name} delivers {document.id} to {subscriber} for {ids}")
        after = self.now - self.published[document.id]
        hops = host.broker.router.trees.distance(document.origin) if host.broker else None
        self.metrics.deliveries.append(
            Delivery(document.id, subscriber, subscriptions, self.now, after, name, hops)
        )
