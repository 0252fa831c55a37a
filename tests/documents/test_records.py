"""Tests of records: splitting a stream gives what a full parse gives, with bounded memory."""

from __future__ import annotations

import io
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pathcast.documents import Limits, new_parser, records, split_records
from pathcast.errors import DocumentError

PROLOG = "<!DOCTYPE r [<!ENTITY e 'an &#38;#38; entity'>]>"
NAMES = ("r", "i", "p:r", "q:r", "p:i")
texts = st.sampled_from(["", "x", " \n", "é漢", "&amp;", "&e;", "<![CDATA[<r>]]>"])
extras = st.sampled_from(["", "<!-- <r/> -->", "<?go <r/>?>"])
declarations = st.sampled_from(["", " xmlns='urn:d'", " xmlns:p='urn:p2'", " xmlns:q='urn:p'"])
attributes = st.sampled_from(["", " a='1'", " p:a='&e;'", " q:a='2' p:b='3'", " xml:lang='en'"])


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> str:
    name = draw(st.sampled_from(NAMES))
    start = name + draw(declarations) + draw(attributes)
    children = draw(st.lists(elements(depth - 1), max_size=3)) if depth else []
    content = "".join(draw(texts) + draw(extras) + child for child in children) + draw(texts)
    return f"<{start}>{content}</{name}>"


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    content = "".join(draw(st.lists(elements(), max_size=4)))
    root = draw(st.sampled_from(["feed", "p:feed", "r"]))
    scope = " xmlns:p='urn:p' xmlns:q='urn:q'"
    encoding = draw(st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]))
    end = draw(extras)
    return f"{PROLOG}<{root}{scope}>{content}</{root}>{end}".encode(encoding)


def by_full_parse(body: bytes, local_name: str) -> list[etree._Element]:
    """Return the outermost elements of a name."""
    root = etree.fromstring(body, new_parser())
    path = f"//*[local-name() = '{local_name}'][not(ancestor::*[local-name() = '{local_name}'])]"
    return list(root.xpath(path))


def canonical(element: etree._Element) -> bytes:
    return etree.tostring(element, method="c14n", exclusive=True)


def split(body: bytes, name: str, limits: Limits | None = None) -> list[bytes | DocumentError]:
    return list(split_records(io.BytesIO(body), name, limits or Limits()))


@given(documents(), st.sampled_from(["r", "i", "feed"]), st.integers(1, 200))
def test_records_are_those_of_a_full_parse(body: bytes, name: str, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_CHUNK_BYTES", chunk)
        patch.setattr(records, "_FIRST_CHUNK_BYTES", max(chunk, 4))
        items = split(body, name)
    expected = by_full_parse(body, name)
    if not expected:
        (error,) = items
        assert isinstance(error, DocumentError)
        assert error.kind == "record"
        return
    parsed = [etree.fromstring(item, new_parser()) for item in items if isinstance(item, bytes)]
    assert len(items) == len(parsed) == len(expected)
    assert [canonical(element) for element in parsed] == [canonical(row) for row in expected]
    assert [element.nsmap for element in parsed] == [row.nsmap for row in expected]


@given(st.integers(0, 199), st.integers(1, 100))
def test_records_before_an_error_are_kept(cut: int, chunk: int) -> None:
    pieces = [f"<item n='{number}'>x</item>" for number in range(10)]
    body = "<feed>" + "".join(pieces) + "</feed>"
    complete = ["".join(pieces[: number + 1]) for number in range(10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_CHUNK_BYTES", chunk)
        patch.setattr(records, "_FIRST_CHUNK_BYTES", chunk)
        *items, error = split(body[:cut].encode(), "item")
    assert len(items) == sum(len("<feed>" + text) <= cut for text in complete)
    assert isinstance(error, DocumentError)
    assert error.kind == ("empty" if not cut else "malformed")


def test_one_namespace_can_be_asked_for() -> None:
    body = b"<f xmlns:x='urn:x'><x:item/><item/><item xmlns='urn:x'/></f>"
    assert len(split(body, "item")) == 3
    assert split(body, "{urn:x}item") == [
        b'<x:item xmlns:x="urn:x"/>',
        b'<item xmlns="urn:x" xmlns:x="urn:x"/>',
    ]
    assert split(body, "{}item")[0] == b'<item xmlns:x="urn:x"/>'


@pytest.mark.parametrize("name", ["", "a b", "x:item", "<a>", "{urn:x}", "1", "*"])
def test_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="no name of an element"):
        split(b"<a/>", name)


def test_a_record_beyond_a_limit_is_an_error_in_its_place() -> None:
    body = b"<f><i>1</i><i>" + b"x" * 300_000 + b"</i><i>2</i><i>" + b"<b/>" * 300_000
    body += b"</i><i>3</i></f>"
    items = split(body, "i", Limits(size=200_000))
    assert [item if isinstance(item, bytes) else item.kind for item in items] == [
        b"<i>1</i>", "size", b"<i>2</i>", "size", b"<i>3</i>",
    ]  # fmt: skip
    items = split(body, "i", Limits(elements=10))
    kinds = [item if isinstance(item, bytes) else item.kind for item in items]
    assert [kinds[0], *kinds[2:]] == [b"<i>1</i>", b"<i>2</i>", "elements", b"<i>3</i>"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!DOCTYPE f [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><f><i>&b;</i></f>", "amplification"),
        (b"<!DOCTYPE f [<!ENTITY a '" + b"x" * 5000 + b"'>]><f><i>&a;</i></f>", "amplification"),
        (b"<!DOCTYPE f [<!ENTITY a '<i/>'>]><f>&a;</f>", "amplification"),
        (b"<!-- " + b"x" * 1_100_000 + b" --><f/>", "limit"),
        (b"<f><i/></f>" + b"<!-- -->" * 300_000, "limit"),
        (b"<?xml version='1.0' encoding='no-such'?><f/>", "encoding"),
        (b"<f><i>&undeclared;</i></f>", "entity"),
        (b"", "empty"),
        (b"text", "malformed"),
    ],
)
def test_hostile_documents_are_errors(body: bytes, kind: str) -> None:
    *_, error = split(body, "i")
    assert isinstance(error, DocumentError)
    assert error.kind == kind


class Feed(io.RawIOBase):
    """A document of endless length, which is made as it is read."""

    def __init__(self, content: bytes, repeats: int) -> None:
        self._content, self._left = content, repeats
        self._opened = False

    def read(self, size: int = -1) -> bytes:
        if not self._opened:
            self._opened = True
            return b"<feed>"
        repeats = min(self._left, size // len(self._content) + 1)
        self._left -= repeats
        return self._content * repeats or b""


@pytest.mark.parametrize("content", [b"<i><b/>x</i>", b"<o>x</o>", b"<!-- x -->", b"<?x?>"])
def test_the_tree_stays_small(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    prune = records._Splitter._prune

    def observe(self: records._Splitter) -> None:
        prune(self)
        assert self._root is not None
        sizes.append(sum(1 for _ in self._root.iter()))

    monkeypatch.setattr(records._Splitter, "_prune", observe)
    stream: IO[bytes] = Feed(content, 100_000)  # type: ignore[assignment]
    count = sum(isinstance(item, bytes) for item in split_records(stream, "i"))
    assert count == (100_000 if content.startswith(b"<i>") else 0)
    assert len(sizes) > 5
    assert max(sizes) <= 4
