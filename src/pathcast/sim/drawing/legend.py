"""The legend of a picture: what widths, shades and shapes mean, in the sizes that the picture has."""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.sim.drawing.facts import amount
from pathcast.sim.drawing.labels import width_of
from pathcast.sim.drawing.places import BOX, DOT, Look

__all__ = ["Legend", "legend"]

_LINE = 22


@dataclass(frozen=True, slots=True)
class Legend:
    lines: list[str]
    width: float
    height: float


def legend(look: Look, busiest: int, largest: int) -> Legend:
    """Two rows: links, then brokers and clients."""
    links = [
        (_bar("link", look.widest), f"{amount(busiest)} on a link"),
        (_bar("link", look.widest / 2), amount(busiest // 2)),
        (_bar("link idle", 1), "nothing"),
        (_bar("link cut", 2), "cut"),
    ]
    inside = {BOX: "", DOT: "name below"}.get(look, "below: SRT/PRT")
    brokers = [
        (_swatch("#f4f8fc"), "broker, PRT empty"),
        (_swatch("#8fc1e3"), f"PRT of {largest:,}"),
        ('<g class="broker down"><rect class="body" y="-7" width="26" height="14" rx="4"/></g>', "down"),
        ('<polygon class="publishers" points="13,-6 19,6 7,6"/>', "publishers"),
        ('<circle class="subscriptions" cx="13" cy="0" r="6"/>', "subscriptions"),
    ]
    if inside:
        brokers.append(("", inside))
    lines: list[str] = []
    widest = 0.0
    for number, row in enumerate((links, brokers)):
        x = 0.0
        for sample, text in row:
            shift = 34 if sample else 0
            lines.append(
                f'<g transform="translate({x:.0f} {number * _LINE + 8})">{sample}<text x="{shift}" y="4">{text}</text></g>'
            )
            x += shift + width_of(text, 12) + 24
        widest = max(widest, x)
    return Legend(lines, widest, 2 * _LINE)


def _bar(sort: str, width: float) -> str:
    return f'<g class="{sort}"><line x1="0" y1="0" x2="26" y2="0" stroke-width="{width:g}"/></g>'


def _swatch(fill: str) -> str:
    return f'<g class="broker"><rect class="body" fill="{fill}" y="-7" width="26" height="14" rx="4"/></g>'
