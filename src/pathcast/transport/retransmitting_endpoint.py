"""Endpoint: one end of a reliable, ordered message stream over an unreliable link.

Messages arrive once and in order as long as neither end restarts.

**Sessions.** Each incarnation of a node has a session epoch, larger than that of any earlier one.
The messages from one session to one session of the peer form a stream, numbered from 1. A frame
names both sessions, so an endpoint recognises and drops frames of earlier sessions of either side.

**Acknowledgement and retransmission.** A frame carries the last sequence number that arrived in
order (`ack`) and at most one message. An endpoint retransmits unacknowledged messages with
exponential backoff up to `RetryPolicy.max_delay`, without end. A link that is cut heals, or its
owner removes the endpoint.

**Restart of the peer.** When a frame names a later session of the peer, the endpoint drops all
unacknowledged messages, starts new streams and returns `PeerSessionChanged`. The owner decides what
to send again. A link that is cut and heals between two running sessions loses nothing.

The owner must persist what a frame acknowledges before it sends the frame.

>>> a, b = Endpoint(1, fresh=True), Endpoint(1, fresh=True)
>>> hello = a.frames(0.0)
>>> b.receive(hello[0])
[PeerSessionChanged(fresh=True)]
>>> [event for frame in b.frames(0.1) for event in a.receive(frame)]
[PeerSessionChanged(fresh=True)]
>>> a.send("news")
>>> [event for frame in a.frames(0.2) for event in b.receive(frame)]
[Arrived(message='news')]
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

__all__ = [
    "Arrived",
    "Confirmed",
    "Endpoint",
    "EndpointEvent",
    "Frame",
    "PeerSessionChanged",
    "RetryPolicy",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Frame(Generic[T]):
    """The unit of transmission: an acknowledgement and at most one message.

    `session` and `fresh` are of the sender; `fresh` says that it is the sender's first session.
    `peer_session` is 0 while the sender does not know the receiver's. A frame with the sequence
    number 0 carries no message.
    """

    session: int
    fresh: bool
    peer_session: int
    ack: int
    sequence: int = 0
    message: T | None = None

    def __str__(self) -> str:
        payload = f" {self.sequence} {self.message}" if self.sequence else ""
        return f"[{self.session}>{self.peer_session} ack {self.ack}]{payload}"


@dataclass(frozen=True, slots=True)
class PeerSessionChanged:
    """The peer runs in a session that was unknown so far; `fresh` if it is the peer's first."""

    fresh: bool


@dataclass(frozen=True, slots=True)
class Arrived(Generic[T]):
    """A message of the peer arrived, in order."""

    message: T


@dataclass(frozen=True, slots=True)
class Confirmed(Generic[T]):
    """The peer acknowledged this message."""

    message: T


EndpointEvent: TypeAlias = PeerSessionChanged | Arrived[T] | Confirmed[T]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When and how much to retransmit. Delays are in seconds, the other limits in messages."""

    initial_delay: float = 0.5
    max_delay: float = 8.0
    window: int = 256  # sent and not acknowledged
    burst: int = 16  # retransmitted at one deadline


class Endpoint(Generic[T]):
    """The state of one end. Call `frames` after every other call, and at the `deadline`."""

    confirms = True

    def __init__(self, session: int, *, fresh: bool, retry: RetryPolicy | None = None) -> None:
        self.session = session
        self.peer = 0
        self.retransmissions = 0
        self.duplicates = 0
        self._fresh = fresh
        self._retry = retry or RetryPolicy()
        self._delay = self._retry.initial_delay
        self._deadline: float | None = None
        self._bare_frame_due = True  # a hello or an acknowledgement, even without a message
        self._reset_streams()

    def _reset_streams(self) -> None:
        self._queue: deque[T] = deque()  # not sent yet
        self._in_flight: deque[T] = deque()  # sent; the first has sequence number _acked + 1
        self._acked = 0
        self._arrived = 0
        self._out_of_order: dict[int, T] = {}

    @property
    def deadline(self) -> float | None:
        """The time at which the owner must call `frames` again, if nothing happens before."""
        return self._deadline

    @property
    def backlog(self) -> int:
        """The number of messages that the peer has not acknowledged."""
        return len(self._queue) + len(self._in_flight)

    def send(self, message: T) -> None:
        """Queue a message; `frames` returns its frame."""
        self._queue.append(message)

    def receive(self, frame: Frame[T]) -> list[EndpointEvent[T]]:
        """Process a frame of the peer and return the events that it causes."""
        events: list[EndpointEvent[T]] = []
        if frame.session < self.peer:
            return events
        if frame.session > self.peer:
            self.peer = frame.session
            self._reset_streams()
            self._bare_frame_due = True
            self._reset_backoff()
            events.append(PeerSessionChanged(frame.fresh))
        if frame.peer_session != self.session:
            self._bare_frame_due = True
            return events
        self._on_ack(frame.ack, events)
        if frame.sequence:
            self._bare_frame_due = True
            self._on_message(frame.sequence, frame.message, events)
        return events

    def _on_ack(self, ack: int, events: list[EndpointEvent[T]]) -> None:
        if not self._acked < ack <= self._acked + len(self._in_flight):
            return
        events += [Confirmed(self._in_flight.popleft()) for _ in range(ack - self._acked)]
        self._acked = ack
        self._reset_backoff()

    def _on_message(self, sequence: int, message: T | None, events: list[EndpointEvent[T]]) -> None:
        if sequence <= self._arrived or sequence in self._out_of_order:
            self.duplicates += 1
            return
        if sequence > self._arrived + self._retry.window:
            return
        # A frame with a sequence number has a message.
        self._out_of_order[sequence] = message  # type: ignore[assignment]
        while self._arrived + 1 in self._out_of_order:
            self._arrived += 1
            events.append(Arrived(self._out_of_order.pop(self._arrived)))

    def _reset_backoff(self) -> None:
        self._delay = self._retry.initial_delay
        self._deadline = None

    def frames(self, now: float) -> list[Frame[T]]:
        """Return the frames to send now: retransmissions, queued messages, or a bare frame."""
        frames: list[Frame[T]] = []
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            self._delay = min(2 * self._delay, self._retry.max_delay)
            if not self.peer:
                self._bare_frame_due = True
            for offset in range(min(len(self._in_flight), self._retry.burst)):
                self.retransmissions += 1
                frames.append(self._frame(self._acked + 1 + offset, self._in_flight[offset]))
        if self.peer:
            while self._queue and len(self._in_flight) < self._retry.window:
                self._in_flight.append(self._queue.popleft())
                frames.append(self._frame(self._acked + len(self._in_flight), self._in_flight[-1]))
        if self._bare_frame_due and not frames:
            frames.append(self._frame())
        self._bare_frame_due = False
        if self._deadline is None and (self._in_flight or not self.peer):
            self._deadline = now + self._delay
        return frames

    def _frame(self, sequence: int = 0, message: T | None = None) -> Frame[T]:
        return Frame(self.session, self._fresh, self.peer, self._arrived, sequence, message)
