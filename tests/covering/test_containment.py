"""Containment of two patterns: the papers' examples, and properties checked by libxml2."""

from __future__ import annotations

import itertools
import re
from copy import deepcopy

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from pathcast.covering import covers
from pathcast.covering.containment import Verdict
from pathcast.errors import SubscriptionError
from tests import oracle, strategies
from tests.covering.patterns import paths, small_documents, twigs, value_tests
from tests.generate import NAMESPACES

YES = [
    # Li 2008, section 4.2, the three worked examples of DesCov. The second is printed as a no: "the
    # sub-XPE */c does not cover *//c". But the * of the first pattern may match a deeper element:
    # below the second a there is always an element above the c.
    ("/*/a//*//c", "/a/a/*//c/e/c/d"),
    ("/*/a//*/c", "/a/a/*//c/b/d"),
    ("/a/*//*/d", "/a//b/c/d"),
    # the same section: "an absolute XPE can not cover a relative one", but this one does
    ("/*/*", "a/b"),
    ("/a", "/a"),  # "must be shorter" has to read "not longer"
    ("a/*/c", "/x/a/b/c/d"),
    # the same section: string matching with a failure function, which misses this because of *
    ("a/*/a", "a/a/b/a"),
    # Li 2008, section 4.3: a merger covers its members
    ("a/*/c/*", "a/*/c/d"),
    ("/a//c/*/*", "/a/c/*/*"),
    ("/a//c/*/*", "/a//c/*/c"),
    # Chand 2004, sections 3 and 4
    ("//Stock[Symbol='GHI'][Price>15]", "//Stock[Symbol='GHI'][Price>20]"),
    ("//Stock", "//Stock[Symbol='GHI'][Price>15]"),
    ("/a/*", "/a//b"),  # beyond homomorphisms
    # Cao 2012, section 4.2: u of figure 4.5 covers q4, and q1, q2, q3 of figure 4.12 cover u
    ("/a[.//b/e]//b[c][d]", "/a//b[d][e][c]"),
    ("/a//b", "/a[.//b/e]//b[c][d]"),
    ("/a[.//c]//b/e", "/a[.//b/e]//b[c][d]"),
    ("/a[.//b/d][.//b/e]//b/c", "/a[.//b/e]//b[c][d]"),
    # values
    ("//item[price>15]", "//item[price>20]"),
    ("//item[@a]", "//item[@a='x']"),
    ("//a[@n>1][@n<9]", "//a[@n>2 and @n<=5]"),
    ("//a[@n!=3]", "//a[@n='x']"),
    ("//a[@n>=2 or @n<2]", "//a[@n='2.5']"),
    ("//a[contains(., 'b')]", "//a[starts-with(., 'abc')]"),
    ("//a[starts-with(@x, 'ab')]", "//a[@x='abc']"),
    ("//a[string-length(@x)>1]", "//a[starts-with(@x, 'abc')]"),
    ("//a[not(contains(., 'abc'))]", "//a[not(contains(., 'b'))]"),
    # and, or, not
    ("//a[b or c]", "//a[b]"),
    ("//a[b][c]", "//a[b and c and d]"),
    ("//a|//b", "//a[c]"),
    ("//a[not(b)]", "//a[not(.//b)]"),
    ("//a[not(b/c)]", "//a[not(b)]"),
    ("//a[not(b and c)]", "//a[not(b)]"),
    ("//a[count(b)>1]", "//a[count(b)>=3]"),
    ("//a/b", "//a[count(b)>1]"),
    # positions
    ("//a", "//a[2]"),
    ("//a[position()<3]", "//a[1]"),
    ("//a[position()>1]", "//a[3]"),
    # one root element, one attribute of a name
    ("/a[b][c]", "/a/b and /a/c"),
    ("//a[@x>2]", "//a[@x>1][@x>3]"),
    ("/b", "/a and /b"),  # nothing matches it
    ("//a", "//b[. > 3][. < 2]"),
    # attributes anywhere
    ("//@x", "/a[@x='1']"),
    ("//*[@x]", "//@x"),
    ("a//@x", "a/b/@x"),
    # residuals: equal expressions, and the skeleton
    ("//item[price * 2 > 30]", "//item[price*2>30]"),
    ("//item/price", "//item[price * 2 > 30]"),
]

