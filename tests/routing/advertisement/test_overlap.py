"""Overlap of advertisements and patterns: the paper's examples, and brute-force oracles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathcast.budget import WorkBudget
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.documents import DocumentOptions, documents
from pathcast.generators.subscriptions import SubscriptionOptions, subscriptions
from pathcast.routing.advertisement import (
    ANYTHING,
    Advertisement,
    infer,
    overlaps,
    parse_advertisement,
)
from pathcast.schema import load_dtd, parse_dtd, satisfiable
from pathcast.xpath import parse
from tests import generate, oracle
from tests.dtds import random_dtd
from tests.pools import chance
from tests.routing.advertisement import automata

rolls = st.randoms(use_true_random=False)


# - Li, Hou and Jacobsen 2008 -


@pytest.mark.parametrize(
    ("advertised", "xpath", "expected"),
    [
        # section 3.2, absolute: "the algorithm returns 0, since the matching rules fail to
        # satisfy for i = 4"
        ("/b/*/*/c/c/d", "/*/c/*/b/c", False),
        ("/b/*/*/c/c/d", "/*/c/*/c/c", True),
        ("/b/*/*/c/c/d", "/b/c/c/c/c/d/e", False),  # "if the given XPE is longer"
        # section 3.2, descendant operators: "It returns 1"
        ("/a/*/e/*/d/*/c/b", "*/a//d/*/c//b", True),
        ("/a/*/e/*/d/*/c/b", "*/a//d/*/c//d", False),  # only b follows d/*/c
        # section 3.3: "Finally, it returns 1 if it finds a matches s with double recursive
        # patterns in a"
        ("/a/*/c(/e/d)+/*/c/e", "/*/a/c/*/d/e/d/*", True),
        ("/a/*/c(/e/d)+/*/c/e", "/*/a/c/*/d/e/c", True),  # one repetition, and the wildcard
        ("/a/*/c(/e/d)+/*/c/e", "/*/a/c/*/d/e/e", False),
        # figure 3 as printed says no to the first and yes to the second
        ("/a(/b)+/c/d", "/a/b/b/c/d", True),
        ("/a(/b/c)+/d", "/a/b/c/x/y/z", False),
        # a search by a failure function finds the first and misses the second: matching with * is
        # not transitive
        ("/a/x/y/c", "a/*/c", False),
        ("/a/a/b/a", "a/*/a", True),
        # series- and embedded-recursive
        ("/a(/b)+/c(/d)+/e", "/a/b/b/c/d/d/e", True),
        ("/a(/b)+/c(/d)+/e", "/a//d//b", False),
        ("/a(/b(/c)+/d)+/e", "/a/b/c/c/d/b/c/d/e", True),
        ("/a(/b(/c)+/d)+/e", "c/b", False),
        ("/a(/b(/c)+/d)+/e", "//d/*/c", True),
        ("/a(/b(/c)+/d)+/e", "//e/*", False),
    ],
)
def test_the_paper(advertised: str, xpath: str, expected: bool) -> None:
    assert overlaps(parse_advertisement(advertised), parse(xpath)) is expected


def test_paths_may_stop_where_nothing_must_follow() -> None:
    schema = parse_dtd("<!ELEMENT a (b?)><!ELEMENT b (c*, d?)><!ELEMENT c EMPTY><!ELEMENT d EMPTY>")
    advertisement = Advertisement.of(schema)
    for body in (b"<a/>", b"<a><b/></a>", b"<a><b><c/></b></a>"):
        assert advertisement.allows(body)
    assert not advertisement.allows(b"<b/>")


# - paths of / // * are decided exactly -


@given(rolls)
def test_paths_are_decided_exactly(rng: Random) -> None:
    """The oracle is a document with all prefixes; a step spans at most as many levels as states."""
    advertisement = automata.random_advertisement(rng)
    for _ in range(6):
        text = automata.random_path(rng, 3)
        bodies, complete = automata.trie(advertisement, 3 * len(advertisement.labels) or 1)
        expected = any(oracle.oracle(text, None, body) for body in bodies)
        answer = overlaps(advertisement, parse(text))
        assert answer or not expected, (advertisement.text, text)
        if complete:
            assert answer is expected, (advertisement.text, text)


def test_both_answers_are_common(deep: bool) -> None:
    rng = Random(1)
    answers: Counter[tuple[bool, bool]] = Counter()
    for _ in range(3000 if deep else 250):
        advertisement = automata.random_advertisement(rng, 3)
        bodies, complete = automata.trie(advertisement, 9)
        for _ in range(4):
            text = automata.random_path(rng, 3)
            expected = any(oracle.oracle(text, None, body) for body in bodies)
            assert overlaps(advertisement, parse(text)) is expected or not complete
            answers[complete, expected] += 1
    assert min(answers[True, True], answers[True, False]) > 150, answers


def test_paths_under_random_dtds(deep: bool) -> None:
    rng = Random(2)
    answers: Counter[bool] = Counter()
    for _ in range(600 if deep else 100):
        advertisement = Advertisement.of(parse_dtd(random_dtd(rng).text, root="a"))
        bodies, complete = automata.trie(advertisement, 12)
        for _ in range(10):
            text = automata.random_path(rng, 3).replace("c", rng.choice("cd"))
            expected = any(oracle.oracle(text, None, body) for body in bodies)
            answer = overlaps(advertisement, parse(text))
            assert answer or not expected
            if complete:
                assert answer is expected, (advertisement.text, text)
                answers[answer] += 1
    assert min(answers[True], answers[False]) > 100, answers


# - everything else: never a wrong no -


@given(rolls)
def test_never_a_wrong_no(rng: Random) -> None:
    """Automata with namespaces and repeated labels; documents within them; all of XPath."""
    advertisement = automata.random_advertisement(rng, 5, spaces=True)
    bodies = [
        body for _ in range(4) if (body := automata.random_document(advertisement, rng)) is not None
    ]
    for body in bodies:
        assert advertisement.allows(body), (advertisement.text, body)
    for _ in range(8):
        text = generate.expression(rng, generate.NATIVE if chance(rng, 0.7) else generate.WHOLE)
        if any(oracle.oracle(text, generate.NAMESPACES, body) for body in bodies):
            assert overlaps(advertisement, parse(text, generate.NAMESPACES)), (
                advertisement.text,
                text,
            )


def test_never_a_wrong_no_and_often_a_right_one(deep: bool) -> None:
    rng = Random(3)
    answers: Counter[tuple[bool, bool]] = Counter()
    for _ in range(4000 if deep else 300):
        advertisement = automata.random_advertisement(
            rng, 5, spaces=chance(rng, 0.5), repeat_labels=chance(rng, 0.5)
        )
        bodies = [
            body
            for _ in range(6)
            if (body := automata.random_document(advertisement, rng)) is not None
        ]
        for _ in range(8):
            text = generate.expression(rng, generate.WHOLE)
            matched = any(oracle.oracle(text, generate.NAMESPACES, body) for body in bodies)
            answer = overlaps(advertisement, parse(text, generate.NAMESPACES))
            assert answer or not matched, (advertisement.text, text)
            answers[matched, answer] += 1
    total = answers.total()
    assert answers[True, True] > 0.1 * total
    assert answers[False, False] > 0.2 * total


@given(rolls)
def test_twigs_of_documents_within(rng: Random) -> None:
    """Every twig that a document within the advertisement matches overlaps it."""
    advertisement = automata.random_advertisement(rng, 6, spaces=chance(rng, 0.5))
    for _ in range(3):
        body = automata.random_document(advertisement, rng, 5)
        for _ in range(4 if body is not None else 0):
            text = automata.random_twig(rng, body or b"")
            assert oracle.oracle(text, generate.NAMESPACES, body or b""), (body, text)
            assert overlaps(advertisement, parse(text, generate.NAMESPACES)), (
                advertisement.text,
                text,
            )


def test_twigs_under_ambiguous_automata(deep: bool) -> None:
    """With few names, documents often take two paths at once, which no single state represents."""
    rng = Random(8)
    missed = 0
    for _ in range(3000 if deep else 300):
        paths = ("/a" + "".join(f"/{rng.choice('ab*')}" for _ in range(3)) for _ in range(4))
        advertisement = parse_advertisement(f"({'|'.join(paths)})")
        body = automata.random_document(advertisement, rng, 4)
        for _ in range(4 if body is not None else 0):
            text = automata.random_twig(rng, body or b"")
            pattern = parse(text, generate.NAMESPACES)
            assert overlaps(advertisement, pattern), (advertisement.text, text)
            nfa = advertisement.nfa
            missed += not nfa._where(pattern.condition, WorkBudget()) & nfa.document
    assert missed > 100


def test_valid_documents_of_random_dtds(deep: bool) -> None:
    rng = Random(4)
    answers: Counter[tuple[bool, bool]] = Counter()
    for _ in range(1000 if deep else 80):
        dtd = random_dtd(rng)
        advertisement = Advertisement.of(parse_dtd(dtd.text, root="a"))
        bodies = [body for _ in range(30) if (body := dtd.document(rng))]
        for body in bodies:
            assert advertisement.allows(body), (dtd.text, body)
        for _ in range(12):
            text = generate.expression(rng, generate.NATIVE if chance(rng, 0.8) else generate.WHOLE)
            matched = any(oracle.oracle(text, generate.NAMESPACES, body) for body in bodies)
            answer = overlaps(advertisement, parse(text, generate.NAMESPACES))
            assert answer or not matched, (dtd.text, text)
            answers[matched, answer] += 1
    assert answers[True, True] > 0.1 * answers.total()
    assert answers[False, False] > 0.1 * answers.total()


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_generated_documents_and_subscriptions(name: str) -> None:
    """All subscriptions drawn from the schema overlap; so do those that a sample matches."""
    schema = bundled_schema(name)
    advertisement = Advertisement.of(schema)
    bodies = list(documents(schema, DocumentOptions(size=3000), seed=5, count=4))
    assert all(advertisement.allows(body) for body in bodies)
    options = SubscriptionOptions(max_depth=8, wildcard=0.2, descendant=0.2, branch=0.3)
    for text in subscriptions(schema, options, seed=5, count=60):
        assert overlaps(advertisement, parse(text)), text
    seen = infer(bodies)
    for text in subscriptions(schema, options, seed=6, count=40):
        if any(oracle.oracle(text, None, body) for body in bodies):
            assert overlaps(seen, parse(text)), text


def test_the_corpus(corpus: Path) -> None:
    """NITF: all subscriptions of the YFilter benchmark overlap, except unsatisfiable ones."""
    schema = load_dtd(corpus / "dtd" / "nitf" / "nitf-2-5-libxml2.dtd")
    advertisement = Advertisement.of(schema)
    texts = (corpus / "queries" / "nitf-yfilter" / "queries.txt").read_text().split("\n")
    disjoint = [text for text in texts if text and not overlaps(advertisement, parse(text))]
    assert 0 < len(disjoint) < 10 < len(texts)
    for text in disjoint:
        assert satisfiable(text, schema).answer is False, text
    assert not overlaps(advertisement, parse("/nitf/body/head"))


# - single twigs -

BOOK = Advertisement.of(
    parse_dtd(
        """<!ELEMENT book (title, (author+ | editor), chapter*)> <!ELEMENT title (#PCDATA)>
        <!ELEMENT author (#PCDATA)> <!ELEMENT editor EMPTY>
        <!ELEMENT chapter (title, (p | note)*, chapter*)> <!ELEMENT p (#PCDATA | em)*>
        <!ELEMENT em (#PCDATA | em)*> <!ELEMENT note EMPTY> <!ATTLIST note ref CDATA #IMPLIED>"""
    )
)


@pytest.mark.parametrize(
    ("xpath", "expected"),
    [
        ("/", True),
        ("/book[author][editor]", True),  # each branch is possible on its own
        ("/book[author][note]", False),
        ("//chapter[p/em][chapter/note]/title", True),
        ("//*[author][p]", False),  # both exist, never in the same element
        ("//*[author or p]", True),
        ("//*[author/x or p/note]", False),
        ("//p[em[em[em]]]", True),
        ("//em[p]", False),
        ("//note[@ref = 'x']", True),
        ("//note[@anything]", True),
        ("//note/@ref", True),
        ("//zebra/@ref", False),
        ("//note/text()", True),  # text is not checked
        ("/text()", False),
        ("/comment()", True),
        ("/book/node()/descendant-or-self::text()", True),
        ("//editor/node()/descendant-or-self::text()", True),
        ("//editor/*/descendant-or-self::text()", False),
        ("//p[em = 'x']", True),
        ("//p[note = 'x']", False),
        ("//p[note != 'x']", False),
        ("//p[not(em)]", True),
        ("//p[not(note)]", True),
        ("//p[count(note) = 0]", True),
        ("//p[count(note) > 0]", False),
        ("//p[string-length(note) = 0]", True),  # the string-value of an empty node-set is empty
        ("//p[contains(note, 'x')]", False),
        ("//chapter[7]/p[last()]", True),
        ("//em[/book/author]", True),
        ("//em[/book/note]", False),
        ("//p[following-sibling::p]", True),
        ("//p/note[following-sibling::p]", False),
        ("//p[em * 2 > 3]", True),
        ("//p[note * 2 > 3]", False),
        ("//author | //zebra", True),
        ("//zebra | //p/note", False),
        ("//author and //zebra", False),
        ("//chapter/self::node()[title]", True),
        ("//editor/descendant-or-self::editor", True),
        ("//editor/descendant-or-self::p", False),
        ("/descendant-or-self::node()[author]/title", True),
        ("/descendant-or-self::node()[book]/book/author", True),
        ("//*[self::chapter]/p", True),
        ("//*[self::editor]/p", False),
    ],
)
def test_conditions(xpath: str, expected: bool) -> None:
    assert overlaps(BOOK, parse(xpath)) is expected


def test_a_document_may_take_two_paths_of_an_ambiguous_automaton() -> None:
    """No state has b and c below it, but each path of the document is advertised."""
    advertisement = Advertisement.build(
        parse_advertisement("/a(/b|/c)").labels[:1] * 2 + parse_advertisement("/b(/c)").labels,
        [1 << 2, 1 << 3, 0, 0],
        0b11,
        0b1100,
    )
    body = b"<a><b/><c/></a>"
    assert advertisement.allows(body)
    assert overlaps(advertisement, parse("/a[b][c]"))
    assert overlaps(advertisement, parse("/a[b and c]"))
    assert not overlaps(advertisement, parse("/a[b/c]"))
    assert not overlaps(advertisement, parse("/a[b][d]"))


@pytest.mark.parametrize("text", ["/", "//a", "/a[b][not(c)]", "/x/y/z[. = 3]/@q", "false()"])
def test_anything_overlaps_everything(text: str) -> None:
    assert overlaps(ANYTHING, parse(text))


def test_an_empty_advertisement_overlaps_no_pattern() -> None:
    nothing = Advertisement.of(parse_dtd("<!ELEMENT a (a, b?)><!ELEMENT b EMPTY>"))
    assert nothing.labels == ()
    assert not overlaps(nothing, parse("//a"))
    assert not nothing.allows(b"<a/>")


def test_elements_that_cannot_be_finite_are_not_advertised() -> None:
    schema = parse_dtd(
        """<!ELEMENT a (b | c | d)*> <!ELEMENT b (b)> <!ELEMENT c EMPTY> <!ELEMENT d (missing)>
        <!ELEMENT e EMPTY>""",
        root="a",
    )
    advertisement = Advertisement.of(schema)
    assert [str(label) for label in advertisement.labels] == ["a", "c"]
    assert [overlaps(advertisement, parse(f"//{name}")) for name in "abcde"] == [
        True,
        False,
        True,
        False,
        False,
    ]


# - namespaces -


def test_namespaces_of_dtd_names() -> None:
    prefixes = {"k": "urn:m", "o": "urn:o"}

    def ask(dtd: str, *texts: str) -> list[bool]:
        advertisement = Advertisement.of(parse_dtd(dtd))
        return [overlaps(advertisement, parse(text, prefixes)) for text in texts]

    fixed = (
        "<!ELEMENT doc (m:math*)><!ATTLIST doc xmlns:m CDATA #FIXED 'urn:m'><!ELEMENT m:math EMPTY>"
    )
    texts = ("/doc/k:math", "//o:math", "//math", "//k:*", "//o:*", "/k:doc")
    assert ask(fixed, *texts) == [True, False, False, True, False, False]
    unknown = "<!ELEMENT doc (m:math*)><!ELEMENT m:math EMPTY>"
    assert ask(unknown, *texts) == [True, True, True, True, True, False]
    default = "<!ELEMENT doc EMPTY><!ATTLIST doc xmlns CDATA #FIXED 'urn:m'>"
    assert ask(default, "/doc", "/k:doc", "/o:doc") == [True, True, False]
    free = "<!ELEMENT doc EMPTY><!ATTLIST doc xmlns CDATA #IMPLIED>"
    assert ask(free, "/doc", "/k:doc", "/o:doc") == [True, True, True]
    advertisement = Advertisement.of(parse_dtd(fixed))
    assert advertisement.allows(b'<doc xmlns:m="urn:m"><m:math/></doc>')
    assert advertisement.allows(b'<doc xmlns:other="urn:m"><other:math/></doc>')
    assert not advertisement.allows(b'<doc xmlns:m="urn:o"><m:math/></doc>')


def test_inferred_names_are_exact() -> None:
    advertisement = infer([b'<a xmlns="urn:p"><b xmlns=""/></a>'])
    asked = ["/p:a", "/a", "/q:a", "/p:a/b", "/p:a/p:b", "//*", "//p:*", "//q:*"]
    answers = [overlaps(advertisement, parse(text, generate.NAMESPACES)) for text in asked]
    assert answers == [True, False, False, True, False, True, True, False]
