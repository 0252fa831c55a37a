"""SVG drawing of the element graph, without Graphviz.

Columns are depths, with the root on the left (see `layers`). An edge to the next column leaves its
parent on the right, an edge to an earlier column on the left. Edges within a column and self-loops
bend around on the right. Boxes cover edges, so every name is legible. In a browser, hovering over a
box highlights its edges and shows its content model.
"""

from __future__ import annotations

from html import escape

from pathcast.schema.drawing.dot import (
    CYCLE,
    LINE,
    ChildEdge,
    edges,
    escape_unprintable,
    undrawn_elements,
)
from pathcast.schema.drawing.layers import MARGIN, Box, Layout, layout
from pathcast.schema.model import Element
from pathcast.schema.schema import Schema

__all__ = ["svg"]

_TOP = 74  # height of the heading
_LEGEND = (
    "double border: root | red: inside a cycle | dashed: may be missing | double arrow: may repeat"
)
_STYLE = f"""\
text {{ font: 12px monospace; fill: #1f2933; }}
.heading {{ font-size: 15px; font-weight: bold; }}
.box {{ fill: #f4f7fa; stroke: #52606d; }}
.cyclic {{ fill: #fdecea; stroke: {CYCLE}; }}
.border {{ fill: none; stroke: #52606d; }}
.edge {{ fill: none; stroke: {LINE}; stroke-width: 1; opacity: 0.55; }}
.edge.cycle {{ stroke: {CYCLE}; }}
.edge.optional {{ stroke-dasharray: 5 3; }}"""


def svg(schema: Schema) -> str:
    """Return the drawing as the text of an SVG file."""
    graph = schema.graph
    placed = layout(graph.depth, graph.children, _TOP)
    number = {name: index for index, name in enumerate(placed.boxes)}
    below = edges(schema)
    missing = undrawn_elements(schema)
    title = escape_unprintable(schema.name)
    heading = f"{title}: {_plural(len(number), 'element')}, {_plural(len(below), 'edge')}"
    if missing:
        heading += f"; {len(missing)} more in no valid document"
    width = max(placed.width, 2 * MARGIN + 8 * max(len(_LEGEND), len(heading) * 5 // 4))
    size = f'width="{width}" height="{placed.height}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {placed.height}">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{_STYLE}\n{_hover_rules(len(number))}</style>",
        _markers(),
        f'<rect {size} fill="#ffffff"/>',
        f'<text class="heading" x="{MARGIN}" y="28">{escape(heading)}</text>',
        f'<text x="{MARGIN}" y="48">{escape(_LEGEND)}</text>',
    ]
    lines += [_edge(edge, placed, number) for edge in below]
    for name, box in placed.boxes.items():
        cyclic = name in graph.cyclic
        lines += _box(schema.elements[name], box, number[name], name in schema.roots, cyclic)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _hover_rules(boxes: int) -> str:
    """Return a CSS rule per box that highlights its edges while the pointer is over it."""
    style = "{ stroke-width: 2.5; opacity: 1; }"
    return "".join(f"svg:has(#n{i}:hover) :is(.f{i}, .t{i}) {style}\n" for i in range(boxes))


def _markers() -> str:
    lines = ["<defs>"]
    for name, colour in (("line", LINE), ("cycle", CYCLE)):
        for count, shape in (
            ("once", "M0,0 L7,3.5 L0,7 z"),
            ("many", "M0,0 L7,3.5 L0,7 z M7,0 L14,3.5 L7,7 z"),
        ):
            tip = 7 if count == "once" else 14
            lines.append(
                f'<marker id="{name}-{count}" viewBox="0 0 14 7" refX="{tip}" refY="3.5"'
                f' markerWidth="14" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
                f'<path d="{shape}" fill="{colour}"/></marker>'
            )
    return "\n".join([*lines, "</defs>"])


def _edge(edge: ChildEdge, placed: Layout, number: dict[str, int]) -> str:
    look = "edge" + (" cycle" if edge.cyclic else "")
    look += " optional" if edge.occurs.may_be_absent else ""
    marker = f"{'cycle' if edge.cyclic else 'line'}-{'many' if edge.occurs.may_repeat else 'once'}"
    curve = _curve(placed.boxes[edge.parent], placed.boxes[edge.child])
    return (
        f'<path class="{look} f{number[edge.parent]} t{number[edge.child]}" d="{curve}"'
        f' marker-end="url(#{marker})"/>'
    )


def _curve(parent: Box, child: Box) -> str:
    """Return a cubic Bezier curve between the facing sides of two boxes."""
    if parent is child:
        x, y = parent.right, parent.middle
        return f"M{x},{y - 5} C{x + 34},{y - 22} {x + 34},{y + 22} {x},{y + 5}"
    if parent.x == child.x:
        x, bend = parent.right, 24 + min(140, abs(parent.middle - child.middle) // 6)
        return (
            f"M{x},{parent.middle} C{x + bend},{parent.middle}"
            f" {x + bend},{child.middle} {x},{child.middle}"
        )
    if parent.x < child.x:
        start, end, bend = parent.right, child.x, (child.x - parent.right) // 2
    else:
        start, end, bend = parent.x, child.right, -max(30, (parent.x - child.right) // 2)
    return (
        f"M{start},{parent.middle} C{start + bend},{parent.middle}"
        f" {end - bend},{child.middle} {end},{child.middle}"
    )


def _box(element: Element, box: Box, number: int, root: bool, cyclic: bool) -> list[str]:
    tooltip = f"{element.name} {element.model}, {_plural(len(element.attributes), 'attribute')}"
    look = "box cyclic" if cyclic else "box"
    frame = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="3"'
    lines = [
        f'<g id="n{number}"><title>{escape(tooltip)}</title>',
        f'<rect class="{look}" {frame}/>',
    ]
    if root:
        outer = f'x="{box.x - 3}" y="{box.y - 3}" width="{box.width + 6}" height="{box.height + 6}"'
        lines.append(f'<rect class="border" {outer} rx="5"/>')
    lines.append(f'<text x="{box.x + 8}" y="{box.y + 14}">{escape(element.name)}</text></g>')
    return lines


def _plural(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
