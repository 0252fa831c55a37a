"""The element graph of a DTD: who may stand in whom, in finite valid documents.

An element is *productive* if some finite tree of it is valid (`<!ELEMENT a (a)>` has none, and nothing that needs an
undeclared element has one). `children` are the edges that valid trees use: b below a if some word of a's content model has
b and productive elements only. Recursion is told of the graph as declared, whether productive or not, an ANY leading to every
declared element: that is what a reader of the DTD sees.

>>> from pathcast.schema.model import Child, Element, ContentKind, Occurs
>>> inner = Child("section", Occurs.ANY)
>>> graph = Graph.of({"section": Element("section", ContentKind.CHILDREN, inner)}, ("section",))
>>> graph.size["section"], graph.cyclic == graph.self_recursive == {"section"}
(1, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import networkx

from pathcast.schema.model import ContentKind, Element, names_of
from pathcast.schema.words import cheapest_word, smallest_word

__all__ = ["Graph", "sources"]


@dataclass(frozen=True, slots=True)
class Graph:
    """`size` and `height`: elements and levels of the smallest valid tree; unproductive ones are missing."""

    children: Mapping[str, tuple[str, ...]]
    size: Mapping[str, int]
    height: Mapping[str, int]
    depth: Mapping[
        str, int
    ]  # of those that roots lead to: how near to the root they may stand, from 1
    components: tuple[
        tuple[str, ...], ...
    ]  # strongly connected, those that hold a cycle, largest first
    self_recursive: frozenset[str]
    texts: frozenset[str]  # elements in which text can stand at some depth

    @classmethod
    def of(cls, elements: Mapping[str, Element], roots: tuple[str, ...]) -> Graph:
        size = _smallest(elements, int.__add__)
        height = _smallest(elements, max)
        children = {name: _usable(element, elements, size) for name, element in elements.items()}
        declared = _declared(elements)
        cyclic = [
            tuple(sorted(part))
            for part in networkx.strongly_connected_components(declared)
            if len(part) > 1 or declared.has_edge(*(2 * tuple(part)))
        ]
        cyclic.sort(key=lambda part: (-len(part), part))
        loops = frozenset(name for name in elements if declared.has_edge(name, name))
        return cls(
            children,
            size,
            height,
            _depths(children, [root for root in roots if root in size]),
            tuple(cyclic),
            loops,
            _texts(elements, children),
        )

    @property
    def cyclic(self) -> frozenset[str]:
        """The elements that lie on a cycle."""
        return frozenset(name for part in self.components for name in part)


def sources(elements: Mapping[str, Element]) -> tuple[str, ...]:
    """The elements of every strongly connected component that no other component leads to."""
    graph = _declared(elements, wild=False)
    condensed = networkx.condensation(graph)
    found = {
        name
        for part, members in condensed.nodes(data="members")
        if condensed.in_degree(part) == 0
        for name in members
    }
    return tuple(name for name in elements if name in found)


def _declared(elements: Mapping[str, Element], *, wild: bool = True) -> networkx.DiGraph[str]:
    """The edges as declared; `wild`: from ANY to every element, else from ANY to none."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(elements)
    for name, element in elements.items():
        below = elements if wild and element.kind is ContentKind.ANY else names_of(element.content)
        graph.add_edges_from((name, child) for child in below if child in elements)
    return graph


def _smallest(
    elements: Mapping[str, Element], combine: Callable[[int, int], int]
) -> dict[str, int]:
    """The least fixpoint: what the smallest valid tree of each element measures."""
    needs = {
        name: element.content if element.kind is ContentKind.CHILDREN else None
        for name, element in elements.items()
    }
    above: dict[str, list[str]] = {}
    for name, content in needs.items():
        for child in dict.fromkeys(names_of(content)):
            above.setdefault(child, []).append(name)
    found: dict[str, int] = {}
    waiting = dict.fromkeys(elements)
    while waiting:  # in rounds: a model is looked at again when all that changed is known
        changed: dict[str, int] = {}
        for name in waiting:
            inner = smallest_word(needs[name], found.get, combine)
            if inner is not None and inner + 1 < found.get(name, inner + 2):
                changed[name] = inner + 1
        found.update(changed)
        waiting = dict.fromkeys(parent for name in changed for parent in above.get(name, ()))
    return found


def _usable(
    element: Element, elements: Mapping[str, Element], size: Mapping[str, int]
) -> tuple[str, ...]:
    if element.name not in size:
        return ()
    if element.kind is ContentKind.ANY:
        return tuple(name for name in elements if name in size)
    names = tuple(dict.fromkeys(names_of(element.content)))
    if all(name in size for name in names):
        return names
    return tuple(
        name
        for name in names
        if name in size and cheapest_word(element.content, {name: 1}, size.get)
    )


def _depths(children: Mapping[str, tuple[str, ...]], roots: list[str]) -> dict[str, int]:
    depth = dict.fromkeys(roots, 1)
    waiting = list(roots)
    for name in waiting:
        for child in children[name]:
            if child not in depth:
                depth[child] = depth[name] + 1
                waiting.append(child)
    return depth


def _texts(
    elements: Mapping[str, Element], children: Mapping[str, tuple[str, ...]]
) -> frozenset[str]:
    above: dict[str, list[str]] = {}
    for name, below in children.items():
        for child in below:
            above.setdefault(child, []).append(name)
    found = {name for name, element in elements.items() if element.kind.text}
    waiting = list(found)
    while waiting:
        for parent in above.get(waiting.pop(), ()):
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return frozenset(found)
