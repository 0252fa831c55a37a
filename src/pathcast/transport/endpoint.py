"""One end of a link: what is sent arrives once and in order, as long as both ends live.

Each life of a node has a *session* number, larger than that of any life before. What one life sends to one life of the other end is a stream, numbered from 1.
A frame names both sessions, so what belongs to an earlier life on either side is known and dropped. A frame carries the last number that has arrived in
order (`ack`) and at most one message; what is not acknowledged in time is sent again, at growing intervals, for ever: a link that is cut heals or is taken
away by somebody else.

When the other end turns out to live in another session, whatever has not been acknowledged is dropped and `Met` is returned: the stream begins anew, and
what has to be said is known to the owner. A link that is cut and heals between two lives that go on is not such a case, and loses nothing.

The owner must not let a frame go out before it has kept what the frame acknowledges.

>>> one, other = Endpoint(1, fresh=True), Endpoint(1, fresh=True)
>>> hello = one.frames(0.0)
>>> other.receive(hello[0])
[Met(fresh=True)]
>>> [event for frame in other.frames(0.1) for event in one.receive(frame)]
[Met(fresh=True)]
>>> one.send("news")
>>> [event for frame in one.frames(0.2) for event in other.receive(frame)]
[Arrived(message='news')]
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

__all__ = ["Arrived", "Confirmed", "Endpoint", "Event", "Frame", "Met", "Patience"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Frame(Generic[T]):
    """`to` is the session of the receiver, 0 while it is not known; `number` 0 carries no message."""

    session: int
    fresh: bool
    to: int
    ack: int
    number: int = 0
    message: T | None = None

    def __str__(self) -> str:
        said = f" {self.number} {self.message}" if self.number else ""
        return f"[{self.session}>{self.to} ack {self.ack}]{said}"


@dataclass(frozen=True, slots=True)
class Met:
    """The other end lives in a session that was not known; `fresh`: in its first."""

    fresh: bool


@dataclass(frozen=True, slots=True)
class Arrived(Generic[T]):
    message: T


@dataclass(frozen=True, slots=True)
class Confirmed(Generic[T]):
    """The other end has this message."""

    message: T


Event: TypeAlias = Met | Arrived[T] | Confirmed[T]


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds until something is sent again, at first and at most; how many messages may be on their way."""

    first: float = 0.5
    most: float = 8.0
    window: int = 256
    again: int = 16  # messages that are sent again at a time


class Endpoint(Generic[T]):
    """The state of one end. Ask for `frames` after whatever has happened, and at `alarm`."""

    confirms = True

    def __init__(self, session: int, *, fresh: bool, patience: Patience | None = None) -> None:
        self.session = session
        self.peer = 0
        self.resent = 0
        self.doubled = 0
        self._fresh = fresh
        self._patience = patience or Patience()
        self._pause = self._patience.first
        self._alarm: float | None = None
        self._greeting = (
            True  # whether the other end should hear from us though there is nothing to say
        )
        self._begin()

    def _begin(self) -> None:
        self._waiting: deque[T] = deque()  # not sent yet
        self._flying: deque[T] = (
            deque()
        )  # sent and not confirmed; the first has number _confirmed + 1
        self._confirmed = 0
        self._arrived = 0
        self._early: dict[int, T] = {}

    @property
    def alarm(self) -> float | None:
        """When `frames` should be asked again, whatever happens."""
        return self._alarm

    @property
    def backlog(self) -> int:
        """Messages that the other end has not confirmed."""
        return len(self._waiting) + len(self._flying)

    def send(self, message: T) -> None:
        self._waiting.append(message)

    def receive(self, frame: Frame[T]) -> list[Event[T]]:
        """What a frame means to the owner."""
        events: list[Event[T]] = []
        if frame.session < self.peer:
            return events
        if frame.session > self.peer:
            self.peer = frame.session
            self._begin()
            self._greeting = True
            self._calm()
            events.append(Met(frame.fresh))
        if frame.to != self.session:
            self._greeting = True
            return events
        self._confirm(frame.ack, events)
        if frame.number:
            self._greeting = True
            self._arrive(frame.number, frame.message, events)
        return events

    def _confirm(self, ack: int, events: list[Event[T]]) -> None:
        if not self._confirmed < ack <= self._confirmed + len(self._flying):
            return
        events += [Confirmed(self._flying.popleft()) for _ in range(ack - self._confirmed)]
        self._confirmed = ack
        self._calm()

    def _arrive(self, number: int, message: T | None, events: list[Event[T]]) -> None:
        if number <= self._arrived or number in self._early:
            self.doubled += 1
            return
        if number > self._arrived + self._patience.window:
            return
        self._early[number] = message  # type: ignore[assignment]  # a frame with a number has a message
        while self._arrived + 1 in self._early:
            self._arrived += 1
            events.append(Arrived(self._early.pop(self._arrived)))

    def _calm(self) -> None:
        """There is progress: be as quick as at first."""
        self._pause = self._patience.first
        self._alarm = None

    def frames(self, now: float) -> list[Frame[T]]:
        """What is to be sent now."""
        found: list[Frame[T]] = []
        if self._alarm is not None and now >= self._alarm:
            self._alarm = None
            self._pause = min(2 * self._pause, self._patience.most)
            if not self.peer:
                self._greeting = True
            for place in range(min(len(self._flying), self._patience.again)):
                self.resent += 1
                found.append(self._frame(self._confirmed + 1 + place, self._flying[place]))
        if self.peer:
            while self._waiting and len(self._flying) < self._patience.window:
                self._flying.append(self._waiting.popleft())
                found.append(self._frame(self._confirmed + len(self._flying), self._flying[-1]))
        if self._greeting and not found:
            found.append(self._frame())
        self._greeting = False
        if self._alarm is None and (self._flying or not self.peer):
            self._alarm = now + self._pause
        return found

    def _frame(self, number: int = 0, message: T | None = None) -> Frame[T]:
        return Frame(self.session, self._fresh, self.peer, self._arrived, number, message)
