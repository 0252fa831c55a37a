"""XSLT 1.0 style sheets that turn rows or documents into messages (Cao 2012, section 3.2).

The rows of one message become the source tree of the transformation:

    <rows><row city="Ottawa" humidity="87" .../>...</rows>

The result is the message, in the encoding that `xsl:output` names. So any CSV file can become
messages, provided that its header has names that XML allows.

A style sheet is untrusted, so it can neither read nor write. libxslt's access control stops
`document()` and extension elements that write, but not `xsl:import` and `xsl:include`, which
libxslt loads all the same. `Stylesheet.load` therefore checks the tree before it compiles it. Only
elements of XSLT 1.0 pass, without those two. A document type does not pass. Of EXSLT only the
modules pass whose functions depend on their arguments alone: no dates, no random numbers.

Time and memory are not bounded here. libxslt stops infinite recursion, but not a very long loop.
Run untrusted style sheets in the sandbox (`pathcast.sandbox.xslt`), which can stop them.

>>> text = '<m xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" at="{//@city}"/>'
>>> Stylesheet.load(text.encode()).transform_rows(("city",), [("Ottawa",)])
b'<?xml version="1.0"?>\\n<m at="Ottawa"/>\\n'
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lxml import etree

from pathcast.errors import StylesheetError

__all__ = ["Stylesheet", "row_xml", "rows_xml"]

_XSLT = "http://www.w3.org/1999/XSL/Transform"
_EXSLT = "http://exslt.org/"
_ALLOWED_EXSLT = {f"{_EXSLT}common", f"{_EXSLT}sets", f"{_EXSLT}strings"}
# All elements of XSLT 1.0 except import and include.
_ALLOWED_ELEMENTS = frozenset(
    "apply-imports apply-templates attribute attribute-set call-template choose comment copy"
    " copy-of decimal-format element fallback for-each if key message namespace-alias number"
    " otherwise output param preserve-space processing-instruction sort strip-space stylesheet"
    " template text transform value-of variable when with-param".split()
)


@dataclass(frozen=True, slots=True)
class Stylesheet:
    """A compiled XSLT style sheet without access to files or the network."""

    name: str
    _transform: etree.XSLT

    @classmethod
    def load(
        cls, source: str | os.PathLike[str] | bytes, *, name: str = "style sheet"
    ) -> Stylesheet:
        """Compile the style sheet in a file, or in bytes that error messages call `name`.

        Raise StylesheetError (kind `sheet`) if it cannot be read, compiled or allowed.
        """
        if isinstance(source, bytes):
            return cls._compile(name, source)
        name = os.fspath(source)
        try:
            text = Path(name).read_bytes()
        except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
            reason = getattr(error, "strerror", None) or str(error)
            raise StylesheetError("sheet", f"{name}: {reason}") from None
        return cls._compile(name, text)

    @classmethod
    def _compile(cls, name: str, text: bytes) -> Stylesheet:
        try:
            root = etree.fromstring(text, _parser())
        except etree.XMLSyntaxError as error:
            line = error.lineno or 1
            raise StylesheetError("sheet", f"{name}, line {line}: {error.msg}") from None
        _check(name, root)
        deny = etree.XSLTAccessControl.DENY_ALL
        try:
            return cls(name, etree.XSLT(root, access_control=deny, regexp=False))
        except etree.XSLTParseError as error:
            raise _libxslt_error(name, error) from None

    def transform_rows(
        self, fields: Sequence[str], rows: Iterable[Sequence[str]], **parameters: str
    ) -> bytes:
        """Return the message for the rows; the parameters are passed as strings."""
        return self.transform(_rows_element(fields, rows), parameters)

    def transform(
        self,
        tree: etree._Element | etree._ElementTree,
        parameters: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
    ) -> bytes:
        """Return the result for a document.

        Raise StylesheetError if the transformation fails or its result is no XML document (kind
        `sheet`), or if the result is longer than `max_bytes` (kind `size`).
        """
        quoted = {key: _quote(key, value) for key, value in (parameters or {}).items()}
        try:
            # lxml's types know neither parameters by name nor the bytes of a result.
            result = self._transform(tree, **quoted)  # type: ignore[arg-type]
            body: bytes = bytes(result)  # type: ignore[call-overload]
            if max_bytes is not None and len(body) > max_bytes:
                message = f"{self.name} makes {len(body):,} bytes, more than {max_bytes:,}"
                raise StylesheetError("size", message)
            etree.fromstring(body, _parser())
        except etree.XSLTApplyError as error:
            raise _libxslt_error(self.name, error) from None
        except etree.XMLSyntaxError as error:
            message = f"{self.name} makes no XML document: {error.msg}"
            hint = "a message has one root element, and xsl:output method xml"
            raise StylesheetError("sheet", message, hint=hint) from None
        return body


def _quote(name: str, value: str) -> object:
    """Return a parameter's value as an XPath string for libxslt."""
    try:
        if name in ("_input", "profile_run"):  # parameters of lxml's own `XSLT.__call__`
            raise ValueError("this name is taken")
        return etree.XSLT.strparam(value)
    except ValueError as error:
        raise StylesheetError("sheet", f"the parameter {name!r}: {error}") from None


