"""An overlay as an SVG picture: brokers with their tables and clients, links with their traffic.

    link      as wide as it has carried bytes, both directions together; dashed if it is cut
    broker    the darker, the larger its PRT; hollow with a dashed border if it is down
    triangle  publishers; disc: subscriptions; with their numbers where brokers are large enough

Shapes and dashes say everything that colours say, so it can be read in print and by people who see colours otherwise (the colours are those of Okabe and Ito).
A number that has no room is left out, and everything is told when the pointer is over a broker or a link. The same run always gives the same bytes.
"""

from __future__ import annotations

from math import hypot

from pathcast.sim.drawing.facts import BrokerFacts, LinkFacts, amount, brokers, heading, links
from pathcast.sim.drawing.labels import Room, width_of
from pathcast.sim.drawing.legend import legend
from pathcast.sim.drawing.parts import broker, caption, label, line, mark_room, safe
from pathcast.sim.drawing.places import DOT, Places, places
from pathcast.sim.simulation import Simulation

__all__ = ["draw"]

_MARGIN = 24
_PAGE = 1600  # a picture that is wider is looked at from afar
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
.count, .below { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; }"""


def draw(run: Simulation) -> str:
    """The picture of an overlay as it is now, as the text of an SVG file."""
    placed = places(run.topology)
    nodes, edges = brokers(run), links(run)
    title, totals = heading(run)
    busiest = max((edge.bytes for edge in edges), default=0)
    largest = max((node.prt or 0 for node in nodes), default=0)
    key = legend(placed.look, busiest, largest)
    zoom = max(1.0, round(placed.width / _PAGE, 2))  # words can be read beside a large picture, too
    words = max([width_of(title, 19), *(width_of(total, 12) for total in totals), key.width])
    width = round(2 * _MARGIN + max(placed.width, zoom * words))
    top = round(zoom * (2 * _MARGIN + 22 + 17 * len(totals)))
    bottom = round(top + placed.height + _MARGIN)
    height = round(bottom + zoom * key.height + _MARGIN)
    left = (width - placed.width) / 2
    size = f'width="{width}" height="{height}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
        f"<title>{safe(title)}</title>",
        f"<style>\n{_STYLE}\n</style>",
        f'<rect {size} fill="#ffffff"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN}) scale({zoom:g})">',
        f'<text class="heading" y="12">{safe(title)}</text>',
    ]
    for number, total in enumerate(totals):
        lines.append(f'<text class="totals" y="{34 + 17 * number}">{safe(total)}</text>')
    lines += ["</g>", f'<g transform="translate({left:.1f} {top})">']
    lines += _drawn(placed, nodes, edges, busiest, largest)
    lines.append("</g>")
    lines.append(f'<g class="legend" transform="translate({_MARGIN} {bottom}) scale({zoom:g})">')
    lines += key.lines
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _drawn(
    placed: Places, nodes: list[BrokerFacts], edges: list[LinkFacts], busiest: int, largest: int
) -> list[str]:
    """Lines, the labels of links over them, brokers on top."""
    below, beside = _with_room(placed, nodes, edges)
    lines = [line(edge, placed, busiest) for edge in edges]
    lines += [label(edge, placed) for edge in edges if edge.name in beside]
    for node in nodes:
        lines += broker(node, placed, largest, node.name in below)
    return lines


def _with_room(
    placed: Places, nodes: list[BrokerFacts], edges: list[LinkFacts]
) -> tuple[set[str], set[str]]:
    """The brokers and the links that have room for a label; the busiest links are asked first."""
    look = placed.look
    room = Room()
    for x, y in placed.at.values():
        room.take((x - look.across, y - look.down, x + look.across, y + look.down))
    for node in nodes:
        if look is not DOT:
            x, y = placed.at[node.name]
            for left, many in ((True, node.publishers), (False, node.subscriptions)):
                if many:
                    room.take(mark_room(x, y, left, many, look))
    below = set()
    for node in nodes:
        if (text := caption(node, look)) is not None:
            x, y = placed.at[node.name]
            if room.ask(x, y + look.down + look.label * 0.7, text, look.label):
                below.add(node.name)
    beside = set()
    for edge in sorted(edges, key=lambda one: (-one.bytes, one.name)):
        (x1, y1), (x2, y2) = placed.at[edge.one], placed.at[edge.other]
        between = hypot(x2 - x1, y2 - y1) - 2 * min(look.across, look.down)
        text = amount(edge.bytes)
        if edge.bytes and between >= width_of(text, look.label):
            if room.ask((x1 + x2) / 2, (y1 + y2) / 2, text, look.label):
                beside.add(edge.name)
    return below, beside
