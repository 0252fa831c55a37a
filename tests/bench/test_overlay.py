"""The benchmark of overlays run_strategies, on tiny inputs, and says what it measured."""

from __future__ import annotations

from pathcast.bench.options import BenchOptions
from pathcast.bench.overlay.inputs import (
    as_paths,
    psd_documents,
    psd_subscriptions,
    whole_documents,
)
from pathcast.bench.overlay.sizes import OverlaySizes, TableReading
from pathcast.bench.overlay.suite import SUITE
from pathcast.bench.overlay.traffic import PUBLISHED, inversions, run_strategies
from pathcast.routing.strategy import STRATEGIES
from pathcast.sim.costs import Costs
from pathcast.xpath import parse

SMALL = TableReading("7 brokers, 30 each", 3, 30, "2")
TINY = OverlaySizes((SMALL,), 2, 200, 5, 1, 1, 2, 3, 60)


def test_all_parts() -> None:
    started: list[str] = []
    lines, inputs = SUITE.measure(BenchOptions(progress=started.append), TINY)
    names = [line.label for line in lines]
    for name in STRATEGIES:
        assert f"7 brokers, 30 each: {name}" in names
    assert "a broker's decision / match_hops, 10 KB, 200 entries" in names
    assert "7 brokers, 60 subscriptions" in names
    assert len([name for name in names if "each entry tested" in name]) == 6
    assert all(line.figure >= 0 for line in lines if "time saved" not in line.label)
    assert len(inputs) == 4
    assert started


def test_a_part_alone() -> None:
    lines, _ = SUITE.measure(BenchOptions(only=("decision",)), TINY)
    assert len(lines) == 1


def test_strategies_deliver_the_same_with_ever_fewer_messages() -> None:
    by_name = {
        run.strategy: run
        for run in run_strategies(SMALL, [whole_documents(psd_documents(3))], {"": Costs()})
    }
    assert list(by_name) == list(STRATEGIES)
    plain = by_name["no-Adv-no-Cov"]
    exact = [run for name, run in by_name.items() if "IPM" not in name]
    assert {run.publications["documents"] for run in exact} == {plain.publications["documents"]}
    assert not any(run.wasted for run in exact)
    assert by_name["with-Adv-no-Cov"].control < plain.control <= plain.resent_control
    assert by_name["with-Adv-with-Cov"].entries < plain.entries


def test_subscriptions_of_a_subscriber_are_different() -> None:
    texts = psd_subscriptions(3, 200)
    assert len({parse(text).text for text in texts}) == len(texts) == 200
    assert texts != psd_subscriptions(4, 200)


def test_paths_are_documents_of_their_own() -> None:
    bodies = psd_documents(2)
    documents = as_paths(bodies).bodies
    assert len(documents) > 50
    assert all(body.startswith(b"<") and body.count(b"/>") == 1 for _, body in documents)
    assert len({id for id, _ in documents}) == len(documents)


def test_order_of_strategies_is_compared_in_pairs() -> None:
    theirs = {name: float(row[0]) for name, row in PUBLISHED["2"].items()}
    assert inversions(theirs, theirs) == 0
    reverse = {name: 1 / figure for name, figure in theirs.items()}
    assert inversions(reverse, theirs) == 14  # the two merging strategies are near-equal