NO = [
    ("a/*/c", "a/x/y/c"),  # Li 2008, section 4.2: a failure function without *
    ("/*/*/*", "a/b"),
    # Cao 2012: containee, as printed, says yes to these three
    ("/a/b", "/a//b"),
    ("//b[c][d]", "/b[c]/b[d]/x/c"),
    ("/a", "//a"),
    ("/b/c", "/a/b/c"),
    ("/a//b[d][e][c]", "/a[.//b/e]//b[c][d]"),
    ("//Stock[Symbol='GHI'][Price>15]", "//Stock[Symbol='GHI']"),
    ("//item[price>20]", "//item[price>15]"),
    ("//a[b][c]", "//a[b]"),
    ("//a[@x]", "//a"),
    ("//a[.='x']", "//a"),
    ("//a[2]", "//a"),
    ("//a[@x='1']", "//a[@x=1]"),
    ("//a[contains(., 'abc')]", "//a[contains(., 'b')]"),
    ("//x", "//y and //z"),
    ("a", "true()"),
    # the witness contains what the wide pattern negates
    ("//a[not(b)]", "//a"),
    ("//a[not(@x = 5)]", "/r/a"),
    ("//a[not(b/c[@x])]", "//a[b]"),
    ("//a[not(b or c)][not(d)]", "//a/e"),
    ("//a[not(b)] | //a[not(c)]", "/a"),
    ("/a[not(//b)]", "/a"),
]


@pytest.mark.parametrize(("wide", "narrow"), YES)
def test_covers(wide: str, narrow: str) -> None:
    assert covers(wide, narrow).answer is True


@pytest.mark.parametrize(("wide", "narrow"), NO)
def test_does_not_cover(wide: str, narrow: str) -> None:
    _check(wide, narrow, covers(wide, narrow))
    assert covers(wide, narrow).answer is False


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("//item[price * 2 > 31]", "//item[price * 2 > 32]"), ("//a[not(b)]", "//a[lang('en')]")],
)
def test_gives_up_with_a_reason(wide: str, narrow: str) -> None:
    verdict = covers(wide, narrow)
    assert verdict.answer is None
    assert verdict.reason
    assert not verdict


@pytest.mark.parametrize(
    ("wide", "narrow", "witness"),
    [
        ("//a[not(b)]", "//a", b"<a><b/></a>"),
        ("//a[. = 'abc']", "//a[string-length(.) > 2]", 3),
        ("//a[@x = 'abc']", "//a[string-length(@x) > 5]", 6),
        ("//a[contains(., 'k')]", "//a[string-length(.) > 99]", 100),
    ],
)
def test_witnesses_are_minimal(wide: str, narrow: str, witness: bytes | int) -> None:
    """No node and no character can be removed; values of more than 40 characters are halved."""
    actual = covers(wide, narrow).witness
    assert actual is not None
    if isinstance(witness, bytes):
        assert actual == witness
    else:
        (value,) = etree.fromstring(actual).xpath("//@x | //text()")
        assert len(value) == witness


def test_canonical_models_decide_beyond_homomorphisms() -> None:
    """The element above the b is the root or below it: a mapping for each kind of document."""
    wide, narrow = "/*[.//b]//*", "//*[.//b]//*"
    assert covers(wide, narrow).answer is True
    undecided = covers(wide, narrow, effort=0)
    assert undecided.answer is None
    assert "documents to look at" in undecided.reason


def test_namespaces() -> None:
    spaces = {"p": "urn:p", "q": "urn:q"}
    assert covers("//p:*", "//p:a", spaces).answer is True
    assert covers("//*", "//p:a", spaces).answer is True
    assert covers("//q:*", "//p:a", spaces).answer is False
    assert covers("//p:*", "//*", spaces).answer is False
    assert covers("//a", "//p:a", spaces).answer is False


def test_namespaces_in_a_witness_do_not_clash() -> None:
    """An element and its attribute in different namespaces, which are not those of its parent."""
    spaces = {"p": "urn:p", "q": "urn:q"}
    wide, narrow = "/p:*/q:b[@p:x]//c/c", "/p:*/q:b[@p:x]//*/c"
    verdict = covers(wide, narrow, spaces)
    assert verdict.answer is False
    _check(wide, narrow, verdict, spaces)


def test_an_unwritable_document_proves_nothing() -> None:
    """An xml:id must be a name: if it must be a number, there is no document to check."""
    assert covers("//@xml:id[../a]", "//@xml:id").answer is False
    undecided = covers("//b", "//a[@xml:id = '1']")
    assert undecided.answer is None
    assert "cannot be written" in undecided.reason


