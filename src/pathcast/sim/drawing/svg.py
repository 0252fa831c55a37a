"""An overlay as an SVG picture: brokers with their tables and clients, links with their traffic.

    link      as wide as it has carried bytes, both directions together; dashed if it is cut
    broker    the darker, the larger its PRT; hollow with a dashed border if it is down
    triangle  publishers; disc: subscriptions; with their numbers where brokers are large enough

Shapes and dashes say everything that colours say, so it can be read in print and by people who see colours otherwise (the colours are those of Okabe and Ito).
A number that has no room is left out, and everything is told when the pointer is over a broker or a link. The same run always gives the same bytes.
"""

from __future__ import annotations

from html import escape

from pathcast.schema.drawing.dot import printable
from pathcast.sim.drawing.facts import BrokerFacts, LinkFacts, amount, brokers, heading, links
from pathcast.sim.drawing.labels import Room, width_of
from pathcast.sim.drawing.legend import legend
from pathcast.sim.drawing.places import BOX, DOT, Places, places
from pathcast.sim.simulation import Simulation

__all__ = ["draw"]

_MARGIN = 24
_STYLE = """\
text { font-family: Helvetica, Arial, sans-serif; fill: #1f2933; }
.heading { font-size: 17px; font-weight: bold; }
.totals, .legend text { font-size: 12px; }
.name { font-weight: bold; text-anchor: middle; }
.sizes { text-anchor: middle; }
.link line { stroke: #8795a1; stroke-linecap: round; }
.link.idle line { stroke: #cbd2d9; }
.link.cut line { stroke: #d55e00; stroke-dasharray: 7 6; stroke-linecap: butt; }
.link text { text-anchor: middle; fill: #3e4c59; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; }
.link.cut text { fill: #a34700; }
.link:hover line { stroke: #323f4b; }
.broker .body { stroke: #3e4c59; }
.broker.down .body { fill: #ffffff; stroke: #d55e00; stroke-width: 2px; stroke-dasharray: 4 3; }
.broker:hover .body { stroke-width: 3px; }
.publishers { fill: #009e73; stroke: #ffffff; stroke-width: 1px; }
.subscriptions { fill: #e69f00; stroke: #ffffff; stroke-width: 1px; }
.count { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; }"""


def draw(run: Simulation) -> str:
    """The picture of an overlay as it is now, as the text of an SVG file."""
    placed = places(run.topology)
    nodes, edges = brokers(run), links(run)
    title, totals = heading(run)
    busiest = max((edge.bytes for edge in edges), default=0)
    largest = max((node.prt or 0 for node in nodes), default=0)
    key = legend(placed.look, busiest, largest)
    words = max([width_of(title, 19), *(width_of(line, 12) for line in totals), key.width])
    width = round(2 * _MARGIN + max(placed.width, words))
    top = 2 * _MARGIN + 22 + 17 * len(totals)
    height = round(top + placed.height + _MARGIN + key.height + _MARGIN)
    left = (width - placed.width) / 2
    size = f'width="{width}" height="{height}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
        f"<title>{_text(title)}</title>",
        f"<style>\n{_STYLE}\n</style>",
        f'<rect {size} fill="#ffffff"/>',
        f'<text class="heading" x="{_MARGIN}" y="{_MARGIN + 12}">{_text(title)}</text>',
    ]
    for number, line in enumerate(totals):
        y = _MARGIN + 34 + 17 * number
        lines.append(f'<text class="totals" x="{_MARGIN}" y="{y}">{_text(line)}</text>')
    lines.append(f'<g transform="translate({left:.1f} {top:.1f})">')
    lines += _drawn(placed, nodes, edges, busiest, largest)
    lines.append("</g>")
    lines.append(
        f'<g class="legend" transform="translate({_MARGIN} {top + placed.height + _MARGIN:.1f})">'
    )
    lines += key.lines
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _drawn(
    placed: Places, nodes: list[BrokerFacts], edges: list[LinkFacts], busiest: int, largest: int
) -> list[str]:
    """Links below brokers; who needs room for a label is asked in the order of importance."""
    look = placed.look
    room = Room()
    for x, y in placed.at.values():
        room.take((x - look.across, y - look.down, x + look.across, y + look.down))
    labelled = set()
    for node in nodes:
        if look is not BOX and (node.up or look is DOT):
            x, y = placed.at[node.name]
            below = _below(node, look is DOT)
            if below and room.ask(x, y + look.down + look.label * 0.7, below, look.label):
                labelled.add(node.name)
    told = set()
    for edge in sorted(edges, key=lambda one: (-one.bytes, one.name)):
        (x1, y1), (x2, y2) = placed.at[edge.one], placed.at[edge.other]
        if edge.bytes and room.ask((x1 + x2) / 2, (y1 + y2) / 2, _label(edge), look.label):
            told.add(edge.name)
    lines = [_link(edge, placed, busiest, edge.name in told) for edge in edges]
    for node in nodes:
        lines += _broker(node, placed, largest, node.name in labelled)
    return lines


