"""Messages and delay of the six routing strategies in two overlays (Li 2008, tables 2 and 3).

One publisher at the root advertises the DTD. Each leaf has a subscriber that registers its
subscriptions one by one. Then documents are published, as single paths (as in the paper) and as
whole documents (as in our product). A message is anything that a broker receives from another.
Equal subscriptions are suppressed in every strategy.

Interpretation of the printed totals. 7 brokers with 4,000 subscriptions fit table 2 (7 x 4,000 +
7 x 4,182 = 57,274 against 58,138) if equal subscriptions are forwarded, which ours are not; the
benchmark reports the share for both. With 64 x 1,000 subscriptions, flooding alone would give table
3 8.1 million messages; about 1,000 in total fit its first line. The benchmark runs both. No
interpretation fits all of table 3: its first and third line differ only by flooding N subscriptions
to 127 brokers, so N is about 2,100 and there are about 384,000 publications. No exact routing has
fewer, yet with covering the table has 326,796 messages in total. So that interpretation has no
target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pathcast.bench.overlay.inputs import PublishedSet, psd, psd_subscriptions
from pathcast.bench.overlay.sizes import TableReading
from pathcast.broker.broker import Settings
from pathcast.covering.merging import PathDistribution
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.shared_backend import SharedBackend
from pathcast.routing.strategy import STRATEGIES, strategy
from pathcast.sim import Simulation
from pathcast.sim.costs import Costs
from pathcast.sim.metrics import RunSummary
from pathcast.sim.topology import binary

__all__ = ["PUBLISHED", "StrategyRun", "inversions", "run_strategies"]

# strategy -> messages, delay in ms
PUBLISHED: dict[str, dict[str, tuple[int, float]]] = {
    "2": {
        "no-Adv-no-Cov": (58_138, 29.02),
        "no-Adv-with-Cov": (50_931, 7.50),
        "with-Adv-no-Cov": (39_849, 28.9),
        "with-Adv-with-Cov": (38_492, 7.45),
        "with-Adv-with-CovPM": (25_789, 5.15),
        "with-Adv-with-CovIPM(0.1)": (26_146, 3.92),
    },
    "3": {
        "no-Adv-no-Cov": (654_871, 97.82),
        "no-Adv-with-Cov": (572_890, 20.74),
        "with-Adv-no-Cov": (398_810, 98.09),
        "with-Adv-with-Cov": (326_796, 20.89),
        "with-Adv-with-CovPM": (254_900, 16.78),
        "with-Adv-with-CovIPM(0.1)": (257_567, 12.24),
    },
}


@dataclass(frozen=True, slots=True)
class StrategyRun:
    """The result of one strategy: control messages, publication messages and delay."""

    strategy: str
    control: int
    publications: dict[str, int]  # messages by published set
    delay: dict[tuple[str, str], float]  # ms, by published set and cost file
    wasted: int
    entries: int
    resent_control: int  # control messages if equal subscriptions were forwarded; no covering

    def traffic(self, published: str) -> int:
        return self.control + self.publications[published]


def run_strategies(
    reading: TableReading, published: list[PublishedSet], costs: dict[str, Costs]
) -> Iterator[StrategyRun]:
    """Run each strategy. Publishing does not change the overlay, so that it is set up once."""
    topology = binary(reading.levels)
    texts = {
        leaf: psd_subscriptions(number, reading.subscriptions_per_leaf)
        for number, leaf in enumerate(topology.leaves())
    }
    advertisement = Advertisement.of(psd())
    distribution = PathDistribution.uniform(psd())
    for name in STRATEGIES:
        chosen = strategy(name)
        backend = SharedBackend(chosen, distribution)
        run = Simulation(topology, Settings(chosen, reliable=False), backend)
        run.announce("b1", "P", advertisement)
        run.run_until_idle()
        for leaf, subscribed in texts.items():
            for number, text in enumerate(subscribed):
                run.subscribe(leaf, f"{leaf}.{number}", text, leaf)
            run.run_until_idle()
        control = RunSummary.of(run).traffic
        publications, delay = {}, {}
        for documents in published:
            for cost_name, cost in costs.items():
                run.costs = cost
                before, delivered = run.metrics.received["publish"], len(run.metrics.deliveries)
                for id, body in documents.bodies:
                    run.publish("b1", "P", f"{cost_name}.{id}", body)
                    run.run_until_idle()
                publications[documents.name] = run.metrics.received["publish"] - before
                after = [delivery.delay for delivery in run.metrics.deliveries[delivered:]]
                delay[documents.name, cost_name] = 1e3 * sum(after) / max(len(after), 1)
        summary = RunSummary.of(run)
        entries = sum(
            host.broker.router.uncovered_count() for host in run.hosts.values() if host.broker
        )
        resent = len(texts) * reading.subscriptions_per_leaf
        resent *= reading.levels - 1 if chosen.advertisements else len(topology.brokers) - 1
        yield StrategyRun(name, control, publications, delay, summary.wasted, entries, resent)


def inversions(ours: dict[str, float], theirs: dict[str, float], tolerance: float = 0.02) -> int:
    """Count the pairs of strategies in another order than published, near-equal pairs aside."""
    names = list(theirs)
    count = 0
    for first, second in combinations(names, 2):
        measured, published = ours[first] - ours[second], theirs[first] - theirs[second]
        near = abs(measured) <= tolerance * max(ours[first], ours[second])
        published_near = abs(published) <= tolerance * max(theirs[first], theirs[second])
        count += measured * published < 0 and not near and not published_near
    return count
