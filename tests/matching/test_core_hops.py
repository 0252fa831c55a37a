"""Next hops: the union over all matching subscriptions, on both engines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import DocumentError, SubscriptionError
from pathcast.matching.engine import EngineName
from tests import strategies
from tests.generate import NAMESPACES
from tests.matching.engines import ENGINES, each_engine
from tests.runner import InlineRunner

hops = st.none() | st.integers(0, 4095) | st.sampled_from([0, 1, 63, 64, 65, 4095])
plain = st.sampled_from(
    ["//a", "/a/b", "//b//a", "/*/*", "//@x", "//a[b]", "//a[b][c]", "/a[. = 5]"]
)
texts = plain | strategies.expressions()


@given(
    st.lists(st.tuples(texts, hops), min_size=1, max_size=12),
    st.lists(strategies.documents(), min_size=1, max_size=3),
    st.data(),
)
def test_hops_are_those_of_the_matches(
    subscriptions: list[tuple[str, int | None]], bodies: list[bytes], data: st.DataObject
) -> None:
    matchers = [Matcher(runner=InlineRunner(), engine=engine) for engine in ENGINES]
    hop_by_id: dict[int, int | None] = {}
    for id, (text, hop) in enumerate(subscriptions):
        for matcher in matchers:
            matcher.add(id, text, NAMESPACES, hop=hop, allow_expensive=True)
        hop_by_id[id] = hop
        if data.draw(st.booleans()):
            check(matchers, hop_by_id, data.draw(st.sampled_from(bodies)))
        if data.draw(st.integers(0, 3)) == 0:
            removed = data.draw(st.sampled_from(sorted(hop_by_id)))
            del hop_by_id[removed]
            for matcher in matchers:
                matcher.remove(removed)
            if not hop_by_id:
                break
        if data.draw(st.integers(0, 5)) == 0:
            matchers[0].settle()
    for body in bodies:
        check(matchers, hop_by_id, body)


def check(matchers: list[Matcher], hop_by_id: dict[int, int | None], body: bytes) -> None:
    for matcher in matchers:
        match_hops = [hop_by_id[int(id)] for id in matcher.match(body)]
        hops = matcher.match_hops(body)
        assert list(hops) == sorted({hop for hop in match_hops if hop is not None})
        assert len(hops) == len(list(hops))
        assert all(hop in hops for hop in hops)
        assert not hops.errors


@each_engine
def test_removing_the_last_subscription_of_a_hop(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("one", "//a", hop=7)
    matcher.add("two", "/a", hop=7)
    matcher.add("twig", "//a[b][c]", hop=700)
    body = b"<a><b/><c/></a>"
    assert list(matcher.match_hops(body)) == [7, 700]
    matcher.remove("one")
    assert list(matcher.match_hops(body)) == [7, 700]
    matcher.remove("two")
    assert list(matcher.match_hops(body)) == [700]
    matcher.add("one", "//a", hop=8)
    assert list(matcher.match_hops(body)) == [8, 700]
    matcher.remove("twig")
    assert list(matcher.match_hops(body)) == [8]
    assert list(matcher.match_hops(b"<b/>")) == []


@each_engine
def test_all_hops(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add_many((hop, f"//n{hop}", None, hop) for hop in range(4096))
    body = "<r>" + "".join(f"<n{hop}/>" for hop in range(0, 4096, 5)) + "</r>"
    assert list(matcher.match_hops(body.encode())) == list(range(0, 4096, 5))
    assert "Hops" in repr(matcher.match_hops(b"<n3/>"))


@each_engine
@pytest.mark.parametrize("hop", [-1, 4096, True, False, 1.0, "1", 2**70])
def test_invalid_hops_are_rejected(hop: object, engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    with pytest.raises(SubscriptionError) as caught:
        matcher.add(1, "//a", hop=hop)  # type: ignore[arg-type]
    assert caught.value.kind == "hop"
    assert len(matcher) == 0
    assert list(matcher.match(b"<a/>")) == []
    matcher.add(1, "//a", hop=0)
    assert list(matcher.match_hops(b"<a/>")) == [0]


@each_engine
def test_malformed_documents_are_rejected(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add(1, "//a", hop=5)
    with pytest.raises(DocumentError):
        matcher.match_hops(b"<a>")
    assert list(matcher.match_hops(b"<a/>")) == [5]


@each_engine
def test_hops_with_errors(engine: EngineName) -> None:
    """An undecided subscription is listed in `errors`; the others yield their hops."""
    matcher = Matcher(engine=engine)
    matcher.add("plain", "//a", hop=1)
    matcher.add("sorting", "concat(//comment(), '') = 'x'", hop=2)
    hops = matcher.match_hops(b"<r><a/>" + b"<!--5-->" * 5000 + b"</r>")
    assert list(hops) == [1]
    assert set(hops.errors) == {"sorting"}


def test_subscriptions_without_hops_yield_none() -> None:
    matcher = Matcher(engine="core")
    matcher.add(1, "//a")
    assert list(matcher.match_hops(b"<a/>")) == []
    assert list(matcher.match(b"<b/>")) == []
    assert list(matcher.match(b"<a/>")) == [1]
