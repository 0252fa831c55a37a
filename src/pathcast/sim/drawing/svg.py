"""An overlay as an SVG picture: brokers with their tables and clients, links with their traffic.

    link      its width is its traffic in bytes, of both directions; dashed if it is cut
    broker    its shade is the size of its PRT; hollow with a dashed border if it is down
    triangle  publishers, with their number where brokers are large enough
    disc      subscriptions, with their number

Shapes and dashes repeat the information of colours, so the picture is legible in print and with
colour blindness (the colours are those of Okabe and Ito). A number without room is left out; the
tooltip of a broker or a link has all of them. The same run always gives the same bytes.
"""

from __future__ import annotations

from math import hypot

from pathcast.sim.drawing.facts import (
    BrokerFacts,
    LinkFacts,
    broker_facts,
    format_bytes,
    heading,
    link_facts,
)
from pathcast.sim.drawing.labels import OccupiedArea, width_of
from pathcast.sim.drawing.layout import DOT, OverlayLayout, lay_out
from pathcast.sim.drawing.legend import legend
from pathcast.sim.drawing.parts import (
    caption,
    draw_broker,
    draw_link,
    draw_link_label,
    escape_text,
    mark_rectangle,
)
from pathcast.sim.simulation import Simulation

__all__ = ["draw"]

_MARGIN = 24
_PAGE_WIDTH = 1600  # a wider picture gets larger letters
_STYLE = """\
text { font-family: Helvetica, Arial, sans-serif; fill: #1f2933; }
.heading { font-size: 17px; font-weight: bold; }
.totals, .legend text { font-size: 12px; }
.name { font-weight: bold; text-anchor: middle; }
.sizes { text-anchor: middle; }
.link line { stroke: #8795a1; }
.link.idle line { stroke: #cbd2d9; }
.link.cut line { stroke: #d55e00; stroke-dasharray: 7 6; }
.link rect { fill: #ffffff; opacity: 0.88; }
.link text { text-anchor: middle; fill: #323f4b; }
.link.cut text { fill: #a34700; }
.link:hover line { stroke: #323f4b; }
.broker .body { stroke: #3e4c59; }
.broker.down .body { fill: #ffffff; stroke: #d55e00; stroke-width: 2px; stroke-dasharray: 4 3; }
.broker:hover .body { stroke-width: 3px; }
.publishers { fill: #009e73; stroke: #ffffff; stroke-width: 1px; }
.subscriptions { fill: #e69f00; stroke: #ffffff; stroke-width: 1px; }
.count, .below { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; \
stroke-linejoin: round; }"""


def draw(run: Simulation) -> str:
    """Return the picture of an overlay in its present state, as the text of an SVG file."""
    layout = lay_out(run.topology)
    nodes, edges = broker_facts(run), link_facts(run)
    title, totals = heading(run)
    busiest = max((edge.bytes for edge in edges), default=0)
    largest = max((node.prt or 0 for node in nodes), default=0)
    key = legend(layout.style, busiest, largest)
    zoom = max(1.0, round(layout.width / _PAGE_WIDTH, 2))
    text_width = max([width_of(title, 19), *(width_of(total, 12) for total in totals), key.width])
    width = round(2 * _MARGIN + max(layout.width, zoom * text_width))
    top = round(zoom * (2 * _MARGIN + 22 + 17 * len(totals)))
    bottom = round(top + layout.height + _MARGIN)
    height = round(bottom + zoom * key.height + _MARGIN)
    left = (width - layout.width) / 2
    size = f'width="{width}" height="{height}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
        f"<title>{escape_text(title)}</title>",
        f"<style>\n{_STYLE}\n</style>",
        f'<rect {size} fill="#ffffff"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN}) scale({zoom:g})">',
        f'<text class="heading" y="12">{escape_text(title)}</text>',
    ]
    for number, total in enumerate(totals):
        lines.append(f'<text class="totals" y="{34 + 17 * number}">{escape_text(total)}</text>')
    lines += ["</g>", f'<g transform="translate({left:.1f} {top})">']
    lines += _draw_overlay(layout, nodes, edges, busiest, largest)
    lines.append("</g>")
    lines.append(f'<g class="legend" transform="translate({_MARGIN} {bottom}) scale({zoom:g})">')
    lines += key.lines
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _draw_overlay(
    layout: OverlayLayout,
    nodes: list[BrokerFacts],
    edges: list[LinkFacts],
    busiest: int,
    largest: int,
) -> list[str]:
    """Draw links, their labels over them, and brokers on top."""
    below, beside = _choose_labels(layout, nodes, edges)
    lines = [draw_link(edge, layout, busiest) for edge in edges]
    lines += [draw_link_label(edge, layout) for edge in edges if edge.name in beside]
    for node in nodes:
        lines += draw_broker(node, layout, largest, node.name in below)
    return lines


def _choose_labels(
    layout: OverlayLayout, nodes: list[BrokerFacts], edges: list[LinkFacts]
) -> tuple[set[str], set[str]]:
    """Return the brokers and the links that have room for a label; the busiest links go first."""
    style = layout.style
    occupied = OccupiedArea()
    for x, y in layout.positions.values():
        occupied.occupy(
            (
                x - style.half_width,
                y - style.half_height,
                x + style.half_width,
                y + style.half_height,
            )
        )
    for node in nodes:
        if style is not DOT:
            x, y = layout.positions[node.name]
            for left, count in ((True, node.publishers), (False, node.subscriptions)):
                if count:
                    occupied.occupy(mark_rectangle(x, y, left, count, style))
    below = set()
    for node in nodes:
        if (text := caption(node, style)) is not None:
            x, y = layout.positions[node.name]
            if occupied.try_occupy(
                x, y + style.half_height + style.label_size * 0.7, text, style.label_size
            ):
                below.add(node.name)
    beside = set()
    for edge in sorted(edges, key=lambda facts: (-facts.bytes, facts.name)):
        (x1, y1), (x2, y2) = layout.positions[edge.left], layout.positions[edge.right]
        visible_length = hypot(x2 - x1, y2 - y1) - 2 * min(style.half_width, style.half_height)
        text = format_bytes(edge.bytes)
        if edge.bytes and visible_length >= width_of(text, style.label_size):
            if occupied.try_occupy((x1 + x2) / 2, (y1 + y2) / 2, text, style.label_size):
                beside.add(edge.name)
    return below, beside
