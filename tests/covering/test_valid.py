"""Containment under a DTD: worked examples, and all small documents of random DTDs as the oracle.

The oracle generates documents from content models of its own, as tuples, and shares no code with
the product.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.budget import WorkBudget
from pathcast.covering import Verdict, covers
from pathcast.covering.labels import LabelKind, NameLabel
from pathcast.covering.to_twigs import to_twigs
from pathcast.covering.twig import Twig
from pathcast.covering.under_dtd import ValidWitnessChecker, chase, minimize_valid
from pathcast.schema import Schema, parse_dtd
from pathcast.xpath import parse
from tests import oracle
from tests.covering.patterns import paths, twigs

BIB = parse_dtd(
    """<!ELEMENT bib (book*, journal?)> <!ELEMENT book (title, (author+ | editor), price?)>
    <!ELEMENT journal (article*)> <!ELEMENT article (author, section*)>
    <!ELEMENT section (p | section)*> <!ELEMENT title (#PCDATA)> <!ELEMENT author (#PCDATA)>
    <!ELEMENT editor EMPTY> <!ELEMENT price (#PCDATA)> <!ELEMENT p (#PCDATA | em)*>
    <!ELEMENT em (#PCDATA)>
    <!ATTLIST book isbn CDATA #REQUIRED year CDATA #IMPLIED>"""
)

# b must refer to an ID elsewhere
REFERENCES = """<!ELEMENT a (b?, (c | d)?)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY> <!ELEMENT d EMPTY>
    <!ATTLIST b r IDREF #REQUIRED> <!ATTLIST c i ID #REQUIRED> <!ATTLIST d i ID #IMPLIED>"""
HALF = "<!ELEMENT a (c, (b, d)?)> <!ELEMENT b (a)> <!ELEMENT c (b?)>"  # no b beside the c
ATTRIBUTES = """<!ELEMENT a (b | c)> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>
    <!ATTLIST b x CDATA #REQUIRED y CDATA #IMPLIED>
    <!ATTLIST c x CDATA #REQUIRED y CDATA #REQUIRED>"""

YES = [
    ("//title", "/bib//book/title"),
    ("/bib//book/title", "//title"),
    ("/bib/book/title", "//title"),
    ("//*", "//em"),
    ("/*", "//section//p"),
    ("//title", "//editor"),  # another path, but every book has a title
    ("//book[title]/editor", "//editor"),
    ("//article/author", "//em"),
    ("//journal[.//p]", "//em"),
    ("/bib/*/*/section", "//p"),
    ("//section//section | //article/section", "//p"),
    ("//title", "/bib/title"),  # which no valid document matches
    ("/x", "//book[author][editor]"),
    ("//book/@isbn", "//price"),
    ("//@isbn", "//title"),
    ("//book[@isbn][title]", "//price"),
    ("//author | //editor", "//book"),
    ("/bib[book]", "//title"),
    # with values, positions and negations, by the chase
    ("/bib/book[price > 15]", "//price[. > 20]"),
    ("/bib/book[title]/price[. > 15]", "//*[price > 20]"),
    ("/bib/book[@isbn][@year = 2001]", "//*[@year = 2001]"),
    ("/bib/book[author[2]]", "//book/author[2]"),
    ("/bib/book[not(price)]", "//book[not(price)]"),
]

NO = [
    ("//title", "//author", b"<bib><journal><article><author/></article></journal></bib>"),
    ("//price", "//title", b'<bib><book isbn=""><title/><author/></book></bib>'),
    ("//section/p", "//section", None),
    ("//section/section/p", "//section//p", None),
    ("//book", "/bib", b"<bib/>"),
    ("//@year", "//book", b'<bib><book isbn=""><title/><author/></book></bib>'),
    ("//book[author][price]", "//price", None),
    ("//book[price < 100]", "//book[price > 15]", None),
    ("//price[. > 20]", "//price[. > 15]", None),
    ("/bib/book[author[2]]", "//book/author", None),
]


@pytest.mark.parametrize(("wide", "narrow"), YES)
def test_covers(wide: str, narrow: str) -> None:
    assert covers(wide, narrow, dtd=BIB).answer is True


@pytest.mark.parametrize(("wide", "narrow", "witness"), NO)
def test_does_not_cover(wide: str, narrow: str, witness: bytes | None) -> None:
    verdict = covers(wide, narrow, dtd=BIB)
    assert verdict.answer is False
    assert witness in (None, verdict.witness)
    _check(wide, narrow, verdict, BIB)


@pytest.mark.parametrize(
    ("dtd", "wide", "narrow", "answer"),
    [
        ("<!ELEMENT a (a)>", "/b", "/a", True),  # no finite document
        ("<!ELEMENT a (b | c)> <!ELEMENT b (b)> <!ELEMENT c EMPTY>", "//c", "/a", True),
        ("<!ELEMENT a (b | c)> <!ELEMENT c EMPTY>", "//c", "/a", True),  # b is not declared
        ("<!ELEMENT a EMPTY>", "/a", "true()", True),
        ("<!ELEMENT a EMPTY>", "/a", "not(b[count(b) < 0])", True),  # the same
        ("<!ELEMENT a EMPTY>", "/b", "true()", False),
        (HALF, "/a[@x]", "//b", False),
        ("<!ELEMENT a ANY> <!ELEMENT b EMPTY>", "/a/a", "//b", False),
        ("<!ELEMENT a ANY> <!ELEMENT b EMPTY>", "/a", "//b", True),
        ("<!ELEMENT a (#PCDATA | b)*> <!ELEMENT b EMPTY>", "/a/b", "/a", False),
        ("<!ELEMENT a (b, b)> <!ELEMENT b EMPTY>", "/a[b[2]]", "/a/b", None),
        ("<!ELEMENT a (b, c)*> <!ELEMENT b EMPTY> <!ELEMENT c (b?)>", "//c/b", "//b", False),
        (ATTRIBUTES, "/a/*/@x", "/a", True),  # whichever of them it is
        (ATTRIBUTES, "/a/*/@y", "//b", False),
        (REFERENCES, "/a/@x", "//b", False),
        (REFERENCES, "//d", "//b", False),
    ],
)
def test_corners_of_dtds(dtd: str, wide: str, narrow: str, answer: bool | None) -> None:
    schema = parse_dtd(dtd, root="a")
    verdict = covers(wide, narrow, dtd=schema)
    assert verdict.answer is answer
    assert bool(verdict.reason) is (answer is None)
    _check(wide, narrow, verdict, schema)


def test_siblings_are_removed_together_if_none_can_go_alone() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (b | (c, b, c))> <!ELEMENT b EMPTY> <!ELEMENT c EMPTY>", root="a"
    )
    checker = ValidWitnessChecker(schema, parse("/b"), parse("/a/b"), WorkBudget())
    assert minimize_valid(b"<a><c/><b/><c/></a>", checker) == b"<a><b/></a>"


def test_too_many_variants_are_not_a_yes() -> None:
    """The wide path has 2**16 variants: `a` or not at each of the last 16 levels."""
    schema = parse_dtd("<!ELEMENT a (a | b)*> <!ELEMENT b (a | b)*>", root="a")
    wide = "//a" + "/*" * 16 + "/b"
    verdict = covers(wide, "//b/a", dtd=schema)
    assert verdict.answer is not True
    _check(wide, "//b/a", verdict, schema)


def test_the_chase_is_bounded() -> None:
    """Each element needs two of the next: a tree of 2**30 nodes."""
    lines = [f"<!ELEMENT e{n} (e{n + 1}, f{n + 1})> <!ELEMENT f{n} (e{n + 1})>" for n in range(30)]
    schema = parse_dtd("".join(lines) + "<!ELEMENT e30 EMPTY> <!ELEMENT f30 EMPTY>", root="e0")
    (twig,) = to_twigs(parse("/e0"))
    chased = chase(twig, schema, 40, WorkBudget())
    assert chased is not None
    assert len(chased) < 200


def _check(wide: str, narrow: str, verdict: Verdict, schema: Schema) -> None:
    """Check that a witness is valid, matches `narrow` only, and is minimal."""
    assert (verdict.witness is not None) is (verdict.answer is False)
    if verdict.witness is None:
        return
    expressions = [oracle.expression(text) for text in (narrow, wide)]

    def is_witness(root: etree._Element) -> bool:
        tree = etree.ElementTree(root)
        return [oracle.holds(each, tree) for each in expressions] == [True, False]

    root = etree.fromstring(verdict.witness)
    assert not schema.faults(root)
    assert is_witness(root)
    for smaller in _smaller(root):
        assert not is_witness(smaller) or schema.faults(smaller)


def _smaller(root: etree._Element) -> Iterator[etree._Element]:
    for index, node in enumerate(root.iter("*")):
        for size in range(1, min(len(node), 5) + 1):
            for places in itertools.combinations(range(len(node)), size):
                yield _without(root, index, places)
        for name in node.attrib:
            copy = deepcopy(root)
            del next(itertools.islice(copy.iter("*"), index, None)).attrib[name]
            yield copy


def _without(root: etree._Element, index: int, places: tuple[int, ...]) -> etree._Element:
    copy = deepcopy(root)
    parent = next(itertools.islice(copy.iter("*"), index, None))
    for place in reversed(places):
        del parent[place]
    return copy


# the oracle: tiny DTDs and all their small documents

Model = tuple[str, tuple["Model", ...] | str, str]  # kind (name, seq, or), parts or name, mark
Tree = tuple[str, tuple["Tree", ...]]
NAMES = "abc"
MAX_ELEMENTS = 5  # of a document


@dataclass(frozen=True)
class Dtd:
    """A DTD over the elements a, b and c with an optional attribute x.

    A content is a keyword such as EMPTY, or a model. An attribute is its default, or empty.
    """

    contents: tuple[Model | str, ...]
    attributes: tuple[str, ...]

    @property
    def text(self) -> str:
        lines = []
        for name, content, default in zip(NAMES, self.contents, self.attributes, strict=True):
            model = content if isinstance(content, str) else f"({_spell(content)})"
            lines.append(f"<!ELEMENT {name} {model}>")
            if default:
                lines.append(f"<!ATTLIST {name} x CDATA {default}>")
        return "\n".join(lines)

    @cached_property
    def schema(self) -> Schema:
        return parse_dtd(self.text, root="a")

    def words(self, name: str, max_length: int) -> set[tuple[str, ...]]:
        """Return the words of an element's content up to a length."""
        content = self.contents[NAMES.index(name)]
        if not isinstance(content, str):
            return _words(content, max_length)
        names = {"EMPTY": "", "(#PCDATA)": "", "ANY": NAMES}.get(content, "ab")
        return {
            word for size in range(max_length + 1) for word in itertools.product(names, repeat=size)
        }

    @cached_property
    def trees(self) -> list[Tree]:
        """All documents up to MAX_ELEMENTS elements, without attributes and texts."""
        by_root: dict[tuple[str, int], list[Tree]] = {}
        for size in range(1, MAX_ELEMENTS + 1):
            for name in NAMES:
                words = self.words(name, size - 1)
                by_root[name, size] = [
                    (name, below)
                    for word in sorted(words)
                    for below in _forests(word, size - 1, by_root)
                ]
        return [tree for size in range(1, MAX_ELEMENTS + 1) for tree in by_root["a", size]]

    def documents(self, rng: Random | None = None) -> Iterator[etree._ElementTree]:
        """Yield all documents, or a random sample with random values."""
        for tree in self.trees if rng is None else rng.sample(self.trees, min(40, len(self.trees))):
            yield etree.ElementTree(etree.fromstring(self._write(tree, rng)))

    def _write(self, tree: Tree, rng: Random | None) -> str:
        name, below = tree
        at = NAMES.index(name)
        values = ["1", "2.0", "3", "w", ""]
        attribute = text = ""
        if self.attributes[at] == "#REQUIRED" or (
            rng and self.attributes[at] and rng.random() < 0.6
        ):
            attribute = f' x="{rng.choice(values) if rng else 1}"'
        if rng and self.contents[at] in ("(#PCDATA)", "ANY", "(#PCDATA | a | b)*"):
            text = rng.choice(values)
        inner = "".join(self._write(child, rng) for child in below)
        return f"<{name}{attribute}>{text}{inner}</{name}>"


def _spell(model: Model) -> str:
    kind, inner, mark = model
    if isinstance(inner, str):
        return inner + mark
    return f"({(', ' if kind == 'seq' else ' | ').join(map(_spell, inner))}){mark}"


def _words(model: Model, max_length: int) -> set[tuple[str, ...]]:
    kind, inner, mark = model
    once: set[tuple[str, ...]] = set()
    if isinstance(inner, str):
        once = {(inner,)}
    elif kind == "or":
        once = {word for part in inner for word in _words(part, max_length)}
    else:
        once = {()}
        for part in inner:
            once = _concatenate(once, _words(part, max_length), max_length)
    words = {word for word in once if len(word) <= max_length}
    if mark in ("*", "+"):
        while longer := _concatenate(words, once, max_length) - words:
            words |= longer
    return words | {()} if mark in ("*", "?") else words


def _concatenate(
    heads: set[tuple[str, ...]], tails: set[tuple[str, ...]], max_length: int
) -> set[tuple[str, ...]]:
    return {head + tail for head in heads for tail in tails if len(head) + len(tail) <= max_length}


def _forests(
    word: tuple[str, ...], size: int, by_root: dict[tuple[str, int], list[Tree]]
) -> Iterator[tuple[Tree, ...]]:
    """Yield the sequences of trees with these root names and `size` elements in all."""
    if not word:
        if not size:
            yield ()
        return
    for first in range(1, size - len(word) + 2):
        for tree in by_root.get((word[0], first), ()):
            for others in _forests(word[1:], size - first, by_root):
                yield tree, *others


def _models() -> st.SearchStrategy[Model]:
    marks = st.sampled_from(["", "", "?", "*", "+"])
    names = st.tuples(st.just("name"), st.sampled_from("abcbcbcbcbcd"), marks)

    def combine(inner: st.SearchStrategy[Model]) -> st.SearchStrategy[Model]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.tuples(st.sampled_from(["seq", "or"]), parts, marks)

    return st.recursive(names, combine, max_leaves=4)


_plain = st.sampled_from(["EMPTY", "(#PCDATA)", "ANY", "(#PCDATA | a | b)*"])
_contents = st.one_of(_models(), _models(), _plain)
_short = st.one_of(paths(2), paths(4))  # long paths are mostly unsatisfiable
rngs = st.integers(0, 9_999).map(Random)
_attributes = st.sampled_from(["", "", "#IMPLIED", "#REQUIRED"])
dtds = st.builds(Dtd, st.tuples(_contents, _contents, _contents), st.tuples(*[_attributes] * 3))


def _check_against_documents(
    wide: str, narrow: str, verdict: Verdict, dtd: Dtd, rng: Random | None = None
) -> None:
    _check(wide, narrow, verdict, dtd.schema)
    if verdict:
        expressions = [oracle.expression(text) for text in (narrow, wide)]
        for tree in dtd.documents(rng):
            assert not oracle.holds(expressions[0], tree) or oracle.holds(expressions[1], tree)


@given(dtds, rngs)
def test_the_oracle_generates_valid_documents(dtd: Dtd, rng: Random) -> None:
    for tree in itertools.islice(dtd.documents(rng), 50):
        assert not dtd.schema.faults(tree.getroot())


@given(dtds, _short, _short)
def test_paths_are_decided(dtd: Dtd, wide: str, narrow: str) -> None:
    verdict = covers(wide, narrow, dtd=dtd.schema)
    assert verdict.answer is not None
    _check_against_documents(wide, narrow, verdict, dtd)


@given(dtds, twigs(), twigs(), rngs)
def test_twigs_are_decided(dtd: Dtd, wide: str, narrow: str, rng: Random) -> None:
    verdict = covers(wide, narrow, dtd=dtd.schema)
    assert verdict.answer is not None
    _check_against_documents(wide, narrow, verdict, dtd, rng)


@given(dtds, _short, twigs(), rngs)
def test_a_path_and_a_twig(dtd: Dtd, wide: str, narrow: str, rng: Random) -> None:
    for left, right in ((wide, narrow), (narrow, wide)):
        verdict = covers(left, right, dtd=dtd.schema)
        assert verdict.answer is not None
        _check_against_documents(left, right, verdict, dtd, rng)


@given(dtds, _short, _short, rngs)
def test_valid_witnesses_are_minimal(dtd: Dtd, wide: str, narrow: str, rng: Random) -> None:
    checker = ValidWitnessChecker(dtd.schema, parse(wide), parse(narrow), WorkBudget())
    for tree in itertools.islice(dtd.documents(rng), 5):
        witness = minimize_valid(etree.tostring(tree), checker)
        if witness is not None:
            _check(wide, narrow, Verdict(False, witness), dtd.schema)


@given(dtds, twigs(values=True), twigs(values=True), rngs)
def test_twigs_with_values(dtd: Dtd, wide: str, narrow: str, rng: Random) -> None:
    _check_against_documents(wide, narrow, covers(wide, narrow, dtd=dtd.schema), dtd, rng)


@given(dtds, twigs(), rngs)
def test_the_chase_holds_in_all_matching_documents(dtd: Dtd, narrow: str, rng: Random) -> None:
    (twig,) = to_twigs(parse(narrow))
    chased = chase(twig, dtd.schema, 3, WorkBudget())
    premise = oracle.expression(narrow)
    conclusion = None if chased is None else oracle.expression(_to_xpath(chased))
    for tree in dtd.documents(rng):
        if oracle.holds(premise, tree):
            assert conclusion is not None
            assert oracle.holds(conclusion, tree)


def _to_xpath(twig: Twig, node: int = 0) -> str:
    """Return a twig of elements and attributes as an expression."""
    label = twig.labels[node]
    assert isinstance(label, NameLabel)
    name = ("@" if label.kind is LabelKind.ATTRIBUTE else "") + (label.name or "*")
    branches = [
        (".//" if twig.descendant[child] else "./") + _to_xpath(twig, child)
        for child in twig.children[node]
    ]
    tests = "".join(f"[{branch}]" for branch in branches)
    return name + tests if node else f"/self::node(){tests}"
