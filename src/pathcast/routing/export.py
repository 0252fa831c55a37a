"""Export of a broker's routing table for one origin, as subscriptions whose subscriber is a hop.

    router, origin -> HopEntry(hop, xpath, namespaces) -> Subscription

A document of the origin, submitted at the broker, goes to the hops with a matching entry, as
`Router.decide` would decide. The table has the entries of those neighbours that are children in the
origin's tree and have not excepted the origin; the trees are resolved and not part of it. With
`local`, the local subscribers are one more hop of that name: it receives a document if any of them
matches, and the broker determines which.

The table is a function of the broker's state and not of its history: it is sorted and free of
duplicates. An id is a hash of its entry, so unchanged entries keep their ids and a consumer can
reuse their compiled form. After a loss of tables the table may be unknown, which is an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from pathcast.errors import RoutingError
from pathcast.files import Subscription
from pathcast.routing.interests import LOCAL
from pathcast.routing.messages import Interest
from pathcast.routing.router import Router

__all__ = ["HopEntry", "hop_table"]

_HASH_CHARACTERS = 16  # 64 bits: collisions within one table are improbable


@dataclass(frozen=True, slots=True, order=True)
class HopEntry:
    """Documents that match the expression go to the hop."""

    hop: str
    xpath: str
    namespaces: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        content = json.dumps([self.hop, self.xpath, self.namespaces]).encode()
        return f"{self.hop}:{hashlib.sha256(content).hexdigest()[:_HASH_CHARACTERS]}"

    def subscription(self) -> Subscription:
        """Return the entry as a row of a subscription file."""
        return Subscription(self.id, self.xpath, dict(self.namespaces), self.hop)


def hop_table(
    router: Router, origin: str | None = None, *, local: str | None = None
) -> list[HopEntry]:
    """Return the entries that route documents of an origin; raise RoutingError.

    `origin` is the broker itself by default. `local` is the hop name of the local subscribers, who
    are left out by default.
    """
    origin = router.name if origin is None else origin
    if local is not None and (not local or local in router.neighbours):
        message = f"{local!r} is a neighbour of {router.name}, or no name"
        raise RoutingError("local", message, hint="our own subscribers are a hop of another name")
    hops = [*router.neighbours, *([] if local is None else [LOCAL])]
    unknown = [hop or "its own clients" for hop in hops if not router.recovery.knows(hop, origin)]
    if unknown:
        message = f"{router.name} does not know yet what {', '.join(unknown)} want from {origin}"
        raise RoutingError("undecided", message, hint="let it hear from them first")
    entries = set(_neighbour_entries(router, origin))
    if local is not None:
        entries.update(_entry(interest, local) for _, interest, _ in router.subscriptions())
    return sorted(entries)


def _neighbour_entries(router: Router, origin: str) -> Iterator[HopEntry]:
    for neighbour in router.neighbours:
        if router.trees.is_child(neighbour, origin):
            for interest, except_origins in router.entries_of(neighbour):
                if origin not in except_origins:
                    yield _entry(interest, neighbour)


def _entry(interest: Interest, hop: str) -> HopEntry:
    return HopEntry(hop, interest.pattern.text, interest.pattern.namespaces)
