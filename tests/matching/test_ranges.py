"""Saved subscriptions spread over owners by ranges: each is somewhere, once, and no document misses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
    Directory,
    Homes,
    Key,
    Ranges,
    homes_of,
    keys,
    part,
    router,
    spread,
)
from pathcast.matching.sharding.ranges import _bounds
from pathcast.matching.sharding.saved import WIDTH, words_of
from pathcast.matching.snapshot import Snapshot, read, write
from pathcast.xpath import parse
from tests import generate, strategies
from tests.generate import NAMESPACES
from tests.runner import InlineRunner

_texts = st.lists(strategies.expressions(), min_size=1, max_size=8)
_paths = st.sampled_from(
    ["/a", "/b", "/c", "/a/b", "/b//c", "//@x", "//c[@x]", "/a[b = 5]", "/p:a/text()", "//b[.='']"]
)
_few = st.sampled_from(
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


def restored(snapshot: Snapshot, path: Path) -> Matcher:
    write(snapshot, path)
    return Matcher.load(path, runner=InlineRunner())


def split(snapshot: Snapshot, owners: int) -> tuple[Homes, Ranges]:
    homes = homes_of(snapshot)
    return homes, spread(homes, [1] * len(snapshot.ids), owners)


def routed(snapshot: Snapshot, homes: Homes, ranges: Ranges) -> Snapshot:
    return router(snapshot, [(homes.path(first), owner) for first, owner in ranges.routes])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@given(_texts, st.lists(strategies.documents(), min_size=1, max_size=3), st.integers(1, 4))
def test_together_they_find_what_one_finds(
    folder: Path, texts: list[str], bodies: list[bytes], owners: int
) -> None:
    check_together(folder, texts, bodies, owners)


@given(
    st.lists(st.lists(_paths, min_size=1, max_size=3).map(" | ".join), min_size=2, max_size=9),
    st.lists(_few, min_size=1, max_size=4),
    st.integers(2, 5),
)
def test_alternatives_lead_to_where_a_subscription_lives(
    folder: Path, texts: list[str], bodies: list[bytes], owners: int
) -> None:
    check_together(folder, texts, bodies, owners)


def check_together(folder: Path, texts: list[str], bodies: list[bytes], owners: int) -> None:
    whole = snapshot_of(texts)
    homes, ranges = split(whole, owners)
    assert sorted(number for held in ranges.numbers for number in held) == [*range(len(texts))]
    parts = [restored(part(whole, held), folder / "part") for held in ranges.numbers]
    to = restored(routed(whole, homes, ranges), folder / "router")
    expected = restored(whole, folder / "whole")
    for body in bodies:
        found: list[str | int] = []
        errors: list[str | int] = []
        for owner in to.match_hops(body):
            answer = parts[owner].match(body)
            found += answer
            errors += answer.errors
        answer = expected.match(body)
        assert sorted(map(int, found)) == list(answer)
        assert sorted(map(int, errors)) == sorted(map(int, answer.errors))


@given(_texts, strategies.documents(), st.integers(1, 4))
def test_the_router_sends_documents_where_the_directory_would(
    folder: Path, texts: list[str], body: bytes, owners: int
) -> None:
    whole = snapshot_of(texts)
    homes, ranges = split(whole, owners)
    encoder = PlanEncoder(words_of(whole))
    routes = [(Key(encoder.decode(homes.path(one))), owner) for one, owner in ranges.routes]
    directory = Directory(Counter(key for key, _ in routes))
    activated = directory.activated(parse_document(body))
    to = restored(routed(whole, homes, ranges), folder / "router")
    assert set(to.match_hops(body)) == {owner for key, owner in routes if key in activated}


@given(strategies.native_expressions())
def test_homes_are_those_of_the_pattern(text: str) -> None:
    """What plans tell of a path is what its text tells; of anything else it is at least as sure."""
    whole = snapshot_of([text])
    homes = homes_of(whole)
    encoder = PlanEncoder(words_of(whole))
    found = {
        Key(encoder.decode(homes.path(one))) for one in (homes.lives[0], *homes.further.get(0, ()))
    }
    expected = keys(parse(text, NAMESPACES), 99)
    if not whole.patterns:
        assert found == expected
    assert (START in found) == (START in expected)


def test_homes_are_in_the_order_of_their_texts() -> None:
    texts = ["/b", "/a/b", "/a", "//a", "/a/@b", "/a//b", "/*", "/a/b/c", "//@a", "/p:a"]
    whole = snapshot_of(texts)
    homes = homes_of(whole)
    encoder = PlanEncoder(words_of(whole))
    shown = [encoder.decode(homes.path(one)) for one in sorted(homes.lives)]
    labels = [[str(Key((label,))) for label in path] for path in shown]
    assert labels == sorted(labels)
    assert len(set(homes.lives)) == len(texts)


def test_a_subscription_lives_with_its_commonest_alternative() -> None:
    """Whoever has //item gets many documents anyway; those with the rarer path are to come too."""
    whole = snapshot_of(["/news/sport/cup | //*", "not(//a) or /b"])
    homes = homes_of(whole)
    encoder = PlanEncoder(words_of(whole))
    assert [str(Key(encoder.decode(homes.path(one)))) for one in homes.lives] == [
        "start//*",
        "start",
    ]
    assert {number: len(more) for number, more in homes.further.items()} == {0: 1, 1: 1}


