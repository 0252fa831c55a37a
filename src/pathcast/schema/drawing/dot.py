"""The element graph of a schema, drawn: its edges, and DOT for Graphviz. `svg` draws it without Graphviz.

What is drawn are the elements that the roots lead to in finite valid documents. An edge from a parent to a child says how often
the child may stand there. That is read off the words of the content model, not off the spelling of it: in `(a, b?, a*)` there
is at least one `a`, and in `(a?, a?)` there may be two.

>>> from pathcast.schema.reader import parse_dtd
>>> schema = parse_dtd("<!ELEMENT list (head?, item+)><!ELEMENT head EMPTY><!ELEMENT item (#PCDATA | list)*>")
>>> [(one.parent, one.child, one.occurs.name, one.cyclic) for one in edges(schema)]
[('list', 'head', 'OPTIONAL', False), ('list', 'item', 'SOME', True), ('item', 'list', 'ANY', True)]
"""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.schema.model import Child, Choice, Content, ContentKind, Occurs, Sequence
from pathcast.schema.schema import Schema

__all__ = ["CYCLE", "LINE", "ChildEdge", "dot", "edges", "escape_unprintable", "left_out"]

LINE, CYCLE = "#5b6b7b", "#c62828"  # the colours of edges, outside and inside a component

_Counts = dict[str, tuple[int, int]]  # of a child: the fewest (0 or 1), the most (1, or 2 for many)
_OCCURS = {
    (0, 1): Occurs.OPTIONAL,
    (0, 2): Occurs.ANY,
    (1, 1): Occurs.ONCE,
    (1, 2): Occurs.SOME,
}


@dataclass(frozen=True, slots=True)
class ChildEdge:
    """A child of a parent; `cyclic` edges lie inside one strongly connected component."""

    parent: str
    child: str
    occurs: Occurs
    cyclic: bool


def edges(schema: Schema) -> tuple[ChildEdge, ...]:
    """The edges between the elements that roots lead to, in the order of the DTD."""
    graph = schema.graph
    component = {name: number for number, part in enumerate(graph.components) for name in part}
    found = []
    for name, element in schema.elements.items():
        if name in graph.depth:
            content = element.content if element.kind is ContentKind.CHILDREN else None
            counts = _counts(content, schema) or {} if content else {}
            for child in graph.children[name]:
                occurs = _OCCURS[counts.get(child, (0, 2))]
                cyclic = component.get(name, -1) == component.get(child, -2)
                found.append(ChildEdge(name, child, occurs, cyclic))
    return tuple(found)


def _counts(content: Content, schema: Schema) -> _Counts | None:
    """How few and how many of each child a word of the model may have (2 is many); None if it has no finite word."""
    found: _Counts = {}
    match content:
        case Child(name=name):
            if name not in schema.graph.size:
                return {} if content.occurs.may_be_absent else None
            found[name] = (1, 1)
        case Sequence(parts=parts):
            for part in parts:
                counts = _counts(part, schema)
                if counts is None:
                    return {} if content.occurs.may_be_absent else None
                for name, (least, most) in counts.items():
                    low, high = found.get(name, (0, 0))
                    found[name] = (low + least, high + most)
        case Choice(parts=parts):
            ways = [one for part in parts if (one := _counts(part, schema)) is not None]
            if not ways:
                return {} if content.occurs.may_be_absent else None
            for name in dict.fromkeys(name for way in ways for name in way):
                ranges = [way.get(name, (0, 0)) for way in ways]
                found[name] = (min(low for low, _ in ranges), max(high for _, high in ranges))
    missing, many = content.occurs.may_be_absent, content.occurs.may_repeat
    return {
        name: (0 if missing else min(low, 1), 2 if many else min(high, 2))
        for name, (low, high) in found.items()
    }


def left_out(schema: Schema) -> tuple[str, ...]:
    """The declared elements that the drawing does not have, since no valid document does."""
    return tuple(name for name in schema.elements if name not in schema.graph.depth)


def dot(schema: Schema) -> str:
    """The graph in DOT: roots with a double border, dashed what may be missing, a crow's foot at what may repeat."""
    graph = schema.graph
    lines = [
        f"digraph {_quoted(schema.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, fontname="monospace", height=0.3, margin="0.08,0.03"];',
        f'  edge [color="{LINE}"];',
    ]
    for name in graph.depth:
        root = " [peripheries=2]" if name in schema.roots else ""
        lines.append(f"  {_quoted(name)}{root};")
    for depth in range(1, max(graph.depth.values(), default=0) + 1):
        level = " ".join(f"{_quoted(name)};" for name, at in graph.depth.items() if at == depth)
        lines.append(f"  {{ rank=same; {level} }}")
    for edge in edges(schema):
        marks = [f'color="{CYCLE}"'] if edge.cyclic else []
        marks += ["style=dashed"] if edge.occurs.may_be_absent else []
        marks += ["arrowhead=crow"] if edge.occurs.may_repeat else []
        written = f" [{', '.join(marks)}]" if marks else ""
        lines.append(f"  {_quoted(edge.parent)} -> {_quoted(edge.child)}{written};")
    missing = left_out(schema)
    if missing:
        lines.append(f"  // in no valid document: {' '.join(missing)}")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: str) -> str:
    escaped = escape_unprintable(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def escape_unprintable(text: str) -> str:
    """The text with what cannot be printed escaped: a file may be named anything."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
