"""Streams of subscriptions: reproducible, distinct, from several schemas; exhaustion; errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from pathcast.errors import SchemaError, WorkloadError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.subscriptions import PredicateKinds, SubscriptionOptions, subscriptions
from pathcast.generators.subscriptions import stream as module
from pathcast.generators.subscriptions.sampler import SubscriptionSampler
from pathcast.generators.subscriptions.walks import SchemaWalks
from pathcast.rng import SeededRandom
from pathcast.schema import Schema, load_dtd, parse_dtd, satisfiable
from pathcast.xpath import parse

RICH = SubscriptionOptions(
    branch=0.4,
    branches=4,
    predicate=0.7,
    predicates=2,
    kinds=PredicateKinds(attribute=1, value=1, position=1, existence=1),
    distinct=False,
)


def some(schema: Schema, options: SubscriptionOptions, count: int, seed: int = 1) -> list[str]:
    return list(subscriptions(schema, options, seed, count))


def test_the_stream_is_the_same_for_any_count() -> None:
    steered = SubscriptionOptions(match_ratio=0.3)
    for options in (SubscriptionOptions(), replace(RICH, distinct=True), steered):
        streams = [some(bundled_schema("alert"), options, count, seed=5) for count in (3, 20, 60)]
        assert streams[0] == streams[2][:3]
        assert streams[1] == streams[2][:20]
        assert streams[1] != some(bundled_schema("alert"), options, 20, seed=6)


def test_texts_are_pinned() -> None:
    """The texts are the same on any machine: a change here changes all workloads."""
    schema = parse_dtd(
        "<!ELEMENT a (b+, c?)> <!ELEMENT b (c | d)*> <!ELEMENT c (#PCDATA | d)*> <!ELEMENT d (b?)>"
        "<!ATTLIST b x CDATA #IMPLIED y (p | q) #IMPLIED>"
    )
    assert some(schema, SubscriptionOptions(theta=0.5), 4, seed=3) == [
        "/a/c",
        "/a/*",
        "/a/b/c",
        "/a//b/d",
    ]
    assert some(schema, replace(RICH, distinct=True), 4, seed=3) == [
        "//b[c[text() <= 98]]/c[text() > 42]",
        "/*[*[@y]//c/d]//c[1]",
        "/a//d/*[@x]/d[1]",
        "//a[b[@y = 'q'][*]/d]/c/d/b[@x]",
    ]


@pytest.mark.parametrize(
    "options", [SubscriptionOptions(max_depth=8), replace(RICH, distinct=True)]
)
def test_distinct_texts_are_distinct_patterns(options: SubscriptionOptions, deep: bool) -> None:
    count = 20_000 if deep else 1500
    texts = some(bundled_schema("news"), options, count)
    assert len({parse(text).text for text in texts}) == count


def test_without_distinct_there_are_duplicates() -> None:
    assert len(set(some(bundled_schema("bib"), SubscriptionOptions(distinct=False), 2000))) < 1000


def test_a_schema_is_exhausted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FUTILE_DRAWS", 500)
    schema = parse_dtd("<!ELEMENT a (b, c?)><!ELEMENT b EMPTY><!ELEMENT c EMPTY>")
    options = SubscriptionOptions(wildcard=0, descendant=0)
    all_ = set(subscriptions(schema, options, 1))
    assert all_ == {"/a", "/a/b", "/a/c"}
    stream = subscriptions(schema, options, 1, 5)
    assert set(islice(stream, 3)) == all_
    with pytest.raises(WorkloadError, match=r"only 3 distinct .* not 5") as caught:
        next(stream)
    assert caught.value.kind == "exhausted"
    assert caught.value.hint is not None


@pytest.mark.parametrize("theta", [0.0, 1.0])
def test_distribution_equals_rejection_sampling(theta: float) -> None:
    """The oracle draws lengths uniformly and complete walks, and keeps new texts."""
    options = SubscriptionOptions(max_depth=10, theta=theta)
    count = 6000
    texts = some(bundled_schema("news"), options, count, seed=2)
    rng = SeededRandom(2, "twin")
    twigs = SubscriptionSampler(bundled_schema("news"), options)
    oracle: dict[str, None] = {}
    while len(oracle) < count:
        text = twigs.draw(rng, rng.between(1, 10), (False, False))
        oracle.setdefault(text or "/news")
    features: tuple[Callable[[str], int], ...] = (
        lambda text: text.replace("//", "/").count("/"),
        lambda text: int("head" in text),
        lambda text: int("body.content" in text),
        lambda text: text.count("*"),
        lambda text: text.count("//"),
    )
    for feature in features:
        share, oracle_share = (sum(map(feature, sample)) / count for sample in (texts, oracle))
        assert share == pytest.approx(oracle_share, rel=0.1, abs=0.02)


def test_sectors_partition_all_walks() -> None:
    for name in SCHEMA_NAMES:
        for theta in (0.0, 1.0):
            walks = SchemaWalks(bundled_schema(name), theta)
            sectors = walks.sectors(walks.to_states(walks.choices_by_level(1, 8)), 8)
            assert sum(share for _, share in sectors) == pytest.approx(1)
            begun = [tuple(place.name for place in begin) for begin, _ in sectors]
            assert len(set(begun)) == len(begun)


@pytest.mark.deep
def test_number_of_distinct_subscriptions_of_small_schemas() -> None:
    """Cao 2012, section 3.4: depth 6, 910 for book.dtd and 747 for bib.dtd; ours are other DTDs."""
    options = SubscriptionOptions(max_depth=6, full=True, wildcard=0.1, descendant=0.2)
    assert 600 < len(list(subscriptions(bundled_schema("bib"), options, 1))) < 1200
    assert 900 < len(list(subscriptions(bundled_schema("book"), options, 1))) < 6000


def test_schemas_take_turns_and_large_ones_replace_exhausted_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_FUTILE_DRAWS", 500)
    small = parse_dtd("<!ELEMENT x EMPTY>")
    options = SubscriptionOptions(wildcard=0, descendant=0)  # the root identifies the schema
    schemas = [bundled_schema("news"), small, bundled_schema("auction")]
    texts = list(subscriptions(schemas, options, 1, 101))
    roots = [text.split("/")[1] for text in texts]
    assert roots[:3] == ["news", "x", "market"]
    counts = Counter(roots)
    assert counts["x"] == 1
    assert abs(counts["news"] - counts["market"]) <= 2


@pytest.mark.deep
def test_a_million_distinct_subscriptions() -> None:
    options = SubscriptionOptions(max_depth=10, full=True)
    texts = set(subscriptions(bundled_schema("news"), options, 1, 1_000_000))
    assert len(texts) == 1_000_000


def test_public_dtds(corpus: Path, deep: bool) -> None:
    seen = 0
    for path in sorted(corpus.rglob("*.dtd")):
        try:
            schema = load_dtd(path)
        except SchemaError:  # tested elsewhere
            continue
        if len(schema.elements) > 125 and not deep:  # satisfiability is slow there
            continue
        seen += 1
        for text in some(schema, RICH, 3):
            assert satisfiable(text, schema).answer is not False, (path, text)
    assert seen > 20


# errors


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_depth": 0},
        {"max_depth": 3, "min_depth": 4},
        {"max_depth": 201},
        {"wildcard": 1.1},
        {"descendant": -0.1},
        {"relative": float("nan")},
        {"branch": 2},
        {"branches": 0},
        {"branching": "tree"},
        {"predicate": -1},
        {"predicates": 0},
        {"theta": -1},
        {"match_ratio": 1.5},
        {"disjoint": 0},
    ],
)
def test_invalid_options_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(WorkloadError) as caught:
        SubscriptionOptions(**wrong)  # type: ignore[arg-type]
    assert caught.value.kind == "option"


@pytest.mark.parametrize(
    "wrong",
    [
        {"attribute": -1.0},
        {"attribute": 0, "value": 0},
        {"operators": ()},
        {"operators": ("~",)},
        {"positions": 0},
    ],
)
def test_invalid_predicate_kinds_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(WorkloadError) as caught:
        PredicateKinds(**wrong)  # type: ignore[arg-type]
    assert caught.value.kind == "option"


def test_impossible_subscriptions_are_rejected() -> None:
    flatten = parse_dtd("<!ELEMENT a EMPTY>")
    endless = parse_dtd("<!ELEMENT a (a)>", root="a")
    with pytest.raises(WorkloadError, match="the longest has 1"):
        subscriptions(flatten, SubscriptionOptions(min_depth=2), 1, 1)
    with pytest.raises(WorkloadError, match="no valid document"):
        subscriptions(endless, None, 1, 1)
    with pytest.raises(WorkloadError, match="gave no subscription"):
        next(subscriptions(flatten, SubscriptionOptions(predicate=1), 1, 1))
    with pytest.raises(WorkloadError, match="gave no subscription"):
        next(subscriptions(flatten, SubscriptionOptions(branch=1, branching="query"), 1, 1))
    with pytest.raises(WorkloadError, match="no schema"):
        subscriptions([], None, 1, 1)
    with pytest.raises(WorkloadError, match="-1"):
        subscriptions(flatten, None, 1, -1)
