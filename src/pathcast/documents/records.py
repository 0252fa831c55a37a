r"""Records of a large document: every element of a name as a document of its own, in a stream.

A dump of a million records is one document, whose tree would take thirty times its size.
`split_records` feeds it in chunks to libxml2's push parser, serialises every complete record, and
deletes from the growing tree what lies before it. So memory is bounded by the largest record, which
`Limits.size` and `Limits.elements` bound in turn, and a few chunks.

- A record is an element with the given local name, in any namespace. `{address}name` asks for one
  namespace, `{}name` for none.
- Records do not nest: an element of the name inside a record belongs to it.
- A record is UTF-8, declares the namespaces in scope, and has its entities expanded. Attribute
  types and `xml:lang` of elements around it are lost.
- An item is a record, or the error in its place. After malformed input nothing follows.

Entities could expand to more than memory holds: libxml2 allows five times the input so far, which
may be gigabytes. It also reports the markup of an entity only once. So only entities of short,
plain text are allowed; a document with others is refused (`amplification`).

>>> import io
>>> feed = b"<feed xmlns:x='urn:x'><item x:n='1'/> <item><item/></item><oops</feed>"
>>> for record in split_records(io.BytesIO(feed), "item"):
...     print(record if isinstance(record, bytes) else record.kind)
b'<item xmlns:x="urn:x" x:n="1"/>'
b'<item xmlns:x="urn:x"><item/></item>'
malformed
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Final

from lxml import etree

from pathcast.documents.encoding import to_countable
from pathcast.documents.limits import MAX_DOCTYPE_BYTES, Limits
from pathcast.documents.parse_errors import document_error
from pathcast.errors import DocumentError

__all__ = ["check_record_name", "split_records"]

_FIRST_CHUNK_BYTES: Final = 4096  # small, until it is known which entities are declared
_CHUNK_BYTES: Final = 64 * 1024
_MAX_ENTITY_CHARACTERS: Final = 4096  # of all entities together
_NAME = re.compile(r"(\{[^{}]*\})?[^\W\d][\w.\-\u00b7]*")
_DEFAULT_LIMITS: Final = Limits()


def check_record_name(name: str) -> str:
    """Return a valid name of records unchanged; ValueError for any other."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of an element: write its local name, or {{address}}name"
        )
    return name


def split_records(
    stream: IO[bytes], name: str, limits: Limits = _DEFAULT_LIMITS
) -> Iterator[bytes | DocumentError]:
    """Yield the records of a document in its order; an error in the place of a bad record."""
    tag = check_record_name(name).removeprefix("{}")
    splitter: _Splitter | None = None
    try:
        head = _read_head(stream)
        splitter = _Splitter(tag if name.startswith("{") else f"{{*}}{tag}", head, limits)
        for start in range(0, len(head.octets), _FIRST_CHUNK_BYTES):
            yield from splitter.feed(head.octets[start : start + _FIRST_CHUNK_BYTES])
        while chunk := stream.read(_CHUNK_BYTES):
            yield from splitter.feed(chunk)
        splitter.close()
    except DocumentError as error:
        yield error


class _Head:
    """The first bytes of a document, up to the chunk with the root's start tag; and that tag."""

    def __init__(self, octets: bytes, root_tag: str | None) -> None:
        self.octets = octets
        self.root_tag = root_tag


def _read_head(stream: IO[bytes]) -> _Head:
    """Read up to the root element; DocumentError if its entities or its prolog are too large."""
    parser = _pull_parser()
    octets = bytearray()
    root: etree._Element | None = None
    while root is None and (chunk := stream.read(_FIRST_CHUNK_BYTES)):
        if not octets:
            to_countable(chunk)  # raises if markup could not be counted
        octets += chunk
        if len(octets) > MAX_DOCTYPE_BYTES + _FIRST_CHUNK_BYTES:
            message = f"{MAX_DOCTYPE_BYTES:,} bytes or more come before the root element"
            raise DocumentError("limit", message)
        try:
            parser.feed(chunk)
        except etree.XMLSyntaxError:
            break  # the splitter meets the same error, after the records before it
        for _, element in parser.read_events():
            root = element
            break
    if not octets.strip(b"\xef\xbb\xbf \t\r\n"):
        raise DocumentError("empty", "the document is empty")
    if root is None:
        return _Head(bytes(octets), None)
    _check_entities(root)
    return _Head(bytes(octets), str(root.tag))


