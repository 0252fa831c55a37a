"""The option repeat: an exact number of an element wherever a model lets it repeat."""

from __future__ import annotations

import pytest
from lxml import etree

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents, documents
from pathcast.schema import parse_dtd


def _counts(document: bytes, parent: str, child: str) -> set[int]:
    return {len(element.findall(child)) for element in etree.fromstring(document).iter(parent)}


def test_repeat_is_exact_under_every_parent() -> None:
    bib = bundled_schema("bib")
    options = DocumentOptions(repeat={"book": 300, "vendor": 2, "author": 1})
    for document in documents(bib, options, 1, 3):
        assert bib.faults(document) == []
        assert _counts(document, "bib", "vendor") == {2}
        assert _counts(document, "vendor", "book") == {300}
        assert _counts(document, "book", "author") <= {0, 1}  # or an editor


_MODELS = ["(y | x)*", "(y | (z, x?))+", "(#PCDATA | x | y)*", "((y | x), z?)*", "(y*, (x | z)+)"]


@pytest.mark.parametrize("model", ["(x*)", "(x+)", "(y?, x*, z?)", "(y, x)*", *_MODELS])
def test_repeat_in_every_form_of_content_model(model: str) -> None:
    _seven(model, None)


@pytest.mark.parametrize("model", _MODELS)
def test_other_repeatable_parts_fill_the_size(model: str) -> None:
    """Other repeatable parts make up the size."""
    assert all(abs(size - 400) < 20 for size in _seven(model, 400))


def _seven(model: str, size: int | None) -> list[int]:
    declarations = "<!ELEMENT x EMPTY><!ELEMENT y EMPTY><!ELEMENT z EMPTY>"
    schema = parse_dtd(f"<!ELEMENT a {model}>{declarations}", root="a")
    several = list(documents(schema, DocumentOptions(repeat={"x": 7}, size=size), 1, 10))
    for document in several:
        assert schema.faults(document) == []
        assert _counts(document, "a", "x") == {7}
    return [len(document) for document in several]


def test_repeat_of_two_elements_in_one_part() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (x | y | z)*><!ELEMENT x EMPTY><!ELEMENT y EMPTY><!ELEMENT z EMPTY>"
    )
    for document in documents(schema, DocumentOptions(repeat={"x": 5, "y": 3}), 1, 5):
        assert (_counts(document, "a", "x"), _counts(document, "a", "y")) == ({5}, {3})
    pairs = parse_dtd("<!ELEMENT a (x, y)*><!ELEMENT x EMPTY><!ELEMENT y EMPTY>")
    document = Documents(pairs, DocumentOptions(repeat={"x": 4, "y": 4}))[0]
    assert document == b"<a>" + b"<x/><y/>" * 4 + b"</a>"
    with pytest.raises(WorkloadError, match="x 4, y 5"):
        Documents(pairs, DocumentOptions(repeat={"x": 4, "y": 5}))


def test_repeat_of_zero() -> None:
    schema = parse_dtd("<!ELEMENT a (x | y)+><!ELEMENT x EMPTY><!ELEMENT y EMPTY>")
    for document in documents(schema, DocumentOptions(repeat={"x": 0}), 1, 5):
        assert schema.faults(document) == []
        assert b"<x" not in document
    with pytest.raises(WorkloadError, match="must be 1 or more"):
        Documents(
            parse_dtd("<!ELEMENT a (x+)><!ELEMENT x EMPTY>"), DocumentOptions(repeat={"x": 0})
        )


def test_repeat_of_a_recursive_element_ends_at_max_depth() -> None:
    options = DocumentOptions(repeat={"section": 2}, max_depth=5)
    book = bundled_schema("book")
    for document in documents(book, options, 1, 3):
        assert book.faults(document) == []
        assert _counts(document, "section", "section") == {2, 0}
    with pytest.raises(WorkloadError, match="tags and texts"):
        Documents(book, DocumentOptions(repeat={"section": 9}, max_depth=200))[0]
