"""Tests of range partitioning: every subscription is in one shard, and no match is missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.documents import parse as parse_document
from pathcast.errors import SubscriptionError
from pathcast.matching.encode import PlanEncoder
from pathcast.matching.sharding import (
    START,
    RangePartition,
    SnapshotKeys,
    StateKey,
    partition_by_range,
    router_snapshot,
    shard_keys_of,
    snapshot_subset,
)
from pathcast.matching.sharding.ownership import KeyDirectory, pattern_keys
from pathcast.matching.sharding.range_partition import _bounds
from pathcast.matching.sharding.snapshot_keys import LABEL_BYTES, snapshot_vocabulary
from pathcast.matching.snapshot import Snapshot, read, write
from pathcast.xpath import parse
from tests import generate, strategies
from tests.generate import NAMESPACES
from tests.runner import InlineRunner

_texts = st.lists(strategies.expressions(), min_size=1, max_size=8)
_paths = st.sampled_from(
    ["/a", "/b", "/c", "/a/b", "/b//c", "//@x", "//c[@x]", "/a[b = 5]", "/p:a/text()", "//b[.='']"]
)
_small_documents = st.sampled_from(
    [
        b"<a/>",
        b"<b/>",
        b"<c x=''/>",
        b"<d/>",
        b"<a><b>5</b></a>",
        b"<b><a><c/></a></b>",
        b"<a xmlns='urn:p'>5</a>",
    ]
)


def snapshot_of(texts: list[str], namespaces: Mapping[str, str] | None = NAMESPACES) -> Snapshot:
    matcher = Matcher(runner=InlineRunner())
    for number, text in enumerate(texts):
        matcher.add(number, text, namespaces, allow_expensive=True)
    return matcher._engine.snapshot()


def save_and_load(snapshot: Snapshot, path: Path) -> Matcher:
    write(snapshot, path)
    return Matcher.load(path, runner=InlineRunner())


def partition(snapshot: Snapshot, shards: int) -> tuple[SnapshotKeys, RangePartition]:
    keys = shard_keys_of(snapshot)
    return keys, partition_by_range(keys, [1] * len(snapshot.ids), shards)


def router_of(snapshot: Snapshot, keys: SnapshotKeys, ranges: RangePartition) -> Snapshot:
    routes = [(keys.path(prefix), shard) for prefix, shard in ranges.routes]
    return router_snapshot(snapshot, routes)


def key_decoder(snapshot: Snapshot, keys: SnapshotKeys) -> Callable[[bytes], StateKey]:
    encoder = PlanEncoder(snapshot_vocabulary(snapshot))
    return lambda key: StateKey(encoder.decode(keys.path(key)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shards")


@given(_texts, st.lists(strategies.documents(), min_size=1, max_size=3), st.integers(1, 4))
def test_shards_together_match_as_one_matcher(
    folder: Path, texts: list[str], bodies: list[bytes], shards: int
) -> None:
    check_shards(folder, texts, bodies, shards)


@given(
    st.lists(st.lists(_paths, min_size=1, max_size=3).map(" | ".join), min_size=2, max_size=9),
    st.lists(_small_documents, min_size=1, max_size=4),
    st.integers(2, 5),
)
def test_secondary_keys_route_to_the_shard_of_a_subscription(
    folder: Path, texts: list[str], bodies: list[bytes], shards: int
) -> None:
    check_shards(folder, texts, bodies, shards)


def check_shards(folder: Path, texts: list[str], bodies: list[bytes], shards: int) -> None:
    snapshot = snapshot_of(texts)
    keys, ranges = partition(snapshot, shards)
    assert sorted(number for members in ranges.numbers for number in members) == [
        *range(len(texts))
    ]
    matchers = [
        save_and_load(snapshot_subset(snapshot, members), folder / "shard")
        for members in ranges.numbers
    ]
    router = save_and_load(router_of(snapshot, keys, ranges), folder / "router")
    unsharded = save_and_load(snapshot, folder / "unsharded")
    for body in bodies:
        ids: list[str | int] = []
        errors: list[str | int] = []
        for shard in router.match_hops(body):
            matches = matchers[shard].match(body)
            ids += matches
            errors += matches.errors
        expected = unsharded.match(body)
        assert sorted(map(int, ids)) == list(expected)
        assert sorted(map(int, errors)) == sorted(map(int, expected.errors))


@given(_texts, strategies.documents(), st.integers(1, 4))
def test_router_agrees_with_the_key_directory(
    folder: Path, texts: list[str], body: bytes, shards: int
) -> None:
    snapshot = snapshot_of(texts)
    keys, ranges = partition(snapshot, shards)
    decode = key_decoder(snapshot, keys)
    routes = [(decode(prefix), shard) for prefix, shard in ranges.routes]
    directory = KeyDirectory(Counter(key for key, _ in routes))
    activated = directory.activated_keys(parse_document(body))
    router = save_and_load(router_of(snapshot, keys, ranges), folder / "router")
    assert set(router.match_hops(body)) == {shard for key, shard in routes if key in activated}


@given(strategies.native_expressions())
def test_keys_from_plans_equal_keys_from_patterns(text: str) -> None:
    """For a linear path they are equal; for any other pattern START occurs in both or neither."""
    snapshot = snapshot_of([text])
    keys = shard_keys_of(snapshot)
    decode = key_decoder(snapshot, keys)
    from_plan = {decode(key) for key in (keys.primary[0], *keys.secondary.get(0, ()))}
    from_pattern = pattern_keys(parse(text, NAMESPACES), 99)
    if not snapshot.patterns:
        assert from_plan == from_pattern
    assert (START in from_plan) == (START in from_pattern)


def test_key_bytes_sort_as_the_texts_of_labels() -> None:
    texts = ["/b", "/a/b", "/a", "//a", "/a/@b", "/a//b", "/*", "/a/b/c", "//@a", "/p:a"]
    snapshot = snapshot_of(texts)
    keys = shard_keys_of(snapshot)
    decode = key_decoder(snapshot, keys)
    paths = [decode(key).labels for key in sorted(keys.primary)]
    labels = [[str(StateKey((label,))) for label in path] for path in paths]
    assert labels == sorted(labels)
    assert len(set(keys.primary)) == len(texts)


def test_primary_key_is_the_most_common_alternative() -> None:
    """Most documents visit the shard of //* anyway; the rarer path adds few visits."""
    snapshot = snapshot_of(["/news/sport/cup | //*", "not(//a) or /b"])
    keys = shard_keys_of(snapshot)
    assert list(map(str, map(key_decoder(snapshot, keys), keys.primary))) == ["start//*", "start"]
    assert {number: len(others) for number, others in keys.secondary.items()} == {0: 1, 1: 1}


