"""The tables of `pathcast schema show`.

A terminal gets them as wide as it is, with content models cut so that every element has one line. Where nobody
watches, nothing is cut or folded: the lines are then for other programs.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pathcast.schema import Schema
from pathcast.schema.drawing.dot import escape_unprintable
from pathcast.schema.summary import ElementDetails, SchemaSummary, attribute_text

__all__ = ["detail_tables", "element_table", "summary_tables", "written"]

_UNFOLDED = 100_000  # columns


def _figures(title: str, rows: dict[str, str]) -> Table:
    table = Table(
        title=Text(escape_unprintable(title)),
        box=box.SIMPLE,
        show_header=False,
        title_justify="left",
    )
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(escape_unprintable(value)))
    return table


def summary_tables(summary: SchemaSummary, line: str | None) -> list[Table]:
    """The figures, the depths, and the components if there are any."""
    sizes = ", ".join(str(len(part)) for part in summary.components)
    parts = f"components of {sizes}" if len(summary.components) > 1 else "one component"
    cyclic = f"{summary.cyclic:,} cyclic element" + ("" if summary.cyclic == 1 else "s")
    recursion = f"{cyclic} in {parts}" if summary.components else "none"
    longest = "unbounded: recursive" if summary.longest is None else f"{summary.longest:,}"
    rows = {
        "about": line or "",
        "elements": f"{summary.elements:,}",
        "attributes": f"{summary.attributes:,}",
        "roots" if len(summary.roots) > 1 else "root": ", ".join(summary.roots),
        "recursion": recursion,
        "self-recursive": ", ".join(summary.self_recursive),
        "longest root path": longest,
        "no finite content": ", ".join(summary.unproductive),
        "not below a root": ", ".join(summary.unreachable),
    }
    depths = Table(title="depths", box=box.SIMPLE, title_justify="left")
    depths.add_column("depth", justify="right")
    depths.add_column("new elements", justify="right")
    depths.add_column("root paths", justify="right")
    for level in range(max(len(summary.by_depth), len(summary.paths))):
        nearest = summary.by_depth[level] if level < len(summary.by_depth) else 0
        many = f"{summary.paths[level]:,}" if level < len(summary.paths) else ""
        depths.add_row(str(level + 1), f"{nearest:,}" if nearest else "", many)
    tables = [_figures(summary.name, rows), depths]
    if summary.components:
        cycles = Table(title="recursive components", box=box.SIMPLE, title_justify="left")
        cycles.add_column("size", justify="right")
        cycles.add_column("elements", style="red", overflow="fold")
        for part in summary.components:
            cycles.add_row(f"{len(part):,}", ", ".join(part))
        tables.append(cycles)
    return tables


def element_table(schema: Schema) -> Table:
    """One line for each element."""
    graph = schema.graph
    cyclic = graph.cyclic
    table = Table(title="elements", box=box.SIMPLE, title_justify="left")
    table.add_column("element", style="cyan", no_wrap=True)
    table.add_column("depth", justify="right", no_wrap=True)
    table.add_column("attributes", justify="right", no_wrap=True)
    table.add_column("content")  # the only one to give way: each text in it is cut, not wrapped
    for name, element in schema.elements.items():
        depth = str(graph.depth[name]) if name in graph.depth else "-"
        many = str(len(element.attributes) or "")
        content = Text(element.model, no_wrap=True, overflow="ellipsis")
        table.add_row(Text(name, "red" if name in cyclic else ""), depth, many, content)
    return table


def detail_tables(found: ElementDetails) -> list[Table]:
    """One element, and its attributes if it has any."""
    cycle = ", ".join(found.component)
    rows = {
        "content": found.model,
        "children": ", ".join(found.children),
        "parents": ", ".join(found.parents),
        "nearest depth": "not below a root" if found.depth is None else str(found.depth),
        "smallest tree": "none: no finite content"
        if found.smallest is None
        else f"{found.smallest:,} element{'' if found.smallest == 1 else 's'}",
        "recursive with": cycle,
        "self-recursive": "yes" if found.self_recursive else "",
    }
    tables = [_figures(found.name, rows)]
    if found.attributes:
        attributes = Table(title="attributes", box=box.SIMPLE, title_justify="left")
        attributes.add_column("attribute", style="cyan", no_wrap=True)
        attributes.add_column("type", overflow="fold")
        attributes.add_column("default", overflow="fold")
        for one in found.attributes:
            kind, default = attribute_text(one)
            attributes.add_row(Text(one.name), Text(kind), Text(escape_unprintable(default)))
        tables.append(attributes)
    return tables


def written(*tables: Table) -> str:
    """The tables as text, with colours if stdout is a terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_UNFOLDED)
    with console.capture() as capture:
        for table in tables:
            console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))
