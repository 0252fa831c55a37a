"""Node: the contract between a protocol state machine and its driver.

A node takes one input and the time, and returns effects. It does no I/O, starts no thread and reads
no clock. A driver passes inputs to the node and performs the effects that it returns, in list
order: the simulator (`pathcast.sim.network`) in virtual time, sockets in real time. The same node
runs under both, and a simulated run is repeatable.

Every driver and every node share the inputs and effects of this module. A node adds its own: the
broker's are in `pathcast.broker.inputs` and `pathcast.broker.effects`.

**Frames.** `Send` names the receiver, and the receiver's driver passes `FrameReceived` with the
name of the sender. A frame may be lost, duplicated, delayed or overtaken; a node that needs more
puts a `pathcast.transport.Endpoint` between itself and the frames. The driver does not read frames.

**Timers.** A node has two timers, one in the foreground and one in the background. `SetTimer` asks
for a `TimerFired` no later than `at`. The driver keeps the earliest pending time of each of the two
timers, and forgets it when the timer fires. So a timer cannot be cancelled or put off, it may fire
early, and a node that still needs it sets it again. Foreground timers serve work that ends, such as
retransmission. Background timers serve periodic upkeep that never ends, such as stabilisation.

**Idleness.** A network is idle when it has nothing left to do but upkeep that changes nothing. A
round is the handling of one background `TimerFired`. A node that changed its state in a round, or
for another reason that upkeep of other nodes may have to follow, returns `Changed`. From then on
the network is not idle until each node with a pending background timer has run another round, and
none of them has returned `Changed` since. Nodes without background timers need not return
`Changed`: frames in flight and foreground timers keep a network from being idle by themselves.

>>> class Echo:
...     def receive(self, input: FrameReceived[str], now: float) -> list[Send[str]]:
...         return [Send(input.sender, f"{input.frame} at {now:g}")]
>>> node: Node[FrameReceived[str], Send[str]] = Echo()
>>> node.receive(FrameReceived("a", "hello"), 2.0)
[Send(receiver='a', frame='hello at 2')]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["Changed", "FrameReceived", "Node", "Send", "SetTimer", "Start", "TimerFired"]

F = TypeVar("F")
In = TypeVar("In", contravariant=True)  # noqa: PLC0105 -- the names of a contract
Out = TypeVar("Out")


class Node(Protocol[In, Out]):
    """A state machine without I/O."""

    def receive(self, input: In, now: float) -> list[Out]:
        """Handle one input and return the effects, to be performed in list order.

        `now` is in seconds and never decreases. The first input is `Start`.
        """
        ...


# --- inputs -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """The node has started. Always the first input."""


@dataclass(frozen=True, slots=True)
class FrameReceived(Generic[F]):
    """A frame arrived from another node."""

    sender: str
    frame: F


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer that `SetTimer` set is due; it may be early."""

    background: bool = False


# --- effects ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send(Generic[F]):
    """Send a frame to another node, once and without a guarantee."""

    receiver: str
    frame: F


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Pass `TimerFired` to this node at the time `at` at the latest."""

    at: float
    background: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """The state changed in a way that the upkeep of some node may have to follow."""
