"""matplotlib figures as SVG for embedding in the page: colours follow its light or dark theme.

Figures are drawn in placeholder colours, which are then replaced by CSS variables of the page. Text
remains text, in the page's font, and is never parsed as math. Ids within a figure are prefixed with
its name, because the page has several figures. Equal input gives equal bytes.
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
    "text.parse_math": False,  # ids may contain dollar signs
    "xtick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.color": GRID,
    "ytick.labelcolor": MUTED,
    "ytick.left": False,
}
_SVG: Final = "{http://www.w3.org/2000/svg}"
_XLINK_HREF: Final = "{http://www.w3.org/1999/xlink}href"


def require_matplotlib() -> None:
    """Raise PipelineError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise PipelineError(
            "report", "plots need matplotlib, and there is none", hint="pip install matplotlib"
        ) from None


def render_svg(
    name: str, title: str, draw: Callable[[Axes], None], *, width: float = 4.8, height: float = 2.9
) -> str:
    """Render the figure that `draw` makes on its axes; `title` is its accessible name."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # The page's font draws characters that matplotlib's font lacks.
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
        parent.remove(element)  # a style element would apply to the whole page
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
