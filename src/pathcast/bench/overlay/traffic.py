"""Messages and delay of the six strategies in the two overlays of Li, Hou and Jacobsen (2008, tables 2 and 3).

One publisher at the root advertises the DTD; each leaf has a subscriber with its subscriptions, registered one by one; then documents are published, as single paths (as in the
paper) and whole (as in our product). What a broker receives from another is a message. Equal subscriptions are suppressed in every strategy.

How the printed totals can be read: 7 brokers with 4,000 subscriptions fit table 2 (7 x 4,000 + 7 x 4,182 = 57,274 against 58,138), if equal ones are told again, which ours are not; the
share is given for both. With 64 x 1,000, table 3 would have 8.1 million subscriptions flooded alone; about 1,000 in all fit its first line. Both are run. But no reading fits all of table 3: between
its first and third line only the flooding of N subscriptions to 127 brokers is saved, so N is about 2,100 and there are some 384,000 publications; no exact routing has fewer of these, and yet with
covering the table has 326,796 messages in all. So for that reading the published share is no target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pathcast.bench.overlay.inputs import Publications, psd, psd_subscriptions
from pathcast.bench.overlay.sizes import Reading
from pathcast.broker.broker import Settings
from pathcast.covering.merging import PathDistribution
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.shared_backend import SharedBackend
from pathcast.routing.strategy import STRATEGIES, strategy
from pathcast.sim import Simulation
from pathcast.sim.costs import Costs
from pathcast.sim.metrics import RunSummary
from pathcast.sim.topology import binary

__all__ = ["PUBLISHED", "Run", "inversions", "runs"]

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
class Run:
    """What one strategy came to: the messages of setting up, and those and the delay of publishing."""

    strategy: str
    control: int
    publications: dict[str, int]  # by what was published
    delay: dict[tuple[str, str], float]  # by what was published and whose costs, in ms
    vain: int
    entries: int
    told_again: (
        int  # messages of setting up, if equal subscriptions were told again; without covering
    )

    def traffic(self, what: str) -> int:
        return self.control + self.publications[what]


def runs(reading: Reading, published: list[Publications], costs: dict[str, Costs]) -> Iterator[Run]:
    """One run of each strategy. The overlay is set up once; what is published then does not change it."""
    topology = binary(reading.levels)
    texts = {
        leaf: psd_subscriptions(number, reading.each)
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
        for leaf, each in texts.items():
            for number, text in enumerate(each):
                run.subscribe(leaf, f"{leaf}.{number}", text, leaf)
            run.run_until_idle()
        control = RunSummary.of(run).traffic
        publications, delay = {}, {}
        for what in published:
            for whose, one in costs.items():
                run.costs = one
                before, delivered = run.metrics.received["publish"], len(run.metrics.deliveries)
                for id, body in what.bodies:
                    run.publish("b1", "P", f"{whose}.{id}", body)
                    run.run_until_idle()
                publications[what.name] = run.metrics.received["publish"] - before
                after = [one.delay for one in run.metrics.deliveries[delivered:]]
                delay[what.name, whose] = 1e3 * sum(after) / max(len(after), 1)
        summary = RunSummary.of(run)
        entries = sum(
            one.broker.router.uncovered_count() for one in run.hosts.values() if one.broker
        )
        again = len(texts) * reading.each
        again *= reading.levels - 1 if chosen.advertisements else len(topology.brokers) - 1
        yield Run(name, control, publications, delay, summary.wasted, entries, again)


def inversions(ours: dict[str, float], theirs: dict[str, float], tolerance: float = 0.02) -> int:
    """Pairs of strategies whose order differs from the published one, unless either pair is as good as equal."""
    names = list(theirs)
    found = 0
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            mine, published = ours[one] - ours[other], theirs[one] - theirs[other]
            close = abs(mine) <= tolerance * max(ours[one], ours[other])
            alike = abs(published) <= tolerance * max(theirs[one], theirs[other])
            found += mine * published < 0 and not close and not alike
    return found
