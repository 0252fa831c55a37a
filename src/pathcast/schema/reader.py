"""DTD reader: parses a DTD with lxml and converts its declarations into a `Schema`.

`etree.DTD()` would open any local file that a parameter entity names. So the text goes through a
parser with a single resolver, which knows the catalog only. A reference that the catalog does not
map reads as empty and is listed in `missing`: a DTD stays usable without, say, a set of character
entities, and a caller can see that it is incomplete.

lxml yields declarations with binary content models; this module converts them to `model`. lxml does
not report the prefix of a name in a content model. The reader recovers it by the local name, and
refuses a DTD that declares one local name under two prefixes.

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

MAX_SIZE = 16 * 2**20  # bytes of one DTD file
_MAIN_ID = "pathcast:schema"  # system identifier of the DTD's own text
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
    """Read the DTD in a file; without a catalog, it may reference files below its folder only."""
    path = Path(path)
    text = _read_file(path)
    catalog = catalog or Catalog.open(path.parent)
    return _parse(text, path.name, _Resolver(text, catalog, path.resolve()), root)


def parse_dtd(
    text: str | bytes,
    catalog: Catalog | None = None,
    root: str | None = None,
    *,
    name: str = "schema",
) -> Schema:
    """Read the DTD in a text; without a catalog, it may reference no file."""
    if isinstance(text, str):  # a text declaration names the encoding of bytes decoded already
        text = _DECLARATION.sub("", text.removeprefix("\ufeff"), count=1)
    body = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return _parse(body, name, _Resolver(body, catalog or Catalog(), None), root)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise SchemaError("unreadable", f"{path}: {error.strerror or error}") from None
    if len(text) > MAX_SIZE:
        raise SchemaError("limit", f"{path}: more than {MAX_SIZE // 2**20} MB of text")
    return text


class _Resolver(etree.Resolver):
    """Resolves the DTD's own text and the catalog's files; records other references as missing."""

    def __init__(self, text: bytes, catalog: Catalog, path: Path | None) -> None:
        super().__init__()
        self._text = text
        self._catalog = catalog
        self._path = path
        self.missing: dict[str, None] = {}

    def resolve(self, system_url: str | None, public_id: str | None, context: Any) -> Any:
        if system_url == _MAIN_ID:
            base = None if self._path is None else str(self._path)
            return self.resolve_string(self._text, context, base_url=base)
        file = self._catalog.find(system_url, public_id)
        if file is None:
            self.missing[self._relative_name(system_url or public_id or "?")] = None
            # Not resolve_empty(): libxml2 would then open the file itself.
            return self.resolve_string(b" ", context)
        return self.resolve_string(_read_file(file), context, base_url=str(file))

    def _relative_name(self, identifier: str) -> str:
        """Return a path as the DTD may have written it, relative to its own folder."""
        if self._path is not None and identifier.startswith(f"{self._path.parent}/"):
            return identifier[len(str(self._path.parent)) + 1 :]
        return identifier


def _parse(text: bytes, name: str, resolver: _Resolver, root: str | None) -> Schema:
    start = 0
    while prologue := _PROLOGUE.match(text, start):
        start = prologue.end()
    wrapped = _DOCTYPE.match(text, start)
    if wrapped:  # a document type declaration around an internal subset
        document = text + b"<" + wrapped.group(1) + b"/>"
    else:
        document = b'<!DOCTYPE schema SYSTEM "' + _MAIN_ID.encode() + b'"><schema/>'
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
    for entry in parser.error_log.filter_from_warnings():  # references not passed to the resolver
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
    """Return the declared elements; of two declarations of one element, the first counts."""
    declared: dict[str, Any] = {}
    for part in parts:
        for declaration in part.iterelements():
            if declaration.type in _KINDS:
                declared.setdefault(_qualified_name(declaration), declaration)
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
            element_attributes = attributes.get(_qualified_name(declaration), {})
            for attribute_declaration in declaration.iterattributes():
                attribute = _attribute(attribute_declaration)
                element_attributes.setdefault(attribute.name, attribute)
    return {
        full: Element(
            full,
            _KINDS[declaration.type],
            _content(declaration.content, spelling),
            tuple(attributes[full].values()),
        )
        for full, declaration in declared.items()
    }


def _qualified_name(declaration: Any) -> str:
    return f"{declaration.prefix}:{declaration.name}" if declaration.prefix else declaration.name


def _attribute(declaration: Any) -> Attribute:
    return Attribute(
        _qualified_name(declaration),
        AttributeType(declaration.type),
        Default(declaration.default),
        declaration.default_value,
        tuple(declaration.itervalues()),
    )


def _content(node: Any, spelling: dict[str, str]) -> Content | None:
    """Convert lxml's binary content model; (#PCDATA) alone is None.

    lxml chains the second and later parts of a group to the right. The loop follows that chain,
    which is as long as the group. The recursion follows nested groups, whose depth libxml2 limits.
    """
    if node is None or node.type == "pcdata":
        return None
    occurs = _OCCURS[node.occur]
    if node.type == "element":
        return Child(spelling.get(node.name, node.name), occurs)
    parts: list[Content] = []
    group = node
    while (
        group is not None and group.type == node.type and (group is node or group.occur == "once")
    ):
        part = _content(group.left, spelling)
        parts += [] if part is None else [part]
        group = group.right
    right = _content(group, spelling)
    parts += [] if right is None else [right]
    return (Sequence if node.type == "seq" else Choice)(tuple(parts), occurs)
