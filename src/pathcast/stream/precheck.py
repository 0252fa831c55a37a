"""Limits that must hold before libxml2 builds a tree: a tree takes some 30 times the document.

60 MB of `<a/>` would be two gigabytes, and one start tag can hold millions of attributes, whose names
libxml2 would keep for as long as the thread lives. So markup is counted first, in two rounds:

1. *Bounds* from counting bytes. `<` without `</` cannot be fewer than the elements, comments and
   processing instructions; `=` cannot be fewer than the attributes; a start tag has no `<`
   inside, and with n attributes is at least 5n bytes long. What the bytes do not show is added: entities
   may bring markup (up to the growth that libxml2 allows), and an ATTLIST may give every element
   namespace declarations (libxml2 applies those; it leaves other default attributes out).
   Nearly every document is within the bounds and done, at some 1 ms per megabyte.
2. Where a bound says that a limit might be passed, `counting` counts exactly, building nothing. So a bound
   is never a reason to reject: comments and CDATA may be full of `<` and `=`.

`building` checks every limit once more on the tree, at no cost, and that is the final word.

An internal DTD subset has a length limit of its own, since its declarations are kept in memory as
well. Lexically the prolog is regular, so expressions can find its end.

>>> text = precheck(b"<a><!-- <b><c><d> --></a>", Limits(elements=2))
>>> precheck(b"<a><b/><c/></a>", Limits(elements=2))
Traceback (most recent call last):
...
pathcast.errors.DocumentError: elements: more than 2 elements, comments and processing instructions (line 1)
"""

from __future__ import annotations

import re
from typing import Final

from pathcast.errors import DocumentError
from pathcast.stream.counting import count
from pathcast.stream.limits import SUBSET_SIZE, Limits
from pathcast.stream.octets import Text, readable

__all__ = ["precheck"]

_SMALLEST_ELEMENT: Final = 4  # <a/>
_SMALLEST_ATTRIBUTE: Final = 5  # a="" and the blank before it

# What entities may add: libxml2 lets them grow to 1,000,000 bytes, or to 5 times what it read, counted in
# UTF-8 (one byte of the document may be 3) and with the declarations counted twice.
_FREE_GROWTH: Final = 1_000_000
_GROWTH: Final = 16

_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s++|<\?(?s:.*?)\?>|<!--(?s:.*?)-->)*+(?=<!DOCTYPE)")
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\[>"']++|"[^"]*+"|'[^']*+')*+"""
    rb"""(\[(?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--(?s:.*?)-->|<\?(?s:.*?)\?>|<)*+)(?:\]\s*+>)?+"""
)


def precheck(body: bytes, limits: Limits) -> Text:
    """Raise DocumentError if `body` has more of anything than allowed; give it back in ASCII's terms."""
    if len(body) > limits.size:
        raise DocumentError("size", f"{len(body)} bytes; at most {limits.size} are allowed")
    text = readable(body)
    octets = text.octets
    elements = octets.count(b"<")
    attributes = octets.count(b"=")
    crowded: tuple[int, ...] = ()
    defaults = doctype_end = 0
    if doctype := _doctype(octets):
        subset, doctype_end = doctype[1], doctype.end()
        if len(subset) > SUBSET_SIZE:
            line = octets.count(b"\n", 0, doctype.start(1)) + 1
            message = f"the internal DTD subset has more than {SUBSET_SIZE} bytes"
            raise DocumentError("limit", message, line=line)
        if b"<!ENTITY" in subset:
            growth = _FREE_GROWTH + _GROWTH * len(octets)
            elements += growth // _SMALLEST_ELEMENT
            attributes += growth // _SMALLEST_ATTRIBUTE
        if b"<!ATTLIST" in subset:
            defaults = subset.count(b"xmlns")
            attributes += defaults * elements
    if attributes > limits.attributes:
        crowded = _crowded(octets, limits.attributes)
    if elements > limits.elements:  # the second look: end tags are half of it
        elements -= octets.count(b"</")
    if (
        crowded
        or elements > limits.elements
        or attributes > limits.attributes_total
        or defaults > limits.attributes
    ):
        count(text, limits, crowded, doctype_end)
    return text


def _doctype(octets: bytes) -> re.Match[bytes] | None:
    """The document type declaration, if it has an internal subset (which is group 1)."""
    if b"<!DOCTYPE" not in octets:
        return None
    prolog = _PROLOG.match(octets)
    return _DOCTYPE.match(octets, prolog.end()) if prolog else None


def _crowded(octets: bytes, limit: int) -> tuple[int, ...]:
    """Where, in what looks like a start tag of too many attributes, the first one too many ends.

    Only looks like: it may lie in a comment or in CDATA, and then it is no start tag at all.
    """
    too_many = limit + 1
    stretch = re.compile(rb"<[^<]{%d,}+" % (too_many * _SMALLEST_ATTRIBUTE))
    tag = re.compile(
        rb"""<[^\s<>/!?"'=]++(?:\s++[^\s<>"'=]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')){%d}""" % too_many
    )
    found = []
    for candidate in stretch.finditer(octets):
        start, end = candidate.span()
        if octets.count(b"=", start, end) > limit and (match := tag.match(octets, start, end)):
            found.append(match.end())
    return tuple(found)
