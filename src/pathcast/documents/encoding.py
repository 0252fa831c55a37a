"""Bytes in which ASCII characters are themselves, so that markup can be counted without a parser.

`to_countable(body)` gives the document as bytes where every `<` of the text is the byte 0x3C and so on.
For nearly all encodings that is the body itself. UTF-16, UTF-32, UTF-7 and the encodings with
escape sequences are turned into UTF-8; it is a second copy, made for counting only: libxml2
still gets the body as it came, and decides what is well-formed. An encoding that cannot be counted
(libxml2 knows one in which `<` may be written `\\u003c`) is refused, or limits would mean nothing.

The rules for finding the encoding are libxml2's: the first bytes decide (a byte order mark, `<` or `<?`
in wide characters) whatever the declaration says; then the declaration; then it is UTF-8. libxml2
changes over right behind the encoding's name, so a declaration in ASCII with UTF-16 behind it would
be accepted there; here it is refused, as XML says.

>>> to_countable("<a/>".encode("utf-16"))
CountableText(octets=b'<a/>', recoded=True)
>>> to_countable(b"<?xml version='1.0' encoding='UTF-7'?>+ADw-a/+AD4-").octets
b"<?xml version='1.0' encoding='UTF-7'?><a/>"
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final, NamedTuple

from pathcast.errors import DocumentError

__all__ = ["CountableText", "to_countable"]


class CountableText(NamedTuple):
    """A document in bytes that agree with ASCII; when `recoded` they are UTF-8, whatever it declares."""

    octets: bytes
    recoded: bool


# What a document starts with when it is not in single bytes; longer ones first.
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

# Encodings in which a byte below 128 may be part of something else. Names as Python's codecs have them.
_STATEFUL: Final = frozenset(
    """utf-7 hz iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext
    iso2022_kr""".split()
)
# Encodings that agree with ASCII, that libxml2 may know and Python does not.
_KNOWN_TO_ICONV: Final = frozenset(
    """windows-31j windows-874 cp874 euc-tw viscii tcvn koi8-ru armscii-8 georgian-ps georgian-academy
    gb_2312-80 iso-8859-8-i iso-8859-8-e""".split()
)
_LONGEST_NAME: Final = 40
_ASCII: Final = bytes(code for code in range(128) if code != ord("\\"))  # a yen sign in some


def to_countable(body: bytes) -> CountableText:
    """The document for counting; raises DocumentError where its encoding forbids that."""
    if body[:1] == b"<" and body[1:2] not in (b"?", b"\0"):
        return CountableText(body, recoded=False)  # markup at once, so UTF-8 or what agrees with it
    for signature, codec in _SIGNATURES:
        if body.startswith(signature):
            return CountableText(_recode(body, codec), recoded=True)
    declared = _DECLARED.match(body)
    if declared is None:
        return CountableText(body, recoded=False)
    recoding = _recoding(declared[1].decode("ascii"))
    if recoding is None:
        return CountableText(body, recoded=False)
    start = declared.end()
    return CountableText(body[:start] + _recode(body[start:], recoding), recoded=True)


def _recode(octets: bytes, codec: str) -> bytes:
    # What cannot be decoded is left to libxml2 to complain about.
    return octets.decode(codec, "replace").removeprefix("\ufeff").encode()


@lru_cache(maxsize=256)
def _recoding(name: str) -> str | None:
    """The codec that makes the encoding countable, None when it is so already."""
    if name.lower() in _KNOWN_TO_ICONV:
        return None
    try:
        codec = codecs.lookup(name[:_LONGEST_NAME]).name
        if codec in _STATEFUL:
            return codec
        if _ASCII.decode(codec) == _ASCII.decode("ascii"):
            return None
    except (LookupError, UnicodeError):
        pass
    raise DocumentError(
        "encoding",
        f"the encoding {name[:_LONGEST_NAME]!r} is not supported, or not what the document is in",
        line=1,
        hint="write the document in UTF-8",
    )
