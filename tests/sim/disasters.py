"""Random scenarios: overlays on which everything happens that can, and nothing is expected yet (see `judging`)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from pathcast.routing.strategy import STRATEGIES
from pathcast.sim.scenario import Scenario, actions, header
from pathcast.sim.topology import random_graph
from tests.routing.small_schema import MERGED, SAMPLES, SCHEMA, XPATHS

__all__ = ["UNREADABLE", "disaster"]

ADVERTISED: tuple[actions.AdvertisementSource, ...] = (
    actions.Anything(),
    actions.FromDtd("small"),
    actions.FromPaths(("/a", "/a/b(/c)+", "/a/b/c/e", "/a/b")),
    actions.FromSamples(("x5", "x6", "x7")),
)
NAMES = (*STRATEGIES[:-1], "with-Adv-with-CovIPM(0.5)")  # with less, ten paths have hardly a merger
UNREADABLE = "<a><b></a>"
TIMES = (0, 1_000, 3_000, 50_000, 500_000, 2_000_000)


def disaster(seed: int) -> Scenario:
    """The scenario of a seed: a calm beginning, then faults among everything else."""
    chance = Random(seed)
    size = chance.randint(2, 8)
    room = size * (size - 1) // 2 - (size - 1)
    extra = chance.randint(0, min(3, room)) if seed % 2 else 0
    overlay = random_graph(size, extra, seed)
    name = NAMES[seed // 2 % len(NAMES)]
    head: list[header.Setting] = [header.SeedSetting(seed), header.StrategySetting(name)]
    head += [
        header.LinkSetting(one.left, one.right, round(one.latency * 1_000_000))
        for one in overlay.links
    ]
    head.append(header.RetrySetting(50_000, 1_000_000, chance.choice((2, 8, 64))))
    if chance.random() < 0.4:
        head.append(header.KeepTables())
    if chance.random() < 0.2:
        head.append(header.RefuseOutside())
    head += [header.SchemaSetting("small", SCHEMA), header.MergersByDtd("small")]
    head += [header.SampleSetting(f"x{number}", body) for number, body in enumerate(SAMPLES)]
    links = [(one.left, one.right) for one in overlay.links]
    made = _Making(chance, list(overlay.brokers), links, MERGED if "PM" in name else XPATHS)
    return Scenario(tuple(head), tuple(made.body()))


class _Making:
    def __init__(
        self,
        chance: Random,
        brokers: list[str],
        links: list[actions.LinkEnds],
        xpaths: Sequence[str],
    ) -> None:
        self.xpaths = xpaths
        self.chance = chance
        self.brokers = brokers
        self.links = links
        self.publishers: list[str] = []
        self.subscriptions = 0
        self.documents = 0
        self.down: set[str] = set()

    def body(self) -> list[actions.Action]:
        chance = self.chance
        found = [self.advertise() for _ in range(chance.randint(1, 4))]
        found += [self.subscribe() for _ in range(chance.randint(1, 12))]
        found.append(actions.RunFor(chance.choice(TIMES[:3])))
        found += [self.cancel() for _ in range(chance.randint(0, 4))]
        found.append(actions.RunUntilIdle())
        if chance.random() < 0.6:
            found += self.weather()
        for _ in range(chance.randint(5, 50)):
            if time := chance.choice(TIMES):
                found.append(actions.RunFor(time))
            found.append(self.happens())
            if chance.random() < 0.01:  # in between, all may be well for a while
                found += [
                    actions.HealLinks(),
                    *(actions.RestartBroker(one, False) for one in sorted(self.down)),
                ]
                found.append(actions.RunUntilIdle())
                self.down.clear()
        return found

    def weather(self) -> list[actions.Action]:
        found: list[actions.Action] = []
        for link in self.links:
            for fault in actions.Fault:
                percent = self.chance.choice((0, 10, 30))
                if percent:
                    longer = 300_000 if fault is actions.Fault.DELAY else None
                    found.append(actions.SetFault(fault, percent * 10_000, link, longer))
        return found

    def happens(self) -> actions.Action:
        number = self.chance.random()
        if number < 0.35:
            return self.publish()
        if number < 0.45:
            return self.subscribe()
        if number < 0.55:
            return self.cancel()
        if number < 0.6:
            return self.advertise()
        if number < 0.62:
            return actions.RetractAdvertisement(self.chance.choice(self.publishers))
        if number < 0.72:
            link = self.chance.choice(self.links)
            return actions.CutLink(link) if self.chance.random() < 0.5 else actions.HealLinks(link)
        if number < 0.87:
            broker = self.chance.choice(self.brokers)
            if broker not in self.down:
                self.down.add(broker)
                return actions.CrashBroker(broker)
            self.down.discard(broker)
            return actions.RestartBroker(broker, self.chance.random() < 0.5)
        return actions.RunFor(self.chance.choice((1, 5, 20)) * 1_000_000)

    def subscribe(self) -> actions.Action:
        self.subscriptions += 1
        broker = self.chance.choice(self.brokers)
        return actions.AddSubscription(
            f"s{self.subscriptions}", broker, self.chance.choice(self.xpaths)
        )

    def cancel(self) -> actions.Action:
        return actions.CancelSubscription(f"s{self.chance.randint(1, self.subscriptions)}")

    def advertise(self) -> actions.Action:
        broker = self.chance.choice(self.brokers)
        name = f"p{self.chance.randint(0, 2)}{broker}"
        said = self.chance.choice(ADVERTISED)
        if self.publishers and self.chance.random() < 0.3:
            return actions.ReplaceAdvertisement(self.chance.choice(self.publishers), said)
        self.publishers.append(name)
        return actions.AddPublisher(name, broker, said)

    def publish(self) -> actions.Action:
        self.documents += 1
        body: actions.DocumentBody = actions.BodyFromSample(
            f"x{self.chance.randrange(len(SAMPLES))}"
        )
        if self.chance.random() < 0.05:
            body = actions.InlineBody(UNREADABLE)
        return actions.PublishDocuments(
            f"d{self.documents}", self.chance.choice(self.publishers), body
        )
