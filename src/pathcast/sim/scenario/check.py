"""Does a simulation agree with what a scenario expects of it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pathcast.broker import Broker
from pathcast.errors import RoutingError
from pathcast.routing.messages import Advertise
from pathcast.routing.router import Router
from pathcast.sim.metrics import RunSummary
from pathcast.sim.scenario import checks
from pathcast.sim.scenario.actions import Pair
from pathcast.sim.simulation import Simulation
from pathcast.xpath import parse

__all__ = ["Failure", "disagreement"]


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that was not met, and what was found instead."""

    line: int
    statement: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.statement}: {self.found}"


def disagreement(check: checks.Check, run: Simulation, namespaces: Mapping[str, str]) -> str | None:
    """What is so instead; None if it is as expected. Raises RoutingError, SubscriptionError."""
    match check:
        case checks.Reaches():
            return _reaches(check, run)
        case checks.Crosses(document=document, links=links):
            crossed = _journey(run, document)
            for one, other in links:
                if (one, other) not in run.wires:
                    raise RoutingError("unknown", f"there is no link {one}-{other}")
            if set(crossed) != set(links):
                return f"it crossed {_list(map('-'.join, crossed), 'nothing')}"
        case checks.InVainNowhere(document=document):
            return _in_vain(document, run)
        case checks.Refused(document=document):
            _known(run, document)
            if document not in run.metrics.refusals:
                return "it was not"
        case checks.Entries(broker=name, number=number):
            found = _broker(run, name).router.entry_count()
            return None if found == number else f"it has {found}"
        case checks.Tells(broker=name, neighbour=neighbour, xpaths=xpaths):
            told = _told(_broker(run, name).router, name, neighbour)
            if sorted(told) != sorted(parse(xpath, namespaces).text for xpath in xpaths):
                return f"it tells {' ; '.join(told) or 'nothing'}"
        case checks.Messages(kind=kind, number=number):
            found = run.metrics.received[kind]
            return None if found == number else f"there were {found}"
        case checks.Count(what=what, number=number):
            summary = RunSummary.of(run)
            found = summary.wasted if what is checks.Counted.VAIN else summary.duplicates
            return None if found == number else f"there were {found}"
        case checks.TablesEmpty():
            return _leftovers(run)
    return None


def _reaches(check: checks.Reaches, run: Simulation) -> str | None:
    _known(run, check.document)
    for one in check.subscribers:
        if one not in run.subscribers:
            raise RoutingError("unknown", f"there has been no subscriber {one}")
    got = [one.subscriber for one in run.metrics.deliveries if one.document == check.document]
    wanted = set(check.subscribers)
    agrees = {
        checks.Bound.EXACTLY: set(got) == wanted,
        checks.Bound.AT_LEAST: wanted <= set(got),
        checks.Bound.AT_MOST: set(got) <= wanted,
    }[check.bound]
    return None if agrees else f"it reached {_list(sorted(got), 'nobody')}"


def _in_vain(document: str, run: Simulation) -> str | None:
    """A link was crossed in vain if nobody got the document behind it, nor did it go on from there."""
    crossed = _journey(run, document)
    served = {one.broker for one in run.metrics.deliveries if one.document == document}
    onwards = {one for one, _ in crossed}
    vain = [pair for pair in crossed if pair[1] not in served | onwards]
    if vain:
        return f"it crossed {_list(map('-'.join, vain), '')} in vain"
    reached = Counter(other for _, other in crossed)
    twice = [broker for broker, times in reached.items() if times > 1]
    return f"it came twice to {_list(twice, '')}" if twice else None


def _leftovers(run: Simulation) -> str | None:
    """Something that a broker still knows though there should be nothing."""
    for name, host in run.hosts.items():
        if host.broker is None:
            continue
        left = host.broker.router.leftovers()
        if left:
            return f"{name} has {', '.join(left)}"
        if host.storage.documents:
            return f"{name} keeps {', '.join(host.storage.documents)}"
        parents = host.storage.parents if run.settings.strategy.advertisements else {}
        if parents:
            return f"{name} remembers the way to {', '.join(parents)}"
        facts = sum(not _presence(one.fact) for one in host.storage.facts.values())
        if facts:
            return f"{name} has {facts} facts written down"
    return None


def _presence(fact: object) -> bool:
    """Whether it says no more than that there is a broker: in some strategies these have to be known."""
    return isinstance(fact, Advertise) and not fact.publisher


def _journey(run: Simulation, document: str) -> Iterable[Pair]:
    _known(run, document)
    assert run.metrics.links_by_document is not None
    return run.metrics.links_by_document.get(document, {})


def _known(run: Simulation, document: str) -> None:
    if document not in run.published:
        raise RoutingError("unknown", f"no document {document} has been published")


def _broker(run: Simulation, name: str) -> Broker:
    host = run.hosts.get(name)
    if host is None or host.broker is None:
        how = f"there is no broker {name}" if host is None else f"{name} is down"
        raise RoutingError("unknown", how)
    return host.broker


def _told(router: Router, name: str, neighbour: str) -> list[str]:
    found = router.sent_interests(neighbour)
    if found is None:
        raise RoutingError("unknown", f"{neighbour} is no neighbour of {name}")
    return [str(one) for one in found]


def _list(words: Iterable[str], nothing: str) -> str:
    return " ".join(words) or nothing
