"""The one door for documents: bytes in, a `Document` out, or a `DocumentError` that says why not.

Bytes only. A string would have lost its encoding, and a path or an address would make this a way to
read files; external entities, external DTDs and the network are never touched for the same reason.
What is checked when: `precheck` before anything is built, libxml2 while it parses (well-formedness,
namespaces, the growth of entities, depth), `building` on the tree.

The document type declaration is taken out of the tree once entities are expanded and ids are known: XPath
has no node for it, but libxml2 looks into it all the same (`//comment()` then finds what `/comment()` and
`//comment()[1]` do not, and `string(/)` has the text of declared entities in front).

A parser serves one call at a time and is then put back for the next: to make one costs 6 microseconds. It never
goes to another thread: a thread that parses for the first time takes the parser's dictionary of names as its own, and two
threads that write into one dictionary at the same time mix up names, or crash. But libxml2 keeps every
name that it has seen for as long as the thread lives, and stops (kind `limit`) when they are 267 MB. Who parses
for strangers for ever should change threads now and then.

>>> parse("<a>caf\\xe9</a>".encode("utf-16")).string_value(1)
'caf\\xe9'
>>> parse(b"<a>\\n  <b></a>")
Traceback (most recent call last):
...
pathcast.errors.DocumentError: malformed: Opening and ending tag mismatch: b line 2 and a (line 2, column 10)
"""

from __future__ import annotations

from threading import local
from typing import NamedTuple

from lxml import etree

from pathcast.documents.document import Document
from pathcast.documents.limits import Limits
from pathcast.documents.numbering import number_nodes
from pathcast.documents.parse_errors import document_error
from pathcast.documents.precheck import precheck

__all__ = ["ParsedTree", "new_parser", "parse", "parse_tree"]

_DEFAULTS = Limits()


class _Parsers(local):
    """Parsers of a thread that nobody uses at the moment."""

    def __init__(self) -> None:
        self.idle: list[etree.XMLParser] = []


_parsers = _Parsers()


class ParsedTree(NamedTuple):
    """A parsed document that nobody has counted yet."""

    root: etree._Element
    attributes_within_limit: bool
    """With namespace declarations, all together, they are no more than one element may have: no need to count."""
    every_attribute_has_equals: bool
    """Every attribute and namespace declaration has a `=` of its own among the bytes of the document."""


def parse(body: bytes | bytearray | memoryview, limits: Limits = _DEFAULTS) -> Document:
    """Parse a document under limits; DocumentError is the only error that its content can cause."""
    return number_nodes(
        _tree(body, limits, limits_checked_by_caller=False).root.getroottree(), limits
    )


def parse_tree(body: bytes | bytearray | memoryview, limits: Limits = _DEFAULTS) -> ParsedTree:
    """Only the tree: limits on depth, elements, attributes and namespaces are for the caller to check on it.

    Where one is passed, `parse` says what is wrong, and where.
    """
    return _tree(body, limits, limits_checked_by_caller=True)


def _tree(
    body: bytes | bytearray | memoryview, limits: Limits, *, limits_checked_by_caller: bool
) -> ParsedTree:
    if not isinstance(body, bytes | bytearray | memoryview):
        raise TypeError(_no_bytes(type(body)))
    octets = bytes(body)
    checked = precheck(octets, limits, limits_checked_by_caller=limits_checked_by_caller)
    idle = _parsers.idle
    parser = idle.pop() if idle else new_parser()
    try:
        root = etree.fromstring(octets, parser)
    except etree.XMLSyntaxError as error:
        raise document_error(error, checked.text.octets) from None
    finally:
        idle.append(parser)
    if checked.declares:
        root.getroottree().docinfo.clear()
    return ParsedTree(root, checked.attributes_within_limit, checked.every_attribute_has_equals)


def _no_bytes(given: type) -> str:
    return f"a document is bytes, not {given.__name__}" + (
        ": encode it first" if given is str else ""
    )


def new_parser() -> etree.XMLParser:
    """A parser with the settings that every document is read with."""
    return etree.XMLParser(
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_blank_text=False,
        strip_cdata=True,
        collect_ids=True,
    )
