"""The papers' workloads have the properties that their papers state."""

from __future__ import annotations

import pytest

from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.documents import Documents
from pathcast.generators.presets import PRESETS
from pathcast.generators.statistics import SubscriptionStatistics
from pathcast.matching import Matcher
from tests.generators.covering_rate import covering_rate


def figures(name: str, count: int) -> SubscriptionStatistics:
    statistics = SubscriptionStatistics()
    for text in PRESETS[name].texts(seed=1, count=count):
        statistics.add(text)
    return statistics


def test_the_table_of_presets() -> None:
    assert list(PRESETS) == [
        "li2008-a",
        "li2008-b",
        "xnet2004",
        "cao2012-cache",
        "cao2012-aggregation",
        "cao2012-peer",
        "miliaraki2008-nitf",
        "miliaraki2008-aggregated",
        "semcast2004",
    ]
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert preset.paper
        assert preset.about
        assert "Open:" in preset.notes or "which are open" in preset.notes
        assert set(preset.schemas) <= set(SCHEMA_NAMES)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "cao2012-peer"])
def test_presets_are_reproducible(name: str) -> None:
    preset = PRESETS[name]
    once = list(preset.texts(seed=4, count=30))
    assert once == list(preset.texts(seed=4, count=40))[:30] != list(preset.texts(seed=5, count=30))


@pytest.mark.parametrize("name", PRESETS)
def test_documents_are_valid_and_match(name: str) -> None:
    preset = PRESETS[name]
    matcher = Matcher()
    matcher.add_many(enumerate(preset.texts(seed=1, count=100)))
    matched = 0
    schemas = [bundled_schema(schema_name) for schema_name in preset.schemas]
    documents = [Documents(schema, preset.documents, seed=1) for schema in schemas]
    for number in range(40):
        for schema, generator in zip(schemas, documents, strict=True):
            assert not schema.faults(generator[number])
            matched += len(matcher.match(generator[number]))
        if matched:
            return
    pytest.fail("no document matches any subscription")


@pytest.mark.parametrize(
    ("name", "wildcards", "descendants", "depth"),
    [
        ("li2008-a", 0.05, 0.05, 10),
        ("li2008-b", 0.0, 0.37, 10),
        ("xnet2004", 0.1, 0.05, 10),
        ("cao2012-cache", 0.1, 0.2, 6),
        ("cao2012-aggregation", 0.0, 0.2, 6),
        ("miliaraki2008-nitf", 0.2, 0.2, 10),
        ("miliaraki2008-aggregated", 0.2, 0.2, 10),
    ],
)
def test_shares_and_depths(name: str, wildcards: float, descendants: float, depth: int) -> None:
    options = PRESETS[name].subscriptions
    assert (options.wildcard, options.descendant, options.max_depth) == (
        wildcards,
        descendants,
        depth,
    )
    statistics = figures(name, 1000)
    assert statistics.count == 1000
    assert statistics.wildcards / statistics.steps == pytest.approx(wildcards, abs=0.04)
    assert statistics.descendants / statistics.steps == pytest.approx(descendants, abs=0.05)
    assert max(statistics.depths) == depth
    assert statistics.distinct == 1000 or not options.distinct


def test_branches_and_predicates() -> None:
    for name in ("li2008-a", "cao2012-cache", "miliaraki2008-nitf"):
        statistics = figures(name, 200)
        assert statistics.branched == statistics.predicated == 0
    assert figures("cao2012-aggregation", 200).branched == 200
    assert figures("xnet2004", 500).branched > 100


def test_the_peer_model(deep: bool) -> None:
    """Cao 2012, table 5.5: a message matches one query in twenty; the other parameters hold."""
    preset = PRESETS["cao2012-peer"]
    count = 5000 if deep else 300
    stream = preset.texts(seed=1, count=count)
    texts = list(stream)
    assert stream.achieved_ratio == pytest.approx(0.05, abs=1 / count)
    statistics = SubscriptionStatistics()
    for text in texts:
        statistics.add(text)
    assert set(statistics.depths) == {6}
    assert statistics.wildcards / statistics.steps == pytest.approx(0.2, abs=0.04)
    assert statistics.descendants / statistics.steps == pytest.approx(0.2, abs=0.04)
    assert statistics.branched / count == pytest.approx(0.1, abs=0.05)
    assert statistics.predicated / count == pytest.approx(0.2, abs=0.08)
    assert statistics.distinct < count
    assert str(preset.arrival) == "poisson:0.85"
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    others = Documents(bundled_schema("book"), preset.documents, seed=9)
    shares = [len(matcher.match(others[number])) / count for number in range(20)]
    assert sum(shares) / 20 == pytest.approx(0.05, abs=0.02)


def test_ten_schemas_take_turns() -> None:
    texts = list(PRESETS["miliaraki2008-aggregated"].texts(seed=1, count=200))
    roots = [bundled_schema(name).roots[0] for name in SCHEMA_NAMES]
    for place, text in enumerate(texts):
        first = text.split("/")[1]
        assert first in ("", "*", roots[place % 10])


def test_profiles_are_seventy() -> None:
    statistics = figures("semcast2004", 7000)
    assert statistics.distinct == 70
    assert statistics.depths == {1: 7000}


def test_set_a_is_covered_more_than_set_b() -> None:
    """Li 2008, section 5, on a smaller scale: the rates grow with the sets."""
    rates = [covering_rate(PRESETS[name].texts(1, 5000)) for name in ("li2008-a", "li2008-b")]
    assert rates[0] == pytest.approx(0.65, abs=0.1)
    assert rates[1] == pytest.approx(0.23, abs=0.05)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("name", "rate"), [("li2008-a", 0.9), ("li2008-b", 0.5)])
def test_covering_rates(name: str, rate: float, seed: int) -> None:
    """Li 2008, section 5: 100,000 XPEs each, covering rates 90% and 50%."""
    assert covering_rate(PRESETS[name].texts(seed)) == pytest.approx(rate, abs=0.03)


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name in PRESETS if not name.startswith("mil")])
def test_presets_at_the_papers_size(name: str) -> None:
    assert sum(1 for _ in PRESETS[name].texts(seed=1)) == PRESETS[name].subscription_count