def _below(node: BrokerFacts, dot: bool) -> str:
    return node.name if dot else f"{node.srt}/{node.prt}"


def _label(edge: LinkFacts) -> str:
    return amount(edge.bytes)


def _link(edge: LinkFacts, placed: Places, busiest: int, told: bool) -> str:
    (x1, y1), (x2, y2) = placed.at[edge.one], placed.at[edge.other]
    look = placed.look
    wide = max(1.0, look.widest * edge.bytes / busiest) if busiest else 1.0
    sort = "link" + (" cut" if edge.cut else "" if edge.bytes else " idle")
    if edge.cut:
        wide = max(wide, 1.5)
    label = ""
    if told:
        x, y = (x1 + x2) / 2, (y1 + y2) / 2 + look.label * 0.35
        label = f'<text x="{x:.1f}" y="{y:.1f}" font-size="{look.label}">{_label(edge)}</text>'
    return (
        f'<g class="{sort}" data-link="{_text(edge.name)}"><title>{_text(edge.told)}</title>'
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{wide:.1f}"/>{label}</g>'
    )


def _broker(node: BrokerFacts, placed: Places, largest: int, labelled: bool) -> list[str]:
    x, y = placed.at[node.name]
    look = placed.look
    sort = "broker" if node.up else "broker down"
    fill = "" if not node.up else f' fill="{shade((node.prt or 0) / largest if largest else 0)}"'
    lines = [
        f'<g class="{sort}" data-broker="{_text(node.name)}" transform="translate({x} {y})">'
        f"<title>{_text(node.told)}</title>"
    ]
    if look is BOX:
        lines.append(
            f'<rect class="body"{fill} x="{-look.across:g}" y="{-look.down:g}"'
            f' width="{2 * look.across:g}" height="{2 * look.down:g}" rx="6"/>'
        )
        sizes = f"SRT {node.srt:,} | PRT {node.prt:,}" if node.up else "down"
        lines.append(_fitted("name", -3, node.name, look.name, 2 * look.across - 6))
        lines.append(_fitted("sizes", 12, sizes, look.label, 2 * look.across - 6))
    else:
        lines.append(f'<circle class="body"{fill} r="{look.across:g}"/>')
        if look is not DOT:
            lines.append(_fitted("name", 3, node.name, look.name, 2 * look.across - 3))
        if labelled:
            below = look.down + look.label
            lines.append(
                f'<text class="sizes" y="{below:g}" font-size="{look.label}">{_text(_below(node, look is DOT))}</text>'
            )
    lines += _marks(node, placed)
    return [*lines, "</g>"]


def _fitted(sort: str, y: float, text: str, size: int, room: float) -> str:
    """A line of text in smaller letters if it is too long."""
    fitting = min(float(size), size * room / width_of(text, size))
    return f'<text class="{sort}" y="{y:g}" font-size="{fitting:.3g}">{_text(text)}</text>'


def _marks(node: BrokerFacts, placed: Places) -> list[str]:
    """Publishers on the upper left, subscriptions on the upper right."""
    look = placed.look
    size = look.badge
    out = 0.75 if look is not BOX else 0.9
    x, y = look.across * out, -look.down * out - (size if look is not BOX else 4)
    lines = []
    if node.publishers:
        corners = f"{-x:g},{y - size:g} {-x + size:g},{y + size:g} {-x - size:g},{y + size:g}"
        lines.append(f'<polygon class="publishers" points="{corners}"/>')
    if node.subscriptions:
        lines.append(f'<circle class="subscriptions" cx="{x:g}" cy="{y:g}" r="{size}"/>')
    if look is DOT:
        return lines
    line = y + look.label * 0.35
    if node.publishers:
        lines.append(
            f'<text class="count" x="{-x - size - 2:g}" y="{line:g}" font-size="{look.label}"'
            f' text-anchor="end">{node.publishers:,}</text>'
        )
    if node.subscriptions:
        lines.append(
            f'<text class="count" x="{x + size + 2:g}" y="{line:g}" font-size="{look.label}">{node.subscriptions:,}</text>'
        )
    return lines


def shade(share: float) -> str:
    """From nearly white to a blue on which black letters can be read.

    >>> shade(0), shade(1)
    ('#f4f8fc', '#8fc1e3')
    """
    light, dark = (0xF4, 0xF8, 0xFC), (0x8F, 0xC1, 0xE3)
    mixed = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{one:02x}" for one in mixed)


def _text(text: str) -> str:
    return escape("\n".join(map(printable, text.split("\n"))))
