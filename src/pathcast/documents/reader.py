"""Parsing of documents: bytes to a `Document`, or a `DocumentError` with the reason.

The input is bytes, or a text, whose declared encoding is ignored (`encoding`). It is never a path
or a URL, which would be a way to read files. For the same reason external entities, external DTDs
and the network are never accessed. Checks happen in three places: `precheck` before parsing;
libxml2 while it parses (well-formedness, namespaces, the growth of entities, depth); `numbering` on
the tree.

The document type declaration is removed from the tree after entities are expanded and ids are
known. XPath has no node for it, but libxml2 searches it: `//comment()` would find comments that
`/comment()` and `//comment()[1]` do not, and `string(/)` would start with the text of declared
entities.

A parser serves one call at a time and is then reused, because creating one costs 6 microseconds. It
never moves to another thread. A thread's first parse adopts the parser's dictionary of names, and
two threads that write to one dictionary corrupt names or crash. libxml2 keeps every name for as
long as the thread runs, and stops (kind `limit`) at 267 MB of them. A service that parses untrusted
documents for a long time should renew its threads.

>>> parse("<a>caf\\xe9</a>".encode("utf-16")).string_value(1)
'caf\\xe9'
>>> parse(b"<a>\\n  <b></a>")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
pathcast.errors.DocumentError: malformed: Opening and ending tag mismatch: ... (line 2, column 10)
"""

from __future__ import annotations

from threading import local
from typing import NamedTuple

from lxml import etree

from pathcast.documents.document import Document
from pathcast.documents.encoding import to_octets
from pathcast.documents.limits import Limits
from pathcast.documents.numbering import number_nodes
from pathcast.documents.parse_errors import document_error
from pathcast.documents.precheck import attributes_within_limit, is_small_and_plain, precheck

__all__ = ["ParsedTree", "new_parser", "parse", "parse_tree"]

_DEFAULT_LIMITS = Limits()
_DOCUMENT_TYPES = (bytes, bytearray, memoryview, str)


class _Parsers(local):
    """The idle parsers of a thread."""

    def __init__(self) -> None:
        self.idle: list[etree.XMLParser] = []


_parsers = _Parsers()


class ParsedTree(NamedTuple):
    """A parsed document with unchecked limits."""

    root: etree._Element
    attributes_within_limit: bool
    """The total of attributes and namespace declarations is within the limit for one element."""
    every_attribute_has_equals: bool
    """Each attribute or namespace declaration has a `=` of its own in the document's bytes."""


def parse(body: bytes | bytearray | memoryview | str, limits: Limits = _DEFAULT_LIMITS) -> Document:
    """Parse a document under limits; DocumentError is the only error that its content can cause."""
    return number_nodes(
        _parse(body, limits, limits_checked_by_caller=False).root.getroottree(), limits
    )


def parse_tree(
    body: bytes | bytearray | memoryview | str, limits: Limits = _DEFAULT_LIMITS
) -> ParsedTree:
    """Parse a document to a tree; the caller must check depth, elements and attributes on it.

    If the tree exceeds a limit, `parse` raises the error with its line.
    """
    if type(body) is bytes and is_small_and_plain(body, limits):
        return ParsedTree(_parse_octets(body, body), attributes_within_limit(body, limits), True)
    return _parse(body, limits, limits_checked_by_caller=True)


def _parse(
    body: bytes | bytearray | memoryview | str, limits: Limits, *, limits_checked_by_caller: bool
) -> ParsedTree:
    if not isinstance(body, _DOCUMENT_TYPES):
        raise TypeError(f"a document is bytes or str, not {type(body).__name__}")
    octets = to_octets(body if isinstance(body, str) else bytes(body))
    prechecked = precheck(octets, limits, limits_checked_by_caller=limits_checked_by_caller)
    root = _parse_octets(octets, prechecked.text.octets)
    if prechecked.has_doctype:
        root.getroottree().docinfo.clear()
    return ParsedTree(
        root, prechecked.attributes_within_limit, prechecked.every_attribute_has_equals
    )


def _parse_octets(octets: bytes, countable: bytes) -> etree._Element:
    """Return the root of the tree; errors are located in the countable bytes."""
    idle = _parsers.idle
    parser = idle.pop() if idle else new_parser()
    try:
        return etree.fromstring(octets, parser)
    except etree.XMLSyntaxError as error:
        raise document_error(error, countable) from None
    finally:
        idle.append(parser)


def new_parser() -> etree.XMLParser:
    """Return a parser with the settings for documents."""
    return etree.XMLParser(
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_blank_text=False,
        strip_cdata=True,
        collect_ids=True,
    )
