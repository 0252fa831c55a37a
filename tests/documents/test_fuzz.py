"""Fuzzing: any bytes give a Document or a DocumentError of a listed kind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathcast.documents import ERROR_KINDS, Document, Limits, label_paths, parse, regions, tag_tree
from pathcast.errors import DocumentError
from tests.documents.writing import encoded_documents

SNIPPETS = [
    *(
        "<",
        ">",
        "</",
        "/>",
        "<a",
        "<a>",
        "</a>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "<?xml ",
    ),
    *(
        "&",
        ";",
        "&#",
        "&#x",
        "&e;",
        "%p;",
        "=",
        "'",
        '"',
        "\0",
        "\ufeff",
        "\ud7ff",
        "\U0010ffff",
        "xmlns",
    ),
    *(
        "<!DOCTYPE a [",
        "<!ENTITY e ",
        "<!ENTITY % p ",
        "<!ATTLIST a b ",
        "<!ELEMENT a ANY>",
        "]>",
        "SYSTEM",
    ),
    *(
        "version='1.0' ",
        "encoding='utf-8' ",
        "encoding='utf-16'",
        "encoding='utf-7'",
        "standalone='yes'",
    ),
    *(
        "xml:id='i'",
        " a='1'",
        " p:a='1'",
        "p:",
        ":",
        "a",
        "b",
        " ",
        "\n",
        "\r",
        "\x85",
        "\u2028",
        "--",
        "]",
    ),
]
ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-32-be",
    "utf-7",
    "cp037",
]

snippets = st.lists(st.sampled_from(SNIPPETS), max_size=30).map("".join)
encoded_snippets = st.builds(str.encode, snippets, st.sampled_from(ENCODINGS), st.just("replace"))
limits = st.builds(
    Limits,
    size=st.sampled_from([100, 10_000]),
    depth=st.integers(1, 5),
    attributes=st.integers(1, 5),
    elements=st.integers(1, 10),
    attributes_total=st.integers(1, 10),
)


def check_parse(body: bytes, limits: Limits) -> None:
    try:
        document = parse(body, limits)
    except DocumentError as error:
        caught = error
    else:
        check_document(document)
        return
    assert caught.kind in ERROR_KINDS
    assert caught.message
    assert caught.line is None or caught.line >= 1
    assert caught.column is None or caught.column >= 1
    assert str(caught)


def check_document(document: Document) -> None:
    assert document.right[0] == len(document) - 1
    for number in range(len(document)):
        document.string_value(number)
        assert document.line(number) >= 1
    tag_tree(document)
    assert len(regions(document)) == len(document.all_elements) >= len(label_paths(document))


@given(st.binary(max_size=200), limits)
def test_any_bytes(body: bytes, limits: Limits) -> None:
    check_parse(body, Limits())
    check_parse(body, limits)


@given(encoded_snippets, limits)
def test_xml_snippets_in_any_order(body: bytes, limits: Limits) -> None:
    check_parse(body, Limits())
    check_parse(body, limits)


@given(encoded_snippets, encoded_snippets, limits)
def test_encodings_that_change_within_a_document(head: bytes, tail: bytes, limits: Limits) -> None:
    check_parse(b"<?xml version='1.0' encoding='utf-7'?>" + head + tail, limits)
    check_parse(head + tail, limits)


@given(encoded_documents(), st.data())
def test_documents_with_an_edit(body: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, min(len(body), start + 4)))
    inserted = data.draw(st.one_of(st.binary(max_size=4), encoded_snippets))
    check_parse(body[:start] + inserted + body[end:], Limits())
    check_parse(body[:start] + inserted + body[end:], data.draw(limits))


@given(encoded_documents(), st.data())
def test_truncated_documents(body: bytes, data: st.DataObject) -> None:
    check_parse(body[: data.draw(st.integers(0, len(body)))], Limits())
    check_parse(body[data.draw(st.integers(0, len(body))) :], Limits())
