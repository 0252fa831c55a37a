"""Nodes as people find them: a path with places among siblings, a line, a piece of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathcast.documents import ATTRIBUTE, COMMENT, ELEMENT, PI, TEXT, Document
from pathcast.xpath.text import QNameFormat

__all__ = ["Location", "location_of", "location_of_result", "quote", "snippet"]

_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Location:
    """Where a node is and what stands there."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.path}" + (f"  {self.text!r}" if self.text else "")


def snippet(text: str) -> str:
    """The beginning of a text on one line."""
    flat = " ".join(text[: 4 * _WIDTH].split())
    return flat if len(flat) <= _WIDTH else flat[: _WIDTH - 3] + "..."


def quote(text: str) -> str:
    """The beginning of a text as it is, white space and all: it may be what made a comparison fail."""
    return repr(text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "...")


def location_of(document: Document, node: int, names: QNameFormat) -> Location:
    """The place of a node by its number."""
    parts: list[str] = []
    current = node
    while current > 0:
        parts.append(_written(document, current, names))
        current = document.parent[current]
    path = "/" + "/".join(reversed(parts))
    return Location(path, document.line(node), snippet(document.string_value(node)))


def _written(document: Document, node: int, names: QNameFormat) -> str:
    kind, label = document.kind[node], document.label[node]
    if kind == ATTRIBUTE:
        return f"@{_name(label, names)}"
    if kind == ELEMENT:
        written, alike = _name(label, names), document.elements[label]
    elif kind == TEXT:
        written, alike = "text()", document.texts
    elif kind == COMMENT:
        written, alike = "comment()", document.comments
    else:
        assert kind == PI
        written, alike = "processing-instruction()", document.instructions
    parent = document.parent[node]
    beside = [other for other in alike if document.parent[other] == parent]
    return written if len(beside) == 1 else f"{written}[{beside.index(node) + 1}]"


def _name(label: str, names: QNameFormat) -> str:
    try:
        return names(label)
    except KeyError:  # a namespace that the subscriber did not declare
        return "*:" + label.rpartition("}")[2]


def location_of_result(document: Document, result: Any) -> Location:
    """The place of something that lxml's xpath() returned."""
    if isinstance(result, str):
        owner = getattr(result, "getparent", lambda: None)()
        if owner is None:
            return Location("", 1, snippet(result))
        if getattr(result, "is_attribute", False):
            what = f"/@{str(getattr(result, 'attrname', '')).rpartition('}')[2]}"
        else:
            owner = owner.getparent() if getattr(result, "is_tail", False) else owner
            what = "/text()"
        return Location(document.tree.getpath(owner) + what, owner.sourceline or 1, snippet(result))
    if isinstance(result, tuple):  # a namespace node, of which lxml does not say where it is
        return Location(f"namespace::{result[0] or ''}", 1, str(result[1]))
    text = "".join(result.itertext()) if isinstance(result.tag, str) else result.text or ""
    return Location(document.tree.getpath(result), result.sourceline or 1, snippet(text))