def _check_entities(root: etree._Element) -> None:
    subset = root.getroottree().docinfo.internalDTD
    contents = [] if subset is None else [entity.content or "" for entity in subset.iterentities()]
    is_plain = not any(re.search(r"&[^#]|<", content) for content in contents)
    if not is_plain or sum(map(len, contents)) > _MAX_ENTITY_CHARACTERS:
        raise DocumentError(
            "amplification",
            "the entities of a document that is split are short, without markup and references",
            hint="expand the entities first",
        )


def _pull_parser(*tags: str) -> etree.XMLPullParser:
    return etree.XMLPullParser(
        events=("start", "end"),
        tag=tags or None,
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        strip_cdata=True,
    )


class _Splitter:
    """The state of a split: the growing tree, and the record that is open."""

    def __init__(self, tag: str, head: _Head, limits: Limits) -> None:
        self._limits = limits
        self._text = head.octets[:_FIRST_CHUNK_BYTES]  # for messages
        self._tag = tag
        self._parser = _pull_parser(tag, *([] if head.root_tag is None else [head.root_tag]))
        self._root: etree._Element | None = None
        self._has_ended = False
        self._depth = 0  # of open elements with the name of records
        self._record: etree._Element | None = None
        self._record_bytes = self._record_markup = self._bytes_after_root = 0
        self._records = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | DocumentError]:
        """Yield the records that end in a chunk; raise DocumentError if it is malformed."""
        error: etree.XMLSyntaxError | None = None
        was_open = self._record
        try:
            self._parser.feed(chunk)
        except etree.XMLSyntaxError as syntax_error:
            error = syntax_error
        yield from self._take_records()
        if error is not None:
            raise document_error(error, self._text) from None
        if self._record is not None:
            yield from self._check_open_record(chunk, is_new=self._record is not was_open)
        if self._has_ended:
            self._bytes_after_root += len(chunk)
            if self._bytes_after_root > MAX_DOCTYPE_BYTES:
                raise DocumentError("limit", f"{MAX_DOCTYPE_BYTES:,} bytes follow the root element")
        self._prune()

    def close(self) -> None:
        """Raise DocumentError if the document is incomplete or had no records."""
        try:
            self._parser.close()
        except etree.XMLSyntaxError as error:
            raise document_error(error, self._text) from None
        if not self._records:
            raise DocumentError(
                "record",
                f"no element is named {self._tag.removeprefix('{*}')}",
                hint="name the elements that become documents",
            )

    def _take_records(self) -> Iterator[bytes | DocumentError]:
        for event, element in self._parser.read_events():
            if self._root is None:
                self._root = element
            if self._is_record(element):
                if event == "start":
                    self._depth += 1
                    if self._depth == 1:
                        self._record = element
                else:
                    self._depth -= 1
                    if not self._depth and self._record is not None:
                        self._record = None
                        yield self._serialise(element)
            if element is self._root and event == "end":
                self._has_ended = True

    def _is_record(self, element: etree._Element) -> bool:
        tag = str(element.tag)  # the root's tag passes the filter of events too
        return tag == self._tag or f"{{*}}{tag.rpartition('}')[2]}" == self._tag

    def _serialise(self, record: etree._Element) -> bytes | DocumentError:
        self._records += 1
        octets = etree.tostring(record, encoding="UTF-8", xml_declaration=False, with_tail=False)
        return octets if len(octets) <= self._limits.size else self._size_error()

    def _check_open_record(self, chunk: bytes, *, is_new: bool) -> Iterator[DocumentError]:
        """Give up an open record that exceeds a limit; its remainder is dropped as it comes."""
        if is_new:
            self._record_bytes = self._record_markup = 0
        self._record_bytes += len(chunk)
        self._record_markup += chunk.count(b"<") - chunk.count(b"</")
        limits = self._limits
        if self._record_bytes > limits.size + len(chunk):
            error = self._size_error()
        elif self._record_markup > limits.elements + _CHUNK_BYTES:
            error = DocumentError(
                "elements", f"a record has more than {limits.elements:,} elements"
            )
        else:
            return
        self._record = None  # its end yields nothing
        self._records += 1
        yield error

    def _size_error(self) -> DocumentError:
        return DocumentError("size", f"a record has more than {self._limits.size:,} bytes")

    def _prune(self) -> None:
        """Delete what is complete: the children of open elements, except the last, which may be
        open.
        """
        element = self._root
        while element is not None and element is not self._record:
            del element[:-1]
            element = element[0] if len(element) else None
