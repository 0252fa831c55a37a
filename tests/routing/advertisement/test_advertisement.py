"""Advertisements as values: equality, JSON, text; documents within them; inclusion; inference."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.documents import parse as parse_document
from pathcast.errors import DocumentError, FormatError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.routing.advertisement import (
    ANYTHING,
    Advertisement,
    count_paths,
    covers,
    infer,
    leaf_paths,
    parse_advertisement,
    union,
    widen,
)
from pathcast.routing.advertisement.notation import parse_expression
from pathcast.schema import PathAutomaton, parse_dtd, root_paths
from tests import generate, strategies
from tests.routing.advertisement import automata

rolls = st.randoms(use_true_random=False)
BOOK = (
    "<!ELEMENT book (title, section*)><!ELEMENT section (title, section*)>"
    "<!ELEMENT title (#PCDATA)>"
)


# - values -


def test_equal_by_content() -> None:
    original = Advertisement.of(parse_dtd(BOOK))
    lines = BOOK.replace("><!", ">\n<!").split("\n")
    reordered = Advertisement.of(parse_dtd("\n".join(lines[::-1]), root="book"))
    assert original == reordered
    assert hash(original) == hash(reordered)
    assert original.text == reordered.text
    assert original != Advertisement.of(parse_dtd(BOOK, root="section"))
    assert original != "book"
    assert len({original, reordered, ANYTHING}) == 2


def test_a_local_automaton_has_one_form() -> None:
    """A DTD, an expression and samples of the same language give equal automata."""
    dtd = "<!ELEMENT a (b)><!ELEMENT b (b | c)><!ELEMENT c EMPTY>"
    samples = [b"<a><b><c/></b></a>", b"<a><b><b><c/></b></b></a>"]
    forms = {
        Advertisement.of(parse_dtd(dtd)),
        parse_advertisement("/a(/b)+/c"),
        infer(samples),
        infer(samples[::-1]),
    }
    assert len(forms) == 1


@given(rolls)
def test_json_and_pickle(rng: Random) -> None:
    advertisement = automata.random_advertisement(rng, 6, spaces=True)
    sent = json.loads(json.dumps(advertisement.to_json()))
    back = Advertisement.from_json(sent)
    assert back == advertisement
    assert back.text == advertisement.text
    assert back.labels == advertisement.labels
    body = b"<a><b/></a>"
    advertisement.allows(body)  # the compiled automaton is not pickled
    copy = pickle.loads(pickle.dumps(advertisement))
    assert copy == advertisement
    assert copy.allows(body) is advertisement.allows(body)


def test_json_keeps_prefixes_of_dtd_names() -> None:
    dtd = "<!ELEMENT c:a (c:b*)><!ELEMENT c:b EMPTY>"
    advertisement = Advertisement.of(parse_dtd(dtd))
    assert advertisement.text == "/ c:a\nc:a.: c:b\nc:b."
    assert Advertisement.from_json(advertisement.to_json()).text == advertisement.text


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"labels": ["a"], "below": [], "roots": "1", "leaves": "1"},
        {"labels": ["a"], "below": ["2"], "roots": "1", "leaves": "1"},
        {"labels": ["a"], "below": ["0"], "roots": "-1", "leaves": "1"},
        {"labels": ["a"], "below": ["0"], "roots": 1, "leaves": "1"},
        {"labels": ["a"], "below": ["0"], "roots": "1"},
        {"labels": ["a"], "below": ["0"], "roots": "g", "leaves": "1"},
        {"labels": [""], "below": ["0"], "roots": "1", "leaves": "1"},
        {"labels": [7], "below": ["0"], "roots": "1", "leaves": "1"},
        {"labels": [["a", "", [3]]], "below": ["0"], "roots": "1", "leaves": "1"},
        {"labels": [["a", "", []]], "below": ["0"], "roots": "1", "leaves": "1"},
        {"labels": ["a"] * 2001, "below": ["0"] * 2001, "roots": "1", "leaves": "1"},
    ],
)
def test_bad_json_raises_format_error(value: object) -> None:
    with pytest.raises(FormatError):
        Advertisement.from_json(value)


# - documents -


@given(rolls, strategies.documents())
def test_allows_by_the_leaf_paths(rng: Random, body: bytes) -> None:
    for advertisement in (
        automata.random_advertisement(rng, 6, wildcards=0.4, spaces=True),
        infer([body]),
    ):
        expected = all(automata.accepts(advertisement, path) for path in automata.tree_paths(body))
        assert advertisement.allows(body) is expected
        assert advertisement.allows(parse_document(body)) is expected


def test_allows_is_sometimes_true() -> None:
    rng = Random(5)
    answers = Counter(
        automata.random_advertisement(rng, 6, wildcards=0.4, spaces=True).allows(
            generate.document(rng, 3)
        )
        for _ in range(2000)
    )
    assert min(answers[True], answers[False]) > 50, answers


@given(strategies.documents())
def test_anything_allows_every_document(body: bytes) -> None:
    assert ANYTHING.allows(body)
    assert widen(ANYTHING, body) is ANYTHING


def test_malformed_documents_raise() -> None:
    for act in (ANYTHING.allows, lambda body: infer([body]), lambda body: widen(ANYTHING, body)):
        with pytest.raises(DocumentError):
            act(b"<a><b></a>")


# - inclusion -


def test_covers_is_inclusion(deep: bool) -> None:
    """With two states on both sides, a path that distinguishes them has at most 2 x 4 elements."""
    rng = Random(6)
    answers: Counter[bool] = Counter()
    for _ in range(3000 if deep else 300):
        a, b = (
            automata.random_advertisement(rng, 2, wildcards=0.3, names=("a",)) for _ in range(2)
        )
        expected = automata.words(b, 8, ("a", "z")) <= automata.words(a, 8, ("a", "z"))
        assert covers(a, b) is expected, (a.text, b.text)
        answers[expected] += 1
    assert min(answers[True], answers[False]) > 50, answers


@given(rolls)
def test_a_yes_to_inclusion_is_right(rng: Random) -> None:
    a, b = (automata.random_advertisement(rng, 4, spaces=True) for _ in range(2))
    assert covers(a, a)
    assert covers(ANYTHING, a)
    if covers(a, b):
        assert automata.words(b, 3) <= automata.words(a, 3)
        body = automata.random_document(b, rng)
        assert body is None or a.allows(body)
        assert not covers(b, ANYTHING) or covers(a, ANYTHING)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("/a(/b)+/c", "/a/b/b/c", True),
        ("/a(/b)+/c", "/a/c", False),
        ("/a(/*)+", "/a(/b(/c)+/d)+/e", True),
        ("/a(/b|/c)+", "/a(/b)+(/c)+", True),
        ("/a(/b)+(/c)+", "/a(/b|/c)+", False),
        ("/a/*", "/a/p:b", True),
        ("/a/{urn:p}b", "/a/p:b", False),  # any namespace
        ("/a/p:b", "/a/{urn:p}b", True),
        ("/a/p:b", "/a/b", True),
        ("/a/b", "/a/*", False),
        ("(/a|/b|/*)", "/*", True),
        ("(/a/b|/*/c)", "/a/c", True),
    ],
)
def test_inclusion_of_expressions(wide: str, narrow: str, expected: bool) -> None:
    assert covers(parse_advertisement(wide), parse_advertisement(narrow)) is expected


def test_a_part_of_a_dtd_is_covered() -> None:
    wide = Advertisement.of(parse_dtd("<!ELEMENT a (b*, c?)><!ELEMENT b (c)><!ELEMENT c EMPTY>"))
    narrow = Advertisement.of(parse_dtd("<!ELEMENT a (b+)><!ELEMENT b (c)><!ELEMENT c EMPTY>"))
    assert (covers(wide, narrow), covers(narrow, wide)) == (True, False)
    nothing = Advertisement.of(parse_dtd("<!ELEMENT a (a)>"))
    assert (covers(narrow, nothing), covers(nothing, narrow)) == (True, False)


def test_a_union_allows_each_path() -> None:
    both = union([parse_expression("/a/b"), parse_expression("/a/c")])
    assert both.allows(b"<a><b/><c/></a>")
    assert covers(both, parse_advertisement("/a/c"))
    assert covers(parse_advertisement("/a(/b|/c)"), both)
    assert covers(both, parse_advertisement("/a(/b|/c)"))


# - inference -


@given(st.lists(strategies.documents(), max_size=5), strategies.documents())
def test_samples_are_allowed_and_order_does_not_matter(bodies: list[bytes], extra: bytes) -> None:
    advertisement = infer(bodies)
    assert all(advertisement.allows(body) for body in bodies)
    assert advertisement == infer(reversed(bodies))
    wider = widen(advertisement, extra)
    assert wider == infer([*bodies, extra])
    assert covers(wider, advertisement)
    assert (wider is advertisement) is advertisement.allows(extra)
    assert widen(wider, extra) is wider


def test_inference_gives_a_local_automaton() -> None:
    """Inference records roots, children and leaves, and nothing else."""
    advertisement = infer([b"<r><a><b/></a><b><c/></b></r>"])
    assert advertisement.text == "/ r\na: b\nb.: c\nc.\nr: a b"
    assert advertisement.allows(b"<r><b/></r>")  # b occurred below r, and as a leaf
    assert not advertisement.allows(b"<r><a/></r>")  # a did not occur as a leaf
    assert infer([]).text == "/"
    assert not infer([]).allows(b"<r/>")


@given(rolls, strategies.documents())
def test_anything_can_be_widened(rng: Random, body: bytes) -> None:
    advertisement = automata.random_advertisement(rng, 4, spaces=True)
    wider = widen(advertisement, body)
    assert wider.allows(body)
    assert covers(wider, advertisement)
    assert widen(wider, body) is wider


def test_a_dtd_covers_what_is_inferred_from_its_documents(deep: bool) -> None:
    from pathcast.generators.documents import DocumentOptions, documents

    for name in SCHEMA_NAMES:
        advertisement = Advertisement.of(bundled_schema(name))
        seen = infer(documents(bundled_schema(name), DocumentOptions(size=4000), seed=1, count=10))
        assert covers(advertisement, seen), name


# - paths -


@given(rolls)
def test_paths_are_the_words(rng: Random) -> None:
    advertisement = automata.random_advertisement(rng, 4, wildcards=0)
    expected = {tuple(local for _, local in word) for word in automata.words(advertisement, 5)}
    listed = list(leaf_paths(advertisement, 5))
    assert len(listed) == len(set(listed)) == sum(count_paths(advertisement, 5))
    assert set(listed) == expected
    assert [len(path) for path in listed] == sorted(len(path) for path in listed)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_paths_of_schemas(name: str) -> None:
    """Leaf paths are the root paths that the schema's own automaton accepts."""
    schema = bundled_schema(name)
    machine = PathAutomaton.of(schema)
    expected = {path for path in root_paths(schema, 5) if machine.accepts(path)}
    assert set(leaf_paths(Advertisement.of(schema), 5)) == expected
