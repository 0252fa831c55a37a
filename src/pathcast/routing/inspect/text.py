"""Formatting of inspection rows as text tables, and short forms of their values.

>>> from pathcast.routing.advertisement import parse_advertisement
>>> summarize(parse_advertisement("/a/b")), summarize(parse_advertisement("/a(/b)+/c/d/e/f"))
('/a/b', 'a: 6 names')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from pathcast.routing.advertisement import Advertisement, count_paths, leaf_paths
from pathcast.routing.messages import Origins

__all__ = ["TableRow", "format_hop", "format_origins", "format_table", "summarize"]

_MAX_LISTED_NAMES = 4  # advertisements of up to 4 names are shown by their paths


class TableRow(Protocol):
    """A row of an inspection table."""

    columns: ClassVar[tuple[str, ...]]

    def cells(self) -> tuple[str, ...]: ...
    def as_dict(self) -> dict[str, object]: ...


def format_table(rows: Iterable[TableRow]) -> str:
    """Return rows of one type as an aligned table below their column names."""
    table = list(rows)
    if not table:
        return "nothing\n"
    lines = [table[0].columns, *(row.cells() for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "".join(_line(line, widths) for line in lines)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip() + "\n"


def format_hop(name: str) -> str:
    """Return the name of a neighbour, or "here" for `LOCAL`."""
    return name or "here"


def format_origins(except_origins: Origins) -> str:
    return ", ".join(sorted(except_origins)) or "-"


def summarize(advertisement: Advertisement) -> str:
    """Return all paths of a small advertisement, else its roots and its number of names."""
    if advertisement.is_anything:
        return "anything"
    names = len(advertisement.labels)
    if names <= _MAX_LISTED_NAMES:
        paths = ["/" + "/".join(path) for path in leaf_paths(advertisement, names)]
        # A path with more elements than there are names contains a cycle.
        deeper = any(count_paths(advertisement, 2 * names)[names:])
        return ", ".join(paths) + (" and deeper" if deeper else "")
    roots = [name for at, name in enumerate(advertisement.names) if advertisement.roots >> at & 1]
    return f"{', '.join(roots)}: {names} names"
