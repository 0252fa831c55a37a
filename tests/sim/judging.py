"""What must come of a scenario, by a model that knows nothing of brokers: who subscribed when, and what libxml2 says.

`judged` takes what happens and adds what is expected. It leaves out what cannot happen (a cancellation of nothing, a restart of a broker that is
up), so any part of a scenario is one too, and a failing one can be made small by leaving things out: `shrunk`.

A subscription must get a document if the overlay was whole and quiet at some moment after it was made and before the document was published, and the
publisher had said before that moment what it would send; unless it cancels before the overlay is whole and quiet again. It may get what
matches and was published while it was there. A broker that is down has not heard of a cancellation yet.
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
from tests.sim.disasters import UNREADABLE

__all__ = ["failures", "judged", "shrunk"]

matches = lru_cache(None)(oracle)


@dataclass
class Document:
    publisher: str
    body: bytes
    must: set[str]
    may: set[str]
    waits: bool  # for its broker, which was down


@dataclass
class Model:
    scenario: Scenario
    up: dict[str, bool] = field(default_factory=dict)
    cut: set[frozenset[str]] = field(default_factory=set)
    links: set[frozenset[str]] = field(default_factory=set)
    subscriptions: dict[str, tuple[str, str]] = field(default_factory=dict)
    lingering: dict[str, str] = field(default_factory=dict)  # cancelled while their broker was down
    publishers: dict[str, tuple[str, actions.AdvertisementSource]] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    documents: dict[str, Document] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for link in self.scenario.settings(header.LinkSetting):
            self.links.add(frozenset((link.left, link.right)))
            self.up |= {link.left: True, link.right: True}
        said = self.scenario.setting(header.StrategySetting)
        assert said is not None
        self.strategy = strategy(said.name)
        self.keeps = self.scenario.setting(header.KeepTables) is not None
        self.refuses = self.scenario.setting(header.RefuseOutside) is not None
        self.resources = Resources(self.scenario, Path(), 0)
        self.allows = lru_cache(None)(self._allows)

    def _allows(self, advertised: actions.AdvertisementSource, body: bytes) -> bool:
        return self.resources.advertisement(advertised).allows(body)

    @property
    def whole(self) -> bool:
        return all(self.up.values()) and not self.cut

    def take(self, statement: object) -> Iterator[actions.Action | expectations.Expectation]:
        """The statement, if it can happen, and what is expected after it."""
        match statement:
            case actions.AddPublisher(name=name, broker=broker, advertised=said) if (
                said is not None and broker in self.up and name not in self.publishers
                and self.homes.get(name, broker) == broker
            ):  # fmt: skip
                self.homes[name] = broker
                self._advertises(name, said)
            case actions.ReplaceAdvertisement(publisher=name, advertised=said) if (
                name in self.publishers
            ):
                self._advertises(name, said)
            case actions.RetractAdvertisement(publisher=name) if name in self.publishers:
                del self.publishers[name]
                self._changed(name)
            case actions.AddSubscription(id=id, broker=broker, xpath=xpath) if (
                id not in self.used and broker in self.up
            ):
                self.used.add(id)
                self.subscriptions[id] = (broker, xpath)
                for one in self.documents.values():
                    if matches(xpath, None, one.body):
                        one.may.add(id)  # it may still be on its way
            case actions.CancelSubscription(id=id) if id in self.subscriptions:
                broker, xpath = self.subscriptions.pop(id)
                self.settled.discard(id)
                if not self.up[broker]:
                    self.lingering[id] = xpath
                for one in self.documents.values():
                    one.must.discard(id)
            case actions.PublishDocuments(id=id, publisher=name, body=body) if (
                name in self.homes and id not in self.used
            ):
                self.used.add(id)
                yield statement
                yield from self._published(id, name, self.resources.body(body, 0))
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
            ) and (self.keeps or not tables):
                self.up[broker] = True
            case actions.RunFor():
                pass
            case actions.RunUntilIdle() if self.whole:
                yield statement
                yield from self._settle()
                return
            case _:
                return
        yield statement

    def _advertises(self, name: str, said: actions.AdvertisementSource) -> None:
        self.publishers[name] = (self.homes[name], said)
        self._changed(name)

    def _changed(self, name: str) -> None:
        self.settled.discard(name)
        for one in self.documents.values():
            if one.publisher == name and one.waits:
                one.must.clear()  # when it is accepted, other things may be advertised

    def _published(self, id: str, name: str, body: bytes) -> Iterator[expectations.Expectation]:
        up = self.up[self.homes[name]]
        if body == UNREADABLE.encode():
            if up:
                yield expectations.IsRefused(id)
            self.documents[id] = Document(name, b"<none/>", set(), set(), not up)
            return
        within = name in self.publishers and self.allows(self.publishers[name][1], body)
        there = {one: xpath for one, (_, xpath) in self.subscriptions.items()}
        wanted = {one for one, xpath in there.items() if matches(xpath, None, body)}
        late = {one for one, xpath in self.lingering.items() if matches(xpath, None, body)}
        known = not self.strategy.advertisements or (within and name in self.settled)
        refused = self.refuses and not within
        if refused and up:
            if name in self.publishers or self.strategy.advertisements:
                yield expectations.IsRefused(id)
                wanted = late = set()
        must = wanted & self.settled if known and not refused else set()
        self.documents[id] = Document(name, body, must, wanted | late, not up)

    def _settle(self) -> Iterator[expectations.Expectation]:
        self.settled = {*self.subscriptions, *self.publishers}
        self.lingering.clear()
        for id, one in self.documents.items():
            if one.must:
                yield expectations.Reaches(id, tuple(sorted(one.must)), expectations.Bound.AT_LEAST)
            yield expectations.Reaches(id, tuple(sorted(one.may)), expectations.Bound.AT_MOST)
        self.documents.clear()

    # the end

    def heal(self) -> Iterator[actions.Action]:
        if self.links:
            yield actions.HealLinks()
            yield actions.ClearFaults()
        for broker, up in sorted(self.up.items()):
            if not up:
                yield actions.RestartBroker(broker, self.keeps)
        yield actions.RunUntilIdle()

    def probe(self) -> Iterator[actions.Action | expectations.Expectation]:
        """One more of each sample from each publisher: exactly who wants it gets it, and no link is crossed in vain."""
        expected: list[expectations.Expectation] = []
        samples = [one.name for one in self.scenario.settings(header.SampleSetting)]
        for name, (_, said) in sorted(self.publishers.items()):
            for sample in samples:
                body = self.resources.sample(sample)
                if not self.allows(said, body):
                    continue
                id = f"probe{len(expected)}"
                yield actions.PublishDocuments(id, name, actions.BodyFromSample(sample))
                wanted = [
                    one
                    for one, (_, xpath) in sorted(self.subscriptions.items())
                    if matches(xpath, None, body)
                ]
                expected.append(expectations.Reaches(id, tuple(wanted)))
                if self.strategy.exact:
                    expected.append(expectations.NotWasted(id))
        yield actions.RunUntilIdle()
        yield from expected

    def leave(self) -> Iterator[actions.Action | expectations.Expectation]:
        for id in sorted(self.subscriptions):
            yield actions.CancelSubscription(id)
        for name in sorted(self.publishers):
            yield actions.RetractAdvertisement(name)
        yield actions.RunUntilIdle()
        yield expectations.TablesEmpty()


def judged(scenario: Scenario) -> Scenario:
    """With what is expected; in the end everything is mended, tried, and taken away."""
    model = Model(scenario)
    body = [one for statement in scenario.body for one in model.take(statement)]
    for statement in list(model.heal()):
        body += model.take(statement)
    body += model.probe()
    body += model.leave()
    return Scenario(scenario.head, tuple(body))


def failures(scenario: Scenario) -> list[str]:
    """What is wrong with a scenario that has been judged; an exception is a failure too."""
    try:
        return [str(one) for one in run_scenario(str(scenario), traced=False).failures]
    except (AssertionError, LookupError, TypeError, AttributeError) as error:
        return [repr(error)]


def shrunk(scenario: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """A smaller one that still fails: ever smaller runs of statements are left out, then lines of the head."""
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
        fewer_lines = [one for one in head if one is not line]
        if _fails(Scenario(tuple(fewer_lines), tuple(body)), fails):
            head = fewer_lines
    return Scenario(tuple(head), tuple(body))


def _fails(scenario: Scenario, fails: Callable[[Scenario], bool]) -> bool:
    try:
        return fails(scenario)
    except (AssertionError, PathcastError, KeyError):
        return False  # no scenario any more
