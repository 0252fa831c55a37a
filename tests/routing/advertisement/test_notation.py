"""The paper's notation: what is parsed, what is written, and that all expressions together are the automaton."""

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
    """All words up to a length, by writing every repetition out."""
    found: set[Word] = {()}
    for part in expression.parts:
        if isinstance(part, ElementStep):
            ways: set[Word] = {(str(part.label),)}
        else:
            once = set[Word]().union(*(words(choice, longest) for choice in part.choices))
            ways, fresh = set(once), once
            while part.repeated and fresh:
                longer = {
                    one + more for one in fresh for more in once if len(one + more) <= longest
                }
                fresh = longer - ways
                ways |= fresh
        found = {one + more for one in found for more in ways if len(one + more) <= longest}
    return found


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
    found = parse_expression(text)
    assert (str(found), found.kind, found.size) == (text, kind, states)
    assert len(parse_advertisement(text).labels) == states


def test_white_space_and_prefixes() -> None:
    spaced, plain = " /a ( /b | /c ) +\n/d ", "/a(/b|/c)+/d"
    assert parse_advertisement(spaced) == parse_advertisement(plain)
    known = parse_advertisement("/p:a", {"p": "urn:p"})
    assert known.allows(b'<a xmlns="urn:p"/>')
    assert not known.allows(b'<a xmlns="urn:q"/>')
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


def test_what_no_expression_of_the_paper_says() -> None:
    """Two cycles through one element: what is repeated is now this and now that."""
    found = Advertisement.of(
        parse_dtd(
            "<!ELEMENT p (#PCDATA | em | b)*><!ELEMENT em (#PCDATA | em | b)*><!ELEMENT b (#PCDATA | em | b)*>"
        )
    )
    assert [str(one) for one in expressions(found)] == ["/p", "/p(/b|/em)+"]


@pytest.mark.parametrize(
    ("dtd", "expected"),
    [
        ("<!ELEMENT a (b?)><!ELEMENT b (c)><!ELEMENT c EMPTY>", ["/a", "/a/b/c"]),
        ("<!ELEMENT a (b)><!ELEMENT b (b | c)><!ELEMENT c EMPTY>", ["/a(/b)+/c"]),
        (
            "<!ELEMENT a (b)><!ELEMENT b (b | c)><!ELEMENT c (d)><!ELEMENT d (d*, e)><!ELEMENT e EMPTY>",
            ["/a(/b)+/c(/d)+/e"],
        ),
        (
            "<!ELEMENT a (b)><!ELEMENT b (c)><!ELEMENT c (c | d)><!ELEMENT d (b | e)><!ELEMENT e EMPTY>",
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
    assert [str(one) for one in expressions(Advertisement.of(schema))] == expected


@given(rolls)
def test_all_expressions_together_are_the_automaton(rng: Random) -> None:
    found = automata.advertisement(rng, 4, wild=0.1)
    written = list(expressions(found))
    listed = set(leaf_paths(found, 5))
    assert set().union(*(words(one, 5) for one in written)) == listed
    assert tally(found) == Counter(one.kind for one in written)
    for longest in (1, 3, 6):
        short = [str(one) for one in written if one.size <= longest]
        assert [str(one) for one in expressions(found, longest)] == short
        assert tally(found, longest).total() == len(short)
    together = union(written)
    assert covers(together, found)
    assert covers(found, together)


def test_random_dtds(deep: bool) -> None:
    rng = Random(7)
    kinds: Counter[RecursionClass] = Counter()
    for _ in range(1500 if deep else 150):
        found = Advertisement.of(parse_dtd(random_dtd(rng).text, root="a"))
        written = list(expressions(found))
        kinds.update(one.kind for one in written)
        assert set().union(*(words(one, 5) for one in written)) == set(leaf_paths(found, 5))
        for one in written:
            if one.size <= 200:
                assert str(parse_expression(str(one))) == str(one)
                assert covers(found, one.advertisement())
    assert all(kinds[kind] > 5 for kind in RecursionClass), kinds


@pytest.mark.parametrize("name", [name for name in SCHEMA_NAMES if name != "news"])
def test_bundled_schemas(name: str) -> None:
    found = Advertisement.of(bundled_schema(name))
    written = list(expressions(found))
    assert len({str(one) for one in written}) == len(written)
    if not bundled_schema(name).graph.cyclic:
        assert {str(one) for one in written} == {
            "/" + "/".join(path) for path in leaf_paths(found, 20)
        }
    else:
        assert set().union(*(words(one, 6) for one in written)) == set(leaf_paths(found, 6))


def test_the_news_schema_has_more_than_anybody_writes_out() -> None:
    found = Advertisement.of(bundled_schema("news"))
    written = list(islice(expressions(found), 5000))
    assert len(written) == 5000
    assert tally(found).total() == 259_959
    assert max(one.size for one in written) > 1_000_000
    small = [one for one in written if one.size <= 60]
    assert len(small) > 500
    for one in small[::10]:
        assert covers(found, one.advertisement()), str(one)
    large = max(written, key=lambda one: one.size)
    assert len(large.abbreviate()) < 2000
    assert large.abbreviate().startswith("/news/")


def test_too_entangled() -> None:
    """Every element leads to every other but itself, and to a leaf of its own: expressions grow without bound."""
    many = range(24)
    lines = [
        f"<!ELEMENT e{at} ({' | '.join(f'e{one}' for one in many if one != at)} | l{at})*><!ELEMENT l{at} EMPTY>"
        for at in many
    ]
    found = Advertisement.of(parse_dtd("\n".join(lines), root="e0"))
    with pytest.raises(AdvertisementError, match="too entangled"):
        list(islice(expressions(found), 10_000))
    assert found.allows(b"<e0><e1><e0><l0/></e0></e1></e0>")
