"""Processing costs: how long a broker takes for an input, in seconds.

Costs come from a TOML file, so that an overlay can be simulated with the costs of a paper and with
those of this engine:

    # ours.toml
    source = "where the figures come from"
    [publish]
    fixed = 1e-4          # for each document
    per_kilobyte = 2e-5
    per_entry = 0.0       # for each table entry that the document is matched against
    [subscribe]
    fixed = 1e-4          # to test covering and to insert the subscription
    per_entry = 0.0
    [advertise]
    fixed = 1e-4
    per_entry = 0.0       # for each subscription that is compared with the advertisement

A key that the file omits costs nothing.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

from pathcast.broker import Broker, ClientRequest, DocumentSubmitted, Input
from pathcast.errors import RoutingError
from pathcast.node import FrameReceived
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
from pathcast.routing.requests import Cancel, Register, RequestBatch

__all__ = ["Costs", "MessageCost", "input_seconds", "read_costs"]


@dataclass(frozen=True, slots=True)
class MessageCost:
    """The cost of one kind of message, as a linear function of its size and of a table's."""

    fixed: float = 0.0
    per_kilobyte: float = 0.0
    per_entry: float = 0.0

    def seconds(self, entries: int, size: int = 0) -> float:
        """Return the cost at a table of `entries` for a message of `size` bytes."""
        return self.fixed + self.per_kilobyte * size / 1024 + self.per_entry * entries


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of all kinds of messages; false if all are zero."""

    source: str = "nothing takes any time"
    publish: MessageCost = MessageCost()
    subscribe: MessageCost = MessageCost()
    advertise: MessageCost = MessageCost()

    def __bool__(self) -> bool:
        return any(
            (
                self.publish != MessageCost(),
                self.subscribe != MessageCost(),
                self.advertise != MessageCost(),
            )
        )

    def seconds(self, message: Message, entries: int) -> float:
        """Return the cost of a message at a broker whose table has `entries`."""
        match message:
            case Publish(document=document):
                return self.publish.seconds(entries, len(document.body))
            case Subscribe() | Unsubscribe():
                return self.subscribe.seconds(entries)
            case Advertise() | Unadvertise():
                return self.advertise.seconds(entries)
            case Recall() | Complete():
                return 0.0


def input_seconds(costs: Costs, broker: Broker, input: Input) -> float:
    """Return how long a broker takes for an input; timers and acknowledgements cost nothing."""
    router = broker.router
    match input:
        case FrameReceived(frame=frame) if isinstance(frame.message, Publish):
            return costs.seconds(frame.message, router.uncovered_count())
        case FrameReceived(frame=frame) if frame.message is not None:
            return costs.seconds(frame.message, router.entry_count())
        case DocumentSubmitted(document=document):
            return costs.seconds(Publish(document), router.uncovered_count())
        case ClientRequest(request=Register() | Cancel()):
            return costs.subscribe.seconds(router.entry_count())
        case ClientRequest(request=RequestBatch(requests=requests)):
            return len(requests) * costs.subscribe.seconds(router.entry_count())
        case ClientRequest():
            return costs.advertise.seconds(router.entry_count())
    return 0.0


def read_costs(name: str) -> Costs:
    """Read a bundled file, by its bare name, or any other file; raise RoutingError."""
    bundled = files("pathcast.sim").joinpath("recorded", f"{name}.toml")
    try:
        text = bundled.read_text() if bundled.is_file() else Path(name).read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, ValueError) as error:
        folder = files("pathcast.sim").joinpath("recorded")
        names = sorted(file.name.removesuffix(".toml") for file in folder.iterdir())
        hint = f"a file, or one of {', '.join(names)}"
        match error:
            case OSError():
                reason = f"cannot be read: {error.strerror or error}"
            case UnicodeDecodeError():
                reason = f"is not UTF-8: {error.reason} at byte {error.start}"
            case _:
                reason = f"is no TOML: {error}"
        raise RoutingError("costs", f"{name} {reason}", hint=hint) from None
    return _parse_costs(name, table)


def _parse_costs(name: str, table: dict[str, Any]) -> Costs:
    parts: dict[str, Any] = {}
    for key, value in table.items():
        if key == "source" and isinstance(value, str):
            parts[key] = value
        elif key in ("publish", "subscribe", "advertise") and isinstance(value, dict):
            parts[key] = _parse_cost(name, key, value)
        else:
            hint = "source, and the tables publish, subscribe and advertise"
            raise RoutingError("costs", f"{name}: {key} is not among costs", hint=hint)
    return Costs(**{"source": name, **parts})


def _parse_cost(name: str, kind: str, table: dict[str, Any]) -> MessageCost:
    keys = {field.name for field in fields(MessageCost)}
    for key, value in table.items():
        if key not in keys:
            hint = f"there are {', '.join(sorted(keys))}"
            raise RoutingError("costs", f"{name}: {kind} has no {key}", hint=hint)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
            raise RoutingError("costs", f"{name}: {kind}.{key} = {value} is not a cost in seconds")
    return MessageCost(**{key: float(value) for key, value in table.items()})
