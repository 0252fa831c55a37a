"""The legend of a picture: the meaning of widths, shades and shapes, at the picture's scale."""

from __future__ import annotations

from dataclasses import dataclass

from pathcast.sim.drawing.facts import format_bytes
from pathcast.sim.drawing.labels import width_of
from pathcast.sim.drawing.layout import BOX, DOT, BrokerStyle

__all__ = ["Legend", "legend", "shade"]

_ROW_HEIGHT = 22


@dataclass(frozen=True, slots=True)
class Legend:
    """The SVG of the legend, with its size."""

    lines: list[str]
    width: float
    height: float


def legend(style: BrokerStyle, busiest: int, largest: int) -> Legend:
    """Build the rows for links, for brokers with their clients, and for the numbers."""
    links = [
        (_bar("link", style.max_link_width), f"{format_bytes(busiest)} on a link"),
        (_bar("link", style.max_link_width / 2), format_bytes(busiest // 2)),
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
    where = {BOX: "in a broker", DOT: "under the pointer"}.get(style, "below a broker")
    numbers = (
        f"{where} SRT{' | PRT' if style is BOX else '/PRT'}: advertisements heard from neighbours,"
        " entries that a document is matched against"
    )
    rows = [links, brokers, [("", numbers)]]
    lines: list[str] = []
    widest = 0.0
    for number, row in enumerate(rows):
        x = 0.0
        for sample, text in row:
            shift = 34 if sample else 0
            lines.append(
                f'<g transform="translate({x:.0f} {number * _ROW_HEIGHT + 8})">{sample}'
                f'<text x="{shift}" y="4">{text}</text></g>'
            )
            x += shift + width_of(text, 12) + 20
        widest = max(widest, x)
    return Legend(lines, widest, len(rows) * _ROW_HEIGHT)


def shade(share: float) -> str:
    """Return a colour from nearly white (0) to a blue (1) on which black letters are legible.

    >>> shade(0), shade(1)
    ('#f4f8fc', '#8fc1e3')
    """
    light, dark = (0xF4, 0xF8, 0xFC), (0x8F, 0xC1, 0xE3)
    mixed = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _bar(css_class: str, width: float) -> str:
    return (
        f'<g class="{css_class}"><line x1="0" y1="0" x2="26" y2="0" stroke-width="{width:g}"/></g>'
    )


def _swatch(fill: str | None) -> str:
    css_class = 'class="broker"' if fill else 'class="broker down"'
    colour = f' fill="{fill}"' if fill else ""
    return f'<g {css_class}><rect class="body"{colour} y="-7" width="26" height="14" rx="4"/></g>'
