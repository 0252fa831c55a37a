"""Checks the expectations of a scenario against a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pathcast.broker import Broker
from pathcast.errors import RoutingError
from pathcast.routing.messages import Advertise
from pathcast.sim.metrics import RunSummary
from pathcast.sim.scenario import expectations
from pathcast.sim.scenario.actions import LinkEnds
from pathcast.sim.simulation import BrokerHost, Simulation
from pathcast.xpath import parse

__all__ = ["Failure", "check_expectation"]


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that does not hold, and what holds instead."""

    line: int
    statement: str
    actual: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.statement}: {self.actual}"


def check_expectation(
    expectation: expectations.Expectation, run: Simulation, namespaces: Mapping[str, str]
) -> str | None:
    """Return what holds instead of an expectation, or None if it holds.

    Raise RoutingError for unknown names, SubscriptionError for a bad XPath.
    """
    match expectation:
        case expectations.Reaches():
            return _check_reaches(expectation, run)
        case expectations.Crosses(document=document, links=links):
            crossed = _links_of(run, document)
            for left, right in links:
                if (left, right) not in run.wires:
                    raise RoutingError("unknown", f"there is no link {left}-{right}")
            if set(crossed) != set(links):
                return f"it crossed {_join(map('-'.join, crossed), 'none')}"
        case expectations.NotWasted(document=document):
            return _check_perfect_routing(document, run)
        case expectations.IsRefused(document=document):
            _require_document(run, document)
            if document not in run.metrics.refusals:
                return "it was not"
        case expectations.EntryCount(broker=name, number=number):
            count = _running_broker(run, name).router.entry_count()
            return None if count == number else f"it has {count}"
        case expectations.InterestsSent(broker=name, neighbour=neighbour, xpaths=xpaths):
            sent = _sent_interests(_running_broker(run, name), neighbour)
            if sorted(sent) != sorted(parse(xpath, namespaces).text for xpath in xpaths):
                return f"it sent {' ; '.join(sent) or 'none'}"
        case expectations.MessageCount(kind=kind, number=number):
            count = run.metrics.received[kind]
            return None if count == number else f"there were {count}"
        case expectations.MetricEquals(metric=metric, number=number):
            count = _metric(RunSummary.of(run), metric)
            return None if count == number else f"there were {count}"
        case expectations.TablesEmpty():
            return _find_remaining_state(run)
    return None


def _metric(summary: RunSummary, metric: expectations.DocumentMetric) -> int:
    match metric:
        case expectations.DocumentMetric.WASTED:
            return summary.wasted
        case expectations.DocumentMetric.DUPLICATES:
            return summary.duplicates


def _check_reaches(expectation: expectations.Reaches, run: Simulation) -> str | None:
    _require_document(run, expectation.document)
    for name in expectation.subscribers:
        if name not in run.subscribers:
            raise RoutingError("unknown", f"there has been no subscriber {name}")
    actual = _receivers(run, expectation.document)
    expected = set(expectation.subscribers)
    holds = {
        expectations.Bound.EXACTLY: set(actual) == expected,
        expectations.Bound.AT_LEAST: expected <= set(actual),
        expectations.Bound.AT_MOST: set(actual) <= expected,
    }[expectation.bound]
    return None if holds else f"it reached {_join(sorted(actual), 'none')}"


def _receivers(run: Simulation, document: str) -> list[str]:
    deliveries = run.metrics.deliveries
    return [delivery.subscriber for delivery in deliveries if delivery.document == document]


def _check_perfect_routing(document: str, run: Simulation) -> str | None:
    """A crossing is wasted if its receiver neither delivered the document nor sent it on."""
    crossed = _links_of(run, document)
    deliveries = run.metrics.deliveries
    delivered_at = {delivery.broker for delivery in deliveries if delivery.document == document}
    senders = {sender for sender, _ in crossed}
    wasted = [pair for pair in crossed if pair[1] not in delivered_at | senders]
    if wasted:
        return f"it crossed {_join(map('-'.join, wasted), '')} to no subscriber"
    arrivals = Counter(receiver for _, receiver in crossed)
    repeated = [broker for broker, count in arrivals.items() if count > 1]
    return f"it came twice to {_join(repeated, '')}" if repeated else None


def _find_remaining_state(run: Simulation) -> str | None:
    """Describe some state that a running broker still holds; None if all tables are empty."""
    for name, host in run.hosts.items():
        if host.broker is None:
            continue
        entries = host.broker.router.leftovers()
        if entries:
            return f"{name} has {', '.join(entries)}"
        description = _describe_storage(host, parents=run.settings.strategy.advertisements)
        if description:
            return f"{name} {description}"
    return None


def _describe_storage(host: BrokerHost, *, parents: bool) -> str | None:
    storage = host.storage
    if storage.documents:
        return f"keeps {', '.join(storage.documents)}"
    if parents and storage.parents:
        return f"stores the parents of {', '.join(storage.parents)}"
    facts = sum(not _is_presence(entry.fact) for entry in storage.facts.values())
    return f"has {facts} facts stored" if facts else None


def _is_presence(fact: object) -> bool:
    """Whether a fact only says that a broker exists; strategies without advertisements need it."""
    return isinstance(fact, Advertise) and not fact.publisher


def _links_of(run: Simulation, document: str) -> Iterable[LinkEnds]:
    _require_document(run, document)
    assert run.metrics.links_by_document is not None
    return run.metrics.links_by_document.get(document, {})


def _require_document(run: Simulation, document: str) -> None:
    if document not in run.published:
        raise RoutingError("unknown", f"no document {document} has been published")


def _running_broker(run: Simulation, name: str) -> Broker:
    host = run.hosts.get(name)
    if host is None or host.broker is None:
        reason = f"there is no broker {name}" if host is None else f"{name} is down"
        raise RoutingError("unknown", reason)
    return host.broker


def _sent_interests(broker: Broker, neighbour: str) -> list[str]:
    interests = broker.router.sent_interests(neighbour)
    if interests is None:
        raise RoutingError("unknown", f"{neighbour} is no neighbour of {broker.name}")
    return [str(interest) for interest in interests]


def _join(words: Iterable[str], empty: str) -> str:
    return " ".join(words) or empty
