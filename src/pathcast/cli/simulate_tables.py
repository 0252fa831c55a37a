"""The tables of brokers and the ways of documents, as `pathcast simulate` shows them at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pathcast.errors import RoutingError

if TYPE_CHECKING:
    from pathcast.routing.router import Router
    from pathcast.sim import Simulation

__all__ = ["table_lines", "tables_dict", "why_dict", "why_lines"]


def _router(run: Simulation, name: str) -> Router | None:
    """Return the router of a broker, None if it is down; raise RoutingError."""
    host = run.hosts.get(name)
    if host is None:
        raise RoutingError("topology", f"there is no broker {name}")
    return None if host.broker is None else host.broker.router


_DOWN = "it is down, and has no tables"


def table_lines(run: Simulation, brokers: list[str]) -> Iterator[str]:
    """Yield the SRT and the PRT of each broker, as text."""
    from pathcast.routing.inspect import format_table, prt, srt

    for name in brokers:
        router = _router(run, name)
        if router is None:
            yield f"{name}: {_DOWN}"
            continue
        yield f"{name}: advertisements (SRT)"
        yield format_table(srt(router)).rstrip()
        yield f"{name}: interests (PRT), and how they were sent on"
        yield format_table(prt(router)).rstrip()


def tables_dict(run: Simulation, brokers: list[str]) -> dict[str, Any]:
    """Return the SRT and the PRT of each broker for JSON; None for a broker that is down."""
    from pathcast.routing.inspect import prt, srt

    tables: dict[str, Any] = {}
    for name in brokers:
        router = _router(run, name)
        tables[name] = router and {
            "advertisements": [row.as_dict() for row in srt(router)],
            "interests": [row.as_dict() for row in prt(router)],
        }
    return tables


def _visits(run: Simulation, document: str) -> Iterator[tuple[str, str]]:
    """Yield the brokers that a document reached, each with the sender; empty at its origin."""
    publication = run.documents.get(document)
    if publication is None:
        raise RoutingError("unknown", f"no document {document} has been published")
    yield publication.origin, ""
    for sender, receiver in (run.metrics.links_by_document or {}).get(document, {}):
        yield receiver, sender


def why_lines(run: Simulation, document: str) -> Iterator[str]:
    """Yield, for each broker that a document reached, where the present tables send it and why."""
    from pathcast.routing.inspect import format_table, why_document

    for name, came_from in _visits(run, document):
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
    """Return what `why_lines` shows, for JSON."""
    from pathcast.routing.inspect import why_document

    refusal = run.metrics.refusals.get(document)
    visits = []
    for name, came_from in _visits(run, document):
        router = _router(run, name)
        ways = None
        if router is not None and refusal is None:
            ways = why_document(router, run.documents[document], came_from)
        visits.append(
            {
                "document": document,
                "broker": name,
                "from": came_from or None,
                "refused": refusal,
                "ways": None if ways is None else [way.as_dict() for way in ways],
            }
        )
    return visits
