"""Element graph of a DTD: which element may contain which, in finite valid documents.

An element is *productive* if a finite valid tree has it as its root. `<!ELEMENT a (a)>` is not, nor
is an element that requires an undeclared one. `children` holds the edges that valid trees use: b is
a child of a if some word of a's content model contains b and only productive elements.

Recursion is that of the graph as declared, productive or not, with an edge from ANY to every
declared element: the recursion that a reader of the DTD sees.

>>> from pathcast.schema.model import Child, Element, ContentKind, Occurs
>>> inner = Child("section", Occurs.ANY)
>>> section = Element("section", ContentKind.CHILDREN, inner)
>>> graph = ElementGraph.of({"section": section}, ("section",))
>>> graph.size["section"], graph.cyclic == graph.self_recursive == {"section"}
(1, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import networkx

from pathcast.schema.model import ContentKind, Element, names_of
from pathcast.schema.words import least_word_value, names_in_words

__all__ = ["ElementGraph", "source_elements"]


@dataclass(frozen=True)
class ElementGraph:
    """The graph of one schema; `size`, `height` and `depth` are of finite valid documents.

    `size` and `height` are the elements and levels of an element's smallest valid tree; elements
    that are not productive have no entry.
    """

    children: Mapping[str, tuple[str, ...]]
    size: Mapping[str, int]
    height: Mapping[str, int]
    # Least level at which an element may stand, from 1, for the elements reachable from a root.
    depth: Mapping[str, int]
    # Strongly connected components that contain a cycle, largest first.
    components: tuple[tuple[str, ...], ...]
    self_recursive: frozenset[str]
    with_text: frozenset[str]  # elements that may contain text at some depth

    @classmethod
    def of(cls, elements: Mapping[str, Element], roots: tuple[str, ...]) -> ElementGraph:
        size = _least_measures(elements, int.__add__)
        height = _least_measures(elements, max)
        children = {
            name: _usable_children(element, elements, size) for name, element in elements.items()
        }
        declared = _declared_graph(elements)
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
            _elements_with_text(elements, children),
        )

    @cached_property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """The edges reversed."""
        above: dict[str, list[str]] = {name: [] for name in self.children}
        for name, below in self.children.items():
            for child in below:
                above[child].append(name)
        return {name: tuple(parents) for name, parents in above.items()}

    def descendants(self, name: str) -> frozenset[str]:
        """Return the elements that may stand below an element, at any depth.

        The members of a strongly connected component share one set, which is computed once.
        """
        component = self._component_of[name]
        below = self._below.get(component)
        if below is None:
            reached = {child for member in component for child in self.children[member]}
            waiting = list(reached - component)
            for element in waiting:
                fresh = set(self.children[element]) - reached
                reached |= fresh
                waiting += fresh
            below = self._below[component] = frozenset(reached)
        return below

    @cached_property
    def _component_of(self) -> Mapping[str, frozenset[str]]:
        graph: networkx.DiGraph[str] = networkx.DiGraph()
        graph.add_nodes_from(self.children)
        graph.add_edges_from(
            (name, child) for name, children in self.children.items() for child in children
        )
        components = map(frozenset, networkx.strongly_connected_components(graph))
        return {name: component for component in components for name in component}

    @cached_property
    def _below(self) -> dict[frozenset[str], frozenset[str]]:
        return {}

    @property
    def cyclic(self) -> frozenset[str]:
        """The elements on a cycle."""
        return frozenset(name for part in self.components for name in part)


def source_elements(elements: Mapping[str, Element]) -> tuple[str, ...]:
    """Return the elements of the strongly connected components without an incoming edge."""
    graph = _declared_graph(elements, follow_any=False)
    condensed = networkx.condensation(graph)
    names = {
        name
        for part, members in condensed.nodes(data="members")
        if condensed.in_degree(part) == 0
        for name in members
    }
    return tuple(name for name in elements if name in names)


def _declared_graph(
    elements: Mapping[str, Element], *, follow_any: bool = True
) -> networkx.DiGraph[str]:
    """Return the graph as declared; an ANY leads to every element if `follow_any`, else to none."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(elements)
    for name, element in elements.items():
        below = (
            elements
            if follow_any and element.kind is ContentKind.ANY
            else names_of(element.content)
        )
        graph.add_edges_from((name, child) for child in below if child in elements)
    return graph


def _least_measures(
    elements: Mapping[str, Element], combine: Callable[[int, int], int]
) -> dict[str, int]:
    """Return the least fixpoint of a measure: each element's smallest valid tree."""
    needs = {
        name: element.content if element.kind is ContentKind.CHILDREN else None
        for name, element in elements.items()
    }
    above: dict[str, list[str]] = {}
    for name, content in needs.items():
        for child in dict.fromkeys(names_of(content)):
            above.setdefault(child, []).append(name)
    values: dict[str, int] = {}
    waiting = dict.fromkeys(elements)
    while waiting:  # in rounds: evaluate a model once for all changes of a round
        changed: dict[str, int] = {}
        for name in waiting:
            inner = least_word_value(needs[name], values.get, combine)
            if inner is not None and inner + 1 < values.get(name, inner + 2):
                changed[name] = inner + 1
        values.update(changed)
        waiting = dict.fromkeys(parent for name in changed for parent in above.get(name, ()))
    return values


def _usable_children(
    element: Element, elements: Mapping[str, Element], size: Mapping[str, int]
) -> tuple[str, ...]:
    if element.name not in size:
        return ()
    if element.kind is ContentKind.ANY:
        return tuple(name for name in elements if name in size)
    names = tuple(dict.fromkeys(names_of(element.content)))
    if all(name in size for name in names):
        return names
    in_words = names_in_words(element.content, size)
    return () if in_words is None else tuple(name for name in names if name in in_words[0])


def _depths(children: Mapping[str, tuple[str, ...]], roots: list[str]) -> dict[str, int]:
    depth = dict.fromkeys(roots, 1)
    waiting = list(roots)
    for name in waiting:
        for child in children[name]:
            if child not in depth:
                depth[child] = depth[name] + 1
                waiting.append(child)
    return depth


def _elements_with_text(
    elements: Mapping[str, Element], children: Mapping[str, tuple[str, ...]]
) -> frozenset[str]:
    above: dict[str, list[str]] = {}
    for name, below in children.items():
        for child in below:
            above.setdefault(child, []).append(name)
    names = {name for name, element in elements.items() if element.kind.allows_text}
    waiting = list(names)
    while waiting:
        for parent in above.get(waiting.pop(), ()):
            if parent not in names:
                names.add(parent)
                waiting.append(parent)
    return frozenset(names)
