"""Translation of libxml2's errors into a `DocumentError` of one of a dozen kinds.

Programs switch on the kind, so the set is closed and `ERROR_KINDS` lists it. libxml2 has some
hundred error codes and adds more. Codes that are in no table below are plain syntax errors:
`malformed`.

>>> sorted(ERROR_KINDS)[:4]
['amplification', 'attributes', 'depth', 'elements']
"""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

from pathcast.documents.limits import MAX_DEPTH
from pathcast.errors import DocumentError

__all__ = ["ERROR_KINDS", "document_error"]

ERROR_KINDS: Final = {
    "size": "more bytes than Limits.size",
    "depth": "more levels than Limits.depth",
    "elements": "more elements, comments and processing instructions than Limits.elements",
    "attributes": "more attributes than Limits.attributes or Limits.attributes_total",
    "amplification": "entities or defaults that grow out of proportion, as in a billion laughs",
    "limit": "another limit: a text, a name or a DOCTYPE that is too long",
    "entity": "a reference to an entity that is not declared, external, or part of itself",
    "encoding": "an encoding that is unknown, or that the bytes are not in",
    "namespace": "a prefix without a declaration, or a declaration that is not allowed",
    "identifier": "an xml:id or ID attribute that is not a name, or used twice",
    "empty": "nothing but white space",
    "record": "no element has the name of records",
    "malformed": "everything else that is not well-formed XML",
}

_ERRORS = etree.ErrorTypes
_KIND_OF: Final[dict[int, str]] = {
    _ERRORS.ERR_UNDECLARED_ENTITY: "entity",
    _ERRORS.WAR_UNDECLARED_ENTITY: "entity",
    _ERRORS.ERR_UNPARSED_ENTITY: "entity",
    _ERRORS.ERR_ENTITY_IS_EXTERNAL: "entity",
    _ERRORS.ERR_ENTITY_IS_PARAMETER: "entity",
    _ERRORS.ERR_ENTITY_LOOP: "entity",
    _ERRORS.ERR_EXT_ENTITY_STANDALONE: "entity",
    _ERRORS.ERR_ENTITY_PROCESSING: "entity",
    _ERRORS.ERR_UNKNOWN_ENCODING: "encoding",
    _ERRORS.ERR_UNSUPPORTED_ENCODING: "encoding",
    _ERRORS.ERR_ENCODING_NAME: "encoding",
    _ERRORS.ERR_INVALID_ENCODING: "encoding",
    _ERRORS.ERR_MISSING_ENCODING: "encoding",
    _ERRORS.I18N_NO_NAME: "encoding",
    _ERRORS.I18N_NO_HANDLER: "encoding",
    _ERRORS.I18N_EXCESS_HANDLER: "encoding",
    _ERRORS.I18N_CONV_FAILED: "encoding",
    _ERRORS.I18N_NO_OUTPUT: "encoding",
    _ERRORS.IO_ENCODER: "encoding",
    _ERRORS.NS_ERR_XML_NAMESPACE: "namespace",
    _ERRORS.NS_ERR_UNDEFINED_NAMESPACE: "namespace",
    _ERRORS.NS_ERR_QNAME: "namespace",
    _ERRORS.NS_ERR_ATTRIBUTE_REDEFINED: "namespace",
    _ERRORS.NS_ERR_EMPTY: "namespace",
    _ERRORS.NS_ERR_COLON: "namespace",
    _ERRORS.ERR_NS_DECL_ERROR: "namespace",
    _ERRORS.WAR_NS_URI: "namespace",
    _ERRORS.WAR_NS_URI_RELATIVE: "namespace",
    _ERRORS.WAR_NS_COLUMN: "namespace",
    _ERRORS.DTD_ID_REDEFINED: "identifier",
    _ERRORS.DTD_XMLID_VALUE: "identifier",
    _ERRORS.DTD_XMLID_TYPE: "identifier",
    _ERRORS.ERR_NAME_TOO_LONG: "limit",
    _ERRORS.BUF_OVERFLOW: "limit",
    _ERRORS.ERR_NO_MEMORY: "limit",
    114: "limit",  # ERR_RESOURCE_LIMIT, which lxml names since libxml2 2.13
}

# libxml2 has one code for several limits, and reports one as a syntax error: use the message.
_KIND_BY_MESSAGE: Final = (
    ("Excessive depth in document", "depth"),
    ("amplification", "amplification"),
    ("entity nesting depth", "amplification"),
    ("too big", "limit"),
    ("too long", "limit"),
)
_MESSAGE_OF: Final = {
    "depth": f"elements are nested more than {MAX_DEPTH} deep",
    "amplification": "entities or defaults grow out of proportion to the document",
}
_MESSAGE_TAIL = re.compile(
    r"(?:,? (?:try|use) XML_PARSE_HUGE(?: option)?)?\s*(?:, line \d+, column \d+)?\s*$"
)
_UNDEFINED_ENTITY = re.compile(r"Entity '([^']+)' not defined")
_EXTERNAL_SUBSET = re.compile(rb"<!DOCTYPE\s[^>\[]*?\s(?:SYSTEM|PUBLIC)\s")


def document_error(error: etree.XMLSyntaxError, text: bytes) -> DocumentError:
    """Translate an error of libxml2; `text` is the document in an ASCII-compatible encoding."""
    libxml2_message = str(error.msg or "the document cannot be parsed")
    line, column = error.position
    message = _MESSAGE_TAIL.sub("", libxml2_message)
    kind = _KIND_OF.get(error.code, "malformed")
    for phrase, phrase_kind in _KIND_BY_MESSAGE:
        if phrase in libxml2_message:
            kind = phrase_kind
            break
    if error.code == _ERRORS.ERR_DOCUMENT_EMPTY and not text.strip(b"\xef\xbb\xbf \t\r\n"):
        kind, message = "empty", "the document is empty"
    elif error.code == _ERRORS.ERR_DOCUMENT_EMPTY:
        first = text[:4].decode("utf-8", "replace")[0]
        start = f"byte 0x{text[0]:02x}" if first == "\ufffd" else f"{first!r}"
        message = f"this is not XML: it starts with {start}"
    hint = "this is gzip: unpack it first" if text.startswith(b"\x1f\x8b") else None
    if error.code == _ERRORS.ERR_NO_MEMORY:
        message = "libxml2 has no memory left, or no room for new names in this thread"
        hint = "parse in a new thread: libxml2 keeps all names for as long as a thread lives"
    elif error.code == _ERRORS.NS_ERR_UNDEFINED_NAMESPACE:
        hint = "declare the prefix with xmlns:... on the element or around it"
    elif kind == "entity":
        hint = _entity_hint(message, text)
    message = _MESSAGE_OF.get(kind, message)
    return DocumentError(kind, message, line=line or None, column=column or None, hint=hint)


def _entity_hint(message: str, text: bytes) -> str | None:
    undefined = _UNDEFINED_ENTITY.search(message)
    if undefined is None:
        return None
    name = re.escape(undefined[1].encode())
    if re.search(rb"<!ENTITY\s+%\s+" + name + rb"\s", text):
        return "parameter entities are not expanded"
    if re.search(rb"<!ENTITY\s+" + name + rb"\s+(?:SYSTEM|PUBLIC)\s", text):
        return "external entities are never fetched"
    if _EXTERNAL_SUBSET.search(text):
        return (
            "external DTDs are never fetched: declare the entity in the document, or write &#...;"
        )
    return "declare the entity in the document's DOCTYPE, or write &#...;"
