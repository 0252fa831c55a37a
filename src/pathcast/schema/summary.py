"""Summary of a schema: size, recursion, depths, and elements that no valid document contains.

Recursion is that of the DTD as declared. Depths, root paths and the longest path are those of
finite valid documents. An element that no such document contains is listed as `unproductive` (it
has no finite content) or `unreachable` (no root leads to it).

>>> from pathcast.schema.reader import parse_dtd
>>> book = parse_dtd(
...     "<!ELEMENT book (title, part*)><!ELEMENT part (title)><!ELEMENT title (#PCDATA)>"
... )
>>> summary = summarize(book)
>>> summary.longest, summary.by_depth, summary.paths
(3, (1, 2), (1, 2, 1))
>>> print(describe_element(book, "title").parents)
('book', 'part')
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

import networkx

from pathcast.errors import SchemaError
from pathcast.schema.graph import ElementGraph
from pathcast.schema.model import Attribute, AttributeType, Default
from pathcast.schema.paths import count_paths
from pathcast.schema.schema import Schema
from pathcast.schema.similar_names import similar_names

__all__ = ["ElementDetails", "SchemaSummary", "attribute_text", "describe_element", "summarize"]


@dataclass(frozen=True, slots=True)
class SchemaSummary:
    """Figures of a schema; `longest` is None where recursion allows root paths of any length."""

    name: str
    elements: int
    attributes: int
    roots: tuple[str, ...]
    components: tuple[tuple[str, ...], ...]
    self_recursive: tuple[str, ...]
    by_depth: tuple[int, ...]  # elements whose least depth is 1, 2, ...
    longest: int | None
    paths: tuple[int, ...]  # root paths of 1, 2, ... elements, up to `levels`
    unproductive: tuple[str, ...]
    unreachable: tuple[str, ...]
    undeclared: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def cyclic(self) -> int:
        """The number of elements on a cycle."""
        return sum(map(len, self.components))

    def as_dict(self) -> dict[str, object]:
        """Return the summary as a JSON object."""
        return asdict(self)


def summarize(schema: Schema, levels: int = 10) -> SchemaSummary:
    """Return the figures of a schema; root paths are counted up to `levels` elements."""
    graph = schema.graph
    at = Counter(graph.depth.values())
    return SchemaSummary(
        name=schema.name,
        elements=len(schema.elements),
        attributes=sum(len(element.attributes) for element in schema.elements.values()),
        roots=schema.roots,
        components=graph.components,
        self_recursive=tuple(name for name in schema.elements if name in graph.self_recursive),
        by_depth=tuple(at[depth] for depth in range(1, max(at, default=0) + 1)),
        longest=_longest(graph),
        paths=tuple(count_paths(schema, levels)),
        unproductive=tuple(name for name in schema.elements if name not in graph.size),
        unreachable=tuple(
            name for name in schema.elements if name in graph.size and name not in graph.depth
        ),
        undeclared=schema.undeclared_names,
        missing=schema.missing,
    )


def _longest(graph: ElementGraph) -> int | None:
    """Return the length of the longest root path; None if recursion makes it unbounded."""
    used: networkx.DiGraph[str] = networkx.DiGraph()
    used.add_nodes_from(graph.depth)
    used.add_edges_from((name, child) for name in graph.depth for child in graph.children[name])
    if not networkx.is_directed_acyclic_graph(used):
        return None
    longest: dict[str, int] = {}
    for name in networkx.topological_sort(used):
        longest[name] = 1 + max((longest[above] for above in used.predecessors(name)), default=0)
    return max(longest.values(), default=0)


@dataclass(frozen=True, slots=True)
class ElementDetails:
    """One element: its content, and its parents and children in finite valid documents."""

    name: str
    kind: str
    model: str
    attributes: tuple[Attribute, ...]
    parents: tuple[str, ...]
    children: tuple[str, ...]
    depth: int | None  # least level; None if no root leads to it
    smallest: int | None  # elements of its smallest valid tree; None if not productive
    component: tuple[str, ...]  # elements on a cycle with it, itself included
    self_recursive: bool

    def as_dict(self) -> dict[str, object]:
        """Return the details as a JSON object."""
        return asdict(self) | {
            "attributes": [_attribute_dict(attribute) for attribute in self.attributes]
        }


def describe_element(schema: Schema, name: str) -> ElementDetails:
    """Return the details of one element; raises SchemaError if the schema declares none."""
    element = schema.elements.get(name)
    if element is None:
        close = similar_names(name, schema.elements)
        hint = f"near names: {', '.join(close)}" if close else None
        raise SchemaError("element", f"{schema.name} declares no element {name}", hint=hint)
    graph = schema.graph
    return ElementDetails(
        name=name,
        kind=element.kind.value,
        model=element.model,
        attributes=element.attributes,
        parents=tuple(parent for parent, below in graph.children.items() if name in below),
        children=graph.children[name],
        depth=graph.depth.get(name),
        smallest=graph.size.get(name),
        component=next((part for part in graph.components if name in part), ()),
        self_recursive=name in graph.self_recursive,
    )


def attribute_text(attribute: Attribute) -> tuple[str, str]:
    """Return the type and the default of an attribute in DTD syntax.

    >>> unit = Attribute("unit", AttributeType.ENUMERATION, Default.VALUE, "m", ("m", "ft"))
    >>> attribute_text(unit)
    ('(m | ft)', '"m"')
    """
    kind = attribute.type.name
    if attribute.values:
        choices = f"({' | '.join(attribute.values)})"
        kind = f"NOTATION {choices}" if attribute.type is AttributeType.NOTATION else choices
    default = "" if attribute.default is Default.VALUE else f"#{attribute.default.name}"
    value = "" if attribute.value is None else f'"{attribute.value}"'
    return kind, f"{default} {value}".strip()


def _attribute_dict(attribute: Attribute) -> dict[str, object]:
    fields: dict[str, object] = {
        "name": attribute.name,
        "type": attribute.type.value,
        "default": "value" if attribute.default is Default.VALUE else attribute.default.value,
    }
    if attribute.value is not None:
        fields["value"] = attribute.value
    if attribute.values:
        fields["values"] = list(attribute.values)
    return fields
