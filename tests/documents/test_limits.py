"""Limits are exact in every encoding: a document is rejected exactly when it exceeds one."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import ERROR_KINDS, Limits, parse
from pathcast.documents.limits import MAX_DOCTYPE_BYTES
from pathcast.errors import DocumentError
from tests.documents.writing import encoded_documents

ENCODINGS = ["utf-8", "utf-16", "utf-32", "utf-16-be"]


def rejection(body: bytes, limits: Limits) -> str | None:
    try:
        parse(body, limits)
    except DocumentError as error:
        return error.kind
    return None


def encode(text: str, encoding: str) -> bytes:
    return (f'<?xml version="1.0" encoding="{encoding[:6]}"?>' + text).encode(encoding)


def test_defaults() -> None:
    values = {field.name: getattr(Limits(), field.name) for field in fields(Limits)}
    assert values == {
        "size": 64 * 1024 * 1024,
        "depth": 256,
        "attributes": 1_000,
        "elements": 1_000_000,
        "attributes_total": 2_000_000,
    }


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_limits_must_be_positive(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


def test_every_limit_except_depth_may_be_raised() -> None:
    Limits(size=10**12, attributes=10**6, elements=10**9, attributes_total=10**9)
    with pytest.raises(ValueError, match="depth must be from 1 to 256, not 257"):
        Limits(depth=257)


def test_size() -> None:
    body = b"<a>xyz</a>"
    assert rejection(body, Limits(size=10)) is None
    assert rejection(body, Limits(size=9)) == "size"


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "text",
    [
        "<a><b/><b></b></a>",
        "<!--1--><a><?p?></a>",
        "<a/><!-- <b/><b/><b/> --><?p <b/><b/> ?>",
        "<a><![CDATA[<b/><b/><b/><b/>]]><b/><!----></a>",
        "<!DOCTYPE a [<!ENTITY e '<b/><b/>'><!ENTITY f '&e;'>]><a>&f;</a>",
        "<!DOCTYPE a [<!--no--><?no?><!ELEMENT a ANY><!--no-->]><a><b/><b/></a>",
        "<!--1--><!DOCTYPE a [<!--no-->]><!--2--><a/>",
        "<!DOCTYPE a [<!ENTITY e '&lt;b/>'>]><a>&e;<b/><b/></a>",
        "<!DOCTYPE a [<!ENTITY e '&#60;b/>&#x3C;b/>'>]><a>&e;</a>",
    ],
)
def test_elements_comments_and_instructions(text: str, encoding: str) -> None:
    """Each document has three."""
    body = encode(text, encoding)
    assert rejection(body, Limits(elements=3)) is None
    assert rejection(body, Limits(elements=2)) == "elements"


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "text",
    [
        "<a k='1' l='2'/>",
        "<a><b k = '='\n\tl=\"a='1' b='2' c='3'\"/></a>",
        "<a><!--<b k='1' l='2' m='3' n='4' >--><b k='1' l='2'/>k=1 l=2 m=3 n=4 o=5 p=6</a>",
        "<a><![CDATA[<b k='1' l='2' m='3'>]]><?p <b k='1' l='2' m='3'?><b k='' l=''/></a>",
        "<!DOCTYPE a [<!ENTITY e \"<b k='1' l='2'/>\">]><a>&e;&e;</a>",
        "<!DOCTYPE a [<!ENTITY e \"&#60;b k&#61;'1' l&#61;'2'/>\">]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e \"<b k='1' l='2' m='3'/>\">]><a k='1' l='2'/>",
        "<a xmlns:p='urn:p' xmlns:q='urn:q'/>",
        "<a xmlns:p='urn:p' xmlns='urn:q' p:k='' k=''/>",
        "<!DOCTYPE a [<!ATTLIST b xmlns:p CDATA 'urn:p' xmlns:q CDATA 'urn:q'>]><a><b/><b/></a>",
    ],
)
def test_attributes_of_one_element(text: str, encoding: str) -> None:
    """Each document has at most two on one element."""
    body = encode(text, encoding)
    assert rejection(body, Limits(attributes=2)) is None
    assert rejection(body, Limits(attributes=1)) == "attributes"


@pytest.mark.parametrize(
    "body",
    [
        b"<a k='1'><b l='1'/><c m='1'/></a>",
        b"<a xmlns='urn:a'><b xmlns='urn:b' k=''/></a>",
        b"<!DOCTYPE a [<!ATTLIST b xmlns CDATA 'urn:b'>]><a><b/><b/><b/></a>",
        b"<!DOCTYPE a [<!ENTITY e \"<b k='1'/>\">]><a>&e;&e;&e;</a>",
    ],
)
def test_attributes_of_all_elements(body: bytes) -> None:
    """Each document has three."""
    assert rejection(body, Limits(attributes_total=3)) is None
    assert rejection(body, Limits(attributes_total=2)) == "attributes"


@pytest.mark.parametrize("depth", [1, 2, 100, 255, 256])
def test_depth(depth: int) -> None:
    limits = Limits(depth=depth)
    assert rejection(b"<a>" * depth + b"</a>" * depth, limits) is None
    assert rejection(b"<a>" * (depth + 1) + b"</a>" * (depth + 1), limits) == "depth"


def test_depth_from_entities() -> None:
    entities = b"<!ENTITY e0 '<a/>'>" + b"".join(
        b"<!ENTITY e%d '<a>&e%d;</a>'>" % (level, level - 1) for level in range(1, 15)
    )
    body = b"<!DOCTYPE a [" + entities + b"]><a>&e14;</a>"
    assert rejection(body, Limits(depth=16)) is None
    assert rejection(body, Limits(depth=15)) == "depth"


def test_errors_give_the_line() -> None:
    body = b"<a>\n" + b"<b/>\n" * 5000 + b"<c\n k='1' l='2'/></a>"
    for limits, line in (
        (Limits(elements=4000), 4001),
        (Limits(attributes=1), 5002),
        (Limits(attributes_total=1), 5002),
        (Limits(depth=1), 2),
    ):
        with pytest.raises(DocumentError) as caught:
            parse(body, limits)
        assert caught.value.line == line


@given(
    encoded_documents(), st.integers(1, 8), st.integers(1, 3), st.integers(1, 8), st.integers(1, 5)
)
def test_document_is_rejected_exactly_when_it_exceeds_a_limit(
    body: bytes, elements: int, attributes: int, total: int, depth: int
) -> None:
    document = parse(body)
    node_count = len(document.all_elements) + len(document.comments) + len(document.instructions)
    per_element = [
        sum(document.parent[number] == element for number in document.all_attributes)
        for element in document.all_elements
    ]
    target: Any = NamespaceCounter()
    etree.fromstring(body, etree.XMLParser(target=target))
    declarations = target.counts
    expected = set()
    if node_count > elements:
        expected.add("elements")
    if max(per_element) > attributes or max(declarations) > attributes:
        expected.add("attributes")
    if sum(per_element) + sum(declarations) > total:
        expected.add("attributes")
    if max(document.level[number] for number in document.all_elements) > depth:
        expected.add("depth")
    kind = rejection(
        body, Limits(elements=elements, attributes=attributes, attributes_total=total, depth=depth)
    )
    assert kind in expected if expected else kind is None


class NamespaceCounter:
    """A parser target that counts the namespace declarations of each element."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def start(self, tag: str, attrib: dict[str, str], nsmap: dict[str, str]) -> None:
        self.counts.append(len(nsmap))

    def close(self) -> list[int]:
        return self.counts


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_doctype_length(encoding: str) -> None:
    start, end = "<!DOCTYPE a [<!--", "-->]>"
    padding = MAX_DOCTYPE_BYTES - len(start + end) - 1
    assert rejection(encode(f"{start}{'x' * padding}{end}<a/>", encoding), Limits()) is None
    assert (
        rejection(encode(f"{start}{'x' * (padding + 1)}{end}<a/>", encoding), Limits()) == "limit"
    )


