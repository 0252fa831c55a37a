"""The chase of a twig by a DTD: the twig extended by all nodes that valid documents imply.

    names      restrict each node to the elements it can be; a wildcard may get a name
    edges      replace a descendant edge by a child edge, or insert the parent that a node must have
    required   add the children and attributes that every valid element of that name has

Every step adds only what holds in all valid documents that match the twig. So a twig that maps to
the result covers the original among valid documents. The chase supplements `dtd_difference`, which
ignores values, positions and negations; here they stay in place.

>>> from pathcast.covering.to_twigs import to_twigs
>>> from pathcast.xpath import parse
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd('''<!ELEMENT bib (book*)> <!ELEMENT book (title, price?)>
...     <!ELEMENT title EMPTY> <!ELEMENT price EMPTY>''')
>>> (twig,) = to_twigs(parse("//price"))
>>> chased = chase(twig, bib, 3, WorkBudget())
>>> [label.name for label in chased.labels], any(chased.descendant)
(['', 'bib', 'book', 'price', 'title'], False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pathcast.budget import WorkBudget
from pathcast.covering.labels import Label, LabelKind, NameLabel
from pathcast.covering.twig import Twig
from pathcast.covering.under_dtd.dtd_difference import test_of
from pathcast.schema import Default, Schema
from pathcast.schema.satisfiability.solve import DOCUMENT, Solver

__all__ = ["chase"]

MAX_REQUIRED_NODES = 100  # elements that the last step adds in all

_STAR = NameLabel(LabelKind.ELEMENT)
_ElementNames = frozenset[str]


@dataclass(slots=True)
class _ChaseNode:
    label: Label
    descendant: bool
    names: _ElementNames = frozenset()  # the elements it can be; empty for other nodes
    children: list[_ChaseNode] = field(default_factory=list)


def chase(twig: Twig, schema: Schema, levels: int, budget: WorkBudget) -> Twig | None:
    """Return the chase of a twig; None if no valid document matches it. Raises BudgetExceeded.

    Required children are added up to `levels` levels below each node.
    """
    nodes = [_ChaseNode(*pair) for pair in zip(twig.labels, twig.descendant, strict=True)]
    for node, parent in zip(nodes[1:], twig.parents[1:], strict=True):
        nodes[parent].children.append(node)
    steps = _Chase(schema, budget)
    if not steps.restrict_names(nodes[0], frozenset([DOCUMENT])):
        return None
    steps.tighten_edges(nodes[0])
    steps.add_required_nodes(nodes[0], levels)
    return _lay_out(nodes[0])


class _Chase:
    """The three steps of a chase, in order."""

    def __init__(self, schema: Schema, budget: WorkBudget) -> None:
        self._schema = schema
        self._budget = budget
        self._solver = Solver(schema, budget)
        self._nodes_left = MAX_REQUIRED_NODES

    def restrict_names(self, node: _ChaseNode, names: _ElementNames) -> bool:
        """Compute the elements that each node can be; return False if some node can be none."""
        names = frozenset(name for name in names if self._has_attributes(name, node))
        for child, label in _elements(node):
            reach = self._solver.descendants if child.descendant else self._solver.children
            self._budget.spend(2 * len(names))
            below = self._reachable(reach, names)
            may, test = self._solver.names.may_match, test_of(label)
            if not self.restrict_names(child, frozenset(name for name in below if may(test, name))):
                return False
            names = frozenset(name for name in names if not child.names.isdisjoint(reach(name)))
        node.names = names
        if node.label == _STAR:
            node.label = self._label(names)
        return bool(names)

    def _has_attributes(self, name: str, node: _ChaseNode) -> bool:
        may, declared = self._solver.names.may_match, self._solver.element(name).attributes
        tests = [
            test_of(child.label)
            for child in node.children
            if isinstance(child.label, NameLabel) and child.label.kind is LabelKind.ATTRIBUTE
            if not child.descendant
        ]
        return all(
            any(may(test, attribute.name, attribute=True) for attribute in declared)
            for test in tests
        )

    def tighten_edges(self, node: _ChaseNode) -> None:
        """Replace descendant edges by child edges and implied parents, where they are forced."""
        for child, _ in _elements(node):
            self.tighten_edges(child)
            if child.descendant:
                node.children.remove(child)
                node.children.append(self._with_implied_parents(child, node.names))

    def _with_implied_parents(self, child: _ChaseNode, above: _ElementNames) -> _ChaseNode:
        """Return a node below the parents that it must have as a descendant of `above`."""
        between = self._reachable(self._solver.descendants, above)
        if child.names.isdisjoint(self._reachable(self._solver.children, between)):
            child.descendant = False
            return child
        if not child.names.isdisjoint(self._reachable(self._solver.children, above)):
            return child
        child.descendant = False
        parents = frozenset(
            name for name in between if not child.names.isdisjoint(self._solver.children(name))
        )
        parent = _ChaseNode(self._label(parents), True, parents, [child])
        return self._with_implied_parents(parent, above)

    def _reachable(
        self, reach: Callable[[str], Iterable[str]], names: _ElementNames
    ) -> _ElementNames:
        self._budget.spend(len(names))
        return frozenset[str]().union(*map(reach, names))

    def add_required_nodes(self, node: _ChaseNode, levels: int) -> None:
        """Add the children and attributes that all elements require which the node can be."""
        self._budget.spend(1 + 2 * len(node.names))
        for child in [child for child, _ in _elements(node)]:
            self.add_required_nodes(child, levels)
        if DOCUMENT in node.names or not node.names or not levels:
            return
        elements, attributes = (
            frozenset.intersection(*(required(name) for name in node.names))
            for required in (self._schema.required_children.__getitem__, self._required_attributes)
        )
        for name in sorted(elements)[: self._nodes_left]:
            self._nodes_left -= 1
            child = _ChaseNode(self._label(frozenset([name])), False, frozenset([name]))
            self.add_required_nodes(child, levels - 1)
            node.children.append(child)
        node.children += [
            _ChaseNode(NameLabel(LabelKind.ATTRIBUTE, name), False) for name in sorted(attributes)
        ]

    def _required_attributes(self, name: str) -> _ElementNames:
        return frozenset(
            attribute.name
            for attribute in self._schema.elements[name].attributes
            if attribute.default is Default.REQUIRED
            and not attribute.declares_namespace
            and ":" not in attribute.name
        )

    def _label(self, names: _ElementNames) -> NameLabel:
        """Return the label of these elements; a wildcard if the DTD leaves a namespace open."""
        if len(names) == 1:
            (name,) = names
            label = NameLabel(LabelKind.ELEMENT, name)
            if self._solver.names.must_match(test_of(label), name):
                return label
        return _STAR


def _elements(node: _ChaseNode) -> list[tuple[_ChaseNode, NameLabel]]:
    """Return the children that stand for elements, with their labels."""
    return [
        (child, child.label)
        for child in node.children
        if isinstance(child.label, NameLabel) and child.label.kind is LabelKind.ELEMENT
    ]


def _lay_out(top: _ChaseNode) -> Twig:
    labels: list[Label] = []
    descendant: list[bool] = []
    parents: list[int] = []
    waiting = [(top, -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting += [(child, len(labels)) for child in reversed(node.children)]
        labels.append(node.label)
        descendant.append(node.descendant)
        parents.append(parent)
    return Twig(tuple(labels), tuple(descendant), tuple(parents))
