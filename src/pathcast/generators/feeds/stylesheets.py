"""The bundled style sheets of the feeds: `stylesheets/NAME.xsl` turns rows into messages.

>>> bundled_stylesheet("weather").name
'weather.xsl'
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from pathcast.errors import WorkloadError
from pathcast.xslt import Stylesheet

__all__ = ["STYLESHEETS", "bundled_stylesheet"]

STYLESHEETS = ("weather", "stock")


@cache
def bundled_stylesheet(name: str) -> Stylesheet:
    """Return the style sheet of a feed, compiled once; WorkloadError if there is none."""
    if name not in STYLESHEETS:
        hint = f"there are {', '.join(STYLESHEETS)}"
        raise WorkloadError("sheet", f"there is no style sheet {name!r}", hint=hint)
    file = resources.files("pathcast.generators") / "stylesheets" / f"{name}.xsl"
    return Stylesheet.load(file.read_bytes(), name=f"{name}.xsl")
