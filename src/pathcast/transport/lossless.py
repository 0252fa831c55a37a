"""An end of a link that needs no care: it loses nothing and keeps the order, and neither side ever dies.

For simulations without faults, which would spend most of their time on acknowledgements. It is used like an `Endpoint`; a
frame is the message alone, and nothing is ever confirmed.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from pathcast.transport.endpoint import Arrived, Frame

__all__ = ["Direct"]

T = TypeVar("T")


class Direct(Generic[T]):
    alarm = None
    backlog = 0
    resent = 0
    confirms = False

    def __init__(self) -> None:
        self._waiting: list[T] = []

    def send(self, message: T) -> None:
        self._waiting.append(message)

    def receive(self, frame: Frame[T]) -> list[Arrived[T]]:
        assert frame.message is not None
        return [Arrived(frame.message)]

    def frames(self, now: float) -> list[Frame[T]]:  # noqa: ARG002 -- asked like an endpoint
        if not self._waiting:
            return []
        found = [Frame(1, True, 1, 0, 1, message) for message in self._waiting]
        self._waiting = []
        return found