def test_bad_patterns_are_errors() -> None:
    with pytest.raises(SubscriptionError):
        covers("//a[", "//a")


def _check(wide: str, narrow: str, verdict: Verdict, spaces: dict[str, str] | None = None) -> None:
    """Check that a witness matches `narrow` only, and is minimal."""
    assert (verdict.witness is not None) is (verdict.answer is False)
    if verdict.witness is None:
        return
    expressions = [oracle.expression(text, spaces) for text in (narrow, wide)]

    def is_witness(root: etree._Element) -> bool:
        tree = etree.ElementTree(root)
        return [oracle.holds(each, tree) for each in expressions] == [True, False]

    root = etree.fromstring(verdict.witness)
    assert is_witness(root)
    for index in range(1, sum(1 for _ in root.iter())):
        copy = deepcopy(root)
        node = next(itertools.islice(copy.iter(), index, None))
        parent = node.getparent()
        assert parent is not None
        if not node.tail:
            parent.remove(node)
            assert not is_witness(copy)


def _covers_by_chains(wide: str, narrow: str) -> bool:
    """Decide paths by chain documents a little longer than the wide path's wildcards."""
    steps = re.findall(r"(//?)([^/]+)", narrow if narrow.startswith("/") else "//" + narrow)
    expression = oracle.expression(wide)
    longest = wide.count("*") + 2
    for lengths in itertools.product(*(range(longest if axis == "//" else 1) for axis, _ in steps)):
        names: list[str] = []
        for length, (_, name) in zip(lengths, steps, strict=True):
            names += ["z"] * length + ["z" if name == "*" else name]
        body = "".join(f"<{name}>" for name in names)
        body += "".join(f"</{name}>" for name in reversed(names))
        if not oracle.holds(expression, oracle.document(body.encode())):
            return False
    return True


@given(paths(), paths())
def test_paths_are_decided(wide: str, narrow: str) -> None:
    verdict = covers(wide, narrow)
    assert verdict.answer is _covers_by_chains(wide, narrow)
    _check(wide, narrow, verdict)


@given(twigs(), twigs())
def test_twigs_are_decided(wide: str, narrow: str) -> None:
    verdict = covers(wide, narrow)
    assert verdict.answer is not None
    _check(wide, narrow, verdict)
    if verdict:
        expressions = [oracle.expression(text) for text in (narrow, wide)]
        for tree in small_documents():
            assert not oracle.holds(expressions[0], tree) or oracle.holds(expressions[1], tree)


@given(twigs(values=True), twigs(values=True), strategies.documents())
def test_twigs_with_values(wide: str, narrow: str, body: bytes) -> None:
    verdict = covers(wide, narrow)
    _check(wide, narrow, verdict)
    if verdict and oracle.oracle(narrow, None, body):
        assert oracle.oracle(wide, None, body)


VALUES = ["", "w", "0", "1", "1.0", "01", "1.5", "2", "2.0", "2.00", "2.5", "3", "3.0", "4", "x"]


@given(
    st.lists(value_tests("@x"), min_size=1, max_size=3).map("".join),
    st.lists(value_tests("@x"), min_size=1, max_size=3).map("".join),
)
def test_values_are_decided(wide: str, narrow: str) -> None:
    verdict = covers(f"//a{wide}", f"//a{narrow}")
    _check(f"//a{wide}", f"//a{narrow}", verdict)
    expressions = [oracle.expression(f"//a{text}") for text in (narrow, wide)]
    documents = [oracle.document(f"<a x='{value}'/>".encode()) for value in VALUES]
    outcomes = [[oracle.holds(each, document) for each in expressions] for document in documents]
    assert verdict.answer is ([True, False] not in outcomes)


@given(
    strategies.expressions(), strategies.expressions(), st.lists(strategies.documents(), max_size=6)
)
def test_no_wrong_yes_in_the_full_language(wide: str, narrow: str, bodies: list[bytes]) -> None:
    try:
        verdict = covers(wide, narrow, NAMESPACES)
    except SubscriptionError:
        assume(False)
    _check(wide, narrow, verdict, NAMESPACES)
    if verdict:
        for body in bodies:
            if oracle.oracle(narrow, NAMESPACES, body):
                assert oracle.oracle(wide, NAMESPACES, body)


@given(strategies.expressions())
def test_everything_covers_itself(text: str) -> None:
    try:
        assert covers(text, text, NAMESPACES).answer is True
    except SubscriptionError:
        assume(False)
