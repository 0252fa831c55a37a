"""The legend of a picture: what widths, shades and shapes mean, in the sizes that the picture has."""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.sim.drawing.facts import amount
from pathcast.sim.drawing.labels import width_of
from pathcast.sim.drawing.places import BOX, DOT, Look

__all__ = ["Legend", "legend", "shade"]

_LINE = 22


@dataclass(frozen=True, slots=True)
class Legend:
    lines: list[str]
    width: float
    height: float


def legend(look: Look, busiest: int, largest: int) -> Legend:
    """Rows for links, for brokers with their clients, and for the numbers."""
    links = [
        (_bar("link", look.widest), f"{amount(busiest)} on a link"),
        (_bar("link", look.widest / 2), amount(busiest // 2)),
        (_bar("link idle", 1), "nothing"),
        (_bar("link cut", 2), "cut"),
    ]
    brokers = [
        (_swatch(shade(0)), "broker, PRT empty"),
        (_swatch(shade(1)), f"PRT of {largest:,}"),
        (_swatch(None), "down"),
        ('<polygon class="publishers" points="13,-6 19,6 7,6"/>', "publishers"),
        ('<circle class="subscriptions" cx="13" cy="0" r="6"/>', "subscriptions"),
    ]
    where = {BOX: "in a broker", DOT: "under the pointer"}.get(look, "below a broker")
    numbers = f"{where} SRT{' | PRT' if look is BOX else '/PRT'}: advertisements heard from neighbours, entries that a document is matched against"
    rows = [links, brokers, [("", numbers)]]
    lines: list[str] = []
    widest = 0.0
    for number, row in enumerate(rows):
        x = 0.0
        for sample, text in row:
            shift = 34 if sample else 0
            lines.append(
                f'<g transform="translate({x:.0f} {number * _LINE + 8})">{sample}<text x="{shift}" y="4">{text}</text></g>'
            )
            x += shift + width_of(text, 12) + 20
        widest = max(widest, x)
    return Legend(lines, widest, len(rows) * _LINE)


def shade(share: float) -> str:
    """From nearly white to a blue on which black letters can be read.

    >>> shade(0), shade(1)
    ('#f4f8fc', '#8fc1e3')
    """
    light, dark = (0xF4, 0xF8, 0xFC), (0x8F, 0xC1, 0xE3)
    mixed = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{one:02x}" for one in mixed)


def _bar(sort: str, width: float) -> str:
    return f'<g class="{sort}"><line x1="0" y1="0" x2="26" y2="0" stroke-width="{width:g}"/></g>'


def _swatch(fill: str | None) -> str:
    look = 'class="broker"' if fill else 'class="broker down"'
    colour = f' fill="{fill}"' if fill else ""
    return f'<g {look}><rect class="body"{colour} y="-7" width="26" height="14" rx="4"/></g>'
