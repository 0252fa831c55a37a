"""Limits on elements and attributes, checked before libxml2 builds a tree.

A tree takes some 30 times the memory of its document. 60 MB of `<a/>` would need two gigabytes. One
start tag can hold millions of attributes, and libxml2 keeps their names as long as the thread runs.
So markup is counted first, in two rounds:

1. *Bounds* from counting bytes. `<` without `</` is an upper bound on elements, comments and
   processing instructions. `=` is an upper bound on attributes. A start tag contains no `<`, and
   with n attributes has at least 5n bytes. Two terms are added that the bytes do not show: entities
   may expand to markup (up to the growth that libxml2 allows), and an ATTLIST may give every
   element namespace declarations (libxml2 applies these; it ignores other default attributes).
   Nearly every document is within the bounds, at a millisecond or two per megabyte. A small
   document without a document type declaration is harmless, and the caller may count later.
2. If a bound exceeds a limit, `exact_counts` counts exactly, without a tree. So a bound alone never
   rejects a document: comments and CDATA may be full of `<` and `=`.

`numbering` checks every limit again on the tree, at no cost, and has the final word.

A document type declaration has a length limit of its own, because libxml2 also keeps the
declarations of the internal subset in memory. The prolog is a regular language, so regular
expressions find its end.

>>> precheck(b"<a><!-- <b><c><d> --></a>", Limits(elements=2)).has_doctype
False
>>> precheck(b"<a><b/><c/></a>", Limits(elements=2))  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
pathcast.errors.DocumentError: elements: more than 2 elements, comments and ... (line 1)
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pathcast.documents.encoding import CountableText, to_countable
from pathcast.documents.exact_counts import check_counts
from pathcast.documents.limits import MAX_DOCTYPE_BYTES, Limits
from pathcast.errors import DocumentError

__all__ = ["PrecheckResult", "attributes_within_limit", "is_small_and_plain", "precheck"]

_HARMLESS_BYTES: Final = 64 * 1024  # the tree of a document this small fits in memory
_MIN_ELEMENT_BYTES: Final = 4  # <a/>
_MIN_ATTRIBUTE_BYTES: Final = 5  # a="" and the space before it

# The expansion of entities: libxml2 allows 1,000,000 bytes, or 5 times its input. It counts UTF-8,
# in which one byte of the document may become 3, and counts the declarations twice.
_FREE_EXPANSION_BYTES: Final = 1_000_000
_MAX_EXPANSION_FACTOR: Final = 16

# A document that starts with its root element, or with an XML declaration and then the root.
_BARE = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml\s[^<>]*+>)?\s*+<[^!?]")

# An unclosed construct extends to the end of the document. Otherwise the search would restart
# inside it, which is quadratic.
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


# The byte after the first `<` if it starts no element, or if the document is in wide characters.
_NOT_A_NAME: Final = b"?!\0"


class PrecheckResult(NamedTuple):
    """The document in countable bytes, and facts that spare later checks."""

    text: CountableText
    has_doctype: bool
    """Whether it may have a document type declaration."""
    attributes_within_limit: bool
    """The total of attributes and namespace declarations is within the limit for one element."""
    every_attribute_has_equals: bool = False
    """Each attribute or namespace declaration has a `=` of its own in the document's bytes."""


def is_small_and_plain(octets: bytes, limits: Limits) -> bool:
    """Return whether a document is harmless, and starts with its root element, in UTF-8.

    If the caller counts on the tree, there is nothing to check before it. Most documents of a feed
    are like this.
    """
    return (
        1 < len(octets) <= _HARMLESS_BYTES
        and len(octets) <= limits.size
        and octets[0] == 0x3C  # <
        and octets[1] not in _NOT_A_NAME
    )


def attributes_within_limit(octets: bytes, limits: Limits) -> bool:
    """Return whether a document is too short to exceed a limit on attributes."""
    count = len(octets) // _MIN_ATTRIBUTE_BYTES
    return count <= limits.attributes and count <= limits.attributes_total


def precheck(
    body: bytes, limits: Limits, *, limits_checked_by_caller: bool = False
) -> PrecheckResult:
    """Raise DocumentError if the document exceeds a limit; return facts for later checks.

    With `limits_checked_by_caller` the caller counts on the tree, so harmless documents are not
    counted.
    """
    if len(body) > limits.size:
        raise DocumentError("size", f"{len(body)} bytes; at most {limits.size} are allowed")
    text = to_countable(body)
    octets = text.octets
    if (
        limits_checked_by_caller
        and len(octets) <= _HARMLESS_BYTES
        and (_BARE.match(octets) or b"<!DOCTYPE" not in octets)
    ):
        within_limit = attributes_within_limit(octets, limits)
        return PrecheckResult(text, False, within_limit, not text.recoded)
    elements = octets.count(b"<")
    attributes = equals_signs = octets.count(b"=")
    tag_cuts: list[int] | None = None
    defaults = 0
    doctype = _doctype(octets)
    if b"<!ENTITY" in doctype.subset:
        growth = _FREE_EXPANSION_BYTES + _MAX_EXPANSION_FACTOR * len(octets)
        elements += growth // _MIN_ELEMENT_BYTES
        attributes += growth // _MIN_ATTRIBUTE_BYTES
    if b"<!ATTLIST" in doctype.subset:
        defaults = doctype.subset.count(b"xmlns")
        attributes += defaults * elements
    if equals_signs > limits.attributes:
        tag_cuts = _tag_cuts(octets, limits.attributes)
    if elements > limits.elements:  # end tags are up to half of them
        elements -= octets.count(b"</")
    if (
        tag_cuts is not None
        or elements > limits.elements
        or attributes > limits.attributes_total
        or defaults > limits.attributes
    ):
        check_counts(text, limits, tag_cuts or [], (doctype.start, doctype.end))
    return PrecheckResult(text, b"<!DOCTYPE" in octets, attributes <= limits.attributes)


class _Doctype(NamedTuple):
    """The span of the document type declaration, and its internal subset."""

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
    limit = start + MAX_DOCTYPE_BYTES
    declaration = _DOCTYPE.match(octets, start, limit)
    if declaration is None:
        return _Doctype()
    if declaration.end() == limit:
        message = f"the document type declaration has {MAX_DOCTYPE_BYTES} bytes or more"
        raise DocumentError("limit", message, line=octets.count(b"\n", 0, start) + 1)
    return _Doctype(start, declaration.end(), declaration[1] or b"")


def _tag_cuts(octets: bytes, limit: int) -> list[int] | None:
    """Return the offsets at which to cut start tags; None if none has too many attributes.

    A candidate may be in a comment or in CDATA. A start tag with more than `limit` attributes need
    not exceed a limit, because namespace declarations have their own. One with more than twice as
    many must exceed one, and may be cut there.
    """
    attribute = rb"""(?:\s++[^\s<>"'=]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))"""
    stretch = re.compile(rb"<[^<]{%d,}+" % ((limit + 1) * _MIN_ATTRIBUTE_BYTES))
    tag = re.compile(rb"""<[^\s<>/!?"'=]++%b{%d}""" % (attribute, limit + 1))
    excess = re.compile(rb"%b{%d}" % (attribute, limit))
    cuts = []
    any_tag = False
    for candidate in stretch.finditer(octets):
        start, end = candidate.span()
        if octets.count(b"=", start, end) > limit and (first := tag.match(octets, start, end)):
            any_tag = True
            if second := excess.match(octets, first.end(), end):
                cuts.append(second.end())
    return cuts if any_tag else None