def rows_xml(fields: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return the source document for rows; StylesheetError (kind `row`) if XML does not allow them.

    >>> rows_xml(("a", "b"), [("1", "<"), ("2", "")])
    b'<rows><row a="1" b="&lt;"/><row a="2" b=""/></rows>'
    """
    return _serialize(_rows_element(fields, rows))


def row_xml(values: Mapping[str, str]) -> bytes:
    """Return one `<row>` element; StylesheetError (kind `row`) if XML does not allow it.

    >>> row_xml({"a": "1", "b": "<"})
    b'<row a="1" b="&lt;"/>'
    """
    return _serialize(_rows_element(tuple(values), [tuple(values.values())])[0])


def _serialize(element: etree._Element) -> bytes:
    return etree.tostring(element, encoding="utf-8", xml_declaration=False)


@cache
def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)


def _rows_element(fields: Sequence[str], rows: Iterable[Sequence[str]]) -> etree._Element:
    root = etree.Element("rows")
    try:
        if "xmlns" in fields or "{" in "".join(fields):  # lxml would make namespaces of these
            raise ValueError("a field with the name of a namespace")
        for values in rows:
            etree.SubElement(root, "row", dict(zip(fields, values, strict=True)))
    except ValueError as error:  # an illegal attribute name, too many values, a control character
        hint = "fields are named as XML attributes are, without blanks"
        raise StylesheetError("row", f"a row cannot be XML: {error}", hint=hint) from None
    return root


def _check(name: str, root: etree._Element) -> None:
    """Refuse constructs that access files or the network, or that are not deterministic."""

    def refuse(element: etree._Element, reason: str, hint: str | None = None) -> StylesheetError:
        return StylesheetError("sheet", f"{name}, line {element.sourceline}: {reason}", hint=hint)

    if root.getroottree().docinfo.internalDTD is not None:
        raise refuse(root, "a style sheet with a document type is refused", "leave <!DOCTYPE out")
    for element in root.iter(etree.Element):
        tag = etree.QName(element)
        if tag.namespace == _XSLT and tag.localname not in _ALLOWED_ELEMENTS:
            if tag.localname in ("import", "include"):
                reason = f"xsl:{tag.localname} is refused: a style sheet can read no file"
                raise refuse(element, reason, "put everything into one sheet")
            raise refuse(element, f"xsl:{tag.localname} is no element of XSLT 1.0")
        for uri in element.nsmap.values():
            if uri.startswith(_EXSLT) and uri not in _ALLOWED_EXSLT:
                raise refuse(element, f"the extension {uri} is refused", "common, sets, strings")


def _libxslt_error(name: str, error: etree.XSLTError) -> StylesheetError:
    """Return an error from libxslt's log, in which line and reason are separate entries."""
    lines = [entry.line for entry in error.error_log if entry.line > 0]
    messages = dict.fromkeys(entry.message for entry in error.error_log if entry.line <= 0)
    reasons = [text.splitlines()[0] for text in messages if text not in ("", "unknown error")][:2]
    place = f", line {lines[0]}" if lines else ""
    return StylesheetError("sheet", f"{name}{place}: {'; '.join(reasons) or error}")