@pytest.mark.parametrize(
    "subset",
    [
        "<!-- ]> ' \" --><!ENTITY e ']>\"'>",
        "<?p ]> ' ?><!ENTITY e \"]>'\">",
        "<!ENTITY e '<!--'><!ENTITY f '-->'>",
        "<!ENTITY e '<![CDATA['>\n\t",
    ],
)
def test_end_of_doctype(subset: str) -> None:
    prolog = f"<?xml version='1.0'?><!-- <!DOCTYPE a [ --><!DOCTYPE a SYSTEM ']>\"' [{subset}] >"
    body = f"{prolog}<a><b/></a>"
    assert rejection(body.encode(), Limits(elements=3)) is None
    assert rejection(body.encode(), Limits(elements=2)) == "elements"


BOMBS = {
    "100,000 levels": ("depth", b"<a>" * 100_000 + b"</a>" * 100_000),
    "a billion laughs": (
        "amplification",
        b"<!DOCTYPE a [<!ENTITY e0 'lol'>"
        + b"".join(b"<!ENTITY e%d '%b'>" % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 10))
        + b"]><a>&e9;</a>",
    ),
    "a quadratic blow-up": (
        "amplification",
        b"<!DOCTYPE a [<!ENTITY e '" + b"x" * 50_000 + b"'>]><a>" + b"&e;" * 50_000 + b"</a>",
    ),
    "a quadratic blow-up in an attribute": (
        "amplification",
        b"<!DOCTYPE a [<!ENTITY e '" + b"x" * 50_000 + b"'>]><a k='" + b"&e;" * 50_000 + b"'/>",
    ),
    "an entity inside itself": (
        "entity",
        b"<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>",
    ),
    "100,000 attributes": (
        "attributes",
        b"<a " + b" ".join(b"n%x=''" % n for n in range(100_000)) + b"/>",
    ),
    "100,000 namespaces": (
        "attributes",
        b"<a " + b" ".join(b"xmlns:n%x='u'" % n for n in range(100_000)) + b"/>",
    ),
    "default namespaces for every element": (
        "attributes",
        b"<!DOCTYPE a [<!ATTLIST a "
        + b" ".join(b"xmlns:n%x CDATA 'u'" % n for n in range(2_000))
        + b">]><r>"
        + b"<a/>" * 10_000
        + b"</r>",
    ),
    "an endless comment in a DOCTYPE": ("limit", b"<!DOCTYPE a [" + b"<!--" * 500_000),
    "NULs": ("malformed", bytes(1_000_000)),
    "a text too long": ("limit", b"<a>" + b"x" * 10_000_001 + b"</a>"),
    "a comment too long": ("limit", b"<a><!--" + b"x" * 10_000_001 + b"--></a>"),
    "a name too long": ("limit", b"<" + b"a" * 60_000 + b"/>"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_denial_of_service_documents(name: str) -> None:
    kind, body = BOMBS[name]
    assert kind in ERROR_KINDS
    assert rejection(body, Limits()) == kind
    assert rejection(b"<a/>", Limits()) is None


def test_memory_stays_bounded() -> None:
    """The child has some 300 MB beside the documents, in which the trees would not fit."""
    program = """
        import resource
        from pathcast.errors import DocumentError
        from pathcast.documents import parse

        resource.setrlimit(resource.RLIMIT_AS, (500 * 2**20, 500 * 2**20))

        def kind(body):
            try:
                parse(body)
            except DocumentError as error:
                return error.kind

        print(
            kind(b"<r>" + b"<a/>" * 8_000_000 + b"</r>"),
            kind(b"<r" + b"".join(b" n%x=''" % n for n in range(2_000_000)) + b"/>"),
            kind("<r>".encode("utf-16") + "<a/>".encode("utf-16-le") * 4_000_000),
            kind(b"<!DOCTYPE a [" + b"<!ELEMENT a ANY>" * 2_000_000 + b"]><a/>"),
        )
    """
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stderr == ""
    assert process.stdout.split() == ["elements", "attributes", "elements", "limit"]
