"""Satisfiability: a yes has a document, a no is never wrong, and linear paths are decided.

The oracle generates valid documents of random DTDs (`tests.dtds`, independent of the product) and
matches them with libxml2. For linear paths a second oracle decides exactly: the pattern against
every root path up to a sufficient depth.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from lxml import etree

from pathcast.errors import SubscriptionError
from pathcast.schema import Schema, parse_dtd, root_paths, satisfiable
from pathcast.xpath import parse
from tests import generate, oracle
from tests.dtds import NAMES, random_dtd
from tests.pools import chance

BOOK = parse_dtd(
    """<!ELEMENT book (title, (author+ | editor), chapter*, price?)>
    <!ELEMENT title (#PCDATA)> <!ELEMENT author (#PCDATA)>
    <!ELEMENT editor (name)> <!ELEMENT name (#PCDATA)>
    <!ELEMENT chapter (title, (p | note)*, chapter*)>
    <!ELEMENT p (#PCDATA | em)*> <!ELEMENT em (#PCDATA | em)*> <!ELEMENT note EMPTY>
    <!ELEMENT price (#PCDATA)>
    <!ATTLIST book isbn CDATA #REQUIRED status (draft | final) 'draft' lang CDATA #FIXED 'en'>
    <!ATTLIST note id ID #IMPLIED ref IDREF #REQUIRED>"""
)


def lxml_confirms(text: str, schema: Schema, example: bytes | None) -> bool:
    """Return whether the example is valid and matches, according to lxml alone."""
    assert example is not None
    assert not schema.faults(example)
    return oracle.oracle(text, None, example)


@pytest.mark.parametrize(
    "text",
    [
        "/book/title",
        "//em//em/em",
        "//chapter//chapter/note",
        "/*/*[*/em]/*",
        "/book[author][chapter/p[em]]/price",
        "/book[author[3]]",
        "/book/chapter[2]/p[3]",
        "//chapter[note][p][.//em]",
        "/book[@status = 'final'][@lang = 'en']",
        "//price[. > 10 and . < 11]",
        "//title[starts-with(., 'Ab')][contains(., 'z')][string-length(.) = 9]",
        "/book[price = 5][title = 'x']",
        "//editor[. = 'Ann']",
        "//note[@id = 'q']",
        "//note[not(@id)]",
        "/book[not(author)]/editor",
        "/book[count(chapter) > 3]",
        "//p/text()",
        "//chapter/text()",
        "//chapter/comment()",
        "//chapter[note | p]",
        "//*[@isbn or @ref][last()]",
        "/book[editor or nothing]",
        "//p[2][em]",
        "//p[em][2]",
        "/",
        "string() = 'x'",
        "contains(/., 'Ann')",
    ],
)
def test_yes_with_a_document(text: str) -> None:
    result = satisfiable(text, BOOK)
    assert result.answer is True
    assert lxml_confirms(text, BOOK, result.example)


@pytest.mark.parametrize(
    ("text", "reason", "position", "near"),
    [
        ("/boook", "the root element is book, not boook (near: book)", 1, ("book",)),
        ("/title", "the root element is book, not title", 1, ()),
        ("/book/chaptre/p", "book has no child chaptre (near: chapter)", 6, ("chapter",)),
        ("//chapter//autor", "chapter has no descendant autor (near: author)", 11, ("author",)),
        ("//price/em", "price has no child em; it stands in p or em", 8, ()),
        ("//zebra", "there is no element zebra", 2, ()),
        (
            "/book[author][editor]",
            "editor cannot occur there together with the other conditions",
            14,
            (),
        ),
        ("/book/title[2]", "the DTD does not allow that many of them", 6, ()),
        ("/book[@isnb]", "book has no attribute isnb (near: isbn)", 6, ("isbn",)),
        (
            "/book[@status = 'finale']",
            "the values of attribute status are draft or final: never . = 'finale' (near: final)",
            6,
            ("final",),
        ),
        ("//note/text()", "note cannot hold text()", 7, ()),
        ("//note/*", "note can hold no element *", 7, ()),
        ("//note[not(@ref)]", "every note has attribute ref", 2, ()),
        ("/book[not(title)]", "every book has title", 1, ()),
        ("//note[. = 'x']", "note has no text for . = 'x'", 7, ()),
        ("/book/*[6 > count(nothing)][not(*)]/em", "", None, ()),
    ],
)
def test_no_with_the_culprit(
    text: str, reason: str, position: int | None, near: tuple[str, ...]
) -> None:
    result = satisfiable(text, BOOK)
    assert result.answer is False
    if reason:
        assert result.culprit is not None
        assert (result.reason, result.culprit.at, result.culprit.similar_names) == (
            reason,
            position,
            near,
        )


@pytest.mark.parametrize(
    "text",
    [
        "//p[following-sibling::p]",  # outside tree patterns: the skeleton's document fails
        "//author[. = 'x' and . = 'y']",  # contradictory strings are not detected
        "//chapter[.//p[99]]",
    ],
)
def test_unknown(text: str) -> None:
    result = satisfiable(text, BOOK)
    assert result.answer is None
    assert result
    assert result.example is None


def test_a_bad_subscription_is_its_own_error() -> None:
    with pytest.raises(SubscriptionError):
        satisfiable("//a[", BOOK)


def test_too_many_branches_are_not_decided() -> None:
    text = "//chapter" + "".join(f"[.//em[. = '{number}']]" for number in range(12))
    assert satisfiable(text, BOOK).answer is None


@pytest.mark.parametrize("place", [3, 12])
def test_too_many_positions_are_not_decided(place: int) -> None:
    schema = parse_dtd(
        "<!ELEMENT r (a|b|c|d|e|f)*>" + "".join(f"<!ELEMENT {name} EMPTY>" for name in "abcdef")
    )
    text = "/r" + "".join(f"[{name}[{place}]]" for name in "abcdef")
    assert satisfiable(text, schema).answer is None


def test_a_reference_uses_an_id_elsewhere() -> None:
    schema = parse_dtd(
        """<!ELEMENT r (x*, y*)><!ELEMENT x EMPTY><!ELEMENT y EMPTY>
        <!ATTLIST x ref IDREF #IMPLIED><!ATTLIST y id ID #IMPLIED>"""
    )
    result = satisfiable("//x/@ref", schema)
    assert result.example == b'<r><x ref="x1"/><y id="x1"/></r>'


def test_undetermined_content_terminates() -> None:
    """The alternatives of c have equal heights in sum, but only one of them is finite."""
    dtd = parse_dtd("<!ELEMENT a (a, c)?> <!ELEMENT c (c | (a, a))>", root="a")
    assert satisfiable("/a/c", dtd).example == b"<a><a/><c><a/><a/></c></a>"


def test_schema_without_documents() -> None:
    result = satisfiable("//b", parse_dtd("<!ELEMENT a (a, b?)><!ELEMENT b EMPTY>"))
    assert str(result) == "no: no finite document with root a is valid"


def test_namespaces() -> None:
    schema = parse_dtd(
        """<!ELEMENT doc (m:math*, p*)>
        <!ATTLIST doc xmlns:m CDATA #FIXED 'urn:m' xml:lang CDATA #IMPLIED>
        <!ELEMENT m:math (m:mi*)> <!ELEMENT m:mi (#PCDATA)> <!ELEMENT p EMPTY>"""
    )
    prefixes = {"k": "urn:m", "other": "urn:o"}
    result = satisfiable("/doc/k:math[k:mi = 'x']", schema, prefixes)
    assert result.answer is True
    assert result.example == b'<doc xmlns:m="urn:m"><m:math><m:mi>x</m:mi></m:math></doc>'
    assert satisfiable("//math", schema).answer is False
    assert satisfiable("//other:math", schema, prefixes).answer is False
    assert satisfiable("//k:p", schema, prefixes).answer is False
    assert satisfiable("//k:*/k:*", schema, prefixes).answer is True
    assert satisfiable("/doc[@xml:lang = 'en']", schema).answer is True
    default = parse_dtd("<!ELEMENT doc EMPTY><!ATTLIST doc xmlns CDATA #FIXED 'urn:m'>")
    assert satisfiable("/k:doc", default, prefixes).example == b'<doc xmlns="urn:m"/>'
    assert satisfiable("/doc", default).example == b"<doc/>"


def linear(rng: Random, longest: int = 5) -> str:
    """Return a random path of names, * and //, possibly with an attribute at its end."""
    steps = "".join(
        rng.choice(("/", "/", "//")) + rng.choice((*NAMES, "*"))
        for _ in range(rng.randint(1, longest))
    )
    return steps + (rng.choice(("/@x", "//@y")) if chance(rng, 0.2) else "")


def test_linear_patterns_are_decided_exactly(deep: bool) -> None:
    """Against every root path of at most 12 elements, as a chain with all its attributes."""
    rng = Random(3)
    answers: Counter[bool | None] = Counter()
    for _ in range(400 if deep else 60):
        dtd = random_dtd(rng)
        schema = parse_dtd(dtd.text, root="a")
        chains = []
        for path in root_paths(schema, 12):
            tags = [
                name + "".join(f' {attribute[0]}="1"' for attribute in dtd.attributes[name])
                for name in path
            ]
            body = "".join(f"<{tag}>" for tag in tags) + "".join(
                f"</{name}>" for name in path[::-1]
            )
            chains.append(etree.fromstring(body).getroottree())
            if len(chains) > 3000:
                break
        for _ in range(15):
            text = " | ".join(linear(rng) for _ in range(rng.choice((1, 1, 2))))
            result = satisfiable(text, schema)
            check = etree.XPath(f"boolean({text})")
            expected = any(check(chain) for chain in chains)
            if len(chains) <= 3000 or expected:
                assert result.answer is expected, (dtd.text, text)
            assert result.answer is not None, (dtd.text, text)
            if result.answer:
                assert lxml_confirms(text, schema, result.example)
            answers[result.answer] += 1
    assert min(answers[True], answers[False]) > 100  # both answers are frequent


def test_never_no_where_a_valid_document_matches(deep: bool) -> None:
    rng = Random(4)
    answers: Counter[tuple[bool, bool | None]] = Counter()
    for _ in range(1500 if deep else 100):
        dtd = random_dtd(rng)
        schema = parse_dtd(dtd.text, root="a")
        rolled = (dtd.document(rng) for _ in range(60))
        bodies = list(dict.fromkeys(body for body in rolled if body))
        if bodies:
            assert "a" in schema.graph.size
        for _ in range(12):
            text = generate.expression(rng, generate.NATIVE if chance(rng, 0.8) else generate.WHOLE)
            pattern = parse(text, generate.NAMESPACES)
            result = satisfiable(pattern, schema)
            matched = any(oracle.oracle(text, generate.NAMESPACES, body) for body in bodies)
            assert not (matched and result.answer is False), (dtd.text, text)
            if result.answer:
                assert result.example is not None
                assert not schema.faults(result.example)
                assert oracle.oracle(text, generate.NAMESPACES, result.example)
            answers[matched, result.answer] += 1
    total = answers.total()
    assert answers[True, True] > 0.1 * total  # many matching pairs are decided
    assert answers[False, False] > 0.1 * total
    decided_share = 1 - (answers[True, None] + answers[False, None]) / total
    assert decided_share > 0.7, answers


def test_twigs_are_decided(deep: bool) -> None:
    """Branches, and, or: never None within the bounds, and a no is never wrong."""
    rng = Random(5)
    answers: Counter[bool | None] = Counter()
    for _ in range(600 if deep else 80):
        dtd = random_dtd(rng)
        schema = parse_dtd(dtd.text, root="a")
        bodies = [body for body in (dtd.document(rng) for _ in range(40)) if body]
        for _ in range(8):
            text = "/" + linear(rng, 2).partition("/@")[0].rstrip("/")
            for _ in range(rng.randint(1, 3)):
                branch, other = (linear(rng, 2) for _ in range(2))
                joint = rng.choice((" and ", " or "))
                text += f"[.{branch}{joint}.{other}]" if chance(rng, 0.3) else f"[.{branch}]"
            text = text.replace("///", "//")
            result = satisfiable(text, schema)
            assert result.answer is not None, (dtd.text, text)
            if not result.answer:
                assert not any(oracle.oracle(text, None, body) for body in bodies), (dtd.text, text)
            answers[result.answer] += 1
    assert min(answers[True], answers[False]) > 50, answers
