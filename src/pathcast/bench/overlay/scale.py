"""A large overlay: a transit-stub graph of a thousand brokers with subscriptions at its stubs."""

from __future__ import annotations

import time
from itertools import islice

from pathcast.broker.broker import Settings
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.generators.placement import place_clients
from pathcast.generators.presets import PRESETS
from pathcast.routing.advertisement import Advertisement
from pathcast.routing.shared_backend import SharedBackend
from pathcast.routing.strategy import strategy
from pathcast.sim import Simulation
from pathcast.sim.metrics import RunSummary
from pathcast.sim.topology import transit_stub

__all__ = ["run_large_overlay"]

_PUBLISHERS = 4
_DOCUMENTS = 20


def run_large_overlay(transits: int, stubs: int, size: int, subscriptions: int) -> dict[str, float]:
    """Run one overlay with advertisements and covering; return its figures."""
    chosen = strategy("with-Adv-with-Cov")
    topology = transit_stub(transits, stubs, size, seed=1)
    run = Simulation(topology, Settings(chosen, reliable=False), SharedBackend(chosen))
    start = time.process_time()
    edges = [name for name in topology.brokers if name.startswith("s")]
    homes = place_clients(_PUBLISHERS, range(len(edges)), seed=1, kind="publishers")
    news = Advertisement.of(bundled_schema("news"))
    for number, home in enumerate(homes):
        run.announce(edges[home], f"P{number}", news)
    run.run_until_idle()
    texts = list(islice(PRESETS["li2008-a"].texts(seed=1, count=subscriptions), subscriptions))
    by_home: dict[str, dict[str, str]] = {}
    for number, home in enumerate(place_clients(len(texts), range(len(edges)), seed=2)):
        by_home.setdefault(edges[home], {})[f"s{number}"] = texts[number]
    for edge, subscribed in by_home.items():
        run.subscribe_all(edge, edge, subscribed)
    run.run_until_idle()
    set_up = time.process_time() - start
    options = DocumentOptions(max_depth=10, size=7_000)
    for number, body in enumerate(
        documents(bundled_schema("news"), options, seed=3, count=_DOCUMENTS)
    ):
        publisher = number % _PUBLISHERS
        run.publish(edges[homes[publisher]], f"P{publisher}", f"d{number}", body)
    run.run_until_idle()
    summary = RunSummary.of(run)
    return {
        "brokers": len(topology.brokers),
        "links": len(topology.links),
        "traffic": summary.traffic,
        "deliveries": summary.deliveries,
        "wasted": summary.wasted,
        "entries": sum(summary.entries.values()),
        "set up": set_up,
        "seconds": time.process_time() - start,
    }
