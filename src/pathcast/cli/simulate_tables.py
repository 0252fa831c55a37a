"""What `pathcast simulate` shows of an overlay at the end: the tables of brokers with their reasons, and why a document went where it went."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pathcast.errors import RoutingError

if TYPE_CHECKING:
    from pathcast.routing.router import Router
    from pathcast.sim import Simulation

__all__ = ["table_lines", "tables_dict", "why_dict", "why_lines"]


def _router(run: Simulation, name: str) -> Router | None:
    """None for one that is down; raises RoutingError."""
    host = run.hosts.get(name)
    if host is None:
        raise RoutingError("topology", f"there is no broker {name}")
    if host.broker is None:
        return None
    return host.broker.router


_DOWN = "it is down, and has no tables"


def table_lines(run: Simulation, brokers: list[str]) -> Iterator[str]:
    """What comes from where, and who wants what, at these brokers."""
    from pathcast.routing.inspect import format_table, prt, srt

    for name in brokers:
        router = _router(run, name)
        if router is None:
            yield f"{name}: {_DOWN}"
            continue
        yield f"{name}: advertisements, by which documents come"
        yield format_table(srt(router)).rstrip()
        yield f"{name}: who wants what, and what the others were told of it"
        yield format_table(prt(router)).rstrip()


def tables_dict(run: Simulation, brokers: list[str]) -> dict[str, Any]:
    from pathcast.routing.inspect import prt, srt

    found: dict[str, Any] = {}
    for name in brokers:
        router = _router(run, name)
        found[name] = router and {
            "advertisements": [row.as_dict() for row in srt(router)],
            "interests": [row.as_dict() for row in prt(router)],
        }
    return found


def _seen(run: Simulation, document: str) -> Iterator[tuple[str, str]]:
    """The brokers that a document has come to, and from where."""
    found = run.documents.get(document)
    if found is None:
        raise RoutingError("unknown", f"no document {document} has been published")
    yield found.origin, ""
    for sender, receiver in (run.metrics.links_by_document or {}).get(document, {}):
        yield receiver, sender


def why_lines(run: Simulation, document: str) -> Iterator[str]:
    """At each broker that has had a document, where it goes by the tables of now, and why."""
    from pathcast.routing.inspect import format_table, why_document

    for name, came_from in _seen(run, document):
        where = f"{document} at {name}, " + (f"from {came_from}" if came_from else "as published")
        router = _router(run, name)
        if document in run.metrics.refusals:
            yield f"{where}: refused, {run.metrics.refusals[document]}"
        elif router is None:
            yield f"{where}: {_DOWN}"
        else:
            yield where
            yield format_table(why_document(router, run.documents[document], came_from)).rstrip()


def why_dict(run: Simulation, document: str) -> list[dict[str, Any]]:
    from pathcast.routing.inspect import why_document

    refused = run.metrics.refusals.get(document)
    found = []
    for name, came_from in _seen(run, document):
        router = _router(run, name)
        ways = None
        if router is not None and refused is None:
            ways = why_document(router, run.documents[document], came_from)
        found.append(
            {
                "document": document,
                "broker": name,
                "from": came_from or None,
                "refused": refused,
                "ways": None if ways is None else [way.as_dict() for way in ways],
            }
        )
    return found
