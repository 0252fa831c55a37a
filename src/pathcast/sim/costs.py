"""How long a broker takes over an input, in seconds: read from a file, so that a comparison can be made with a paper's costs and with ours.

    # ours.toml
    source = "where the figures come from"
    [publish]
    fixed = 1e-4          # for each document
    per_kilobyte = 2e-5
    per_entry = 0.0       # for each entry of the table that it is matched against
    [subscribe]
    fixed = 1e-4          # to look whether others cover it, and to place it
    per_entry = 0.0
    [advertise]
    fixed = 1e-4
    per_entry = 0.0       # for each subscription that is compared with it

What a file leaves out takes no time.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

from pathcast.errors import RoutingError
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

__all__ = ["Cost", "Costs", "read_costs"]


@dataclass(frozen=True, slots=True)
class Cost:
    fixed: float = 0.0
    per_kilobyte: float = 0.0
    per_entry: float = 0.0

    def seconds(self, entries: int, size: int = 0) -> float:
        return self.fixed + self.per_kilobyte * size / 1024 + self.per_entry * entries


@dataclass(frozen=True, slots=True)
class Costs:
    """`bool` is false if nothing takes any time."""

    source: str = "nothing takes any time"
    publish: Cost = Cost()
    subscribe: Cost = Cost()
    advertise: Cost = Cost()

    def __bool__(self) -> bool:
        return any((self.publish != Cost(), self.subscribe != Cost(), self.advertise != Cost()))

    def seconds(self, message: Message, entries: int) -> float:
        """What a message takes at a broker whose table has so many entries."""
        match message:
            case Publish(document=document):
                return self.publish.seconds(entries, len(document.body))
            case Subscribe() | Unsubscribe():
                return self.subscribe.seconds(entries)
            case Advertise() | Unadvertise():
                return self.advertise.seconds(entries)
            case Recall() | Complete():
                return 0.0


def read_costs(name: str) -> Costs:
    """The costs of a bundled file (by its name alone) or of any other; raises RoutingError."""
    bundled = files("pathcast.sim").joinpath("recorded", f"{name}.toml")
    try:
        text = bundled.read_text() if bundled.is_file() else Path(name).read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, ValueError) as error:
        known = sorted(
            one.name[:-5] for one in files("pathcast.sim").joinpath("recorded").iterdir()
        )
        hint = f"a file, or one of {', '.join(known)}"
        match error:
            case OSError():
                why = f"cannot be read: {error.strerror or error}"
            case UnicodeDecodeError():
                why = f"is not UTF-8: {error.reason} at byte {error.start}"
            case _:
                why = f"is no TOML: {error}"
        raise RoutingError("costs", f"{name} {why}", hint=hint) from None
    return _costs(name, table)


def _costs(name: str, table: dict[str, Any]) -> Costs:
    parts: dict[str, Any] = {}
    for key, value in table.items():
        if key == "source" and isinstance(value, str):
            parts[key] = value
        elif key in ("publish", "subscribe", "advertise") and isinstance(value, dict):
            parts[key] = _cost(name, key, value)
        else:
            hint = "source, and the tables publish, subscribe and advertise"
            raise RoutingError("costs", f"{name}: {key} is not among costs", hint=hint)
    return Costs(**{"source": name, **parts})


def _cost(name: str, kind: str, table: dict[str, Any]) -> Cost:
    known = {one.name for one in fields(Cost)}
    for key, value in table.items():
        if key not in known:
            hint = f"there are {', '.join(sorted(known))}"
            raise RoutingError("costs", f"{name}: {kind} has no {key}", hint=hint)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
            raise RoutingError("costs", f"{name}: {kind}.{key} = {value} is not a cost in seconds")
    return Cost(**{key: float(value) for key, value in table.items()})
