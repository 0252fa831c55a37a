"""A model of deliveries without brokers: who subscribed when, and what libxml2 matches.

`add_expectations` adds to the actions of a scenario what must hold. It leaves out actions that are
impossible (cancelling an unknown subscription, restarting a broker that is up). So every
subsequence of a scenario is a scenario too, and `shrink` reduces a failing one by leaving out
statements.

A subscription *must* receive a matching document if the overlay was whole and idle at some moment
between the subscription and the publication, and the publisher had advertised before that moment;
unless it is cancelled before the overlay is whole and idle again. It *may* receive every matching
document published while it existed. A broker that is down has not received a cancellation yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from pathcast.errors import PathcastError
from pathcast.routing.strategy import strategy
from pathcast.sim.scenario import Scenario, actions, expectations, header, run_scenario
from pathcast.sim.scenario.resources import Resources
from tests.oracle import oracle
from tests.sim.random_scenarios import MALFORMED

__all__ = ["add_expectations", "failures", "shrink"]

matches = lru_cache(None)(oracle)


@dataclass
class ModelDocument:
    """A published document, with the subscriptions that must and that may receive it."""

    publisher: str
    body: bytes
    must: set[str]
    may: set[str]
    waits: bool  # its broker was down when it was published


@dataclass
class DeliveryModel:
    """The state of the model; `take` performs one action."""

    scenario: Scenario
    up: dict[str, bool] = field(default_factory=dict)
    cut: set[frozenset[str]] = field(default_factory=set)
    links: set[frozenset[str]] = field(default_factory=set)
    subscriptions: dict[str, tuple[str, str]] = field(default_factory=dict)
    lingering: dict[str, str] = field(default_factory=dict)  # cancelled while their broker was down
    publishers: dict[str, tuple[str, actions.AdvertisementSource]] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    documents: dict[str, ModelDocument] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for link in self.scenario.settings(header.LinkSetting):
            self.links.add(frozenset((link.left, link.right)))
            self.up |= {link.left: True, link.right: True}
        setting = self.scenario.setting(header.StrategySetting)
        assert setting is not None
        self.strategy = strategy(setting.name)
        self.keeps_tables = self.scenario.setting(header.KeepTables) is not None
        self.refuses_outside = self.scenario.setting(header.RefuseOutside) is not None
        self.resources = Resources(self.scenario, Path(), 0)
        self.allows = lru_cache(None)(self._allows)

    def _allows(self, source: actions.AdvertisementSource, body: bytes) -> bool:
        return self.resources.advertisement(source).allows(body)

    @property
    def is_whole(self) -> bool:
        return all(self.up.values()) and not self.cut

    def take(self, statement: object) -> Iterator[actions.Action | expectations.Expectation]:
        """Yield the statement, if it is possible, and the expectations after it."""
        match statement:
            case actions.AddPublisher(name=name, broker=broker, advertised=source) if (
                source is not None and broker in self.up and name not in self.publishers
                and self.homes.get(name, broker) == broker
            ):  # fmt: skip
                self.homes[name] = broker
                self._advertise(name, source)
            case actions.ReplaceAdvertisement(publisher=name, advertised=source) if (
                name in self.publishers
            ):
                self._advertise(name, source)
            case actions.RetractAdvertisement(publisher=name) if name in self.publishers:
                del self.publishers[name]
                self._on_advertisement_change(name)
            case actions.AddSubscription(id=id, broker=broker, xpath=xpath) if (
                id not in self.used and broker in self.up
            ):
                self.used.add(id)
                self.subscriptions[id] = (broker, xpath)
                for document in self.documents.values():
                    if matches(xpath, None, document.body):
                        document.may.add(id)  # it may still be in transit
            case actions.CancelSubscription(id=id) if id in self.subscriptions:
                broker, xpath = self.subscriptions.pop(id)
                self.settled.discard(id)
                if not self.up[broker]:
                    self.lingering[id] = xpath
                for document in self.documents.values():
                    document.must.discard(id)
            case actions.PublishDocuments(id=id, publisher=name, body=body) if (
                name in self.homes and id not in self.used
            ):
                self.used.add(id)
                yield statement
                yield from self._on_publish(id, name, self.resources.body(body, 0))
                return
            case actions.CutLink(link=link) if frozenset(link) in self.links:
                self.cut.add(frozenset(link))
            case actions.HealLinks(link=link) if link is None or frozenset(link) in self.links:
                self.cut = set() if link is None else self.cut - {frozenset(link)}
            case actions.SetFault(link=link) | actions.ClearFaults(link=link) if (
                link is None or frozenset(link) in self.links
            ):
                pass
            case actions.CrashBroker(broker=broker) if self.up.get(broker, False):
                self.up[broker] = False
            case actions.RestartBroker(broker=broker, tables=tables) if not self.up.get(
                broker, True
            ) and (self.keeps_tables or not tables):
                self.up[broker] = True
            case actions.RunFor():
                pass
            case actions.RunUntilIdle() if self.is_whole:
                yield statement
                yield from self._settle()
                return
            case _:
                return
        yield statement

    def _advertise(self, name: str, source: actions.AdvertisementSource) -> None:
        self.publishers[name] = (self.homes[name], source)
        self._on_advertisement_change(name)

    def _on_advertisement_change(self, name: str) -> None:
        self.settled.discard(name)
        for document in self.documents.values():
            if document.publisher == name and document.waits:
                document.must.clear()  # the advertisement may differ when its broker accepts it

    def _on_publish(self, id: str, name: str, body: bytes) -> Iterator[expectations.Expectation]:
        up = self.up[self.homes[name]]
        if body == MALFORMED.encode():
            if up:
                yield expectations.IsRefused(id)
            self.documents[id] = ModelDocument(name, b"<none/>", set(), set(), not up)
            return
        within = name in self.publishers and self.allows(self.publishers[name][1], body)
        xpaths = {id: xpath for id, (_, xpath) in self.subscriptions.items()}
        wanted = {id for id, xpath in xpaths.items() if matches(xpath, None, body)}
        late = {id for id, xpath in self.lingering.items() if matches(xpath, None, body)}
        advertised = not self.strategy.advertisements or (within and name in self.settled)
        refused = self.refuses_outside and not within
        if refused and up:
            if name in self.publishers or self.strategy.advertisements:
                yield expectations.IsRefused(id)
                wanted = late = set()
        must = wanted & self.settled if advertised and not refused else set()
        self.documents[id] = ModelDocument(name, body, must, wanted | late, not up)

    def _settle(self) -> Iterator[expectations.Expectation]:
        self.settled = {*self.subscriptions, *self.publishers}
        self.lingering.clear()
        for id, document in self.documents.items():
            must, may = tuple(sorted(document.must)), tuple(sorted(document.may))
            if must:
                yield expectations.Reaches(id, must, expectations.Bound.AT_LEAST)
            yield expectations.Reaches(id, may, expectations.Bound.AT_MOST)
        self.documents.clear()

    # --- the end of a scenario ----------------------------------------------------------------

    def repair(self) -> Iterator[actions.Action]:
        if self.links:
            yield actions.HealLinks()
            yield actions.ClearFaults()
        for broker, up in sorted(self.up.items()):
            if not up:
                yield actions.RestartBroker(broker, self.keeps_tables)
        yield actions.RunUntilIdle()

    def probe(self) -> Iterator[actions.Action | expectations.Expectation]:
        """Publish each sample once more: only matching subscriptions get it, unwasted."""
        expected: list[expectations.Expectation] = []
        samples = [sample.name for sample in self.scenario.settings(header.SampleSetting)]
        for name, (_, source) in sorted(self.publishers.items()):
            for sample in samples:
                body = self.resources.sample(sample)
                if not self.allows(source, body):
                    continue
                id = f"probe{len(expected)}"
                yield actions.PublishDocuments(id, name, actions.BodyFromSample(sample))
                wanted = [
                    subscription
                    for subscription, (_, xpath) in sorted(self.subscriptions.items())
                    if matches(xpath, None, body)
                ]
                expected.append(expectations.Reaches(id, tuple(wanted)))
                if self.strategy.exact:
                    expected.append(expectations.NotWasted(id))
        yield actions.RunUntilIdle()
        yield from expected

    def remove_clients(self) -> Iterator[actions.Action | expectations.Expectation]:
        for id in sorted(self.subscriptions):
            yield actions.CancelSubscription(id)
        for name in sorted(self.publishers):
            yield actions.RetractAdvertisement(name)
        yield actions.RunUntilIdle()
        yield expectations.TablesEmpty()


def add_expectations(scenario: Scenario) -> Scenario:
    """Add expectations; at the end repair the overlay, probe it, and remove all clients."""
    model = DeliveryModel(scenario)
    body = [taken for statement in scenario.body for taken in model.take(statement)]
    for statement in list(model.repair()):
        body += model.take(statement)
    body += model.probe()
    body += model.remove_clients()
    return Scenario(scenario.head, tuple(body))


def failures(scenario: Scenario) -> list[str]:
    """Run a scenario and return its failures; an exception of the code is one too."""
    try:
        outcome = run_scenario(str(scenario), traced=False)
        return [str(failure) for failure in outcome.failures]
    except (AssertionError, LookupError, TypeError, AttributeError) as error:
        return [repr(error)]


def shrink(scenario: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """Leave out ever shorter runs of statements, then settings, while the scenario still fails."""
    body = list(scenario.body)
    length = max(len(body) // 2, 1)
    while True:
        smaller = False
        at = 0
        while at < len(body):
            fewer = body[:at] + body[at + length :]
            if _fails(Scenario(scenario.head, tuple(fewer)), fails):
                body, smaller = fewer, True
            else:
                at += length
        if length > 1:
            length = max(length // 2, 1)
        elif not smaller:
            break
    head = list(scenario.head)
    for line in reversed(scenario.head):
        fewer_lines = [setting for setting in head if setting is not line]
        if _fails(Scenario(tuple(fewer_lines), tuple(body)), fails):
            head = fewer_lines
    return Scenario(tuple(head), tuple(body))


def _fails(scenario: Scenario, fails: Callable[[Scenario], bool]) -> bool:
    try:
        return fails(scenario)
    except (AssertionError, PathcastError, KeyError):
        return False  # no longer a valid scenario
