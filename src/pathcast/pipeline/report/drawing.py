"""A figure of matplotlib as SVG that belongs to a page: its colours are the page's, so that they follow light and dark.

Figures are drawn with stand-ins for colours, which become the page's variables afterwards. Texts stay texts, in
the page's font, and are never read as formulas. Ids within a figure get its name in front, since a page has several.
The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from pathcast.errors import PipelineError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ACCENT", "BAD", "GRID", "INK", "MUTED", "SECOND", "render_svg", "require_matplotlib"]

INK, MUTED, GRID = "#010101", "#020202", "#030303"
ACCENT, SECOND, BAD = "#040404", "#050505", "#060606"
_VARIABLES: Final = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    ACCENT: "var(--accent)",
    SECOND: "var(--second)",
    BAD: "var(--bad)",
}
_STYLE: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": MUTED,
    "axes.labelsize": 10,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "pathcast",
    "text.color": INK,
    "text.parse_math": False,  # ids have dollars too
    "xtick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.color": GRID,
    "ytick.labelcolor": MUTED,
    "ytick.left": False,
}
_SVG: Final = "{http://www.w3.org/2000/svg}"
_XLINK_HREF: Final = "{http://www.w3.org/1999/xlink}href"


def require_matplotlib() -> None:
    """PipelineError if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise PipelineError(
            "report", "plots need matplotlib, and there is none", hint="pip install matplotlib"
        ) from None


def render_svg(
    name: str, title: str, draw: Callable[[Axes], None], *, width: float = 4.8, height: float = 2.9
) -> str:
    """The figure that `draw` makes of its axes; `title` is what is read aloud of it."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A character that matplotlib's own font lacks: the page's font draws it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(file, format="svg", metadata={"Date": None})
    return _embed_in_page(file.getvalue(), name, title)


def _embed_in_page(svg: bytes, name: str, title: str) -> str:
    root = etree.fromstring(svg, etree.XMLParser(remove_comments=True))
    for element in [*root.iter(f"{_SVG}metadata", f"{_SVG}style")]:
        parent = element.getparent()
        assert parent is not None
        parent.remove(element)  # a rule within a page would be one for all of it
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    for element in root.iter():
        if (id := element.get("id")) is not None:
            element.set("id", f"{name}-{id}")
        if (link := element.get(_XLINK_HREF)) is not None:
            element.set(_XLINK_HREF, link.replace("#", f"#{name}-", 1))
        for key in ("style", "clip-path", "fill", "stroke"):
            if (value := element.get(key)) is not None:
                element.set(key, _use_page_colours(value).replace("url(#", f"url(#{name}-"))
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", title)
    return etree.tostring(root, encoding="unicode")


def _use_page_colours(style: str) -> str:
    for colour, variable in _VARIABLES.items():
        style = style.replace(colour, variable)
    return style
