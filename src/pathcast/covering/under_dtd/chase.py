"""A twig with all that a DTD says about the valid documents that match it, as far as another twig can be laid on it.

    names    which elements each node can be at all; where there is one, a wildcard gets its name
    edges    a descendant edge that can only be a child edge is one; where it cannot be one, the parent that the lower node must have is put in
    needs    children and attributes that every valid element of that name has

Each step only adds what is so in every valid document that matches, so whatever has_homomorphism onto the result covers the twig among valid documents. It is
here for what `dtd_difference` cannot say: values, places, denials, which stay where they are.

>>> from pathcast.covering.to_twigs import twigs
>>> from pathcast.xpath import parse
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd("<!ELEMENT bib (book*)> <!ELEMENT book (title, price?)> <!ELEMENT title EMPTY> <!ELEMENT price EMPTY>")
>>> (twig,) = twigs(parse("//price"))
>>> found = chase(twig, bib, 3)
>>> [label.name for label in found.labels], any(found.descendant)
(['', 'bib', 'book', 'price', 'title'], False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pathcast.covering.labels import Label, LabelKind, NameLabel
from pathcast.covering.twig import Twig
from pathcast.covering.under_dtd.dtd_difference import test_of
from pathcast.schema import Default, Schema
from pathcast.schema.satisfiability.solve import DOCUMENT, Solver
from pathcast.schema.words import least_word_value

__all__ = ["chase"]

_NEEDS = 100  # nodes that are added because they are needed

_STAR = NameLabel(LabelKind.ELEMENT)
_Names = frozenset[str]


@dataclass(slots=True)
class _Node:
    label: Label
    descendant: bool
    names: _Names = frozenset()  # what it can be; nothing for what is no element
    below: list[_Node] = field(default_factory=list)


def chase(twig: Twig, schema: Schema, levels: int) -> Twig | None:
    """The twig with all that is chase, needed children to so many levels; None if no valid document matches it."""
    nodes = [_Node(*pair) for pair in zip(twig.labels, twig.descendant, strict=True)]
    for node, parent in zip(nodes[1:], twig.parents[1:], strict=True):
        nodes[parent].below.append(node)
    found = _Implied(schema)
    if not found.named(nodes[0], frozenset([DOCUMENT])):
        return None
    found.joined(nodes[0])
    found.needed(nodes[0], levels)
    return _laid_out(nodes[0])


class _Implied:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._solver = Solver(schema)
        self._left = _NEEDS

    def named(self, node: _Node, names: _Names) -> bool:
        """Find out what each node can be; False if there is one that can be nothing."""
        names = frozenset(name for name in names if self._has_attributes(name, node))
        for child, label in _elements(node):
            reach = self._solver.descendants if child.descendant else self._solver.children
            below = dict.fromkeys(one for name in names for one in reach(name))
            may, test = self._solver.names.may_match, test_of(label)
            if not self.named(child, frozenset(one for one in below if may(test, one))):
                return False
            names = frozenset(name for name in names if not child.names.isdisjoint(reach(name)))
        node.names = names
        if node.label == _STAR:
            node.label = self._label(names)
        return bool(names)

    def _has_attributes(self, name: str, node: _Node) -> bool:
        may, declared = self._solver.names.may_match, self._solver.element(name).attributes
        asked = [
            test_of(child.label)
            for child in node.below
            if isinstance(child.label, NameLabel) and child.label.kind is LabelKind.ATTRIBUTE
            if not child.descendant
        ]
        return all(any(may(test, one.name, attribute=True) for one in declared) for test in asked)

    def joined(self, node: _Node) -> None:
        """Bring the nodes below as near as they must be."""
        for child, _ in _elements(node):
            self.joined(child)
            if child.descendant:
                node.below.remove(child)
                node.below.append(self._hung(child, node.names))

    def _hung(self, child: _Node, above: _Names) -> _Node:
        """A node that stands somewhere below, with the parents that it must have there."""
        between = self._all(self._solver.descendants, above)
        if child.names.isdisjoint(self._all(self._solver.children, between)):
            child.descendant = False
            return child
        if not child.names.isdisjoint(self._all(self._solver.children, above)):
            return child
        child.descendant = False
        parents = frozenset(
            one for one in between if not child.names.isdisjoint(self._solver.children(one))
        )
        return self._hung(_Node(self._label(parents), True, parents, [child]), above)

    def _all(self, reach: Callable[[str], Iterable[str]], names: _Names) -> _Names:
        return frozenset(one for name in names for one in reach(name))

    def needed(self, node: _Node, levels: int) -> None:
        """Add the children and attributes that all elements have which the node can be."""
        given = [child for child, _ in _elements(node)]
        for child in given:
            self.needed(child, levels)
        if DOCUMENT in node.names or not node.names or not levels:
            return
        elements, attributes = (
            frozenset.intersection(*(need(name) for name in node.names))
            for need in (self._children, self._attributes)
        )
        for name in sorted(elements)[: self._left]:
            self._left -= 1
            child = _Node(self._label(frozenset([name])), False, frozenset([name]))
            self.needed(child, levels - 1)
            node.below.append(child)
        node.below += [
            _Node(NameLabel(LabelKind.ATTRIBUTE, name), False) for name in sorted(attributes)
        ]

    def _children(self, name: str) -> _Names:
        """The elements without which there is no word of its content."""
        element, sizes = self._schema.elements[name], self._schema.graph.size

        def without(gone: str) -> int | None:
            others = {one: size for one, size in sizes.items() if one != gone}
            return least_word_value(element.content, others.get, int.__add__)

        return frozenset(one for one in self._solver.children(name) if without(one) is None)

    def _attributes(self, name: str) -> _Names:
        return frozenset(
            one.name
            for one in self._schema.elements[name].attributes
            if one.default is Default.REQUIRED
            and not one.declares_namespace
            and ":" not in one.name
        )

    def _label(self, names: _Names) -> NameLabel:
        """The label of what can be only these; a name may also be in namespaces that nobody knows."""
        if len(names) == 1:
            (name,) = names
            label = NameLabel(LabelKind.ELEMENT, name)
            if self._solver.names.must_match(test_of(label), name):
                return label
        return _STAR


def _elements(node: _Node) -> list[tuple[_Node, NameLabel]]:
    """The nodes below that stand for elements, with their labels."""
    return [
        (child, child.label)
        for child in node.below
        if isinstance(child.label, NameLabel) and child.label.kind is LabelKind.ELEMENT
    ]


def _laid_out(top: _Node) -> Twig:
    labels: list[Label] = []
    descendant: list[bool] = []
    parents: list[int] = []
    waiting = [(top, -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting += [(one, len(labels)) for one in reversed(node.below)]
        labels.append(node.label)
        descendant.append(node.descendant)
        parents.append(parent)
    return Twig(tuple(labels), tuple(descendant), tuple(parents))
