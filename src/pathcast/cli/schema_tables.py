"""The tables of `pathcast schema show`.

On a terminal, tables have its width, and content models are cut so that each element has one line.
Elsewhere nothing is cut or folded, because other programs read the lines.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pathcast.schema import Schema
from pathcast.schema.drawing.dot import escape_unprintable
from pathcast.schema.summary import ElementDetails, SchemaSummary, attribute_text

__all__ = ["element_details_tables", "element_table", "render", "summary_tables"]

_UNLIMITED_WIDTH = 100_000  # columns


def _key_value_table(title: str, rows: dict[str, str]) -> Table:
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


def summary_tables(summary: SchemaSummary, about: str | None) -> list[Table]:
    """Return the tables of figures, of depths, and of recursive components if there are any."""
    sizes = ", ".join(str(len(component)) for component in summary.components)
    components = f"components of {sizes}" if len(summary.components) > 1 else "one component"
    cyclic = f"{summary.cyclic:,} cyclic element" + ("" if summary.cyclic == 1 else "s")
    recursion = f"{cyclic} in {components}" if summary.components else "none"
    longest = "unbounded: recursive" if summary.longest is None else f"{summary.longest:,}"
    rows = {
        "about": about or "",
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
        new_elements = summary.by_depth[level] if level < len(summary.by_depth) else 0
        path_count = f"{summary.paths[level]:,}" if level < len(summary.paths) else ""
        depths.add_row(str(level + 1), f"{new_elements:,}" if new_elements else "", path_count)
    tables = [_key_value_table(summary.name, rows), depths]
    if summary.components:
        cycles = Table(title="recursive components", box=box.SIMPLE, title_justify="left")
        cycles.add_column("size", justify="right")
        cycles.add_column("elements", style="red", overflow="fold")
        for component in summary.components:
            cycles.add_row(f"{len(component):,}", ", ".join(component))
        tables.append(cycles)
    return tables


def element_table(schema: Schema) -> Table:
    """Return a table with a row for each element."""
    graph = schema.graph
    cyclic = graph.cyclic
    table = Table(title="elements", box=box.SIMPLE, title_justify="left")
    table.add_column("element", style="cyan", no_wrap=True)
    table.add_column("depth", justify="right", no_wrap=True)
    table.add_column("attributes", justify="right", no_wrap=True)
    table.add_column("content")  # the only column that shrinks; its texts are cut, not wrapped
    for name, element in schema.elements.items():
        depth = str(graph.depth[name]) if name in graph.depth else "-"
        attribute_count = str(len(element.attributes) or "")
        content = Text(element.model, no_wrap=True, overflow="ellipsis")
        table.add_row(Text(name, "red" if name in cyclic else ""), depth, attribute_count, content)
    return table


def element_details_tables(details: ElementDetails) -> list[Table]:
    """Return the table of an element, and that of its attributes if it has any."""
    rows = {
        "content": details.model,
        "children": ", ".join(details.children),
        "parents": ", ".join(details.parents),
        "nearest depth": "not below a root" if details.depth is None else str(details.depth),
        "smallest tree": "none: no finite content"
        if details.smallest is None
        else f"{details.smallest:,} element{'' if details.smallest == 1 else 's'}",
        "recursive with": ", ".join(details.component),
        "self-recursive": "yes" if details.self_recursive else "",
    }
    tables = [_key_value_table(details.name, rows)]
    if details.attributes:
        attributes = Table(title="attributes", box=box.SIMPLE, title_justify="left")
        attributes.add_column("attribute", style="cyan", no_wrap=True)
        attributes.add_column("type", overflow="fold")
        attributes.add_column("default", overflow="fold")
        for attribute in details.attributes:
            kind, default = attribute_text(attribute)
            attributes.add_row(Text(attribute.name), Text(kind), Text(escape_unprintable(default)))
        tables.append(attributes)
    return tables


def render(*tables: Table) -> str:
    """Return the tables as text, with colours if stdout is a terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_UNLIMITED_WIDTH)
    with console.capture() as capture:
        for table in tables:
            console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))