def test_subscriptions_with_one_key_are_distributed_evenly() -> None:
    snapshot = snapshot_of([f"/stock[@symbol = '{number}']" for number in range(100)])
    _, ranges = partition(snapshot, 4)
    assert [len(members) for members in ranges.numbers] == [25] * 4
    assert [shard for _, shard in ranges.routes] == [0, 1, 2, 3]
    subsets = [snapshot_subset(snapshot, members) for members in ranges.numbers]
    assert [len(subset.values) for subset in subsets] == [25] * 4


def test_bounds_separate_document_types() -> None:
    """Within the slack, a bound goes where the keys on both sides share the shortest prefix."""
    texts = [f"/{root}/{name}{number}" for root in "abcd" for name in "xyz" for number in range(9)]
    snapshot = snapshot_of(texts + ["/a/x0/y"] * 2)  # no bound is exactly at equal weights
    _, ranges = partition(snapshot, 4)
    roots = [
        {texts[number][:2] for number in members if number < len(texts)}
        for members in ranges.numbers
    ]
    assert roots == [{"/a"}, {"/b"}, {"/c"}, {"/d"}]


@given(
    st.lists(st.tuples(st.text("ab", max_size=3), st.integers(1, 9)), max_size=30),
    st.integers(1, 6),
)
def test_ranges_have_about_equal_weight(items: list[tuple[str, int]], shards: int) -> None:
    items.sort()
    ordered = [b"".join(ord(c).to_bytes(LABEL_BYTES, "big") for c in text) for text, _ in items]
    weights = [weight for _, weight in items]
    bounds = _bounds(ordered, weights, shards)
    assert bounds[0] == 0
    assert bounds[-1] == len(items)
    assert bounds == sorted(bounds)
    share = sum(weights) / shards
    for start, end in pairwise(bounds):
        assert sum(weights[start:end]) <= 1.25 * share + 2 * max(weights, default=0)


def test_routes_are_shortened_until_they_are_few() -> None:
    """Longer routes send fewer documents, but the number of routes is bounded."""
    snapshot = snapshot_of([f"/a/b/c/d{number}/e" for number in range(100)])
    _, ranges = partition(snapshot, 2)
    assert {len(prefix) for prefix, _ in ranges.routes} == {4 * LABEL_BYTES}
    snapshot = snapshot_of([f"/a/b/c{number % 10}/d{number}/e" for number in range(5_000)], None)
    _, ranges = partition(snapshot, 2)
    assert {len(prefix) for prefix, _ in ranges.routes} == {3 * LABEL_BYTES}
    snapshot = snapshot_of([f"/a{number}" for number in range(5_000)], None)
    _, ranges = partition(snapshot, 2)
    assert ranges.routes == ((b"", 0), (b"", 1))  # every document visits both shards


def test_subset_has_a_vocabulary_of_its_own(tmp_path: Path) -> None:
    snapshot = snapshot_of(["/a/b", "/c[@d = 1]", "//p:e", "/c[@d = 2]", "/a"])
    subset = snapshot_subset(snapshot, [3, 2])
    assert subset.ids == [3, 2]
    assert sorted(subset.names) == ["c", "d", "{urn:p}e"]
    assert len(subset.values) == len(subset.patterns) == 1
    write(subset, tmp_path / "subset")
    assert read(tmp_path / "subset").ids == [3, 2]
    empty = snapshot_subset(snapshot, [])
    assert not empty.ids
    assert not list(save_and_load(empty, tmp_path / "empty").match(b"<a/>"))


def test_zero_shards_are_refused() -> None:
    with pytest.raises(ValueError, match="not 0"):
        partition_by_range(shard_keys_of(snapshot_of(["/a"])), [1], 0)


@pytest.mark.deep
def test_thousands_of_subscriptions_match_as_one_matcher(tmp_path: Path) -> None:
    rng = Random(5)
    texts: list[str] = []
    while len(texts) < 3_000:
        text = generate.expression(rng, generate.WHOLE)
        try:
            snapshot_of([text])
        except SubscriptionError:
            continue
        texts.append(text)
    snapshot = snapshot_of(texts)
    keys, ranges = partition(snapshot, 7)
    matchers = [
        save_and_load(snapshot_subset(snapshot, members), tmp_path / "shard")
        for members in ranges.numbers
    ]
    router = save_and_load(router_of(snapshot, keys, ranges), tmp_path / "router")
    unsharded = save_and_load(snapshot, tmp_path / "unsharded")
    for _ in range(300):
        body = generate.document(rng)
        ids = sorted(
            int(id) for shard in router.match_hops(body) for id in matchers[shard].match(body)
        )
        assert ids == list(unsharded.match(body))
