"""Rows as text: columns that are as wide as what is in them, and short names for what is long.

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

_FEW = 4  # names, of which all paths can be shown


class TableRow(Protocol):
    """A line of a table."""

    columns: ClassVar[tuple[str, ...]]

    def cells(self) -> tuple[str, ...]: ...
    def as_dict(self) -> dict[str, object]: ...


def format_table(rows: Iterable[TableRow]) -> str:
    """The rows below the names of their columns; rows of one sort."""
    listed = list(rows)
    if not listed:
        return "nothing\n"
    lines = [listed[0].columns, *(row.cells() for row in listed)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "".join(_line(line, widths) for line in lines)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip() + "\n"


def format_hop(name: str) -> str:
    """A neighbour, or this broker."""
    return name or "here"


def format_origins(except_origins: Origins) -> str:
    return ", ".join(sorted(except_origins)) or "-"


def summarize(advertisement: Advertisement) -> str:
    """All its paths if they are few, else its roots and how many names it has."""
    if advertisement.is_anything:
        return "anything"
    names = len(advertisement.labels)
    if names <= _FEW:
        paths = ["/" + "/".join(path) for path in leaf_paths(advertisement, names)]
        # A path with more elements than there are names goes round in a circle.
        deeper = any(count_paths(advertisement, 2 * names)[names:])
        return ", ".join(paths) + (" and deeper" if deeper else "")
    roots = [name for at, name in enumerate(advertisement.names) if advertisement.roots >> at & 1]
    return f"{', '.join(roots)}: {names} names"
