"""A broker's table for the documents of one origin, as a value: what `Router.decide` would say, for somebody else to say it.

    router, origin -> entries (xpath, namespaces, hop) -> subscriptions, whose subscriber is the hop

A document of the origin, submitted at the broker, goes to the hops that have an entry it matches. So there are the entries of those neighbours that get the origin's
documents from here and have not excepted it; where they come along which tree is settled by then, and no longer part of the table. With `local`, our own subscribers are one
more hop of that name: it has a document if any of them wants it, and who they are is for the broker to find out.

The table depends on what the broker knows and not on how it came to know it: it is sorted, and has everything once. An id says what its entry is, so a table that has changed in part
has the ids that it had for the rest, and whoever compiles it can keep that. What a broker does not know yet, after it has lost its tables, no table can
say: that is an error.
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

_LENGTH = 16  # characters of the hash: no two entries of a table have the same


@dataclass(frozen=True, slots=True, order=True)
class HopEntry:
    """What matches goes there."""

    hop: str
    xpath: str
    namespaces: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        asked = json.dumps([self.hop, self.xpath, self.namespaces]).encode()
        return f"{self.hop}:{hashlib.sha256(asked).hexdigest()[:_LENGTH]}"

    def subscription(self) -> Subscription:
        """The entry as a row of a file."""
        return Subscription(self.id, self.xpath, dict(self.namespaces), self.hop)


def hop_table(
    router: Router, origin: str | None = None, *, local: str | None = None
) -> list[HopEntry]:
    """The entries that decide on documents of an origin, by default the broker itself; raises RoutingError.

    `local` is the name of the hop that our own subscribers are; without one they are left out.
    """
    origin = router.name if origin is None else origin
    if local is not None and (not local or local in router.neighbours):
        message = f"{local!r} is a neighbour of {router.name}, or no name"
        raise RoutingError("local", message, hint="our own subscribers are a hop of another name")
    asked = [*router.neighbours, *([] if local is None else [LOCAL])]
    unknown = [one or "its own clients" for one in asked if not router.recovery.knows(one, origin)]
    if unknown:
        message = f"{router.name} does not know yet what {', '.join(unknown)} want from {origin}"
        raise RoutingError("undecided", message, hint="let it hear from them first")
    found = set(_beyond(router, origin))
    if local is not None:
        found.update(_entry(interest, local) for _, interest, _ in router.subscriptions())
    return sorted(found)


def _beyond(router: Router, origin: str) -> Iterator[HopEntry]:
    for neighbour in router.neighbours:
        if router.trees.is_child(neighbour, origin):
            for interest, except_origins in router.entries_of(neighbour):
                if origin not in except_origins:
                    yield _entry(interest, neighbour)


def _entry(interest: Interest, hop: str) -> HopEntry:
    return HopEntry(hop, interest.pattern.text, interest.pattern.namespaces)
