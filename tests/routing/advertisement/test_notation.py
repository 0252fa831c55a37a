"""The paper's notation: the parser, the writer, and equivalence of expressions and automaton."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.errors import AdvertisementError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.routing.advertisement import (
    Advertisement,
    AdvertisementExpression,
    RecursionClass,
    covers,
    expressions,
    leaf_paths,
    parse_advertisement,
    parse_expression,
    tally,
    union,
)
from pathcast.routing.advertisement.notation.expression import ElementStep
from pathcast.schema import parse_dtd
from tests.dtds import random_dtd
from tests.routing.advertisement import automata

rolls = st.randoms(use_true_random=False)
Word = tuple[str, ...]


def words(expression: AdvertisementExpression, longest: int) -> set[Word]:
    """Return all words up to a length, by expanding every repetition."""
    prefixes: set[Word] = {()}
    for part in expression.parts:
        if isinstance(part, ElementStep):
            part_words: set[Word] = {(str(part.label),)}
        else:
            once = set[Word]().union(*(words(choice, longest) for choice in part.choices))
            part_words, fresh = set(once), once
            while part.repeated and fresh:
                longer = {
                    prefix + suffix
                    for prefix in fresh
                    for suffix in once
                    if len(prefix + suffix) <= longest
                }
                fresh = longer - part_words
                part_words |= fresh
        prefixes = {
            prefix + suffix
            for prefix in prefixes
            for suffix in part_words
            if len(prefix + suffix) <= longest
        }
    return prefixes


@pytest.mark.parametrize(
    ("text", "kind", "states"),
    [
        ("/a/b/c", RecursionClass.NONE, 3),
        ("/a(/b)+/c", RecursionClass.SIMPLE, 3),
        ("/a/*(/b/c)+", RecursionClass.SIMPLE, 4),
        ("(/a|/b)+/c", RecursionClass.SIMPLE, 3),
        ("/a(/b|/c)/d", RecursionClass.NONE, 4),
        ("/a(/b)+/c(/d)+/e", RecursionClass.SERIES, 5),
        ("/a(/b(/c)+/d)+/e", RecursionClass.EMBEDDED, 5),
        ("(/a(/b)+(/c)+)+", RecursionClass.EMBEDDED, 3),
        ("/p:a/{urn:x}b", RecursionClass.NONE, 2),
    ],
)
def test_classes_of_the_paper(text: str, kind: RecursionClass, states: int) -> None:
    expression = parse_expression(text)
    assert (str(expression), expression.kind, expression.size) == (text, kind, states)
    assert len(parse_advertisement(text).labels) == states


def test_white_space_and_prefixes() -> None:
    spaced, plain = " /a ( /b | /c ) +\n/d ", "/a(/b|/c)+/d"
    assert parse_advertisement(spaced) == parse_advertisement(plain)
    bound = parse_advertisement("/p:a", {"p": "urn:p"})
    assert bound.allows(b'<a xmlns="urn:p"/>')
    assert not bound.allows(b'<a xmlns="urn:q"/>')
    assert parse_advertisement("/p:a").allows(b'<a xmlns="urn:q"/>')


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("a/b", 0),
        ("/a//b", 3),
        ("/", 1),
        ("/a/", 3),
        ("/a(/b", 5),
        ("/a(/b)*", 6),
        ("/a(/b))", 6),
        ("/a()+/b", 3),
        ("/a(|/b)", 3),
        ("/a[b]", 2),
        ("/a/@b", 3),
        ("/a/1", 3),
        ("(" * 60 + "/a" + ")" * 60, 50),
        ("/a" * 2001, 4001),
    ],
)
def test_errors_point(text: str, position: int) -> None:
    with pytest.raises(AdvertisementError) as caught:
        parse_advertisement(text)
    assert caught.value.position == position
    assert caught.value.kind in ("syntax", "too-deep", "too-long")


def test_two_cycles_through_one_element_need_alternatives() -> None:
    """Each repetition may take another cycle, which the paper's notation cannot express."""
    advertisement = Advertisement.of(
        parse_dtd(
            "<!ELEMENT p (#PCDATA | em | b)*><!ELEMENT em (#PCDATA | em | b)*>"
            "<!ELEMENT b (#PCDATA | em | b)*>"
        )
    )
    assert [str(expression) for expression in expressions(advertisement)] == ["/p", "/p(/b|/em)+"]


