"""Locations of nodes for explanations: a path with positions, a line and a snippet of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathcast.documents import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.xpath.text import QNameFormat

__all__ = ["Location", "location_of", "location_of_result", "quote", "snippet"]

_MAX_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Location:
    """The path and line of a node, and the start of its text."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.path}" + (f"  {self.text!r}" if self.text else "")


def snippet(text: str) -> str:
    """Return the start of a text on one line, with white space collapsed."""
    flat = " ".join(text[: 4 * _MAX_CHARACTERS].split())
    return flat if len(flat) <= _MAX_CHARACTERS else flat[: _MAX_CHARACTERS - 3] + "..."


def quote(text: str) -> str:
    """Return the start of a text in quotes, with its white space, which may fail a comparison."""
    return repr(text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 3] + "...")


def location_of(document: Document, node: int, names: QNameFormat) -> Location:
    """Return the location of a node by its number."""
    parts: list[str] = []
    current = node
    while current > 0:
        parts.append(_step_text(document, current, names))
        current = document.parent[current]
    path = "/" + "/".join(reversed(parts))
    return Location(path, document.line(node), snippet(document.string_value(node)))


def _step_text(document: Document, node: int, names: QNameFormat) -> str:
    kind, label = document.kind[node], document.label[node]
    if kind == ATTRIBUTE:
        return f"@{_name(label, names)}"
    if kind == ELEMENT:
        text, same_test = _name(label, names), document.elements[label]
    elif kind == TEXT:
        text, same_test = "text()", document.texts
    elif kind == COMMENT:
        text, same_test = "comment()", document.comments
    else:
        assert kind == PI
        text, same_test = "processing-instruction()", document.instructions
    parent = document.parent[node]
    siblings = [other for other in same_test if document.parent[other] == parent]
    return text if len(siblings) == 1 else f"{text}[{siblings.index(node) + 1}]"


def _name(label: str, names: QNameFormat) -> str:
    try:
        return names(label)
    except KeyError:  # a namespace that the subscriber did not declare
        return "*:" + label.rpartition("}")[2]


def location_of_result(document: Document, result: Any) -> Location:
    """Return the location of an item in the result of lxml's xpath()."""
    if isinstance(result, str):
        owner = getattr(result, "getparent", lambda: None)()
        if owner is None:
            return Location("", 1, snippet(result))
        if getattr(result, "is_attribute", False):
            step = f"/@{str(getattr(result, 'attrname', '')).rpartition('}')[2]}"
        else:
            owner = owner.getparent() if getattr(result, "is_tail", False) else owner
            step = "/text()"
        return Location(document.tree.getpath(owner) + step, owner.sourceline or 1, snippet(result))
    if isinstance(result, tuple):  # a namespace node; lxml does not give its location
        return Location(f"namespace::{result[0] or ''}", 1, str(result[1]))
    text = "".join(result.itertext()) if isinstance(result.tag, str) else result.text or ""
    return Location(document.tree.getpath(result), result.sourceline or 1, snippet(text))
