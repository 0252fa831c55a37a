"""Network: drives nodes of the `pathcast.node` contract in virtual time.

A network knows hosts by name, and wires between them. It performs the effects that every node has
(`Send`, `SetTimer`, `Changed`) and passes all other effects to `on_effect`. It knows nothing about
the protocol: not what a frame contains, nor how a node persists its state.

**Frames.** Any node may send to any other by name; a wire exists from the first frame on. The
latency of a wire is a constant, a mapping from (sender, receiver), or a function of the two. With a
mapping, a pair that it lacks has no wire, and sending along it is an error. A frame to a host that
is down, or on which no node has ever started, is lost. See `pathcast.sim.wires` for bandwidth,
faults and cuts.

**Inputs.** A host handles one input after the other. If `input_cost` is given, each input occupies
the host for that many seconds, and its effects happen at the end. Timers do not queue.

**Crashes.** A crash loses the node, its input queue and its timers. `restart` calls the factory
again; the factory reads the state that `on_effect` persisted.

**Idle.** The network is idle when no frame, queued input, foreground timer or scheduled action is
pending, and no host is *unsettled*. A foreground timer that an earlier time replaced, or whose node
crashed, has no effect but counts as pending until its time. These events unsettle every host with a
pending background timer:

- a node returns `Changed`, for any input;
- a node starts, crashes or restarts; a link is cut, healed, or gets other faults.

A host is settled again when it has handled a background timer without returning `Changed`, when it
crashes, or when it has no background timer any more. So an idle network is one in which every host
has run a full round since the last change, and no round changed anything. If faults lose frames of
upkeep, a round may change nothing only because of the loss: heal the network before you rely on it.

The same seed, factory and calls give the same trace, byte for byte.

>>> from pathcast.node import FrameReceived, Send, Start
>>> class Greeter:
...     def __init__(self, name: str) -> None:
...         self.name = name
...     def receive(self, input, now):
...         if isinstance(input, Start) and self.name == "a":
...             return [Send("b", "hello")]
...         return []
>>> network = Network(Greeter, latency=0.5, trace=print)
>>> for name in ("a", "b"):
...     _ = network.start(name)
0.000000 a -> b hello
>>> network.run_until_idle(60.0), network.now
(True, 0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from pathcast.errors import RoutingError
from pathcast.node import Changed, FrameReceived, Node, Send, SetTimer, Start, TimerFired
from pathcast.rng import SeededRandom
from pathcast.sim.clock import Clock
from pathcast.sim.wires import Faults, Wire

__all__ = ["Host", "Latency", "Network"]

N = TypeVar("N", bound=Node[Any, Any])
Pair = tuple[str, str]
Latency = float | Mapping[Pair, float] | Callable[[str, str], float]
DEFAULT_LATENCY = 0.001  # seconds

_COPIES_SUFFIX = (" (lost)", "", " (twice)")  # by the number of copies that will arrive


@dataclass(slots=True)
class Host(Generic[N]):
    """The place of one node: the node while it is up, and what the network keeps for it."""

    node: N | None = None
    busy_until: float = 0.0
    timers: dict[bool, float] = field(default_factory=dict)  # pending times; True is background


class Network(Generic[N]):
    """Hosts, wires and a clock.

    `factory` makes the node of a host, at the start and at each restart. `frame_size` returns the
    bytes of a frame on a wire. `describe_frame` returns its text in the trace, or None to leave it
    out. `trace` takes each line of the trace. The other callbacks see what happens:
    `on_send(sender, receiver, frame, copies)` with the number of copies that will arrive,
    `on_receive(sender, receiver, frame)` for a frame that reaches a running node, and
    `on_effect(name, effect)` for each effect that the network does not perform itself.
    """

    def __init__(
        self,
        factory: Callable[[str], N],
        *,
        seed: int = 0,
        latency: Latency = DEFAULT_LATENCY,
        bandwidth: float | None = None,
        frame_size: Callable[[Any], int] | None = None,
        describe_frame: Callable[[Any], str | None] = str,
        input_cost: Callable[[N, Any], float] | None = None,
        trace: Callable[[str], object] | None = None,
        on_send: Callable[[str, str, Any, int], object] | None = None,
        on_receive: Callable[[str, str, Any], object] | None = None,
        on_effect: Callable[[str, Any], object] | None = None,
    ) -> None:
        self.clock = Clock(self._is_settled)
        self.hosts: dict[str, Host[N]] = {}
        self.wires: dict[Pair, Wire] = {}
        self.input_cost = input_cost
        self._factory = factory
        self._seed = seed
        self._latency = latency
        self._bandwidth = bandwidth
        self._frame_size = frame_size
        self._describe_frame = describe_frame
        self._trace = trace
        self._on_send = on_send
        self._on_receive = on_receive
        self._on_effect = on_effect
        self._with_upkeep: set[str] = set()  # hosts with a pending background timer
        self._unsettled: set[str] = set()

    # --- time ---------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        return self.clock.now

    def schedule(self, time: float, action: Callable[[], object]) -> None:
        """Run an action at a time; it keeps the network from being idle until then."""
        self.clock.schedule(time, action)

    def run(self, until: float) -> None:
        """Let virtual time pass up to a time."""
        self.clock.run(until)

    def run_until_idle(self, limit: float) -> bool:
        """Let time pass until it is idle, `limit` seconds at most; return whether it is."""
        return self.clock.run_until_idle(limit)

    def step(self) -> bool:
        """Run the next event; return False if none is pending."""
        return self.clock.step()

    def trace_line(self, text: str) -> None:
        """Add a line to the trace, with the time."""
        if self._trace is not None:
            self._trace(f"{self.clock.now:.6f} {text}")

    # --- hosts --------------------------------------------------------------------------------

    def host(self, name: str) -> Host[N]:
        """Return the host of a name, a new one if there is none."""
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = Host()
        return host

    def start(self, name: str) -> N:
        """Make the node of a host, pass `Start` to it and return it."""
        host = self.host(name)
        if host.node is not None:
            raise RoutingError("restart", f"{name} is up")
        node = host.node = self._factory(name)
        host.busy_until = self.clock.now
        self.handle(name, Start())
        self._unsettle()
        return node

    def crash(self, name: str) -> None:
        """Drop the node of a host, with its queue and its timers."""
        host = self.host(name)
        if host.node is None:
            raise RoutingError("crash", f"{name} is down already")
        self.trace_line(f"{name} crashes")
        host.node = None
        host.timers.clear()
        self._with_upkeep.discard(name)
        self._unsettle()

    def restart(self, name: str, detail: str = "") -> N:
        """Start a node again on a host that crashed; `detail` ends the line of the trace."""
        if self.host(name).node is not None:
            raise RoutingError("restart", f"{name} is up")
        self.trace_line(f"{name} restarts{detail}")
        return self.start(name)

    def submit(self, name: str, input: object) -> None:
        """Put an input into the queue of a host; a host that is down drops it."""
        host = self.hosts[name]
        node = host.node
        if node is None:
            return
        if self.input_cost is None:
            self._handle(name, host, node, input)
            return
        host.busy_until = max(host.busy_until, self.clock.now) + self.input_cost(node, input)
        self.clock.schedule(host.busy_until, partial(self._handle, name, host, node, input))

    def handle(self, name: str, input: object) -> None:
        """Let a running node handle an input at once, past the queue and at no cost."""
        host = self.hosts[name]
        if host.node is not None:
            self._handle(name, host, host.node, input)

    def _handle(self, name: str, host: Host[N], node: N, input: object) -> bool:
        """Pass an input to a node and perform its effects; return whether one was `Changed`."""
        if host.node is not node:
            return False  # the node crashed while the input was in the queue
        changed = False
        for effect in node.receive(input, self.clock.now):
            match effect:
                case Send(receiver=receiver, frame=frame):
                    self._send(name, receiver, frame)
                case SetTimer(at=at, background=background):
                    self._set_timer(name, host, node, at, background)
                case Changed():
                    changed = True
                case _:
                    if self._on_effect is not None:
                        self._on_effect(name, effect)
        if changed:
            self._unsettle()
        return changed

    # --- timers -------------------------------------------------------------------------------

    def _set_timer(self, name: str, host: Host[N], node: N, at: float, background: bool) -> None:
        pending = host.timers.get(background)
        if pending is None or at < pending:
            at = host.timers[background] = max(at, self.clock.now)
            if background:
                self._with_upkeep.add(name)
            fire = partial(self._fire_timer, name, host, node, at, background)
            self.clock.schedule(at, fire, background=background)

    def _fire_timer(self, name: str, host: Host[N], node: N, at: float, background: bool) -> None:
        if host.node is not node or host.timers.get(background) != at:
            return  # the node crashed, or an earlier time replaced this one
        del host.timers[background]
        if background:
            self._with_upkeep.discard(name)
        changed = self._handle(name, host, node, TimerFired(background))
        if background and not changed:
            self._unsettled.discard(name)

    def _is_settled(self) -> bool:
        return not self._unsettled

    def _unsettle(self) -> None:
        self._unsettled = set(self._with_upkeep)

    # --- frames -------------------------------------------------------------------------------

    def wire(self, sender: str, receiver: str) -> Wire:
        """Return the wire of a direction, a new one if there is none; raise RoutingError."""
        wire = self.wires.get((sender, receiver))
        if wire is None:
            random = SeededRandom(self._seed, "wire", sender, receiver)
            wire = Wire(self._latency_of(sender, receiver), self._bandwidth, random)
            self.wires[sender, receiver] = wire
        return wire

    def _latency_of(self, sender: str, receiver: str) -> float:
        latency = self._latency
        if isinstance(latency, Mapping):
            if (sender, receiver) not in latency:
                raise RoutingError("topology", f"there is no link {sender}-{receiver}")
            return latency[sender, receiver]
        return latency(sender, receiver) if callable(latency) else latency

    def _send(self, sender: str, receiver: str, frame: object) -> None:
        wire = self.wires.get((sender, receiver)) or self.wire(sender, receiver)
        size = 0 if self._frame_size is None else self._frame_size(frame)
        arrivals = wire.carry(size, self.clock.now)
        arrive = partial(self._on_arrival, wire, wire.cuts, sender, receiver, frame)
        for time in arrivals:
            self.clock.schedule(time, arrive)
        if self._on_send is not None:
            self._on_send(sender, receiver, frame, len(arrivals))
        if self._trace is not None:
            self._trace_frame(sender, receiver, frame, _COPIES_SUFFIX[min(len(arrivals), 2)])

    def _on_arrival(self, wire: Wire, cuts: int, sender: str, receiver: str, frame: object) -> None:
        host = self.hosts.get(receiver)
        if wire.cuts != cuts or host is None or host.node is None:
            wire.lost += 1
            reason = "the link was cut" if wire.cuts != cuts else f"{receiver} is down"
            self._trace_frame(sender, receiver, frame, f" is lost: {reason}")
            return
        if self._on_receive is not None:
            self._on_receive(sender, receiver, frame)
        self.submit(receiver, FrameReceived(sender, frame))

    def _trace_frame(self, sender: str, receiver: str, frame: object, suffix: str) -> None:
        if self._trace is None:
            return
        text = self._describe_frame(frame)
        if text is not None:
            self.trace_line(f"{sender} -> {receiver} {text}{suffix}")

    # --- links --------------------------------------------------------------------------------

    def cut(self, left: str, right: str) -> None:
        """Cut both directions: frames in flight and frames sent from now on are lost."""
        self.trace_line(f"{left}-{right} is cut")
        for wire in self._both(left, right):
            wire.cut = True
            wire.cuts += 1
        self._unsettle()

    def heal(self, left: str, right: str) -> None:
        """Undo a cut, in both directions."""
        self.trace_line(f"{left}-{right} is healed")
        for wire in self._both(left, right):
            wire.cut = False
        self._unsettle()

    def set_faults(self, faults: Faults, left: str, right: str) -> None:
        """Set the probabilities of faults for frames sent from now on, in both directions."""
        for wire in self._both(left, right):
            wire.faults = faults
        self._unsettle()

    def _both(self, left: str, right: str) -> list[Wire]:
        return [self.wire(left, right), self.wire(right, left)]
