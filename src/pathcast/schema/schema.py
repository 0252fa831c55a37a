"""Schema: the elements of a DTD, its roots, its element graph and its validator.

A document is valid under a schema if its root element is one of `roots` and lxml validates it. A
DTD names no root. Unless the caller names one, `roots` are the elements of every strongly connected
component of the element graph without an incoming edge. ANY counts as no edge here, or a catch-all
element would leave a DTD without a root.

`text` is the DTD written out without entities; the validator is made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

from lxml import etree

from pathcast.errors import SchemaError
from pathcast.schema.glushkov import GlushkovAutomaton
from pathcast.schema.graph import ElementGraph, source_elements
from pathcast.schema.model import ContentKind, Default, Element, names_of
from pathcast.schema.similar_names import similar_names
from pathcast.schema.words import cheapest_word, names_in_words

__all__ = ["Schema"]

_NOT_DETERMINISTIC = "DTD_CONTENT_NOT_DETERMINIST"  # reported once for a validator


@dataclass(frozen=True)
class Schema:
    """A parsed DTD. Immutable; `graph`, `text` and the validator are computed on first use."""

    name: str
    elements: Mapping[str, Element]
    roots: tuple[str, ...]
    missing: tuple[str, ...] = ()  # references that the catalog does not map

    @classmethod
    def of(
        cls,
        name: str,
        elements: Mapping[str, Element],
        root: str | None = None,
        missing: tuple[str, ...] = (),
    ) -> Schema:
        """Return the schema with this root, or with the source elements of its graph as roots."""
        if root is None:
            return cls(name, elements, source_elements(elements), missing)
        if root not in elements:
            close = similar_names(root, elements)
            hint = f"near names: {', '.join(close)}" if close else None
            raise SchemaError("root", f"{name} declares no element {root}", hint=hint)
        return cls(name, elements, (root,), missing)

    @cached_property
    def graph(self) -> ElementGraph:
        return ElementGraph.of(self.elements, self.roots)

    @cached_property
    def required_children(self) -> Mapping[str, frozenset[str]]:
        """The elements that every valid content of an element contains, for productive elements."""
        required = {}
        for name in self.graph.size:
            in_words = names_in_words(self.elements[name].content, self.graph.size)
            assert in_words is not None  # a productive element has a word
            required[name] = in_words[1]
        return required

    def smallest_content(self, name: str) -> tuple[str, ...]:
        """Return the children of an element in its smallest valid tree."""
        content = self._smallest_contents.get(name)
        if content is None:
            element = self.elements[name]
            model = element.content if element.kind is ContentKind.CHILDREN else None
            word = cheapest_word(model, {}, self.graph.size.get)
            content = self._smallest_contents[name] = word[1] if word else ()
        return content

    @cached_property
    def _smallest_contents(self) -> dict[str, tuple[str, ...]]:
        return {}

    @cached_property
    def undeclared_names(self) -> tuple[str, ...]:
        """Names in content models without a declaration; no valid document contains them."""
        mentioned = (
            name for element in self.elements.values() for name in names_of(element.content)
        )
        return tuple(dict.fromkeys(name for name in mentioned if name not in self.elements))

    @cached_property
    def text(self) -> str:
        """The DTD without entities, one declaration a line."""
        lines = []
        notations: dict[str, None] = {}
        for element in self.elements.values():
            lines.append(f"<!ELEMENT {element.name} {element.model}>")
            for attribute in element.attributes:
                kind = attribute.type.value.upper()
                if attribute.values:
                    choices = f"({'|'.join(attribute.values)})"
                    kind = f"NOTATION {choices}" if kind == "NOTATION" else choices
                    notations.update(dict.fromkeys(attribute.values if "NOTATION" in kind else ()))
                default = (
                    "" if attribute.default is Default.VALUE else f" #{attribute.default.name}"
                )
                value = "" if attribute.value is None else f" {_quote(attribute.value)}"
                lines.append(f"<!ATTLIST {element.name} {attribute.name} {kind}{default}{value}>")
        lines += [f'<!NOTATION {name} SYSTEM "">' for name in notations]
        return "\n".join(lines) + "\n"

    @cached_property
    def _validator(self) -> etree.DTD:
        return etree.DTD(StringIO(self.text))

    def faults(self, document: bytes | etree._Element) -> list[str]:
        """Return the validity errors of a document, in lxml's words; empty if it is valid."""
        try:
            root = etree.fromstring(document) if isinstance(document, bytes) else document
        except etree.XMLSyntaxError as error:
            return [f"not well-formed: {error.msg}"]
        faults = []
        full = _qualified_name(root)
        if full not in self.roots:
            faults.append(f"the root element is {full}, not {' or '.join(self.roots)}")
        if not self._validator.validate(root):
            log = self._validator.error_log.filter_from_errors()
            messages = [entry.message for entry in log if entry.type_name != _NOT_DETERMINISTIC]
            if not messages:
                names = [_qualified_name(element) for element in root.iter("*")]
                messages = (
                    [] if any(name in self.ambiguous for name in names) else ["it is not valid"]
                )
            faults += messages + self._ambiguous_faults(root)
        return faults

    @cached_property
    def ambiguous(self) -> Mapping[str, GlushkovAutomaton]:
        """Elements with a nondeterministic content model; libxml2 does not check their children."""
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
        for element in root.iter("*"):
            model = self.ambiguous.get(_qualified_name(element))
            if model is None:
                continue
            word = [_qualified_name(child) for child in element.iterchildren("*")]
            texts = [element.text, *(child.tail for child in element)]
            if not model.accepts(word) or any(text and text.strip(" \t\r\n") for text in texts):
                name = _qualified_name(element)
                expected = self.elements[name].model
                faults.append(
                    f"Element {name} content does not follow the DTD, expecting {expected}"
                )
        return faults

    def __getstate__(self) -> dict[str, object]:
        """Pickle the declarations only; the receiver recomputes the derived values."""
        fields = ("name", "elements", "roots", "missing")
        return {field: getattr(self, field) for field in fields}


def _qualified_name(element: etree._Element) -> str:
    local = etree.QName(element).localname
    return f"{element.prefix}:{local}" if element.prefix else local


def _quote(value: str) -> str:
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("%", "&#37;")
    escaped = escaped.replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")
    return f'"{escaped.replace(chr(34), "&quot;")}"'
