"""A DTD without the documents that match a pattern. What is left is a DTD again, so all that is known about DTDs applies to it.

A document avoids a pattern if some branch of every twig fails. That can be told from the root down. *Forbidden* at an element are nodes of
the twigs: the element must not be what such a node asks for, nor may anything below it, if the node hangs on a descendant edge.

* An element with another name passes; what is forbidden descendant down stays forbidden there.
* An element with the name must fail one branch of the node: that one is then forbidden in every child, or is an attribute that is not there.
  Which one may be chosen. A node without branches cannot be failed.

So what is forbidden in the children is the same for all of them, and it is decided by the element's name, what is forbidden there, and the choice.
One *variant* of the element for each such combination, the children in its content model replaced by their variants: that is
the new DTD, and its documents, read without the numbers of the variants, are the valid documents that the pattern does not match. For a path it is the product
of the DTD with the path's subset automaton. A child without variants cannot stand there: it keeps its name, which the new DTD does not declare.
Elements of which there is no finite tree are left in; `Graph` finds them.

TwigScan that ask for more than elements and attributes are left out: then there are more documents than there should be, which turns a yes into
"neither" and never a no into a yes. So do names whose namespace the DTD does not fix.

The number of variants is at worst exponential in the pattern (`//a/*/*/*/b` remembers where the last four `a` were), and bounded by `MOST`.

>>> from pathcast.covering.to_twigs import twigs
>>> from pathcast.xpath import parse
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd("<!ELEMENT bib (book | note)*> <!ELEMENT book (title?)> <!ELEMENT note (title)> <!ELEMENT title EMPTY>")
>>> rest = dtd_difference(bib, twigs(parse("//book/title")))
>>> [f"{element.name}: {element.model}" for element in rest.elements.values()]
['bib 0: (book 1 | note 2)*', 'book 1: (title?)', 'note 2: (title 3)', 'title 3: EMPTY']
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pathcast.covering.labels import LabelKind, NameLabel
from pathcast.covering.twig import Twig
from pathcast.schema import (
    Attribute,
    Child,
    Choice,
    Content,
    ContentKind,
    Default,
    Element,
    Occurs,
    Schema,
)
from pathcast.schema.satisfiability.demands import SearchLimitExceeded
from pathcast.schema.satisfiability.solve import DOCUMENT, Solver
from pathcast.xpath.syntax import Test, TestKind

__all__ = ["dtd_difference", "plain_name", "test_of"]

MOST = 20_000  # variants
_CHOICES = 64  # ways to fail what is forbidden at one element
_PLAIN = (LabelKind.ROOT, LabelKind.ELEMENT, LabelKind.NODE, LabelKind.ATTRIBUTE)

_Rest = tuple[frozenset[int], frozenset[str]]  # forbidden in every child; attributes not there


@dataclass(frozen=True, slots=True)
class _Node:
    label: NameLabel
    descendant: bool
    branches: tuple[int, ...]


def dtd_difference(schema: Schema, wide: Iterable[Twig]) -> Schema:
    """The schema of the valid documents in which none of the twigs is found; raises SearchLimitExceeded."""
    return _Variants(schema, wide).schema()


def plain_name(variant: str) -> str:
    """The name of the element that this is a variant of."""
    return variant.partition(" ")[0]


def test_of(label: NameLabel) -> Test:
    """The node test that a label of an element or an attribute stands for; node() means elements here."""
    if label.name:
        return Test(TestKind.NAME, label.name)
    return Test(TestKind.ANY_IN, label.space) if label.space else Test(TestKind.ANY)


class _Variants:
    def __init__(self, schema: Schema, wide: Iterable[Twig]) -> None:
        self._schema = schema
        self._solver = Solver(schema)  # for what may stand below what, and which name passes what
        self._nodes: list[_Node] = []
        self._tops: list[int] = []
        for twig in wide:
            labels = [
                one for one in twig.labels if isinstance(one, NameLabel) and one.kind in _PLAIN
            ]
            if len(labels) == len(twig):  # else it asks for more
                self._add(twig, labels)
        self._numbers: dict[tuple[str, _Rest], str] = {}
        self._variants: dict[tuple[str, frozenset[int]], tuple[str, ...]] = {}
        self._matter: dict[tuple[str, int], bool] = {}

    def _add(self, twig: Twig, labels: list[NameLabel]) -> None:
        first = len(self._nodes)
        self._tops.append(first)
        for node, label in enumerate(labels):
            below = tuple(first + child for child in twig.children[node])
            self._nodes.append(_Node(label, twig.descendant[node], below))

    def schema(self) -> Schema:
        roots: dict[str, None] = {}
        for below, _ in self._rests(DOCUMENT, frozenset(self._tops)):
            for root in self._solver.children(DOCUMENT):
                roots.update(dict.fromkeys(self._of(root, below)))
        elements: dict[str, Element] = {}
        while len(elements) < len(self._numbers):  # every element may bring new ones
            for (name, rest), variant in list(self._numbers.items())[len(elements) :]:
                elements[variant] = self._element(name, variant, rest)
        return Schema(self._schema.name, elements, tuple(roots))

    def _element(self, name: str, variant: str, rest: _Rest) -> Element:
        below, gone = rest
        element = self._schema.elements[name]
        kind, content = element.kind, element.content
        if kind is ContentKind.ANY:  # any of the elements, but in the right variants
            every = tuple(Child(child) for child in self._solver.children(name))
            kind, content = ContentKind.MIXED, Choice(every, Occurs.ANY)
        return Element(
            variant,
            kind,
            None if content is None else self._content(content, below),
            tuple(one for one in element.attributes if one.name not in gone),
        )

    def _content(self, content: Content, below: frozenset[int]) -> Content:
        if not isinstance(content, Child):
            return replace(
                content, parts=tuple(self._content(part, below) for part in content.parts)
            )
        variants = self._of(content.name, below) or (content.name,)  # which is not declared
        if len(variants) == 1:
            return Child(variants[0], content.occurs)
        return Choice(tuple(Child(one) for one in variants), content.occurs)

    def _of(self, name: str, forbidden: frozenset[int]) -> tuple[str, ...]:
        """The variants of an element in which what is forbidden does not stand."""
        key = (name, forbidden)
        if key not in self._variants:
            is_satisfiable = name in self._schema.graph.size
            rests = self._rests(name, forbidden) if is_satisfiable else []
            self._variants[key] = tuple(self._numbered(name, rest) for rest in rests)
        return self._variants[key]

    def _numbered(self, name: str, rest: _Rest) -> str:
        if len(self._numbers) >= MOST:
            raise SearchLimitExceeded("the wide pattern has too many cases under this DTD")
        return self._numbers.setdefault((name, rest), f"{name} {len(self._numbers)}")

    def _rests(self, name: str, forbidden: frozenset[int]) -> list[_Rest]:
        """The ways to fail all that is forbidden at an element, those that ask for least."""
        rests: list[_Rest] = [(frozenset(), frozenset())]
        for node in sorted(forbidden):
            ways = self._fail(name, node)
            rests = _least({(b | c, g | h) for b, g in rests for c, h in ways})
            if len(rests) > _CHOICES:
                raise SearchLimitExceeded("the wide pattern has too many branches")
        return rests

    def _fail(self, name: str, number: int) -> list[_Rest]:
        """The ways in which an element, and all below it where that is meant, can fail a node."""
        node = self._nodes[number]
        kept = self._below(name, number) if node.descendant else frozenset()
        if node.label.kind is LabelKind.ATTRIBUTE:
            there = self._attributes(name, node.label)
            if any(one.default is Default.REQUIRED for one in there):
                return []
            return [(kept, frozenset(one.name for one in there))]
        if not self._passes(name, node.label):
            return [(kept, frozenset())]
        ways: list[_Rest] = []
        for branch in node.branches:
            if self._nodes[branch].label.kind is LabelKind.ATTRIBUTE:
                ways += [(kept | below, gone) for below, gone in self._fail(name, branch)]
            else:
                ways.append((kept | self._below(name, branch), frozenset()))
        return ways

    def _below(self, name: str, number: int) -> frozenset[int]:
        """The node as one that is forbidden in the children; nothing if it cannot be met there anyhow."""
        key = (name, number)
        if key not in self._matter:
            node, solver = self._nodes[number], self._solver
            names = solver.descendants(name) if node.descendant else solver.children(name)
            meets = self._attributes if node.label.kind is LabelKind.ATTRIBUTE else self._passes
            self._matter[key] = any(meets(one, node.label) for one in names)
        return frozenset([number] if self._matter[key] else [])

    def _passes(self, name: str, label: NameLabel) -> bool:
        if name == DOCUMENT or label.kind is LabelKind.ROOT:
            return name == DOCUMENT and label.kind is LabelKind.ROOT
        return self._solver.names.must_match(test_of(label), name)

    def _attributes(self, name: str, label: NameLabel) -> list[Attribute]:
        """The attributes of an element that the label surely means."""
        if name == DOCUMENT:
            return []
        return [
            one
            for one in self._schema.elements[name].attributes
            if not one.declares_namespace
            and self._solver.names.must_match(test_of(label), one.name, attribute=True)
        ]


def _least(rests: set[_Rest]) -> list[_Rest]:
    """Those that do not ask for all that another one asks for, and more; in a fixed order."""
    order = sorted(rests, key=lambda rest: (sorted(rest[0]), sorted(rest[1])))
    return [
        rest
        for rest in order
        if not any(one != rest and one[0] <= rest[0] and one[1] <= rest[1] for one in order)
    ]
