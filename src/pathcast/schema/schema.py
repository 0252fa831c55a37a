"""Schema: the elements of a DTD, its roots, and what follows from them.

A document is valid under a schema when its root element is one of `roots` and lxml finds it valid. A DTD itself does
not name a root, so unless one is given, `roots` are the elements that nothing else leads to: those of every strongly
connected component of the element graph without an edge into it (an ANY counts as no edge here, or a
catch-all element would leave a DTD without its root).

`graph` says what can stand where in finite valid documents; `text` is the DTD written out flat, without entities,
which is also what validates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

from lxml import etree

from pathcast.errors import SchemaError
from pathcast.schema.glushkov import GlushkovAutomaton
from pathcast.schema.graph import Graph, sources
from pathcast.schema.model import ContentKind, Default, Element, names_of
from pathcast.schema.similar_names import similar_names

__all__ = ["Schema"]

_NOT_DETERMINISTIC = "DTD_CONTENT_NOT_DETERMINIST"  # libxml2 says it once, and then nothing


@dataclass(frozen=True)
class Schema:
    """Immutable; `graph`, `text` and the validator are made when first asked for."""

    name: str
    elements: Mapping[str, Element]
    roots: tuple[str, ...]
    missing: tuple[str, ...] = ()  # files that it asked for and the catalog did not have

    @classmethod
    def of(
        cls,
        name: str,
        elements: Mapping[str, Element],
        root: str | None = None,
        missing: tuple[str, ...] = (),
    ) -> Schema:
        """The schema with this root, or with the roots that the element graph has."""
        if root is None:
            return cls(name, elements, sources(elements), missing)
        if root not in elements:
            close = similar_names(root, elements)
            hint = f"near names: {', '.join(close)}" if close else None
            raise SchemaError("root", f"{name} declares no element {root}", hint=hint)
        return cls(name, elements, (root,), missing)

    @cached_property
    def graph(self) -> Graph:
        return Graph.of(self.elements, self.roots)

    @cached_property
    def undeclared(self) -> tuple[str, ...]:
        """Names in content models that are no elements: no valid document has them."""
        asked = (name for element in self.elements.values() for name in names_of(element.content))
        return tuple(dict.fromkeys(name for name in asked if name not in self.elements))

    @cached_property
    def text(self) -> str:
        """The DTD, flat: one declaration a line."""
        lines = []
        notations: dict[str, None] = {}
        for element in self.elements.values():
            lines.append(f"<!ELEMENT {element.name} {element.model}>")
            for one in element.attributes:
                kind = one.type.value.upper()
                if one.values:
                    choices = f"({'|'.join(one.values)})"
                    kind = f"NOTATION {choices}" if kind == "NOTATION" else choices
                    notations.update(dict.fromkeys(one.values if "NOTATION" in kind else ()))
                default = "" if one.default is Default.VALUE else f" #{one.default.name}"
                value = "" if one.value is None else f" {_quoted(one.value)}"
                lines.append(f"<!ATTLIST {element.name} {one.name} {kind}{default}{value}>")
        lines += [f'<!NOTATION {name} SYSTEM "">' for name in notations]
        return "\n".join(lines) + "\n"

    @cached_property
    def _validator(self) -> etree.DTD:
        return etree.DTD(StringIO(self.text))

    def faults(self, document: bytes | etree._Element) -> list[str]:
        """What is not valid in a document, as lxml says it; nothing if it is valid."""
        try:
            root = etree.fromstring(document) if isinstance(document, bytes) else document
        except etree.XMLSyntaxError as error:
            return [f"not well-formed: {error.msg}"]
        faults = []
        full = _qualified(root)
        if full not in self.roots:
            faults.append(f"the root element is {full}, not {' or '.join(self.roots)}")
        if not self._validator.validate(root):
            log = self._validator.error_log.filter_from_errors()
            said = [entry.message for entry in log if entry.type_name != _NOT_DETERMINISTIC]
            if not said:
                odd = [_qualified(one) for one in root.iter("*")]
                said = [] if any(name in self.ambiguous for name in odd) else ["it is not valid"]
            faults += said + self._ambiguous_faults(root)
        return faults

    @cached_property
    def ambiguous(self) -> Mapping[str, GlushkovAutomaton]:
        """The elements whose content model is not deterministic: libxml2 does not check their children."""
        models = {}
        for name, element in self.elements.items():
            names = list(names_of(element.content))
            if (
                element.kind is ContentKind.CHILDREN
                and element.content
                and len(set(names)) < len(names)
            ):
                models[name] = GlushkovAutomaton(element.content)
        return {name: model for name, model in models.items() if model.ambiguous}

    def _ambiguous_faults(self, root: etree._Element) -> list[str]:
        faults = []
        for one in root.iter("*"):
            model = self.ambiguous.get(_qualified(one))
            if model is None:
                continue
            word = [_qualified(child) for child in one.iterchildren("*")]
            texts = [one.text, *(child.tail for child in one)]
            if not model.accepts(word) or any(text and text.strip(" \t\r\n") for text in texts):
                name = _qualified(one)
                expected = self.elements[name].model
                faults.append(
                    f"Element {name} content does not follow the DTD, expecting {expected}"
                )
        return faults

    def __getstate__(self) -> dict[str, object]:
        """What is derived is made anew wherever the schema is sent."""
        fields = ("name", "elements", "roots", "missing")
        return {field: getattr(self, field) for field in fields}


def _qualified(element: etree._Element) -> str:
    local = etree.QName(element).localname
    return f"{element.prefix}:{local}" if element.prefix else local


def _quoted(value: str) -> str:
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("%", "&#37;")
    escaped = escaped.replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")
    return f'"{escaped.replace(chr(34), "&quot;")}"'
