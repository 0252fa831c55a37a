"""Batches equal single matches, have Arrow's list layout, and resolve ids lazily."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import DocumentError
from pathcast.matching.engine import EngineName
from tests import strategies
from tests.generate import NAMESPACES
from tests.matching.engines import ENGINES, each_engine
from tests.runner import InlineRunner

bodies_of = st.lists(
    strategies.documents() | st.sampled_from([b"", b"<a>", b"\xff", b"<a/>"]), max_size=6
)


@given(st.lists(strategies.expressions(), max_size=6), bodies_of)
def test_batch_equals_single_matches(texts: list[str], bodies: list[bytes]) -> None:
    for engine in ENGINES:
        matcher = Matcher(runner=InlineRunner(), engine=engine)
        for number, text in enumerate(texts):
            matcher.add(f"id {number}", text, NAMESPACES, allow_expensive=True)
        batch = matcher.match_batch(iter(bodies))
        assert len(batch) == len(bodies)
        assert len(batch.offsets) == len(bodies) + 1
        assert (batch.offsets[0], batch.offsets[-1]) == (0, len(batch.numbers))
        for place, body in enumerate(bodies):
            if place in batch.errors:
                with pytest.raises(DocumentError) as caught:
                    matcher.match(body)
                assert batch.errors[place].kind == caught.value.kind
                assert batch.offsets[place] == batch.offsets[place + 1]
                with pytest.raises(DocumentError):
                    batch[place]
                continue
            expected = matcher.match(body)
            assert list(batch[place]) == list(expected)
            assert batch[place].numbers == expected.numbers
            assert batch.ids(batch[place].numbers) == list(expected)
        if not batch.errors:
            assert [list(matches) for matches in batch] == [list(matches) for matches in batch[:]]


@each_engine
def test_arrow_wraps_a_batch_without_copying(engine: EngineName) -> None:
    import pyarrow

    matcher = Matcher(engine=engine)
    matcher.add_many(enumerate(["//a", "//b", "//a[b][c]"]))
    batch = matcher.match_batch([b"<a/>", b"<c/>", b"<a", b"<a><b/><c/></a>"])
    offsets = pyarrow.array(batch.offsets, pyarrow.int32())
    numbers = pyarrow.array(batch.numbers, pyarrow.int32())
    assert pyarrow.ListArray.from_arrays(offsets, numbers).to_pylist() == [[0], [], [], [0, 1, 2]]
    shared = pyarrow.ListArray.from_buffers(
        pyarrow.list_(pyarrow.int32()),
        len(batch),
        [None, pyarrow.py_buffer(batch.offsets)],
        children=[
            pyarrow.Int32Array.from_buffers(
                pyarrow.int32(), len(batch.numbers), [None, pyarrow.py_buffer(batch.numbers)]
            )
        ],
    )
    shared.validate(full=True)
    assert shared.to_pylist() == [[0], [], [], [0, 1, 2]]
    assert (batch.offsets.format, batch.numbers.format) == ("i", "i")
    assert batch.numbers.readonly


@each_engine
def test_empty_batch(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    for id in range(2):
        batch = matcher.match_batch([])
        assert (len(batch), list(batch.offsets), list(batch.numbers)) == (0, [0], [])
        assert list(batch) == []
        assert batch.errors == {}
        with pytest.raises(IndexError):
            batch[0]
        matcher.add(id, "//a")


@each_engine
def test_negative_indexes_and_slices(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("a", "//a")
    batch = matcher.match_batch(body for body in (b"<a/>", b"<b/>", b"<x><a/></x>"))
    assert [list(batch[place]) for place in (-1, -2, -3)] == [["a"], [], ["a"]]
    assert [len(matches) for matches in batch[1:]] == [0, 1]
    with pytest.raises(IndexError):
        batch[3]


@each_engine
def test_undecided_subscriptions_are_listed_by_document(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add("sorting", "concat(//comment(), '') = '5'")
    long = b"<r>" + b"<!--5-->" * 5000 + b"</r>"
    batch = matcher.match_batch([b"<r><!--5--></r>", long, b"<r/>"])
    assert [list(matches) for matches in batch] == [["sorting"], [], []]
    assert set(batch.undecided) == {1}
    assert set(batch[1].errors) == {"sorting"}
    assert batch.errors == {}


@each_engine
def test_input_generator_may_subscribe(engine: EngineName) -> None:
    """The generator of the bodies adds subscriptions; matches name only those of their view."""
    matcher = Matcher(engine=engine)
    matcher.add("first", "//a")

    def feed() -> Iterator[bytes]:
        for number in range(5):
            yield b"<a/>"
            matcher.add(number, "//a")

    batch = matcher.match_batch(feed())
    for place, matches in enumerate(batch):
        ids = list(matches)
        assert ids[0] == "first"
        assert set(ids) <= {"first", *range(place)}
    assert list(matcher.match(b"<a/>")) == ["first", 0, 1, 2, 3, 4]


@each_engine
def test_wrong_types_are_rejected(engine: EngineName) -> None:
    matcher = Matcher(engine=engine)
    matcher.add(1, "//a")
    for wrong in (None, 5, ["<a/>"]):
        with pytest.raises(TypeError):
            matcher.match(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            matcher.match_batch([b"<a/>", wrong])  # type: ignore[list-item]
    for body in (bytearray(b"<a/>"), memoryview(b"<a/>")):
        assert list(matcher.match(body)) == [1]  # type: ignore[arg-type]


# ids


@each_engine
def test_old_matches_keep_their_ids(engine: EngineName) -> None:
    """Matches resolve to the same ids after removal and renumbering of all subscriptions."""
    matcher = Matcher(engine=engine)
    matcher.add_many((f"old {number}", "//a") for number in range(300))
    matcher.add("twig", "//a[b][c]")
    body = b"<a><b/><c/></a>"
    matches, batch = matcher.match(body), matcher.match_batch([body])
    expected = [*(f"old {number}" for number in range(300)), "twig"]
    for id in expected:
        matcher.remove(id)
    matcher.settle()
    assert list(matcher.match(body)) == []
    matcher.add_many((f"new {number}", "//a") for number in range(400))
    assert list(matches) == list(batch[0]) == expected
    assert "old 7" in matches
    assert "new 7" not in matches
    assert list(matcher.match(body)) == [f"new {number}" for number in range(400)]


@each_engine
def test_numbers_are_compacted_after_removals(engine: EngineName) -> None:
    """Ten thousand short-lived subscriptions: numbers stay small, the order stays the same."""
    matcher = Matcher(engine=engine)
    matcher.add("first", "//a", hop=1)
    largest = 0
    for start in range(0, 10_000, 1000):
        matcher.add_many((number, "//a", None, 2) for number in range(start, start + 1000))
        matcher.add(f"stays {start}", "//a[b]", hop=3)
        for number in range(start, start + 1000):
            matcher.remove(number)
        largest = max(largest, *matcher.match(b"<a><b/></a>").numbers)
    assert list(matcher.match(b"<a><b/></a>")) == [
        "first",
        *(f"stays {start}" for start in range(0, 10_000, 1000)),
    ]
    assert list(matcher.match_hops(b"<a><b/></a>")) == [1, 3]
    assert largest < 8000
