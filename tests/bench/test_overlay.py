"""The benchmark of overlays runs, on tiny inputs, and says what it measured."""

from __future__ import annotations

from pathcast.bench.options import Wish
from pathcast.bench.overlay.inputs import as_paths, psd_documents, psd_subscriptions, whole
from pathcast.bench.overlay.sizes import Reading, Sizes
from pathcast.bench.overlay.suite import measured
from pathcast.bench.overlay.traffic import PUBLISHED, inversions, runs
from pathcast.routing.strategy import STRATEGIES
from pathcast.sim.costs import Costs
from pathcast.xpath import parse

SMALL = Reading("7 brokers, 30 each", 3, 30, "2")
TINY = Sizes((SMALL,), 2, 200, 5, 1, 1, 2, 3, 60)


def test_all_parts() -> None:
    told: list[str] = []
    lines, inputs = measured(TINY, Wish(tell=told.append))
    names = [line.what for line in lines]
    for name in STRATEGIES:
        assert f"7 brokers, 30 each: {name}" in names
    assert "a broker's decision / match_hops, 10 KB, 200 entries" in names
    assert "7 brokers, 60 subscriptions" in names
    assert len([name for name in names if "each entry tested" in name]) == 6
    assert all(line.figure >= 0 for line in lines if "time saved" not in line.what)
    assert len(inputs) == 4
    assert told


def test_a_part_alone() -> None:
    lines, _ = measured(TINY, Wish(only=("decision",)))
    assert len(lines) == 1


def test_strategies_publish_the_same_and_tell_ever_less() -> None:
    found = {run.strategy: run for run in runs(SMALL, [whole(psd_documents(3))], {"": Costs()})}
    assert list(found) == list(STRATEGIES)
    plain = found["no-Adv-no-Cov"]
    exact = [run for name, run in found.items() if "IPM" not in name]
    assert {run.publications["documents"] for run in exact} == {plain.publications["documents"]}
    assert not any(run.vain for run in exact)
    assert found["with-Adv-no-Cov"].control < plain.control <= plain.told_again
    assert found["with-Adv-with-Cov"].entries < plain.entries


def test_subscriptions_of_a_subscriber_are_different() -> None:
    texts = psd_subscriptions(3, 200)
    assert len({parse(text).text for text in texts}) == len(texts) == 200
    assert texts != psd_subscriptions(4, 200)


def test_paths_are_documents_of_their_own() -> None:
    bodies = psd_documents(2)
    found = as_paths(bodies).bodies
    assert len(found) > 50
    assert all(body.startswith(b"<") and body.count(b"/>") == 1 for _, body in found)
    assert len({id for id, _ in found}) == len(found)


def test_the_order_of_strategies_is_compared_pair_by_pair() -> None:
    theirs = {name: float(row[0]) for name, row in PUBLISHED["2"].items()}
    assert inversions(theirs, theirs) == 0
    upside_down = {name: 1 / figure for name, figure in theirs.items()}
    assert inversions(upside_down, theirs) == 14  # the two that merge are as good as equal
