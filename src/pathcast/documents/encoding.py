"""Conversion of documents to an ASCII-compatible encoding in which markup can be counted.

`to_countable(body)` returns bytes in which every `<` of the text is the byte 0x3C, and so on. For
nearly all encodings these are the body itself. UTF-16, UTF-32, UTF-7 and encodings with escape
sequences are converted to UTF-8. The copy serves counting only: libxml2 still parses the body as it
came, and decides whether it is well-formed. An encoding that cannot be counted is refused, because
limits would have no effect. libxml2 supports one in which `<` may be written `\\u003c`.

Encoding detection follows libxml2. The first bytes decide in spite of the declaration: a byte order
mark, or `<` or `<?` in wide characters. Then the declaration decides; the default is UTF-8. libxml2
switches encodings right after the encoding's name, so it would accept a declaration in ASCII
followed by UTF-16. This module refuses it, as XML requires.

A text (`str`) is decoded already, so a declaration in it has no meaning. `to_octets` encodes it in
UTF-8, with a byte order mark wherever the first bytes or a declaration could suggest another
encoding: the mark decides.

>>> to_countable("<a/>".encode("utf-16"))
CountableText(octets=b'<a/>', recoded=True)
>>> to_countable(b"<?xml version='1.0' encoding='UTF-7'?>+ADw-a/+AD4-").octets
b"<?xml version='1.0' encoding='UTF-7'?><a/>"
>>> to_octets("<?xml version='1.0' encoding='UTF-7'?><a/>")[:8]
b'\\xef\\xbb\\xbf<?xml'
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final, NamedTuple

from pathcast.errors import DocumentError

__all__ = ["CountableText", "mark_utf8", "to_countable", "to_octets"]


class CountableText(NamedTuple):
    """A document in ASCII-compatible bytes; if `recoded`, they are UTF-8 whatever it declares."""

    octets: bytes
    recoded: bool


# The first bytes of documents in wide characters or EBCDIC; longer signatures first.
_SIGNATURES: Final = (
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\x00<", "utf-32-be"),
    (b"<\x00\x00\x00", "utf-32-le"),
    (b"<\x00?\x00", "utf-16-le"),
    (b"\x00<\x00?", "utf-16-be"),
    (b"Lo\xa7\x94", "cp037"),  # EBCDIC; its many versions agree on markup
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)

_DECLARED = re.compile(
    rb"""<\?xml\s*version\s*=\s*(?:"[^"]*"|'[^']*')\s*encoding\s*=\s*["']([A-Za-z][\w.-]*)["']"""
)

# Encodings in which a byte below 128 may be part of another character, by Python's codec names.
_STATEFUL: Final = frozenset(
    """utf-7 hz iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext
    iso2022_kr""".split()
)
# ASCII-compatible encodings that libxml2 may support and Python does not.
_ICONV_ONLY: Final = frozenset(
    """windows-31j windows-874 cp874 euc-tw viscii tcvn koi8-ru armscii-8 georgian-ps
    georgian-academy gb_2312-80 iso-8859-8-i iso-8859-8-e""".split()
)
_MAX_NAME_LENGTH: Final = 40
# Without the backslash, which is a yen sign in some encodings.
_ASCII: Final = bytes(code for code in range(128) if code != ord("\\"))


def to_octets(body: bytes | str) -> bytes:
    """Return a document as bytes; a text in UTF-8, whatever it declares.

    Raise DocumentError if the text has half a surrogate pair.
    """
    if not isinstance(body, str):
        return body
    try:
        return mark_utf8(body.encode())
    except UnicodeEncodeError as error:
        raise DocumentError(
            "encoding",
            f"the text has half a surrogate pair (U+{ord(body[error.start]):04X})",
            line=body.count("\n", 0, error.start) + 1,
            hint="decode the document with the encoding that it is in, or pass its bytes",
        ) from None


def mark_utf8(octets: bytes) -> bytes:
    """Return text in UTF-8 so that nothing in it is taken for a sign of another encoding."""
    if _starts_with_tag(octets) or octets.startswith(codecs.BOM_UTF8):
        return octets
    return codecs.BOM_UTF8 + octets


def _starts_with_tag(body: bytes) -> bool:
    return body[:1] == b"<" and body[1:2] not in (b"?", b"\0")


def to_countable(body: bytes) -> CountableText:
    """Return the document in countable bytes; DocumentError if its encoding does not allow it."""
    if _starts_with_tag(body):
        return CountableText(body, recoded=False)  # no declaration, so UTF-8
    for signature, codec in _SIGNATURES:
        if body.startswith(signature):
            return CountableText(_recode(body, codec), recoded=True)
    declared = _DECLARED.match(body)
    if declared is None:
        return CountableText(body, recoded=False)
    source_codec = _source_codec(declared[1].decode("ascii"))
    if source_codec is None:
        return CountableText(body, recoded=False)
    start = declared.end()
    return CountableText(body[:start] + _recode(body[start:], source_codec), recoded=True)


def _recode(octets: bytes, codec: str) -> bytes:
    # libxml2 reports the bytes that cannot be decoded.
    return octets.decode(codec, "replace").removeprefix("\ufeff").encode()


@lru_cache(maxsize=256)
def _source_codec(name: str) -> str | None:
    """Return the codec to convert from, None if the encoding is ASCII-compatible."""
    if name.lower() in _ICONV_ONLY:
        return None
    try:
        codec = codecs.lookup(name[:_MAX_NAME_LENGTH]).name
        if codec in _STATEFUL:
            return codec
        if _ASCII.decode(codec) == _ASCII.decode("ascii"):
            return None
    except (LookupError, UnicodeError):
        pass
    shown = name[:_MAX_NAME_LENGTH]
    raise DocumentError(
        "encoding",
        f"the encoding {shown!r} is not supported, or not what the document is in",
        line=1,
        hint="write the document in UTF-8",
    )