@pytest.mark.parametrize(
    ("dtd", "expected"),
    [
        ("<!ELEMENT a (b?)><!ELEMENT b (c)><!ELEMENT c EMPTY>", ["/a", "/a/b/c"]),
        ("<!ELEMENT a (b)><!ELEMENT b (b | c)><!ELEMENT c EMPTY>", ["/a(/b)+/c"]),
        (
            (
                "<!ELEMENT a (b)><!ELEMENT b (b | c)><!ELEMENT c (d)><!ELEMENT d (d*, e)>"
                "<!ELEMENT e EMPTY>"
            ),
            ["/a(/b)+/c(/d)+/e"],
        ),
        (
            (
                "<!ELEMENT a (b)><!ELEMENT b (c)><!ELEMENT c (c | d)><!ELEMENT d (b | e)>"
                "<!ELEMENT e EMPTY>"
            ),
            ["/a(/b(/c)+/d)+/e"],
        ),
        (
            "<!ELEMENT list (item+)><!ELEMENT item (#PCDATA | list)*>",
            ["(/list/item)+"],
        ),
    ],
)
def test_expressions_of_dtds(dtd: str, expected: list[str]) -> None:
    schema = parse_dtd(dtd, root=dtd.split()[1])
    assert [str(expression) for expression in expressions(Advertisement.of(schema))] == expected


@given(rolls)
def test_all_expressions_together_are_the_automaton(rng: Random) -> None:
    advertisement = automata.random_advertisement(rng, 4, wildcards=0.1)
    written = list(expressions(advertisement))
    listed = set(leaf_paths(advertisement, 5))
    assert set().union(*(words(expression, 5) for expression in written)) == listed
    assert tally(advertisement) == Counter(expression.kind for expression in written)
    for longest in (1, 3, 6):
        short = [str(expression) for expression in written if expression.size <= longest]
        assert [str(expression) for expression in expressions(advertisement, longest)] == short
        assert tally(advertisement, longest).total() == len(short)
    together = union(written)
    assert covers(together, advertisement)
    assert covers(advertisement, together)


def test_random_dtds(deep: bool) -> None:
    rng = Random(7)
    kinds: Counter[RecursionClass] = Counter()
    for _ in range(1500 if deep else 150):
        advertisement = Advertisement.of(parse_dtd(random_dtd(rng).text, root="a"))
        written = list(expressions(advertisement))
        kinds.update(expression.kind for expression in written)
        assert set().union(*(words(expression, 5) for expression in written)) == set(
            leaf_paths(advertisement, 5)
        )
        for expression in written:
            if expression.size <= 200:
                assert str(parse_expression(str(expression))) == str(expression)
                assert covers(advertisement, expression.advertisement())
    assert all(kinds[kind] > 5 for kind in RecursionClass), kinds


@pytest.mark.parametrize("name", [name for name in SCHEMA_NAMES if name != "news"])
def test_bundled_schemas(name: str) -> None:
    advertisement = Advertisement.of(bundled_schema(name))
    written = list(expressions(advertisement))
    assert len({str(expression) for expression in written}) == len(written)
    if not bundled_schema(name).graph.cyclic:
        assert {str(expression) for expression in written} == {
            "/" + "/".join(path) for path in leaf_paths(advertisement, 20)
        }
    else:
        assert set().union(*(words(expression, 6) for expression in written)) == set(
            leaf_paths(advertisement, 6)
        )


def test_expressions_of_the_news_schema_are_lazy_and_abbreviated() -> None:
    advertisement = Advertisement.of(bundled_schema("news"))
    written = list(islice(expressions(advertisement), 5000))
    assert len(written) == 5000
    assert tally(advertisement).total() == 259_959
    assert max(expression.size for expression in written) > 1_000_000
    small = [expression for expression in written if expression.size <= 60]
    assert len(small) > 500
    for expression in small[::10]:
        assert covers(advertisement, expression.advertisement()), str(expression)
    large = max(written, key=lambda expression: expression.size)
    assert len(large.abbreviate()) < 2000
    assert large.abbreviate().startswith("/news/")


def test_too_entangled() -> None:
    """In a complete graph of elements, each with a leaf, expressions grow exponentially."""
    elements = range(24)
    lines = []
    for element in elements:
        others = " | ".join(f"e{other}" for other in elements if other != element)
        lines.append(f"<!ELEMENT e{element} ({others} | l{element})*>")
        lines.append(f"<!ELEMENT l{element} EMPTY>")
    advertisement = Advertisement.of(parse_dtd("\n".join(lines), root="e0"))
    with pytest.raises(AdvertisementError, match="too entangled"):
        list(islice(expressions(advertisement), 10_000))
    assert advertisement.allows(b"<e0><e1><e0><l0/></e0></e1></e0>")
