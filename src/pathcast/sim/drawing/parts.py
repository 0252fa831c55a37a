"""The parts of a picture of an overlay: a link, its label, a broker with its clients' marks."""

from __future__ import annotations

from html import escape

from pathcast.schema.drawing.dot import escape_unprintable
from pathcast.sim.drawing.facts import BrokerFacts, LinkFacts, amount
from pathcast.sim.drawing.labels import Rectangle, width_of
from pathcast.sim.drawing.legend import shade
from pathcast.sim.drawing.places import BOX, DOT, Look, Places
from pathcast.sim.drawing.trees import Point

__all__ = ["broker", "caption", "label", "line", "mark_room", "safe"]


def safe(text: str) -> str:
    """Text for a place in XML, whatever is in it."""
    return escape("\n".join(map(escape_unprintable, text.split("\n"))))


def line(edge: LinkFacts, placed: Places, busiest: int) -> str:
    (x1, y1), (x2, y2) = placed.at[edge.one], placed.at[edge.other]
    wide = placed.look.widest * edge.bytes / busiest if busiest else 0.0
    wide = max(wide, 1.5 if edge.cut else 1.0)
    return (
        f'<g class="{_sort(edge)}" data-link="{safe(edge.name)}"><title>{safe(edge.told)}</title>'
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{wide:.1f}"/></g>'
    )


def label(edge: LinkFacts, placed: Places) -> str:
    (x1, y1), (x2, y2) = placed.at[edge.one], placed.at[edge.other]
    text, size = amount(edge.bytes), placed.look.label
    x, y, half = (x1 + x2) / 2, (y1 + y2) / 2, width_of(text, size) / 2
    return (
        f'<g class="{_sort(edge)}" data-bytes="{safe(edge.name)}"><title>{safe(edge.told)}</title>'
        f'<rect x="{x - half:.1f}" y="{y - size * 0.6:.1f}" width="{2 * half:.1f}" height="{size * 1.2:.1f}" rx="3"/>'
        f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size}">{text}</text></g>'
    )


def _sort(edge: LinkFacts) -> str:
    return "link" + (" cut" if edge.cut else "" if edge.bytes else " idle")


def caption(node: BrokerFacts, look: Look) -> str | None:
    """What stands below a broker that is too small to have it inside."""
    if look is DOT:
        return node.name
    return f"{node.srt}/{node.prt}" if look is not BOX and node.up else None


def broker(node: BrokerFacts, placed: Places, largest: int, captioned: bool) -> list[str]:
    x, y = placed.at[node.name]
    look = placed.look
    sort = "broker" if node.up else "broker down"
    fill = "" if not node.up else f' fill="{shade((node.prt or 0) / largest if largest else 0)}"'
    lines = [
        (
            f'<g class="{sort}" data-broker="{safe(node.name)}" transform="translate({x} {y})">'
            f"<title>{safe(node.told)}</title>"
        )
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
        if captioned:
            below = look.down + look.label
            lines.append(
                f'<text class="sizes below" y="{below:g}" font-size="{look.label}">{safe(caption(node, look) or "")}</text>'
            )
    lines += _marks(node, look)
    return [*lines, "</g>"]


def _fitted(sort: str, y: float, text: str, size: int, room: float) -> str:
    """A line of text in smaller letters if it is too long."""
    fitting = min(float(size), size * room / width_of(text, size))
    return f'<text class="{sort}" y="{y:g}" font-size="{fitting:.3g}">{safe(text)}</text>'


def _corner(look: Look, left: bool) -> Point:
    """Where the mark of publishers (left) or subscriptions stands, seen from the middle of its broker."""
    out, over = (0.9, 4) if look is BOX else (0.75, look.badge)
    return (-1 if left else 1) * look.across * out, -look.down * out - over


def mark_room(x: float, y: float, left: bool, many: int, look: Look) -> Rectangle:
    """What a mark with its number takes."""
    dx, dy = _corner(look, left)
    outer = dx + (-1 if left else 1) * (look.badge + 2 + width_of(f"{many:,}", look.label))
    inner = dx + look.badge if left else dx - look.badge
    return x + min(outer, inner), y + dy - look.badge, x + max(outer, inner), y + dy + look.badge


def _marks(node: BrokerFacts, look: Look) -> list[str]:
    lines = []
    size = look.badge
    if node.publishers:
        x, y = _corner(look, True)
        corners = f"{x:g},{y - size:g} {x + size:g},{y + size:g} {x - size:g},{y + size:g}"
        lines.append(f'<polygon class="publishers" points="{corners}"/>')
        lines += _count(x - size - 2, y, node.publishers, "end", look)
    if node.subscriptions:
        x, y = _corner(look, False)
        lines.append(f'<circle class="subscriptions" cx="{x:g}" cy="{y:g}" r="{size}"/>')
        lines += _count(x + size + 2, y, node.subscriptions, "start", look)
    return lines


def _count(x: float, y: float, many: int, anchor: str, look: Look) -> list[str]:
    if look is DOT:
        return []
    return [
        (
            f'<text class="count" x="{x:g}" y="{y + look.label * 0.35:g}" font-size="{look.label}"'
            f' text-anchor="{anchor}">{many:,}</text>'
        )
    ]
