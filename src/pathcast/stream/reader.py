"""The one door for documents: bytes in, a `Document` out, or a `DocumentError` that says why not.

Bytes only. A string would have lost its encoding, and a path or an address would make this a way to
read files; external entities, external DTDs and the network are never touched for the same reason.
What is checked when: `precheck` before anything is built, libxml2 while it parses (well-formedness,
namespaces, the growth of entities, depth), `building` on the tree.

The document type declaration is taken out of the tree once entities are expanded and ids are known: XPath
has no node for it, but libxml2 looks into it all the same (`//comment()` then finds what `/comment()` and
`//comment()[1]` do not, and `string(/)` has the text of declared entities in front).

A parser is made for every call: it costs 6 microseconds, and nothing is shared between threads. But
libxml2 keeps every name that it has seen for as long as the thread lives, and stops (kind `limit`)
when they are 267 MB. Who parses for strangers for ever should change threads now and then.

>>> parse("<a>caf\\xe9</a>".encode("utf-16")).string(1)
'caf\\xe9'
>>> parse(b"<a>\\n  <b></a>")
Traceback (most recent call last):
...
pathcast.errors.DocumentError: malformed: Opening and ending tag mismatch: b line 2 and a (line 2, column 10)
"""

from __future__ import annotations

from lxml import etree

from pathcast.stream.building import build
from pathcast.stream.document import Document
from pathcast.stream.faults import fault
from pathcast.stream.limits import Limits
from pathcast.stream.precheck import precheck

__all__ = ["parse"]

_DEFAULTS = Limits()


def parse(body: bytes | bytearray | memoryview, limits: Limits = _DEFAULTS) -> Document:
    """Parse a document under limits; DocumentError is the only error that its content can cause."""
    if not isinstance(body, bytes | bytearray | memoryview):
        raise TypeError(f"a document is bytes, not {type(body).__name__}")
    octets = bytes(body)
    text = precheck(octets, limits)
    parser = etree.XMLParser(
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_blank_text=False,
        strip_cdata=True,
        collect_ids=True,
    )
    try:
        root = etree.fromstring(octets, parser)
    except etree.XMLSyntaxError as error:
        raise fault(error, text.octets) from None
    tree = root.getroottree()
    tree.docinfo.clear()
    return build(tree, limits)
