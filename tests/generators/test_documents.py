"""Documents from DTDs: valid, within the limits, of the requested size, and reproducible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import parse
from pathcast.errors import SchemaError, WorkloadError
from pathcast.generators.bundled import SCHEMA_NAMES, bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents, documents
from pathcast.generators.values import ValueDomain
from pathcast.schema import Schema, load_dtd, parse_dtd
from tests.generators.document_dtds import dtds

_OPTIONS = st.builds(
    DocumentOptions,
    max_depth=st.integers(1, 8),
    repetition=st.integers(1, 4),
    optional=st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]),
    recursion=st.none() | st.integers(1, 3),
    size=st.none() | st.integers(300, 3000),
    values=st.sampled_from(
        [ValueDomain(), ValueDomain(kind="words", vocabulary=("a", "<&>", '"é"', "]]>"), length=3)]
    ),
)


def _paths(document: bytes) -> Iterator[list[str]]:
    for element in etree.fromstring(document).iter():
        yield [str(element.tag), *(str(ancestor.tag) for ancestor in element.iterancestors())]


def _depth(document: bytes) -> int:
    return max(map(len, _paths(document)))


def _check(schema: Schema, options: DocumentOptions, document: bytes) -> None:
    assert schema.faults(document) == [], document
    for path in _paths(document):
        assert len(path) <= options.max_depth
        if options.recursion is not None:
            assert max(Counter(path).values()) <= options.recursion
    if options.size is not None:
        assert len(document) == pytest.approx(options.size, rel=0.15), document


# --- any DTD, any options -----------------------------------------------------------------------


@given(dtds(), _OPTIONS, st.integers(0, 3))
def test_documents_of_any_dtd(text: str, options: DocumentOptions, seed: int) -> None:
    schema = parse_dtd(text, root="e0")
    height = schema.graph.height.get("e0")
    if height is None or height > options.max_depth:
        with pytest.raises(WorkloadError) as caught:
            Documents(schema, options, seed)
        assert caught.value.kind == ("infinite" if height is None else "depth")
        return
    try:
        documents = Documents(schema, options, seed)
        several = [documents[number] for number in range(3)]
    except WorkloadError as error:
        reasons = {"references": "IDREF #REQUIRED" in text, "size": options.size is not None}
        if reasons.get(error.kind):
            return
        raise
    for document in several:
        assert schema.faults(document) == [], document
        _check(schema, _without_size(options), document)
    again = Documents(schema, options, seed)
    assert [again[number] for number in (2, 0, 1)] == [several[2], several[0], several[1]]


def _without_size(options: DocumentOptions) -> DocumentOptions:
    """Return the options without a size: parts of a random DTD may be too big for it."""
    return DocumentOptions(max_depth=options.max_depth, recursion=options.recursion)


@given(dtds(), st.integers(1, 4), st.integers(0, 3))
def test_repetition_is_an_upper_bound(text: str, max_repeats: int, seed: int) -> None:
    schema = parse_dtd(text, root="e0")
    try:
        document = Documents(schema, DocumentOptions(repetition=max_repeats, max_depth=6), seed)[0]
    except WorkloadError:
        return
    for element in etree.fromstring(document).iter():
        count = Counter(child.tag for child in element)
        # A name occurs once in a model, under at most three marks: those of two groups and its own.
        assert max(count.values(), default=0) <= max_repeats**3
        if schema.elements[str(element.tag)].kind.allows_text:
            assert len(element) <= max_repeats


# --- the bundled schemas ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMA_NAMES)
@pytest.mark.parametrize(
    "options",
    [
        DocumentOptions(),
        DocumentOptions(size=5000),
        DocumentOptions(size=10_000, recursion=1, max_depth=12),
        DocumentOptions(size=20_000, recursion=2, optional=0.9, repetition=5),
        DocumentOptions(size=4000, optional=0.0),
        DocumentOptions(optional=1.0, repetition=1, max_depth=7, recursion=1),
        DocumentOptions(size=6000, values=ValueDomain(kind="words", theta=1.0, length=8)),
    ],
    ids=["free", "5k", "10k-r1", "20k-r2", "bare", "full", "words"],
)
def test_documents_of_bundled_schemas(name: str, options: DocumentOptions, deep: bool) -> None:
    schema = bundled_schema(name)
    several = list(documents(schema, options, 7, 60 if deep else 4))
    for document in several:
        _check(schema, options, document)
        parse(document)  # our own parser accepts it
    if options.size is not None:
        assert len(set(several)) == len(several)


@pytest.mark.parametrize("size", [1000, 2000, 7000, 20_000])
def test_books_of_any_size(size: int) -> None:
    book = bundled_schema("book")
    for document in documents(book, DocumentOptions(size=size), 3, 20):
        assert len(document) == pytest.approx(size, rel=0.05)


@pytest.mark.parametrize(("recursion", "depth"), [(1, 4), (2, 5), (3, 6), (6, 9)])
def test_depths_of_table_3_1_of_cao(recursion: int, depth: int) -> None:
    """Cao 2012: book(r=1) to book(r=6) have about 7 KB and "max. depth" 4, 5, 6 and 9."""
    options = DocumentOptions(size=7000, recursion=recursion)
    several = list(documents(bundled_schema("book"), options, 1, 8))
    assert max(map(_depth, several)) == depth
    assert all(abs(len(document) - 7000) < 700 for document in several)


def test_bib_of_table_3_1_of_cao() -> None:
    """Cao 2012: 16 KB and 3 levels; the bundled bib has a vendor above its books."""
    for document in documents(bundled_schema("bib"), DocumentOptions(size=16_000), 1, 5):
        assert _depth(document) in (3, 4)
        assert len(document) == pytest.approx(16_000, rel=0.05)


def test_the_bytes_are_pinned() -> None:
    """A change of these digests changes all generated workloads: note it in the changelog."""
    digests = {
        f"{name} {size}": blake2b(
            Documents(bundled_schema(name), options, 1)[3], digest_size=6
        ).hexdigest()
        for name, size, options in [
            ("news", 7500, DocumentOptions(size=7500)),
            ("news", None, DocumentOptions()),
            ("bib", 16_000, DocumentOptions(size=16_000)),
            ("book", 7000, DocumentOptions(size=7000, recursion=2)),
            (
                "auction",
                5000,
                DocumentOptions(size=5000, values=ValueDomain(kind="words", theta=0.8)),
            ),
        ]
    }
    assert digests == {
        "news 7500": "61b69528559c",
        "news None": "e784dc979ce8",
        "bib 16000": "38e7e3734d32",
        "book 7000": "cf2ff8c7416e",
        "auction 5000": "74ac4fd6806a",
    }


def test_another_number_or_seed_is_another_document() -> None:
    first, other = (
        Documents(bundled_schema("news"), DocumentOptions(size=3000), seed) for seed in (1, 2)
    )
    several = [first[number] for number in range(5)] + [other[number] for number in range(5)]
    assert len(set(several)) == 10
    assert first[10**9] == first[10**9]
    with pytest.raises(IndexError):
        first[-1]


# --- shapes -------------------------------------------------------------------------------------


def test_documents_of_the_parsers_maximal_depth() -> None:
    chain = [f"<!ELEMENT e{level} (e{level + 1} | x)>" for level in range(255)]
    schema = parse_dtd("".join(reversed(chain)) + "<!ELEMENT e255 EMPTY>", root="e0")
    document = Documents(schema, DocumentOptions(max_depth=256))[0]
    assert _depth(document) == 256
    parse(document)
    schema = parse_dtd(
        "<!ELEMENT a (#PCDATA | b)*><!ELEMENT b (c?, a?)><!ELEMENT c EMPTY>", root="a"
    )
    document = Documents(schema, DocumentOptions(max_depth=256, optional=1.0, repetition=1))[0]
    assert schema.faults(document) == []
    assert _depth(document) == 256


def test_the_recursion_limit_holds_against_the_content_model() -> None:
    """b requires an a: with r = 1 it is not allowed below one, though it is below the root."""
    schema = parse_dtd("<!ELEMENT r (a | b)*><!ELEMENT a (b?, c)><!ELEMENT b (a)><!ELEMENT c (b*)>")
    options = DocumentOptions(size=2000, recursion=1)
    for document in documents(schema, options, 1, 10):
        _check(schema, options, document)
        assert b"<b><a>" in document
    assert any(
        b"<a><b><a>" in document
        for document in documents(schema, DocumentOptions(size=2000, recursion=2), 1, 10)
    )


def test_documents_grow_beyond_the_minimal_one() -> None:
    for document in documents(bundled_schema("bib"), DocumentOptions(), 1, 30):
        assert b"<vendor" in document
    assert set(documents(bundled_schema("bib"), DocumentOptions(optional=0.0), 1, 3)) == {
        b"<bib></bib>"
    }


def test_any_and_several_roots() -> None:
    schema = parse_dtd("<!ELEMENT a ANY><!ELEMENT b EMPTY><!ELEMENT c (b, b?)>")
    several = list(documents(schema, DocumentOptions(), 1, 40))
    assert all(schema.faults(document) == [] for document in several)
    assert {etree.fromstring(document).tag for document in several} == set(schema.roots)
    assert len(schema.roots) > 1
    # With a size, only roots that can grow are used.
    sized = documents(schema, DocumentOptions(size=1000), 1, 10)
    assert {etree.fromstring(document).tag for document in sized} == {"a"}


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": 0}, "max_depth must be from 1 to 256, not 0"),
        ({"max_depth": 257}, "max_depth must be from 1 to 256, not 257"),
        ({"repetition": 0}, "repetition must be 1 or more, not 0"),
        ({"optional": 1.5}, "optional must be from 0 to 1, not 1.5"),
        ({"optional": float("nan")}, "optional must be"),
        ({"recursion": 0}, "recursion must be 1 or more, not 0"),
        ({"size": 0}, "size must be from 1 to"),
        ({"repeat": {"b": -1}}, "repeat of b must be 0 or more, not -1"),
    ],
)
def test_options_out_of_range(options: dict[str, object], message: str) -> None:
    with pytest.raises(WorkloadError, match=message) as caught:
        DocumentOptions(**options)  # type: ignore[arg-type]
    assert caught.value.kind == "options"


@pytest.mark.parametrize(
    ("name", "options", "kind", "message", "hint"),
    [
        (
            "book",
            DocumentOptions(max_depth=2),
            "depth",
            "2 levels or fewer; the lowest has 3",
            "max_depth of 3",
        ),
        (
            "book",
            DocumentOptions(size=40),
            "size",
            "the smallest document has 8. bytes, not 40",
            "size of 8",
        ),
        (
            "book",
            DocumentOptions(repeat={"sektion": 3}),
            "repeat",
            "nothing in book declares it",
            "near names: section",
        ),
        (
            "book",
            DocumentOptions(repeat={"image": 3}),
            "repeat",
            "nothing in book lets it repeat",
            "an element with",
        ),
    ],
)
def test_impossible_parameters_are_rejected(
    name: str, options: DocumentOptions, kind: str, message: str, hint: str
) -> None:
    with pytest.raises(WorkloadError, match=message) as caught:
        documents(bundled_schema(name), options, 1, 1)
    assert caught.value.kind == kind
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_infinite_recursion_and_unbounded_growth_are_rejected() -> None:
    with pytest.raises(WorkloadError, match="no finite document has the root a"):
        Documents(parse_dtd("<!ELEMENT a (a)>"))
    with pytest.raises(WorkloadError, match="no document grew to 5000 bytes, the biggest has"):
        Documents(parse_dtd("<!ELEMENT a (b?)><!ELEMENT b EMPTY>"), DocumentOptions(size=5000))[0]
    wild = DocumentOptions(max_depth=20, repetition=50, optional=1.0)
    with pytest.raises(
        WorkloadError, match="more than 3000000 tags and texts, and is not finished"
    ):
        Documents(parse_dtd("<!ELEMENT a (a*)>"), wild)[0]


# --- public DTDs --------------------------------------------------------------------------------


def test_documents_of_public_dtds(corpus: Path) -> None:
    count = 0
    for path in sorted(corpus.glob("dtd/**/*.dtd")):
        try:
            schema = load_dtd(path)
        except SchemaError:
            continue
        for options in (
            DocumentOptions(size=6000),
            DocumentOptions(recursion=1, repetition=2, max_depth=12),
        ):
            for document in documents(schema, options, 1, 4):
                _check(schema, options, document)
        count += 1
    assert count > 25
