"""The contract of everything that takes part in a network: an input and the time go in, effects come out.

A node does no I/O, starts nothing and reads no clock. Whoever drives it (a simulator in virtual time, sockets in real time) hands it what has happened, and performs what
it returns, in that order. So the same node runs in both, and a run can be repeated exactly.

>>> class Echo:
...     def receive(self, input: str, now: float) -> list[str]:
...         return [f"{now:g}: {input}"]
>>> node: Node[str, str] = Echo()
>>> node.receive("hello", 2.0)
['2: hello']
"""

from __future__ import annotations

from typing import Protocol, TypeVar

__all__ = ["Node"]

In = TypeVar("In", contravariant=True)  # noqa: PLC0105 -- the names of a contract
Out = TypeVar("Out")


class Node(Protocol[In, Out]):
    """`now` never goes back, and is in seconds."""

    def receive(self, input: In, now: float) -> list[Out]: ...
