"""The schemas that come with pathcast: ten DTDs of our own, from a flat list to a recursive news format.

Each one is a file `schemas/NAME.dtd`, whose first comment says what it exercises; that line is what `about` gives. All
of them have one root, and everything declared is reachable from it and can stand in a finite document.

>>> bundled("book").roots, sorted(bundled("book").graph.cyclic)
(('book',), ['section'])
>>> about("stock")
'wide messages, the same fourteen values for each of up to a hundred symbols'
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from pathcast.errors import WorkloadError
from pathcast.schema import Schema, parse_dtd
from pathcast.schema.near import near

__all__ = ["NAMES", "about", "bundled"]

NAMES: tuple[str, ...] = (
    "news",
    "protein",
    "book",
    "bib",
    "auction",
    "bibliography",
    "alert",
    "weather",
    "stock",
    "invoice",
)
_ABOUT = re.compile(r"<!-- \S+: (?P<line>.+) -->\n")


@cache
def bundled(name: str) -> Schema:
    """The schema of this name; it is read once, and shared."""
    return parse_dtd(_text(name), name=name)


def about(name: str) -> str:
    """What the schema of this name exercises, in one line."""
    found = _ABOUT.match(_text(name))
    assert found is not None, f"{name}.dtd does not begin with its line"
    return found["line"]


def _text(name: str) -> str:
    if name not in NAMES:
        close = near(name, NAMES)
        hint = f"near names: {', '.join(close)}" if close else f"one of {', '.join(NAMES)}"
        raise WorkloadError("schema", f"no schema {name!r} is bundled", hint=hint)
    return (files("pathcast.generators") / "schemas" / f"{name}.dtd").read_text(encoding="utf-8")