def test_one_key_may_be_shared_by_all() -> None:
    whole = snapshot_of([f"/stock[@symbol = '{number}']" for number in range(100)])
    _, ranges = split(whole, 4)
    assert [len(held) for held in ranges.numbers] == [25] * 4
    assert [owner for _, owner in ranges.routes] == [0, 1, 2, 3]
    assert [len(part(whole, held).values) for held in ranges.numbers] == [25] * 4


def test_kinds_of_documents_stay_apart() -> None:
    """A cut goes where least is common, if that is near enough."""
    texts = [f"/{root}/{name}{number}" for root in "abcd" for name in "xyz" for number in range(9)]
    whole = snapshot_of(texts + ["/a/x0/y"] * 2)  # no cut is right in the middle
    _, ranges = split(whole, 4)
    found = [
        {texts[number][:2] for number in held if number < len(texts)} for held in ranges.numbers
    ]
    assert found == [{"/a"}, {"/b"}, {"/c"}, {"/d"}]


@given(
    st.lists(st.tuples(st.text("ab", max_size=3), st.integers(1, 9)), max_size=30),
    st.integers(1, 6),
)
def test_ranges_are_near_equal(items: list[tuple[str, int]], owners: int) -> None:
    items.sort()
    ordered = [b"".join(ord(one).to_bytes(WIDTH, "big") for one in text) for text, _ in items]
    weights = [weight for _, weight in items]
    bounds = _bounds(ordered, weights, owners)
    assert bounds[0] == 0
    assert bounds[-1] == len(items)
    assert bounds == sorted(bounds)
    share = sum(weights) / owners
    for start, end in pairwise(bounds):
        assert sum(weights[start:end]) <= 1.25 * share + 2 * max(weights, default=0)


def test_routes_are_few() -> None:
    """Longer ones send fewer documents, but not at any price."""
    few = snapshot_of([f"/a/b/c/d{number}/e" for number in range(100)])
    _, ranges = split(few, 2)
    assert {len(first) for first, _ in ranges.routes} == {4 * WIDTH}
    many = snapshot_of([f"/a/b/c{number % 10}/d{number}/e" for number in range(5_000)], None)
    _, ranges = split(many, 2)
    assert {len(first) for first, _ in ranges.routes} == {3 * WIDTH}
    roots = snapshot_of([f"/a{number}" for number in range(5_000)], None)
    _, ranges = split(roots, 2)
    assert ranges.routes == ((b"", 0), (b"", 1))  # every document goes to both


def test_a_part_has_the_words_it_needs(tmp_path: Path) -> None:
    whole = snapshot_of(["/a/b", "/c[@d = 1]", "//p:e", "/c[@d = 2]", "/a"])
    found = part(whole, [3, 2])
    assert found.ids == [3, 2]
    assert sorted(found.names) == ["c", "d", "{urn:p}e"]
    assert len(found.values) == len(found.patterns) == 1
    write(found, tmp_path / "part")
    assert read(tmp_path / "part").ids == [3, 2]
    empty = part(whole, [])
    assert not empty.ids
    assert not list(restored(empty, tmp_path / "empty").match(b"<a/>"))


def test_there_must_be_an_owner() -> None:
    with pytest.raises(ValueError, match="not 0"):
        spread(homes_of(snapshot_of(["/a"])), [1], 0)


@pytest.mark.deep
def test_many_together(tmp_path: Path) -> None:
    rng = Random(5)
    texts: list[str] = []
    while len(texts) < 3_000:
        text = generate.expression(rng, generate.WHOLE)
        try:
            snapshot_of([text])
        except SubscriptionError:
            continue
        texts.append(text)
    whole = snapshot_of(texts)
    homes, ranges = split(whole, 7)
    parts = [restored(part(whole, held), tmp_path / "part") for held in ranges.numbers]
    to = restored(routed(whole, homes, ranges), tmp_path / "router")
    expected = restored(whole, tmp_path / "whole")
    for _ in range(300):
        body = generate.document(rng)
        found = sorted(
            int(one) for owner in to.match_hops(body) for one in parts[owner].match(body)
        )
        assert found == list(expected.match(body))
