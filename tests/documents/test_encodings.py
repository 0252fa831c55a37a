"""Encodings that XML allows, and their conversion for counting."""

from __future__ import annotations

import pytest

from pathcast.documents import Limits, parse
from pathcast.documents.encoding import to_countable
from pathcast.errors import DocumentError

TEXTS = {
    "utf-8": "caf\u00e9 \u20ac \u65e5\u672c \U0001f375",
    "us-ascii": "tea",
    "iso-8859-1": "caf\u00e9",
    "iso-8859-15": "caf\u00e9 \u20ac",
    "windows-1252": "caf\u00e9 \u20ac",
    "windows-1251": "\u0447\u0430\u0439",
    "koi8-r": "\u0447\u0430\u0439",
    "iso-8859-7": "\u03c4\u03c3\u03ac\u03b9",
    "shift_jis": "\u65e5\u672c",
    "euc-jp": "\u65e5\u672c",
    "iso-2022-jp": "\u65e5\u672c < ".replace("<", "&lt;"),
    "gb2312": "\u4e2d\u56fd",
    "gb18030": "\u4e2d\u56fd \U0001f375",
    "hz": "\u4e2d\u56fd",
    "big5": "\u4e2d\u570b",
    "euc-kr": "\ud55c\uad6d",
    "utf-7": "caf\u00e9 + \u20ac",
    "utf-16": "caf\u00e9 \U0001f375",
    "utf-32": "caf\u00e9 \U0001f375",
}
WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", TEXTS)
def test_declared_encoding(encoding: str) -> None:
    text = TEXTS[encoding]
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    body = head.encode() if encoding == "utf-7" else b""
    body += ("" if body else head).encode(encoding) + f"<a><b/>{text}</a>".encode(encoding)
    if encoding in ("utf-16", "utf-32"):
        body = f"{head}<a><b/>{text}</a>".encode(encoding)
    assert parse(body).string_value(0) == text.replace("&lt;", "<")
    octets = to_countable(body).octets
    assert octets.count(b"<b/>") == 1
    with pytest.raises(DocumentError, match="elements"):
        parse(body, Limits(elements=1))


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("declared", ["", "utf-16", "utf-8", "iso-8859-1"])
def test_first_bytes_override_the_declaration(encoding: str, mark: str, declared: str) -> None:
    head = f"<?xml version='1.0' encoding='{declared}'?>" if declared else "<?xml version='1.0'?>"
    body = f"{mark}{head}<a><b/>\u00e9</a>".encode(encoding)
    assert parse(body).string_value(0) == "\u00e9"
    text = to_countable(body)
    assert text.recoded
    assert text.octets.decode() == f"{head}<a><b/>\u00e9</a>"
    with pytest.raises(DocumentError, match="elements"):
        parse(body, Limits(elements=1))


def test_byte_order_mark_overrides_the_declaration() -> None:
    body = "\ufeff<?xml version='1.0' encoding='utf-7'?><a>+ADw-</a>".encode()
    assert parse(body).string_value(0) == "+ADw-"


@pytest.mark.parametrize(
    "body", [b"", b"<", b"<a", b"\xff", b"\xff\xfe", b"<\x00", b"Lo\xa7\x94", b"\x00<"]
)
def test_short_bodies(body: bytes) -> None:
    with pytest.raises(DocumentError):
        parse(body)


def test_markup_in_escape_sequences_is_counted() -> None:
    head = b"<?xml version='1.0' encoding='UTF-7'?>"
    elements = head + b"<a>" + b"+ADw-b/+AD4-" * 50 + b"</a>"
    assert len(parse(elements).all_elements) == 51
    with pytest.raises(DocumentError, match="elements: more than 50"):
        parse(elements, Limits(elements=50))
    attributes = head + b"+ADw-a " + b" ".join(b"n%d+AD0-''" % n for n in range(2001)) + b"/+AD4-"
    with pytest.raises(DocumentError, match="attributes: more than 1000"):
        parse(attributes)


@pytest.mark.parametrize(
    "name", ["a" * 5000, "idna", "punycode", "undefined", "rot13", "zlib", "cp037"]
)
def test_names_of_other_python_codecs_are_refused(name: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(f"<?xml version='1.0' encoding='{name}'?><a/>".encode())
    assert caught.value.kind == "encoding"
    assert len(caught.value.message) < 200
