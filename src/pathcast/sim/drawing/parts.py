"""The parts of a picture of an overlay: a link, its label, a broker with its clients' marks."""

from __future__ import annotations

from html import escape

from pathcast.schema.drawing.dot import escape_unprintable
from pathcast.sim.drawing.facts import BrokerFacts, LinkFacts, format_bytes
from pathcast.sim.drawing.labels import Rectangle, width_of
from pathcast.sim.drawing.layout import BOX, DOT, BrokerStyle, OverlayLayout
from pathcast.sim.drawing.legend import shade
from pathcast.sim.drawing.trees import Point

__all__ = [
    "caption",
    "draw_broker",
    "draw_link",
    "draw_link_label",
    "escape_text",
    "mark_rectangle",
]


def escape_text(text: str) -> str:
    """Escape a text for XML, including unprintable characters."""
    return escape("\n".join(map(escape_unprintable, text.split("\n"))))


def draw_link(edge: LinkFacts, layout: OverlayLayout, busiest: int) -> str:
    """Return the SVG of a link; its width is its share of the busiest link's bytes."""
    (x1, y1), (x2, y2) = layout.positions[edge.left], layout.positions[edge.right]
    width = layout.style.max_link_width * edge.bytes / busiest if busiest else 0.0
    width = max(width, 1.5 if edge.cut else 1.0)
    return (
        f'<g class="{_css_class(edge)}" data-link="{escape_text(edge.name)}">'
        f"<title>{escape_text(edge.tooltip)}</title>"
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{width:.1f}"/></g>'
    )


def draw_link_label(edge: LinkFacts, layout: OverlayLayout) -> str:
    """Return the SVG of a link's label, its bytes."""
    (x1, y1), (x2, y2) = layout.positions[edge.left], layout.positions[edge.right]
    text, size = format_bytes(edge.bytes), layout.style.label_size
    x, y, half = (x1 + x2) / 2, (y1 + y2) / 2, width_of(text, size) / 2
    return (
        f'<g class="{_css_class(edge)}" data-bytes="{escape_text(edge.name)}">'
        f"<title>{escape_text(edge.tooltip)}</title>"
        f'<rect x="{x - half:.1f}" y="{y - size * 0.6:.1f}"'
        f' width="{2 * half:.1f}" height="{size * 1.2:.1f}" rx="3"/>'
        f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size}">{text}</text></g>'
    )


def _css_class(edge: LinkFacts) -> str:
    return "link" + (" cut" if edge.cut else "" if edge.bytes else " idle")


def caption(node: BrokerFacts, style: BrokerStyle) -> str | None:
    """Return the text below a broker that is too small for a text inside; None for no text."""
    if style is DOT:
        return node.name
    return f"{node.srt}/{node.prt}" if style is not BOX and node.up else None


def draw_broker(
    node: BrokerFacts, layout: OverlayLayout, largest: int, captioned: bool
) -> list[str]:
    """Return the SVG of a broker; `largest` is the size of the largest PRT."""
    x, y = layout.positions[node.name]
    style = layout.style
    css_class = "broker" if node.up else "broker down"
    fill = "" if not node.up else f' fill="{shade((node.prt or 0) / largest if largest else 0)}"'
    lines = [
        (
            f'<g class="{css_class}" data-broker="{escape_text(node.name)}"'
            f' transform="translate({x} {y})">'
            f"<title>{escape_text(node.tooltip)}</title>"
        )
    ]
    if style is BOX:
        lines.append(
            f'<rect class="body"{fill} x="{-style.half_width:g}" y="{-style.half_height:g}"'
            f' width="{2 * style.half_width:g}" height="{2 * style.half_height:g}" rx="6"/>'
        )
        sizes = f"SRT {node.srt:,} | PRT {node.prt:,}" if node.up else "down"
        lines.append(_fit_text("name", -3, node.name, style.name_size, 2 * style.half_width - 6))
        lines.append(_fit_text("sizes", 12, sizes, style.label_size, 2 * style.half_width - 6))
    else:
        lines.append(f'<circle class="body"{fill} r="{style.half_width:g}"/>')
        if style is not DOT:
            lines.append(_fit_text("name", 3, node.name, style.name_size, 2 * style.half_width - 3))
        if captioned:
            below = style.half_height + style.label_size
            lines.append(
                f'<text class="sizes below" y="{below:g}" font-size="{style.label_size}">'
                f"{escape_text(caption(node, style) or '')}</text>"
            )
    lines += _draw_marks(node, style)
    return [*lines, "</g>"]


def _fit_text(css_class: str, y: float, text: str, size: int, room: float) -> str:
    """Return the SVG of a text line, in smaller letters if it is too long."""
    font_size = min(float(size), size * room / width_of(text, size))
    attributes = f'class="{css_class}" y="{y:g}" font-size="{font_size:.3g}"'
    return f"<text {attributes}>{escape_text(text)}</text>"


def _corner(style: BrokerStyle, left: bool) -> Point:
    """Return where the mark of publishers (left) or subscriptions is, relative to the broker."""
    out, over = (0.9, 4) if style is BOX else (0.75, style.mark_size)
    return (-1 if left else 1) * style.half_width * out, -style.half_height * out - over


def mark_rectangle(x: float, y: float, left: bool, count: int, style: BrokerStyle) -> Rectangle:
    """Return the rectangle of a mark with its number."""
    dx, dy = _corner(style, left)
    outer = dx + (-1 if left else 1) * (
        style.mark_size + 2 + width_of(f"{count:,}", style.label_size)
    )
    inner = dx + style.mark_size if left else dx - style.mark_size
    return (
        x + min(outer, inner),
        y + dy - style.mark_size,
        x + max(outer, inner),
        y + dy + style.mark_size,
    )


def _draw_marks(node: BrokerFacts, style: BrokerStyle) -> list[str]:
    lines = []
    size = style.mark_size
    if node.publishers:
        x, y = _corner(style, True)
        corners = f"{x:g},{y - size:g} {x + size:g},{y + size:g} {x - size:g},{y + size:g}"
        lines.append(f'<polygon class="publishers" points="{corners}"/>')
        lines += _draw_count(x - size - 2, y, node.publishers, "end", style)
    if node.subscriptions:
        x, y = _corner(style, False)
        lines.append(f'<circle class="subscriptions" cx="{x:g}" cy="{y:g}" r="{size}"/>')
        lines += _draw_count(x + size + 2, y, node.subscriptions, "start", style)
    return lines


def _draw_count(x: float, y: float, count: int, anchor: str, style: BrokerStyle) -> list[str]:
    if style is DOT:
        return []
    return [
        (
            f'<text class="count" x="{x:g}" y="{y + style.label_size * 0.35:g}"'
            f' font-size="{style.label_size}"'
            f' text-anchor="{anchor}">{count:,}</text>'
        )
    ]
