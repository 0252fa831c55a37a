"""Bundled schemas: ten DTDs, from a flat list to a recursive news format.

Each is a file `schemas/NAME.dtd`, whose first comment states the features that it exercises;
`describe_schema` returns that line. Each has one root, and every declared element is reachable from
it and has finite content.

>>> bundled_schema("book").roots, sorted(bundled_schema("book").graph.cyclic)
(('book',), ['section'])
>>> describe_schema("stock")
'wide messages, the same fourteen values for each of up to a hundred symbols'
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from pathcast.errors import WorkloadError
from pathcast.schema import Schema, parse_dtd
from pathcast.schema.similar_names import similar_names

__all__ = ["SCHEMA_NAMES", "bundled_schema", "describe_schema"]

SCHEMA_NAMES: tuple[str, ...] = (
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
_DESCRIPTION = re.compile(r"<!-- \S+: (?P<line>.+) -->\n")


@cache
def bundled_schema(name: str) -> Schema:
    """Return a bundled schema; it is parsed once, and shared."""
    return parse_dtd(_read_dtd(name), name=name)


def describe_schema(name: str) -> str:
    """Return the features that a bundled schema exercises, in one line."""
    match = _DESCRIPTION.match(_read_dtd(name))
    assert match is not None, f"{name}.dtd does not begin with its description"
    return match["line"]


def _read_dtd(name: str) -> str:
    if name not in SCHEMA_NAMES:
        close = similar_names(name, SCHEMA_NAMES)
        hint = f"near names: {', '.join(close)}" if close else f"one of {', '.join(SCHEMA_NAMES)}"
        raise WorkloadError("schema", f"no schema {name!r} is bundled", hint=hint)
    return (files("pathcast.generators") / "schemas" / f"{name}.dtd").read_text(encoding="utf-8")
