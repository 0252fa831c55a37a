"""Random scenarios with all kinds of actions and faults, without expectations.

`tests.sim.delivery_model` adds the expectations.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from pathcast.routing.strategy import STRATEGIES
from pathcast.sim.scenario import Scenario, actions, header
from pathcast.sim.topology import random_graph
from tests.routing.small_schema import MERGED, SAMPLES, SCHEMA, XPATHS

__all__ = ["MALFORMED", "random_scenario"]

SOURCES: tuple[actions.AdvertisementSource, ...] = (
    actions.Anything(),
    actions.FromDtd("small"),
    actions.FromPaths(("/a", "/a/b(/c)+", "/a/b/c/e", "/a/b")),
    actions.FromSamples(("x5", "x6", "x7")),
)
# With a lower imperfect degree, ten paths have hardly a merger.
STRATEGY_NAMES = (*STRATEGIES[:-1], "with-Adv-with-CovIPM(0.5)")
MALFORMED = "<a><b></a>"
PAUSES = (0, 1_000, 3_000, 50_000, 500_000, 2_000_000)  # microseconds


def random_scenario(seed: int) -> Scenario:
    """Return the scenario of a seed: a start without faults, then faults among other actions."""
    random = Random(seed)
    size = random.randint(2, 8)
    room = size * (size - 1) // 2 - (size - 1)
    extra = random.randint(0, min(3, room)) if seed % 2 else 0
    overlay = random_graph(size, extra, seed)
    name = STRATEGY_NAMES[seed // 2 % len(STRATEGY_NAMES)]
    head: list[header.Setting] = [header.SeedSetting(seed), header.StrategySetting(name)]
    head += [
        header.LinkSetting(link.left, link.right, round(link.latency * 1_000_000))
        for link in overlay.links
    ]
    head.append(header.RetrySetting(50_000, 1_000_000, random.choice((2, 8, 64))))
    if random.random() < 0.4:
        head.append(header.KeepTables())
    if random.random() < 0.2:
        head.append(header.RefuseOutside())
    head += [header.SchemaSetting("small", SCHEMA), header.MergersByDtd("small")]
    head += [header.SampleSetting(f"x{number}", body) for number, body in enumerate(SAMPLES)]
    links = [(link.left, link.right) for link in overlay.links]
    xpaths = MERGED if "PM" in name else XPATHS
    generator = _ActionGenerator(random, list(overlay.brokers), links, xpaths)
    return Scenario(tuple(head), tuple(generator.body()))


class _ActionGenerator:
    def __init__(
        self,
        random: Random,
        brokers: list[str],
        links: list[actions.LinkEnds],
        xpaths: Sequence[str],
    ) -> None:
        self.xpaths = xpaths
        self.random = random
        self.brokers = brokers
        self.links = links
        self.publishers: list[str] = []
        self.subscriptions = 0
        self.documents = 0
        self.down: set[str] = set()

    def body(self) -> list[actions.Action]:
        random = self.random
        body = [self.advertise() for _ in range(random.randint(1, 4))]
        body += [self.subscribe() for _ in range(random.randint(1, 12))]
        body.append(actions.RunFor(random.choice(PAUSES[:3])))
        body += [self.cancel() for _ in range(random.randint(0, 4))]
        body.append(actions.RunUntilIdle())
        if random.random() < 0.6:
            body += self.set_faults()
        for _ in range(random.randint(5, 50)):
            if pause := random.choice(PAUSES):
                body.append(actions.RunFor(pause))
            body.append(self.next_action())
            if random.random() < 0.01:  # now and then everything is repaired for a while
                body.append(actions.HealLinks())
                body += [actions.RestartBroker(name, False) for name in sorted(self.down)]
                body.append(actions.RunUntilIdle())
                self.down.clear()
        return body

    def set_faults(self) -> list[actions.Action]:
        faults: list[actions.Action] = []
        for link in self.links:
            for fault in actions.Fault:
                percent = self.random.choice((0, 10, 30))
                if percent:
                    max_delay = 300_000 if fault is actions.Fault.DELAY else None
                    faults.append(actions.SetFault(fault, percent * 10_000, link, max_delay))
        return faults

    def next_action(self) -> actions.Action:
        number = self.random.random()
        if number < 0.35:
            return self.publish()
        if number < 0.45:
            return self.subscribe()
        if number < 0.55:
            return self.cancel()
        if number < 0.6:
            return self.advertise()
        if number < 0.62:
            return actions.RetractAdvertisement(self.random.choice(self.publishers))
        if number < 0.72:
            link = self.random.choice(self.links)
            return actions.CutLink(link) if self.random.random() < 0.5 else actions.HealLinks(link)
        if number < 0.87:
            broker = self.random.choice(self.brokers)
            if broker not in self.down:
                self.down.add(broker)
                return actions.CrashBroker(broker)
            self.down.discard(broker)
            return actions.RestartBroker(broker, self.random.random() < 0.5)
        return actions.RunFor(self.random.choice((1, 5, 20)) * 1_000_000)

    def subscribe(self) -> actions.Action:
        self.subscriptions += 1
        id = f"s{self.subscriptions}"
        broker = self.random.choice(self.brokers)
        return actions.AddSubscription(id, broker, self.random.choice(self.xpaths))

    def cancel(self) -> actions.Action:
        return actions.CancelSubscription(f"s{self.random.randint(1, self.subscriptions)}")

    def advertise(self) -> actions.Action:
        broker = self.random.choice(self.brokers)
        name = f"p{self.random.randint(0, 2)}{broker}"
        source = self.random.choice(SOURCES)
        if self.publishers and self.random.random() < 0.3:
            return actions.ReplaceAdvertisement(self.random.choice(self.publishers), source)
        self.publishers.append(name)
        return actions.AddPublisher(name, broker, source)

    def publish(self) -> actions.Action:
        self.documents += 1
        body: actions.DocumentBody = actions.BodyFromSample(
            f"x{self.random.randrange(len(SAMPLES))}"
        )
        if self.random.random() < 0.05:
            body = actions.InlineBody(MALFORMED)
        publisher = self.random.choice(self.publishers)
        return actions.PublishDocuments(f"d{self.documents}", publisher, body)
