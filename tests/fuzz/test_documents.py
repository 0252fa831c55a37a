"""Fuzzing of documents: any bytes give matches or a DocumentError, and the Matcher keeps working.

Limits show as errors, and work is counted: no test measures time.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.errors import DocumentError
from pathcast.matching import Matches
from pathcast.matching.engine import EngineName
from tests import strategies
from tests.generate import NAMESPACES
from tests.matching.engines import ENGINES, each_engine

SUBSCRIPTIONS = [
    "/*",
    "//a[b]",
    "//@x[. = 5]",
    "//text()",
    "//a/..",
    "//b[last()]",
    "count(//*) > 3",
]
PIECES = (
    *(
        b"<a>",
        b"</a>",
        b"<b/>",
        b"<",
        b">",
        b"</",
        b"/>",
        b"&",
        b"&lt;",
        b"&e;",
        b"&#0;",
        b"&#xD800;",
    ),
    *(
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?",
        b"?>",
        b"<!DOCTYPE a [",
        b"]>",
        b'x="1"',
        b"x=",
    ),
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"<?xml version='1.0' encoding='",
        b"'?>",
        b"\xc3",
        b"p:",
    ),
    *(
        b'xmlns=""',
        b'xmlns:p="u"',
        b"<!ENTITY e '",
        b"'>",
        b"<!ENTITY e SYSTEM 'file:///x'>",
        b" ",
        b"t",
    ),
)


@pytest.fixture(scope="module", params=ENGINES)
def matcher(request: pytest.FixtureRequest) -> Matcher:
    matcher = Matcher(engine=request.param)
    matcher.add_many((text, text, NAMESPACES) for text in SUBSCRIPTIONS)
    return matcher


def outcome(matcher: Matcher, body: bytes) -> Matches | DocumentError:
    try:
        return matcher.match(body)
    except DocumentError as error:
        return error


def check(matcher: Matcher, body: bytes) -> None:
    result = outcome(matcher, body)
    if isinstance(result, DocumentError):
        assert result.kind
        assert result.line is None or result.line >= 1
        assert len(str(result)) < 2000
    else:
        assert "/*" in result
        assert not result.errors
    assert list(matcher.match(b"<c/>")) == ["/*"], "the matcher still works"


@given(st.binary(max_size=60))
@example(b"")
@example(b"\x00")
@example(b"\xff\xfe<\x00a\x00/\x00>\x00")
def test_arbitrary_bytes(matcher: Matcher, body: bytes) -> None:
    check(matcher, body)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
def test_fragments_of_xml(matcher: Matcher, body: bytes) -> None:
    check(matcher, body)


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """Return a valid document with a few random edits."""
    body = draw(strategies.documents())
    for _ in range(draw(st.integers(1, 3))):
        position = draw(st.integers(0, len(body)))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=3))
        body = body[:position] + piece + body[position + draw(st.integers(0, 4)) :]
    return body


@given(mutants())
def test_mutated_documents(matcher: Matcher, body: bytes) -> None:
    check(matcher, body)


@given(
    strategies.documents(), st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"])
)
def test_encodings_give_the_same_matches(matcher: Matcher, body: bytes, encoding: str) -> None:
    result = outcome(matcher, body.decode().encode(encoding))
    if not isinstance(result, DocumentError):
        assert list(result) == list(matcher.match(body))


BOMB = (
    b"<!DOCTYPE a [<!ENTITY e0 'lol lol lol lol'>"
    + b"".join(
        b"<!ENTITY e%d '%s'>" % (level, b"&e%d;" % (level - 1) * 10) for level in range(1, 10)
    )
    + b"]><a>&e9;</a>"
)
HOSTILE = {
    "an entity bomb": BOMB,
    "an entity bomb in an attribute": BOMB.replace(b"<a>&e9;</a>", b"<a x='&e9;'/>"),
    "a recursive entity": b"<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>",
    "an external entity": b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
    "a quadratic bomb": b"<!DOCTYPE a [<!ENTITY e '"
    + b"x" * 60_000
    + b"'>]><a>"
    + b"&e;" * 3000
    + b"</a>",
    "100,000 levels": b"<a>" * 100_000 + b"</a>" * 100_000,
    "257 levels": b"<a>" * 257 + b"</a>" * 257,
    "100,000 levels that are not closed": b"<a>" * 100_000,
    "100,000 attributes": b"<a " + b" ".join(b'x%d="1"' % n for n in range(100_000)) + b"/>",
    "1,001 attributes": b"<a " + b" ".join(b'x%d="1"' % n for n in range(1001)) + b"/>",
    "a wrong encoding": b"<?xml version='1.0' encoding='utf-8'?><a>\xff</a>",
    "an unknown encoding": b"<?xml version='1.0' encoding='klingon'?><a/>",
    "NULs": b"<a>\x00</a>",
    "no bytes": b"",
    "text": b"hello",
    "two roots": b"<a/><b/>",
    "an undeclared prefix": b"<p:a/>",
    "two attributes of one name": b"<a x='1' x='2'/>",
    "a long name": b"<" + b"a" * 60_000 + b"/>",
    "an invalid character": b"<a>&#xFFFF;</a>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_rejected(matcher: Matcher, name: str) -> None:
    check(matcher, HOSTILE[name])
    if name != "an external entity":  # it is skipped, the document stays valid
        assert isinstance(outcome(matcher, HOSTILE[name]), DocumentError)


@each_engine
def test_an_external_entity_is_not_read(engine: EngineName, tmp_path: object) -> None:
    secret = f"{tmp_path}/secret"
    with open(secret, "w", encoding="utf-8") as file:
        file.write("secret")
    body = f"<!DOCTYPE a [<!ENTITY e SYSTEM 'file://{secret}'>]><a>&e;</a>".encode()
    fresh = Matcher(engine=engine)
    fresh.add(1, "contains(/, 'secret')")
    result = outcome(fresh, body)
    assert isinstance(result, DocumentError) or not list(result)


@each_engine
def test_join_work_is_linear_in_the_document(engine: EngineName) -> None:
    """Joins count the nodes they visit: twice the document, about twice the work."""
    texts = ["//a[b and .//c]", "//a[b=5]//c", "//a[c]/b[last()]", "//a[not(b)]/c", "//*[b][c]"]
    work = []
    for size in (200, 400):
        matcher = Matcher(engine=engine)
        matcher.add_many(enumerate(texts))
        matcher.match(b"<r>" + b"<a><b>4</b><d><c/></d></a>" * size + b"</r>")
        work.append(matcher.stats().join_work)
    assert 0 < work[1] < 3 * work[0]
