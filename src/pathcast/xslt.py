"""Style sheets: rows become a message, as XSLT 1.0 says (section 3.2 of Cao 2012).

The rows of one message are put before the sheet as

    <rows><row city="Ottawa" humidity="87" .../>...</rows>

and what the sheet makes of it is the message, as bytes in the encoding that its `xsl:output` names. So any CSV file
whose header has names that XML allows can become messages by a sheet of one's own. `Sheet.bundled` has those for
the weather and stock feeds.

A sheet may come from anywhere, so it can neither read nor write: libxslt is told to deny every access, which stops
`document()` and elements that write, but not `xsl:import` and `xsl:include`, which it loads all the same. So a
sheet is looked through before it is compiled. Only the elements of XSLT 1.0 pass, without those two; a document
type does not; of EXSLT only what depends on its arguments alone (no date, no chance).

What is not bounded is time and memory. A recursion without end is cut off by libxslt, a very long loop is not, and
this room has no processes to stop one in. Use sheets of people you trust, or run them where they can be stopped
(`pathcast.sandbox.xslt`).

>>> text = '<m xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" at="{//@city}"/>'
>>> Sheet.load(text.encode()).message(("city",), [("Ottawa",)])
b'<?xml version="1.0"?>\\n<m at="Ottawa"/>\\n'
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from lxml import etree

from pathcast.errors import WorkloadError

__all__ = ["SHEETS", "Sheet", "row_xml", "rows_xml"]

SHEETS = ("weather", "stock")

_XSLT = "http://www.w3.org/1999/XSL/Transform"
_EXSLT = "http://exslt.org/"
_PURE = {f"{_EXSLT}common", f"{_EXSLT}sets", f"{_EXSLT}strings"}
# All of XSLT 1.0 but import and include.
_ELEMENTS = frozenset(
    "apply-imports apply-templates attribute attribute-set call-template choose comment copy copy-of "
    "decimal-format element fallback for-each if key message namespace-alias number otherwise output param "
    "preserve-space processing-instruction sort strip-space stylesheet template text transform value-of variable "
    "when with-param".split()
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A compiled style sheet; `load` or `bundled` makes one."""

    name: str
    _transform: etree.XSLT

    @classmethod
    def load(cls, source: str | os.PathLike[str] | bytes, *, name: str = "style sheet") -> Sheet:
        """The sheet in a file, or in these bytes, which go by a name in what is said of them."""
        if isinstance(source, bytes):
            return cls._of(name, source)
        name = os.fspath(source)
        try:
            text = Path(name).read_bytes()
        except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
            said = getattr(error, "strerror", None) or str(error)
            raise WorkloadError("sheet", f"{name}: {said}") from None
        return cls._of(name, text)

    @staticmethod
    @cache
    def bundled(name: str) -> Sheet:
        """The sheet of a feed of ours."""
        if name not in SHEETS:
            hint = f"there are {', '.join(SHEETS)}"
            raise WorkloadError("sheet", f"there is no style sheet {name!r}", hint=hint)
        file = resources.files("pathcast.generators") / "sheets" / f"{name}.xsl"
        return Sheet._of(f"{name}.xsl", file.read_bytes())

    @classmethod
    def _of(cls, name: str, text: bytes) -> Sheet:
        try:
            root = etree.fromstring(text, _parser())
        except etree.XMLSyntaxError as error:
            line = error.lineno or 1
            raise WorkloadError("sheet", f"{name}, line {line}: {error.msg}") from None
        _check(name, root)
        deny = etree.XSLTAccessControl.DENY_ALL
        try:
            return cls(name, etree.XSLT(root, access_control=deny, regexp=False))
        except etree.XSLTParseError as error:
            raise _failure(name, error) from None

    def message(
        self, fields: Sequence[str], rows: Iterable[Sequence[str]], **parameters: str
    ) -> bytes:
        """The message that the sheet makes of rows; parameters are texts."""
        return self.transform(_tree(fields, rows), parameters)

    def transform(
        self,
        tree: etree._Element | etree._ElementTree,
        parameters: Mapping[str, str] | None = None,
        most: int | None = None,
    ) -> bytes:
        """What the sheet makes of a document, of at most so many bytes (kind `size`)."""
        texts = {key: _quoted(key, value) for key, value in (parameters or {}).items()}
        try:
            # lxml's types know neither parameters by name nor the bytes of a result.
            result = self._transform(tree, **texts)  # type: ignore[arg-type]
            body: bytes = bytes(result)  # type: ignore[call-overload]
            if most is not None and len(body) > most:
                said = f"{self.name} makes {len(body):,} bytes, more than {most:,}"
                raise WorkloadError("size", said)
            etree.fromstring(body, _parser())
        except etree.XSLTApplyError as error:
            raise _failure(self.name, error) from None
        except etree.XMLSyntaxError as error:
            said = f"{self.name} makes no XML document: {error.msg}"
            hint = "a message has one root element, and xsl:output method xml"
            raise WorkloadError("sheet", said, hint=hint) from None
        return body


