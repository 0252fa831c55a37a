"""Limits that must hold before libxml2 builds a tree: a tree takes some 30 times the document.

60 MB of `<a/>` would be two gigabytes, and one start tag can hold millions of attributes, whose names
libxml2 would keep for as long as the thread lives. So markup is counted first, in two rounds:

1. *Bounds* from counting bytes. `<` without `</` cannot be fewer than the elements, comments and
   processing instructions; `=` cannot be fewer than the attributes; a start tag has no `<`
   inside, and with n attributes is at least 5n bytes long. What the bytes do not show is added: entities
   may bring markup (up to the growth that libxml2 allows), and an ATTLIST may give every element
   namespace declarations (libxml2 applies those; it leaves other default attributes out).
   Nearly every document is within the bounds and done, at a millisecond or two per megabyte.
   A small document without a document type declaration is no danger at all, and may be counted later.
2. Where a bound says that a limit might be passed, `counting` counts exactly, building nothing. So a bound
   is never a reason to reject: comments and CDATA may be full of `<` and `=`.

`building` checks every limit once more on the tree, at no cost, and that is the final word.

A document type declaration has a length limit of its own, since what an internal subset declares is kept
in memory as well. Lexically the prolog is regular, so expressions can find where it ends.

>>> precheck(b"<a><!-- <b><c><d> --></a>", Limits(elements=2)).declares
False
>>> precheck(b"<a><b/><c/></a>", Limits(elements=2))
Traceback (most recent call last):
...
pathcast.errors.DocumentError: elements: more than 2 elements, comments and processing instructions (line 1)
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pathcast.documents.encoding import CountableText, to_countable
from pathcast.documents.exact_counts import count
from pathcast.documents.limits import MAX_DOCTYPE_BYTES, Limits
from pathcast.errors import DocumentError

__all__ = ["PrecheckResult", "precheck"]

_SMALL: Final = 64 * 1024  # no tree of so few bytes is a danger
_SMALLEST_ELEMENT: Final = 4  # <a/>
_SMALLEST_ATTRIBUTE: Final = 5  # a="" and the blank before it

# What entities may add: libxml2 lets them grow to 1,000,000 bytes, or to 5 times what it read, counted in
# UTF-8 (one byte of the document may be 3) and with the declarations counted twice.
_FREE_GROWTH: Final = 1_000_000
_GROWTH: Final = 16

# A document that starts with its root element, or has nothing but an XML declaration before it.
_BARE = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml\s[^<>]*+>)?\s*+<[^!?]")

# What has no end reaches to the end of all: a second try from inside it would make the search quadratic.
_COMMENT: Final = rb"<!--(?s:.*?)(?:-->|\Z)"
_INSTRUCTION: Final = rb"<\?(?s:.*?)(?:\?>|\Z)"
_LITERAL: Final = rb"""\"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)"""
_PROLOG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|%b|%b)*+(?=<!DOCTYPE)" % (_INSTRUCTION, _COMMENT),
)
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\[>"']++|%b)*+"""
    rb"""(?:\[((?:[^\]"'<]++|%b|%b|%b|<)*+)(?:\]\s*+)?+)?+>?+"""
    % (_LITERAL, _LITERAL, _COMMENT, _INSTRUCTION)
)


class PrecheckResult(NamedTuple):
    """What was found on the way: the document in ASCII's terms, and what need not be asked again."""

    text: CountableText
    declares: bool  # it may have a document type declaration
    attributes_within_limit: bool
    """With its namespace declarations, all together, no more than one element may have."""
    every_attribute_has_equals: bool = (
        False  # every attribute has a = of its own among the bytes of the document
    )


def precheck(
    body: bytes, limits: Limits, *, limits_checked_by_caller: bool = False
) -> PrecheckResult:
    """Raise DocumentError if `body` has more of anything than allowed.

    `limits_checked_by_caller`: the caller counts on the tree, so that a document which is no danger need not be counted here.
    """
    if len(body) > limits.size:
        raise DocumentError("size", f"{len(body)} bytes; at most {limits.size} are allowed")
    text = to_countable(body)
    octets = text.octets
    if (
        limits_checked_by_caller
        and len(octets) <= _SMALL
        and (_BARE.match(octets) or b"<!DOCTYPE" not in octets)
    ):
        few = min(limits.attributes, limits.attributes_total)
        return PrecheckResult(
            text, False, len(octets) // _SMALLEST_ATTRIBUTE <= few, not text.recoded
        )
    elements = octets.count(b"<")
    attributes = written = octets.count(b"=")
    cuts: list[int] | None = None
    defaults = 0
    doctype = _doctype(octets)
    if b"<!ENTITY" in doctype.subset:
        growth = _FREE_GROWTH + _GROWTH * len(octets)
        elements += growth // _SMALLEST_ELEMENT
        attributes += growth // _SMALLEST_ATTRIBUTE
    if b"<!ATTLIST" in doctype.subset:
        defaults = doctype.subset.count(b"xmlns")
        attributes += defaults * elements
    if written > limits.attributes:
        cuts = _crowded(octets, limits.attributes)
    if elements > limits.elements:  # the second look: end tags are half of it
        elements -= octets.count(b"</")
    if (
        cuts is not None
        or elements > limits.elements
        or attributes > limits.attributes_total
        or defaults > limits.attributes
    ):
        count(text, limits, cuts or [], (doctype.start, doctype.end))
    return PrecheckResult(text, b"<!DOCTYPE" in octets, attributes <= limits.attributes)


class _Doctype(NamedTuple):
    """Where the document type declaration is, and what its internal subset says."""

    start: int = 0
    end: int = 0
    subset: bytes = b""


def _doctype(octets: bytes) -> _Doctype:
    if b"<!DOCTYPE" not in octets:
        return _Doctype()
    prolog = _PROLOG.match(octets)
    if prolog is None:
        return _Doctype()
    start = prolog.end()
    longest = start + MAX_DOCTYPE_BYTES
    found = _DOCTYPE.match(octets, start, longest)
    if found is None:
        return _Doctype()
    if found.end() == longest:
        message = f"the document type declaration has {MAX_DOCTYPE_BYTES} bytes or more"
        raise DocumentError("limit", message, line=octets.count(b"\n", 0, start) + 1)
    return _Doctype(start, found.end(), found[1] or b"")


def _crowded(octets: bytes, limit: int) -> list[int] | None:
    """None if no start tag can have more attributes than allowed, else where to cut start tags off.

    What looks like a start tag may lie in a comment or in CDATA, and be none. One of more than `limit`
    attributes need not pass a limit either, since namespace declarations have theirs; one
    of more than twice as many must, and that is where it may be cut.
    """
    attribute = rb"""(?:\s++[^\s<>"'=]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))"""
    stretch = re.compile(rb"<[^<]{%d,}+" % ((limit + 1) * _SMALLEST_ATTRIBUTE))
    tag = re.compile(rb"""<[^\s<>/!?"'=]++%b{%d}""" % (attribute, limit + 1))
    rest = re.compile(rb"%b{%d}" % (attribute, limit))
    cuts = []
    found = False
    for candidate in stretch.finditer(octets):
        start, end = candidate.span()
        if octets.count(b"=", start, end) > limit and (first := tag.match(octets, start, end)):
            found = True
            if second := rest.match(octets, first.end(), end):
                cuts.append(second.end())
    return cuts if found else None
