"""PassthroughEndpoint: an endpoint without acknowledgements, for links and nodes that never fail.

Simulations without faults would spend most of their time on acknowledgements. The interface is that
of `Endpoint`. A frame is the message alone, and no message is ever confirmed.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pathcast.transport.retransmitting_endpoint import Arrived, Frame

__all__ = ["PassthroughEndpoint"]

T = TypeVar("T")


class PassthroughEndpoint(Generic[T]):
    """One end of a link that delivers every frame once and in order."""

    deadline = None
    backlog = 0
    retransmissions = 0
    confirms = False

    def __init__(self) -> None:
        self._queue: list[T] = []

    def send(self, message: T) -> None:
        self._queue.append(message)

    def receive(self, frame: Frame[T]) -> list[Arrived[T]]:
        assert frame.message is not None
        return [Arrived(frame.message)]

    def frames(self, now: float) -> list[Frame[T]]:  # noqa: ARG002 -- the interface of Endpoint
        """Return the frames to send now, and empty the queue."""
        if not self._queue:
            return []
        frames = [Frame(1, True, 1, 0, 1, message) for message in self._queue]
        self._queue = []
        return frames
