"""Edges of the element graph with their occurrence, and the graph as DOT for Graphviz.

The graph contains the elements that are reachable from a root in finite valid documents. The
occurrence of an edge follows from the words of the content model, not from its spelling: `(a, b?,
a*)` has at least one `a`, and `(a?, a?)` may have two.

>>> from pathcast.schema.reader import parse_dtd
>>> schema = parse_dtd(
...     "<!ELEMENT list (head?, item+)><!ELEMENT head EMPTY>"
...     "<!ELEMENT item (#PCDATA | list)*>"
... )
>>> [(edge.parent, edge.child, edge.occurs.name, edge.cyclic) for edge in edges(schema)]
[('list', 'head', 'OPTIONAL', False), ('list', 'item', 'SOME', True), ('item', 'list', 'ANY', True)]
"""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.schema.model import Child, Choice, Content, ContentKind, Occurs, Sequence
from pathcast.schema.schema import Schema

__all__ = ["CYCLE", "LINE", "ChildEdge", "dot", "edges", "escape_unprintable", "undrawn_elements"]

LINE, CYCLE = "#5b6b7b", "#c62828"  # edge colours, outside and inside a component

_Counts = dict[str, tuple[int, int]]  # child -> least (0, 1) and most (1, 2 for more)
_OCCURS = {
    (0, 1): Occurs.OPTIONAL,
    (0, 2): Occurs.ANY,
    (1, 1): Occurs.ONCE,
    (1, 2): Occurs.SOME,
}


@dataclass(frozen=True, slots=True)
class ChildEdge:
    """An edge from parent to child; `cyclic` if both lie in one strongly connected component."""

    parent: str
    child: str
    occurs: Occurs
    cyclic: bool


def edges(schema: Schema) -> tuple[ChildEdge, ...]:
    """Return the edges between elements reachable from a root, in DTD order."""
    graph = schema.graph
    component = {name: number for number, part in enumerate(graph.components) for name in part}
    child_edges = []
    for name, element in schema.elements.items():
        if name in graph.depth:
            content = element.content if element.kind is ContentKind.CHILDREN else None
            counts = _child_counts(content, schema) or {} if content else {}
            for child in graph.children[name]:
                occurs = _OCCURS[counts.get(child, (0, 2))]
                cyclic = component.get(name, -1) == component.get(child, -2)
                child_edges.append(ChildEdge(name, child, occurs, cyclic))
    return tuple(child_edges)


def _child_counts(content: Content, schema: Schema) -> _Counts | None:
    """Return least and most occurrences of each child in a word; None if there is no finite word.

    Two stands for any number above one.
    """
    total: _Counts = {}
    match content:
        case Child(name=name):
            if name not in schema.graph.size:
                return {} if content.occurs.may_be_absent else None
            total[name] = (1, 1)
        case Sequence(parts=parts):
            for part in parts:
                counts = _child_counts(part, schema)
                if counts is None:
                    return {} if content.occurs.may_be_absent else None
                for name, (low_part, high_part) in counts.items():
                    low, high = total.get(name, (0, 0))
                    total[name] = (low + low_part, high + high_part)
        case Choice(parts=parts):
            alternatives = [
                counts for part in parts if (counts := _child_counts(part, schema)) is not None
            ]
            if not alternatives:
                return {} if content.occurs.may_be_absent else None
            for name in dict.fromkeys(name for alternative in alternatives for name in alternative):
                ranges = [alternative.get(name, (0, 0)) for alternative in alternatives]
                total[name] = (min(low for low, _ in ranges), max(high for _, high in ranges))
    absent, repeats = content.occurs.may_be_absent, content.occurs.may_repeat
    return {
        name: (0 if absent else min(low, 1), 2 if repeats else min(high, 2))
        for name, (low, high) in total.items()
    }


def undrawn_elements(schema: Schema) -> tuple[str, ...]:
    """Return the declared elements that no valid document contains; the drawing omits them."""
    return tuple(name for name in schema.elements if name not in schema.graph.depth)


def dot(schema: Schema) -> str:
    """Return the graph in DOT.

    Roots have a double border, optional children a dashed edge, repeatable ones a crow's foot.
    """
    graph = schema.graph
    lines = [
        f"digraph {_quote(schema.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, fontname="monospace", height=0.3, margin="0.08,0.03"];',
        f'  edge [color="{LINE}"];',
    ]
    for name in graph.depth:
        root = " [peripheries=2]" if name in schema.roots else ""
        lines.append(f"  {_quote(name)}{root};")
    for depth in range(1, max(graph.depth.values(), default=0) + 1):
        level = " ".join(f"{_quote(name)};" for name, at in graph.depth.items() if at == depth)
        lines.append(f"  {{ rank=same; {level} }}")
    for edge in edges(schema):
        marks = [f'color="{CYCLE}"'] if edge.cyclic else []
        marks += ["style=dashed"] if edge.occurs.may_be_absent else []
        marks += ["arrowhead=crow"] if edge.occurs.may_repeat else []
        written = f" [{', '.join(marks)}]" if marks else ""
        lines.append(f"  {_quote(edge.parent)} -> {_quote(edge.child)}{written};")
    missing = undrawn_elements(schema)
    if missing:
        lines.append(f"  // in no valid document: {' '.join(missing)}")
    return "\n".join([*lines, "}"]) + "\n"


def _quote(name: str) -> str:
    escaped = escape_unprintable(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters, which a file name may contain."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )
