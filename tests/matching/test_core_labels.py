"""`LinearPaths.read` accepts a text only if the XPath parser yields the same path."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pathcast.matching.compiled.core import labels
from pathcast.matching.compiled.core.labels import LinearPaths, Vocabulary
from pathcast.matching.encode import PlanEncoder
from pathcast.matching.paths import requirements
from pathcast.xpath import parse

WORDS = (
    *("/", "//", "/", "//", "@", "*", "a", "b", "a-b", "a.b", "_", "a1", "1a", "-a", ".", ".."),
    *("::", "p:a", "[1]", " ", "and", "div", "or", "text()", "node()", "child::", "é", "\u0665"),
    *("|", "(", ")", "\n", "\x00", "\ud800", "\U0001f600", "$a", "'"),
)
plain = st.lists(
    st.tuples(st.sampled_from(["/", "//"]), st.sampled_from(["a", "b", "long-name.1", "*", "_"])),
    min_size=1,
    max_size=8,
).map(lambda steps: "".join(axis + name for axis, name in steps))
attributes = st.sampled_from(["", "/@x", "//@x", "/@*", "//@*"])
texts = (
    st.lists(st.sampled_from(WORDS), max_size=8).map("".join)
    | st.text(alphabet="ab*/@.-_1 é:[", max_size=10)
    | st.text(max_size=6)
    | st.builds(str.__add__, plain, attributes)
    | st.builds(lambda path, tail: (path + tail).lstrip("/"), plain, attributes)
)


@given(texts)
@example("")
@example("/")
@example("//")
@example("@x")
@example("/@x")
@example("//@*")
@example("a/@x/b")
@example("a/@x/@y")
@example("//a//")
@example("///a")
@example("a b")
@example("a\u00e9")
@example("and")
@example("*//*")
def test_read_agrees_with_the_parser_or_declines(text: str) -> None:
    vocabulary = Vocabulary()
    paths = LinearPaths(vocabulary)
    if not paths.read(text, 3):
        assert len(paths) == 0
        return
    (requirement,) = requirements(parse(text).condition)
    assert requirement.exact
    assert requirement.paths == (PlanEncoder(vocabulary).decode(paths.labels_of(0)),)
    assert (len(paths), paths.hop(0), paths.entry(0)) == (1, 3, -1)


@given(st.lists(texts, max_size=8))
def test_declined_texts_leave_no_labels(given: list[str]) -> None:
    """The accepted paths equal those of a table that read each alone."""
    paths = LinearPaths(Vocabulary())
    accepted = [text for text in given if paths.read(text)]
    assert len(paths) == len(accepted)
    for number, text in enumerate(accepted):
        alone = LinearPaths(Vocabulary())
        assert alone.read(text)
        assert paths.path(number) == alone.path(0)


@given(st.builds(str.__add__, plain, attributes))
def test_plain_paths_are_accepted(text: str) -> None:
    assert LinearPaths(Vocabulary()).read(text)


@given(st.lists(st.builds(str.__add__, plain, attributes), max_size=12), st.data())
def test_subset_count_dump_and_load(given: list[str], data: st.DataObject) -> None:
    paths = LinearPaths(Vocabulary())
    for number, text in enumerate(given):
        paths.read(text, number)
    numbers = data.draw(st.permutations(range(len(given))))[: len(given) // 2]
    assert paths.count_distinct(numbers) == len({paths.path(number) for number in numbers})
    subset = paths.subset(numbers, Vocabulary())
    expected = [paths.path(number) for number in numbers]
    assert [subset.path(at) for at in range(len(subset))] == expected
    assert [subset.hop(at) for at in range(len(subset))] == numbers
    loaded = LinearPaths(paths.vocabulary)
    loaded.load(*(memoryview(part).cast("i") for part in paths.dump()))
    assert loaded.dump() == paths.dump()
    alive = bytearray(8)
    for number in numbers:
        alive[number >> 3] |= 1 << (number & 7)
    assert list(paths.select_alive(range(len(given)), alive)) == sorted(numbers)


def test_long_texts_are_left_to_the_parser() -> None:
    assert LinearPaths(Vocabulary()).read("/a" * 500)
    assert not LinearPaths(Vocabulary()).read("/a" * 501)


def test_unknown_numbers_are_rejected() -> None:
    paths = LinearPaths(Vocabulary())
    assert paths.read("/a")
    for number in (-1, 1):
        with pytest.raises(IndexError):
            paths.path(number)
        with pytest.raises(IndexError):
            paths.hop(number)
        with pytest.raises(IndexError):
            paths.subset([number], Vocabulary())


def test_vocabulary_interns_keys() -> None:
    vocabulary = Vocabulary()
    first = [vocabulary.code(key) for key in ("a", "{u}a", "{u}*", "?a", "a")]
    assert len(set(first)) == 4
    assert first[0] == first[-1]
    assert vocabulary.value("string", "=", "5") != vocabulary.value("number", "=", "5")


def test_examples() -> None:
    assert doctest.testmod(labels).failed == 0
