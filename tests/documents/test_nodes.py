"""The numbered nodes equal those of libxml2's `//node()|//@*`, in its order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from lxml import etree
from lxml.etree import _Comment, _Element, _ProcessingInstruction

from pathcast.documents import ATTRIBUTE, COMMENT, DOCUMENT, ELEMENT, PI, TEXT, Document, parse
from tests.documents.writing import encoded_documents

NodeTriple = tuple[int, str, str]


def libxml2_nodes(body: bytes) -> tuple[list[NodeTriple], list[int], list[str]]:
    """Return (kind, label, content), parent number and string-value of all nodes."""
    tree = etree.fromstring(body).getroottree()
    tree.docinfo.clear()
    selected: list[Any] = tree.xpath("/|//node()|//@*")
    selected = [node for node in selected if node is not tree]
    nodes: list[NodeTriple] = [(DOCUMENT, "", "")]
    parents = [-1]
    strings = [tree.xpath("string(/)", smart_strings=False)]
    number_of: dict[_Element, int] = {}
    for number, node in enumerate(selected, 1):
        if isinstance(node, str):
            smart: Any = node
            owner = smart.getparent()
            if smart.is_attribute:
                nodes.append((ATTRIBUTE, smart.attrname, str(node)))
            else:
                nodes.append((TEXT, "", str(node)))
                owner = owner.getparent() if smart.is_tail else owner
            strings.append(str(node))
        else:
            number_of[node] = number
            owner = node.getparent()
            if isinstance(node, _Comment):
                nodes.append((COMMENT, "", node.text or ""))
            elif isinstance(node, _ProcessingInstruction):
                nodes.append((PI, node.target, node.text or ""))
            else:
                nodes.append((ELEMENT, str(node.tag), ""))
            strings.append(node.xpath("string()", smart_strings=False))
        parents.append(0 if owner is None else number_of[owner])
    return nodes, parents, strings


def check_regions(document: Document) -> None:
    """Check `right` and `level` by their definitions."""
    chains: list[list[int]] = [[]]
    for parent in document.parent[1:]:
        chains.append([*chains[parent], parent])
    for number in range(len(document)):
        inside = [other for other in range(len(document)) if number in chains[other]]
        assert document.right[number] == max(inside, default=number)
        assert inside == list(range(number + 1, document.right[number] + 1))
        assert document.level[number] == len(chains[number])


def check_lists(document: Document) -> None:
    """Check the lists by kind and by label by their definitions."""

    def numbers_of(kind: int, label: str | None = None) -> list[int]:
        return [
            number
            for number, node_kind in enumerate(document.kind)
            if node_kind == kind and label in (None, document.label[number])
        ]

    assert document.all_elements == numbers_of(ELEMENT)
    assert document.all_attributes == numbers_of(ATTRIBUTE)
    assert document.texts == numbers_of(TEXT)
    assert document.comments == numbers_of(COMMENT)
    assert document.instructions == numbers_of(PI)
    for kind, lists in ((ELEMENT, document.elements), (ATTRIBUTE, document.attributes)):
        assert set(lists) == {document.label[number] for number in numbers_of(kind)}
        assert all(numbers == numbers_of(kind, label) for label, numbers in lists.items())


@given(encoded_documents())
def test_nodes_are_those_of_libxml2(body: bytes) -> None:
    document = parse(body)
    nodes, parents, strings = libxml2_nodes(body)
    assert list(zip(document.kind, document.label, document.content, strict=True)) == nodes
    assert document.parent == parents
    assert [document.string_value(number) for number in range(len(document))] == strings


@given(encoded_documents())
def test_regions_and_lists(body: bytes) -> None:
    document = parse(body)
    check_regions(document)
    check_lists(document)


@given(encoded_documents())
def test_lines_are_those_of_libxml2(body: bytes) -> None:
    document = parse(body)
    lines = [node.sourceline for node in etree.fromstring(body).iter()]
    inside = range(document.all_elements[0], document.right[document.all_elements[0]] + 1)
    with_line = [number for number in inside if document.kind[number] in (ELEMENT, COMMENT, PI)]
    for number, line in zip(with_line, lines, strict=True):
        assert document.line(number) == (line or document.line(document.parent[number]))
    for number in document.texts + document.all_attributes:
        assert document.line(number) == document.line(document.parent[number])


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        (b"<a>x<![CDATA[y]]>z</a>", ["xyz"]),
        (b"<a>x<!---->y</a>", ["x", "y"]),
        (b"<a> <b/>\n</a>", [" ", "\n"]),
        (b"<a><![CDATA[]]></a>", [""]),  # libxml2 creates a node
        (b"<a><![CDATA[]]>x</a>", ["x"]),
        (b"<a></a>", []),
        (b"<!DOCTYPE a [<!ENTITY e 'y'>]><a>x&e;z&e;</a>", ["xyzy"]),
        (b"<!DOCTYPE a [<!ENTITY e 'y<b/>'>]><a>x&e;z&e;</a>", ["xy", "zy"]),
        (b"<!DOCTYPE a [<!ENTITY e ''>]><a>&e;<b>&e;</b></a>", []),
        (b"<a>&#x20AC;&lt;&amp;&#38;lt;</a>", ["\u20ac<&&lt;"]),
        (b"<a>x\r\ny\rz</a>", ["x\ny\nz"]),
    ],
)
def test_text_nodes(body: bytes, texts: list[str]) -> None:
    document = parse(body)
    assert [document.content[number] for number in document.texts] == texts


def test_namespaces_and_attributes() -> None:
    document = parse(
        b"<p:a xmlns:p='urn:p' xmlns='urn:d' k='1' p:k='2' xml:lang='en'><b k=' 3 '/></p:a>"
    )
    xml = "{http://www.w3.org/XML/1998/namespace}lang"
    assert list(document.elements) == ["{urn:p}a", "{urn:d}b"]
    assert document.attributes == {"k": [2, 6], "{urn:p}k": [3], xml: [4]}
    assert [document.content[number] for number in document.all_attributes] == [
        "1",
        "2",
        "en",
        " 3 ",
    ]


def test_siblings_of_the_root_element() -> None:
    document = parse(
        b"<?t  x ?><!--1--><!DOCTYPE a [<!--no--><?no no?>]><!--2--><a/><!--3--><?u?>\n"
    )
    assert document.kind == [DOCUMENT, PI, COMMENT, COMMENT, ELEMENT, COMMENT, PI]
    assert document.label == ["", "t", "", "", "a", "", "u"]
    assert document.content == ["", "x ", "1", "2", "", "3", ""]
    assert document.parent == [-1, 0, 0, 0, 0, 0, 0]
    assert document.right == [6, 1, 2, 3, 4, 5, 6]


def test_comments_in_a_doctype_are_no_nodes() -> None:
    """libxml2 alone would select them by `//comment()`."""
    body = b"<!DOCTYPE a [<!--leak-->]><a/>"
    assert len(etree.fromstring(body).xpath("//comment()")) == 1
    assert parse(body).comments == []
    assert parse(body).tree.xpath("//comment()") == []  # the tree that residuals are evaluated on


def test_declared_entities_are_not_part_of_the_text() -> None:
    body = b"<!DOCTYPE a [<!ENTITY e 'x'><!ATTLIST a i ID #IMPLIED>]><a i='k'>&e;</a>"
    assert etree.fromstring(body).xpath("string(/)") == "xx"
    document = parse(body)
    assert document.string_value(0) == document.tree.xpath("string(/)") == "x"
    assert len(document.tree.xpath("id('k')")) == 1  # the ID declaration still applies


def test_default_attributes_are_ignored_but_default_namespaces_apply() -> None:
    """The same as lxml without `attribute_defaults`."""
    document = parse(b"<!DOCTYPE a [<!ATTLIST a k CDATA '1' xmlns CDATA #FIXED 'urn:d'>]><a/>")
    assert document.all_attributes == []
    assert document.label[1] == "{urn:d}a"


def test_string_values_beyond_the_cache_limit() -> None:
    levels, text = 200, "x" * 100_000
    body = b"<a>" * levels + text.encode() + b"</a>" * levels
    document = parse(body)
    assert all(document.string_value(number) == text for number in range(levels + 1))
    assert sum(map(len, document._strings.values())) <= 4 * 1024 * 1024


def test_lines() -> None:
    document = parse(b"<!--1-->\n<a\n k='1'>\n<b/>text\n<!--5--></a>\n<?p?>")
    assert document.line(0) == 1
    assert [document.line(number) for number in document.comments] == [1, 5]
    assert [document.line(number) for number in document.all_elements] == [3, 4]
    assert [document.line(number) for number in document.instructions] == [6]
    assert document.line(document.texts[1]) == 3


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_like_objects_are_accepted(kind: Any) -> None:
    assert parse(kind(b"<a/>")).elements == {"a": [1]}


@pytest.mark.parametrize("body", [None, 1, [60, 97, 47, 62]])
def test_other_types_are_refused(body: Any) -> None:
    with pytest.raises(TypeError, match="a document is bytes"):
        parse(body)
