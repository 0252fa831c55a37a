"""Tags and texts of documents: attributes of all types, namespaces, values."""

from __future__ import annotations

from collections import Counter

import pytest
from lxml import etree

from pathcast.errors import WorkloadError
from pathcast.generators.bundled import bundled_schema
from pathcast.generators.documents import DocumentOptions, Documents, documents
from pathcast.generators.values import ValueDomain
from pathcast.schema import AttributeType, parse_dtd


def test_ids_are_unique_and_references_refer_to_them() -> None:
    news = bundled_schema("news")
    forward = backward = 0
    for document in documents(news, DocumentOptions(size=20_000), 1, 5):
        ids: list[str] = []
        references: list[tuple[int, str]] = []
        for element in etree.fromstring(document).iter():
            for attribute in news.elements[str(element.tag)].attributes:
                value = element.get(attribute.name)
                if value is not None and attribute.type is AttributeType.ID:
                    ids.append(value)
                if value is not None and attribute.type is AttributeType.IDREFS:
                    references += [(len(ids), word) for word in value.split()]
        assert len(set(ids)) == len(ids) > 10
        forward += sum(ids.index(word) >= before for before, word in references)
        backward += sum(ids.index(word) < before for before, word in references)
    assert forward > 0
    assert backward > 0


def test_references_without_an_id() -> None:
    template = "<!ELEMENT a (b*)><!ELEMENT b EMPTY><!ATTLIST b r IDREF {} >"
    lonely = parse_dtd(template.format("#IMPLIED"))
    assert b"r=" not in b"".join(documents(lonely, DocumentOptions(), 1, 20))
    # An optional element with a required reference is omitted.
    must = parse_dtd(template.format("#REQUIRED"))
    assert set(documents(must, DocumentOptions(), 1, 20)) == {b"<a></a>"}
    # For a required element, the generator tries documents until one has an ID.
    text = "<!ELEMENT a (b, c*)><!ELEMENT b EMPTY><!ELEMENT c EMPTY><!ATTLIST b r IDREF #REQUIRED>"
    with_id = parse_dtd(text + "<!ATTLIST c i ID #IMPLIED>")
    for document in documents(with_id, DocumentOptions(optional=0.1), 1, 20):
        assert with_id.faults(document) == []
    # Without any ID in the DTD, it raises an error.
    with pytest.raises(WorkloadError, match="no ID to refer to") as caught:
        Documents(parse_dtd(text))[0]
    assert caught.value.kind == "references"


@pytest.mark.parametrize("optional", [0.3, 0.5, 0.9])
def test_the_size_is_met_after_dangling_references_are_removed(optional: float) -> None:
    schema = parse_dtd(
        "<!ELEMENT r (x*, y?)><!ELEMENT x EMPTY><!ELEMENT y EMPTY><!ATTLIST y id ID #IMPLIED>"
        "<!ATTLIST x first IDREFS #IMPLIED second IDREFS #IMPLIED>"
    )
    without = 0
    for document in documents(schema, DocumentOptions(size=3000, optional=optional), 1, 100):
        assert schema.faults(document) == []
        assert len(document) == pytest.approx(3000, rel=0.1)
        without += b" id=" not in document
    assert 0 < without < 100


def test_attributes_have_the_optional_probability_and_all_values() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (b*)><!ELEMENT b EMPTY>"
        "<!ATTLIST b one CDATA #IMPLIED two (x | y) #REQUIRED"
        " three CDATA #FIXED 'f' four CDATA 'd'>"
    )
    document = Documents(schema, DocumentOptions(repeat={"b": 20_000}, optional=0.3))[0]
    elements = list(etree.fromstring(document))
    seen = Counter(name for element in elements for name in element.attrib)
    for name in ("one", "three", "four"):
        assert seen[name] / 20_000 == pytest.approx(0.3, abs=0.02)
    assert seen["two"] == 20_000
    assert {element.get("three") for element in elements} == {None, "f"}
    values = Counter(element.get("two") for element in elements)
    assert values["x"] / 20_000 == pytest.approx(0.5, abs=0.02)
    assert len({element.get("one") for element in elements}) > 60
    assert seen["four"] > sum(element.get("four") == "d" for element in elements) > 2000
    together = sum(
        element.get("one") is not None and element.get("four") is not None for element in elements
    )
    assert together / 20_000 == pytest.approx(0.09, abs=0.04)  # the attributes are independent


