"""Tests of documents given as text: what a text declares about its encoding is ignored."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pathcast import Matcher
from pathcast.documents import Limits, parse
from pathcast.errors import DocumentError
from tests.matching.engines import each_engine

ENCODINGS = (
    "ISO-8859-1",
    "UTF-16",
    "UTF-16LE",
    "UTF-32",
    "UTF-7",
    "ISO-2022-JP",
    "cp037",
    "no-such-encoding",
    "us-ascii",
    "utf-8",
)


def title_of(text: str) -> str:
    return parse(text).string_value(1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_text_that_declares_any_encoding_is_read_as_it_is(encoding: str, mark: str) -> None:
    text = f"{mark}<?xml version='1.0' encoding='{encoding}'?><title>é漢 +ADw-</title>"
    assert title_of(text) == "é漢 +ADw-"


@each_engine
def test_matcher_reads_text_whatever_it_declares(engine: str) -> None:
    matcher = Matcher(engine=engine)  # type: ignore[arg-type]
    matcher.add("e", "//title[. = 'é']", hop=3)
    matcher.add("residual", "//title[normalize-space(.) = 'é']")
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><title>é</title>"
    assert list(matcher.match(text)) == ["e", "residual"]
    assert list(matcher.match_hops(text)) == [3]
    assert [list(row) for row in matcher.match_batch([text, text.encode("latin-1")])] == [
        ["e", "residual"],
        ["e", "residual"],
    ]
    assert matcher.explain("//title[. = 'é']", text).matched


def test_half_a_surrogate_pair_is_an_error_of_the_document() -> None:
    text = "<title>\n\udc80</title>"
    with pytest.raises(DocumentError) as raised:
        parse(text)
    assert (raised.value.kind, raised.value.line) == ("encoding", 2)
    batch = Matcher().match_batch([text, "<a/>"])
    assert [error.kind for error in batch.errors.values()] == ["encoding"]


@pytest.mark.parametrize("text", ["<\0?\0x\0", "\0<\0?", "<\0\0\0", "\0\0\0<"])
def test_text_that_looks_like_wide_characters_is_malformed(text: str) -> None:
    wide = text + "<a/>"
    with pytest.raises(DocumentError) as raised:
        parse(wide)
    assert raised.value.kind in ("malformed", "empty")


def test_a_text_is_no_path() -> None:
    with pytest.raises(DocumentError):
        parse("/etc/passwd")
    with pytest.raises(TypeError, match="bytes or str, not NoneType"):
        parse(None)  # type: ignore[arg-type]


def test_the_size_of_a_text_is_that_of_its_utf8() -> None:
    assert title_of("<a>é</a>") == "é"
    parse("<a>é</a>", Limits(size=9))
    with pytest.raises(DocumentError, match="size: 9 bytes"):
        parse("<a>é</a>", Limits(size=8))


def test_positions_of_errors_do_not_count_the_byte_order_mark() -> None:
    for text in ("<a>\n <b></a>", "<?xml version='1.0' encoding='latin1'?><a>\n <b></a>"):
        with pytest.raises(DocumentError) as raised:
            parse(text)
        assert (raised.value.line, raised.value.column) == (2, 9)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=20))
@example("\x80")
def test_text_equals_its_bytes_in_utf8(content: str) -> None:
    text = "<a>" + content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") + "</a>"
    declared = "<?xml version='1.0' encoding='UTF-16'?>" + text

    def outcome(body: bytes | str) -> object:
        try:
            return parse(body).content
        except DocumentError as error:
            return error.kind

    assert outcome(text) == outcome(text.encode()) == outcome(declared)