def _quoted(name: str, value: str) -> object:
    """A parameter as libxslt takes a text."""
    try:
        if name in ("_input", "profile_run"):  # what lxml's own parameters are called
            raise ValueError("this name is taken")
        return etree.XSLT.strparam(value)
    except ValueError as error:
        raise WorkloadError("sheet", f"the parameter {name!r}: {error}") from None


def rows_xml(fields: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """The document that is put before a sheet.

    >>> rows_xml(("a", "b"), [("1", "<"), ("2", "")])
    b'<rows><row a="1" b="&lt;"/><row a="2" b=""/></rows>'
    """
    return _written(_tree(fields, rows))


def row_xml(values: Mapping[str, str]) -> bytes:
    """One `<row>` of it; WorkloadError (kind `row`) if XML does not allow a name or a value.

    >>> row_xml({"a": "1", "b": "<"})
    b'<row a="1" b="&lt;"/>'
    """
    return _written(_tree(tuple(values), [tuple(values.values())])[0])


def _written(element: etree._Element) -> bytes:
    return etree.tostring(element, encoding="utf-8", xml_declaration=False)


@cache
def _parser() -> etree.XMLParser:
    return etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)


def _tree(fields: Sequence[str], rows: Iterable[Sequence[str]]) -> etree._Element:
    """The rows as the sheet gets them."""
    top = etree.Element("rows")
    try:
        if "xmlns" in fields or "{" in "".join(fields):  # lxml would make namespaces of these
            raise ValueError("a field with the name of a namespace")
        for values in rows:
            etree.SubElement(top, "row", dict(zip(fields, values, strict=True)))
    except ValueError as error:  # no name of an attribute, too many values, a control character
        hint = "fields are named as XML attributes are, without blanks"
        raise WorkloadError("row", f"a row cannot be XML: {error}", hint=hint) from None
    return top


def _check(name: str, root: etree._Element) -> None:
    """Refuse what could reach out of the sheet, or differ from one run to the next."""

    def refuse(element: etree._Element, said: str, hint: str | None = None) -> WorkloadError:
        return WorkloadError("sheet", f"{name}, line {element.sourceline}: {said}", hint=hint)

    if root.getroottree().docinfo.internalDTD is not None:
        raise refuse(root, "a style sheet with a document type is refused", "leave <!DOCTYPE out")
    for element in root.iter(etree.Element):
        tag = etree.QName(element)
        if tag.namespace == _XSLT and tag.localname not in _ELEMENTS:
            if tag.localname in ("import", "include"):
                said = f"xsl:{tag.localname} is refused: a style sheet can read no file"
                raise refuse(element, said, "put everything into one sheet")
            raise refuse(element, f"xsl:{tag.localname} is no element of XSLT 1.0")
        for space in element.nsmap.values():
            if space.startswith(_EXSLT) and space not in _PURE:
                raise refuse(element, f"the extension {space} is refused", "common, sets, strings")


def _failure(name: str, error: etree.XSLTError) -> WorkloadError:
    """The error of libxslt, which says the place in one entry of its log and the reason in another."""
    lines = [entry.line for entry in error.error_log if entry.line > 0]
    said = dict.fromkeys(one.message for one in error.error_log if one.line <= 0)
    reasons = [one.splitlines()[0] for one in said if one not in ("", "unknown error")][:2]
    place = f", line {lines[0]}" if lines else ""
    return WorkloadError("sheet", f"{name}{place}: {'; '.join(reasons) or error}")