def test_namespaces_are_declared_where_they_are_used() -> None:
    schema = parse_dtd(
        "<!ELEMENT a (m:b | p:d)*>"
        "<!ATTLIST a xmlns CDATA #FIXED 'urn:a' xmlns:m CDATA #FIXED 'urn:m'>"
        "<!ELEMENT m:b (m:c)><!ATTLIST m:b x:href CDATA #IMPLIED"
        " xml:lang NMTOKEN #REQUIRED m:own CDATA #REQUIRED>"
        "<!ELEMENT m:c EMPTY><!ELEMENT p:d EMPTY>"
    )
    document = Documents(schema, DocumentOptions(size=2000))[0]
    assert schema.faults(document) == []
    assert b"<m:c/>" in document
    assert b"x:href" not in document  # nothing binds x
    assert b"p:d" not in document  # nor p
    assert etree.fromstring(document).nsmap == {None: "urn:a", "m": "urn:m"}
    with pytest.raises(WorkloadError, match="nothing binds the prefix of m:b"):
        Documents(parse_dtd("<!ELEMENT m:b EMPTY>"))


def test_external_entities_are_omitted_or_rejected() -> None:
    text = (
        "<!ELEMENT a (b | c)+><!ELEMENT b EMPTY><!ELEMENT c EMPTY>"
        "<!ATTLIST b e ENTITY {} n CDATA #IMPLIED>"
    )
    implied = parse_dtd(text.format("#IMPLIED"))
    document = Documents(implied, DocumentOptions(size=1000))[0]
    assert implied.faults(document) == []
    assert b"<b" in document
    required = parse_dtd(text.format("#REQUIRED"))
    assert b"<b" not in Documents(required, DocumentOptions(size=1000))[0]
    only = parse_dtd("<!ELEMENT b EMPTY><!ATTLIST b e ENTITY #REQUIRED>")
    with pytest.raises(WorkloadError, match="must name an external entity"):
        Documents(only)


def test_values_come_from_their_domain_and_are_escaped() -> None:
    words = ("<tag>", "a & b", "]]>", 'say "yes"', "naïve", "日本", "it's")
    values = ValueDomain(kind="words", vocabulary=words)
    schema = parse_dtd(
        "<!ELEMENT a (b*)><!ELEMENT b (#PCDATA)><!ATTLIST b c CDATA #REQUIRED d NMTOKEN #REQUIRED>"
    )
    document = Documents(schema, DocumentOptions(size=9000, values=values))[0]
    assert schema.faults(document) == []
    assert len(document) == pytest.approx(9000, rel=0.05)
    elements = list(etree.fromstring(document))
    assert {element.text for element in elements} == set(words)
    assert {element.get("c") for element in elements} == set(words)


def test_texts_of_several_values() -> None:
    values = ValueDomain(kind="words", vocabulary=20, length=5)
    document = Documents(bundled_schema("book"), DocumentOptions(size=9000, values=values))[0]
    lengths = Counter(
        len((element.text or "").split()) for element in etree.fromstring(document).iter("p")
    )
    assert set(lengths) == {1, 2, 3, 4, 5}


def test_integers_are_in_the_requested_range() -> None:
    document = Documents(bundled_schema("bib"), DocumentOptions(size=20_000))[0]
    texts = {int(text) for text in etree.fromstring(document).itertext()}
    assert texts == set(range(1, 101))


def test_texts_grow_if_nothing_else_can() -> None:
    schema = parse_dtd("<!ELEMENT a (b, c)><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA)>")
    for document in documents(schema, DocumentOptions(size=5000), 1, 5):
        assert schema.faults(document) == []
        assert len(document) == pytest.approx(5000, rel=0.01)
        assert all(
            1 <= int(word) <= 100
            for text in etree.fromstring(document).itertext()
            for word in text.split()
        )
