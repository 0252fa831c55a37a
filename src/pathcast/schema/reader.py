"""DTD text -> Schema, by lxml's own DTD reader.

`etree.DTD()` would read any local file that a parameter entity names, so the text goes in through a parser whose only
resolver is ours: what the catalog does not have is taken as empty and listed in `missing`, so that a missing set of
character entities does not make a DTD useless, and whoever needs it whole can see that it is not. What comes out of lxml are declarations with binary content models; here they
become the values of `model`. One thing lxml does not tell is the prefix of a name inside a content model: it is
found again by its local name, and a DTD that declares one local name under two prefixes is refused with that reason.

>>> schema = parse_dtd("<!ELEMENT list (item*)><!ELEMENT item (#PCDATA)>")
>>> schema.roots, schema.elements["list"].model
(('list',), '(item*)')
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lxml import etree

from pathcast.errors import SchemaError
from pathcast.schema.catalog import Catalog
from pathcast.schema.model import (
    Attribute,
    AttributeType,
    Child,
    Choice,
    Content,
    ContentKind,
    Default,
    Element,
    Occurs,
    Sequence,
)
from pathcast.schema.schema import Schema

__all__ = ["MAX_SIZE", "load_dtd", "parse_dtd"]

MAX_SIZE = 16 * 2**20  # bytes of one file of a DTD
_MAIN = "pathcast:schema"  # the identifier under which the parser asks for the text itself
_OCCURS = {"once": Occurs.ONCE, "opt": Occurs.OPTIONAL, "mult": Occurs.ANY, "plus": Occurs.SOME}
_KINDS = {
    "empty": ContentKind.EMPTY,
    "any": ContentKind.ANY,
    "mixed": ContentKind.MIXED,
    "element": ContentKind.CHILDREN,
}
_PROLOGUE = re.compile(rb"\s+|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->", re.DOTALL)
_DOCTYPE = re.compile(rb"<!DOCTYPE\s+([^\s\[>]+)")
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")


def load_dtd(path: str | Path, catalog: Catalog | None = None, root: str | None = None) -> Schema:
    """The schema in a file. Without a catalog, only files below its own folder may be asked for."""
    path = Path(path)
    text = _contents(path)
    catalog = catalog or Catalog.open(path.parent)
    return _schema(text, path.name, _Resolver(text, catalog, path.resolve()), root)


def parse_dtd(
    text: str | bytes,
    catalog: Catalog | None = None,
    root: str | None = None,
    *,
    name: str = "schema",
) -> Schema:
    """The schema in a text. Without a catalog, nothing else may be asked for."""
    if isinstance(text, str):  # what it declares as its encoding was that of the bytes it came from
        text = _DECLARATION.sub("", text.removeprefix("\ufeff"), count=1)
    body = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return _schema(body, name, _Resolver(body, catalog or Catalog(), None), root)


def _contents(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise SchemaError("unreadable", f"{path}: {error.strerror or error}") from None
    if len(text) > MAX_SIZE:
        raise SchemaError("limit", f"{path}: more than {MAX_SIZE // 2**20} MB of text")
    return text


class _Resolver(etree.Resolver):
    """Gives the text itself and the files that the catalog names; anything else is empty, and noted."""

    def __init__(self, text: bytes, catalog: Catalog, path: Path | None) -> None:
        super().__init__()
        self._text = text
        self._catalog = catalog
        self._path = path
        self.missing: dict[str, None] = {}

    def resolve(self, system_url: str | None, public_id: str | None, context: Any) -> Any:
        if system_url == _MAIN:
            base = None if self._path is None else str(self._path)
            return self.resolve_string(self._text, context, base_url=base)
        file = self._catalog.find(system_url, public_id)
        if file is None:
            self.missing[self._shown(system_url or public_id or "?")] = None
            return self.resolve_string(b" ", context)  # resolve_empty() would let libxml2 open it
        return self.resolve_string(_contents(file), context, base_url=str(file))

    def _shown(self, asked: str) -> str:
        """A path as the DTD may have written it: relative to its own folder."""
        if self._path is not None and asked.startswith(f"{self._path.parent}/"):
            return asked[len(str(self._path.parent)) + 1 :]
        return asked


def _schema(text: bytes, name: str, resolver: _Resolver, root: str | None) -> Schema:
    start = 0
    while found := _PROLOGUE.match(text, start):
        start = found.end()
    wrapped = _DOCTYPE.match(text, start)
    if wrapped:  # a document type declaration around an internal subset
        document = text + b"<" + wrapped.group(1) + b"/>"
    else:
        document = b'<!DOCTYPE schema SYSTEM "' + _MAIN.encode() + b'"><schema/>'
    parser = etree.XMLParser(
        load_dtd=True, resolve_entities=True, no_network=True, huge_tree=False, ns_clean=False
    )
    parser.resolvers.add(resolver)
    try:
        info = etree.fromstring(document, parser).getroottree().docinfo
    except etree.XMLSyntaxError as error:
        line, column = error.position
        message = (error.msg or "not a DTD").partition(", line ")[0]
        hint = "a DTD holds declarations only: <!ELEMENT ...>, <!ATTLIST ...>, <!ENTITY ...>"
        if resolver.missing:
            hint = f"the catalog does not have {', '.join(resolver.missing)}, which it asks for"
        raise SchemaError(
            "syntax", f"{name}: {message}", line=line, column=column, hint=hint
        ) from None
    for entry in parser.error_log.filter_from_warnings():  # what libxml2 did not even ask us for
        if entry.type_name == "ERR_INVALID_URI":
            resolver.missing[entry.message.removeprefix("Can't resolve URI: ")] = None
    parts = [part for part in (info.internalDTD, info.externalDTD) if part is not None]
    elements = _elements(parts, name)
    if not elements:
        hint = "a module may only work inside the DTD that it belongs to"
        raise SchemaError("empty", f"{name}: no element is declared", hint=hint)
    if wrapped and root is None:
        named = wrapped.group(1).decode("utf-8", "replace")
        root = named if named in elements else None
    return Schema.of(name, elements, root, tuple(resolver.missing))


def _elements(parts: list[Any], name: str) -> dict[str, Element]:
    """The declared elements; where two subsets declare the same, the first one counts."""
    declared: dict[str, Any] = {}
    for part in parts:
        for declaration in part.iterelements():
            if declaration.type in _KINDS:
                declared.setdefault(_qualified(declaration), declaration)
    spelling: dict[str, str] = {}
    for full in declared:
        other = spelling.setdefault(full.rpartition(":")[2], full)
        if other != full:
            message = f"{name}: {other} and {full} differ in their prefix only"
            hint = "lxml's DTD reader does not tell such elements apart in content models"
            raise SchemaError("unsupported", message, hint=hint)
    attributes: dict[str, dict[str, Attribute]] = {full: {} for full in declared}
    for part in parts:
        for declaration in part.iterelements():
            known = attributes.get(_qualified(declaration), {})
            for found in declaration.iterattributes():
                one = _attribute(found)
                known.setdefault(one.name, one)
    return {
        full: Element(
            full,
            _KINDS[declaration.type],
            _content(declaration.content, spelling),
            tuple(attributes[full].values()),
        )
        for full, declaration in declared.items()
    }


def _qualified(declaration: Any) -> str:
    return f"{declaration.prefix}:{declaration.name}" if declaration.prefix else declaration.name


def _attribute(found: Any) -> Attribute:
    return Attribute(
        _qualified(found),
        AttributeType(found.type),
        Default(found.default),
        found.default_value,
        tuple(found.itervalues()),
    )


def _content(found: Any, spelling: dict[str, str]) -> Content | None:
    """The binary tree of lxml as a model of ours; (#PCDATA) alone is None.

    lxml hangs the second and all later parts of a group on the right: that chain is walked, since it is as long
    as the group; the groups inside each other are what the recursion follows, and libxml2 limits them.
    """
    if found is None or found.type == "pcdata":
        return None
    occurs = _OCCURS[found.occur]
    if found.type == "element":
        return Child(spelling.get(found.name, found.name), occurs)
    parts: list[Content] = []
    rest = found
    while rest is not None and rest.type == found.type and (rest is found or rest.occur == "once"):
        left = _content(rest.left, spelling)
        parts += [] if left is None else [left]
        rest = rest.right
    right = _content(rest, spelling)
    parts += [] if right is None else [right]
    return (Sequence if found.type == "seq" else Choice)(tuple(parts), occurs)
