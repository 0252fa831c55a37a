"""DTD difference: the DTD of the valid documents that a pattern does not match.

A document fails a pattern if each twig has a node without an image. This is decided top-down.
*Forbidden* at an element are nodes of the twigs: the element must not be an image of such a node,
and if the node has a descendant edge, no element below may be one.

* An element with another name is no image. A node with a descendant edge stays forbidden below.
* An element with the node's name must fail one child of the node: that child is then forbidden in
  every child element, or is an attribute that is absent. Which child fails is a choice. A node
  without children cannot fail.

So the forbidden nodes are the same for all children of an element, and follow from its name, its
own forbidden nodes and the choice. Each such combination is a *variant* of the element. The new DTD
declares the variants, with the children in each content model replaced by their variants. Its
documents, with variants read as elements, are the valid documents that the pattern does not match.
For a linear path this is the product of the DTD with the path's determinised automaton. A child
without variants cannot occur: it keeps its name, which the new DTD does not declare. Elements
without a finite tree are kept; `Graph` detects them.

Twigs with other labels than elements and attributes are left out, and so are names whose namespace
the DTD does not fix. The new DTD then has too many documents, which can turn a yes into "undecided"
but never a no into a yes.

The number of variants is exponential in the pattern at worst (`//a/*/*/*/b` tracks where the last
four `a` were), and bounded by `MAX_VARIANTS`.

>>> from pathcast.covering.to_twigs import to_twigs
>>> from pathcast.xpath import parse
>>> from pathcast.schema import parse_dtd
>>> bib = parse_dtd('''<!ELEMENT bib (book | note)*> <!ELEMENT book (title?)>
...     <!ELEMENT note (title)> <!ELEMENT title EMPTY>''')
>>> difference = dtd_difference(bib, to_twigs(parse("//book/title")), WorkBudget())
>>> [f"{element.name}: {element.model}" for element in difference.elements.values()]
['bib 0: (book 1 | note 2)*', 'book 1: (title?)', 'note 2: (title 3)', 'title 3: EMPTY']
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pathcast.budget import WorkBudget
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

MAX_VARIANTS = 20_000
_STEPS_PER_CHILD = 5  # to write it into a content model, and for the graph of the new DTD
MAX_FAILURES = 64  # ways to fail all forbidden nodes at one element
_SUPPORTED = (LabelKind.ROOT, LabelKind.ELEMENT, LabelKind.NODE, LabelKind.ATTRIBUTE)

# A way to fail: nodes that are forbidden in every child, and attributes that are absent.
_Failure = tuple[frozenset[int], frozenset[str]]


@dataclass(frozen=True, slots=True)
class _WideNode:
    label: NameLabel
    descendant: bool
    children: tuple[int, ...]


def dtd_difference(schema: Schema, wide: Iterable[Twig], budget: WorkBudget) -> Schema:
    """Return the schema of the valid documents that match none of the twigs.

    Raises SearchLimitExceeded and BudgetExceeded.
    """
    return _Variants(schema, wide, budget).schema()


def plain_name(variant: str) -> str:
    """Return the name of the element that this is a variant of."""
    return variant.partition(" ")[0]


def test_of(label: NameLabel) -> Test:
    """Return the node test of an element's or attribute's label; node() means elements here."""
    if label.name:
        return Test(TestKind.NAME, label.name)
    return Test(TestKind.ANY_IN, label.space) if label.space else Test(TestKind.ANY)


class _Variants:
    """The variants of all elements, created on demand from the document node down."""

    def __init__(self, schema: Schema, wide: Iterable[Twig], budget: WorkBudget) -> None:
        self._schema = schema
        self._budget = budget
        self._solver = Solver(schema, budget)  # for reachability and name tests
        self._nodes: list[_WideNode] = []  # of all twigs
        self._tops: list[int] = []
        for twig in wide:
            labels = [
                label
                for label in twig.labels
                if isinstance(label, NameLabel) and label.kind in _SUPPORTED
            ]
            if len(labels) == len(twig):
                self._add(twig, labels)
        self._names: dict[tuple[str, _Failure], str] = {}  # element and failure -> variant
        self._variants: dict[tuple[str, frozenset[int]], tuple[str, ...]] = {}
        self._has_image_below: dict[tuple[str, int], bool] = {}

    def _add(self, twig: Twig, labels: list[NameLabel]) -> None:
        first = len(self._nodes)
        self._tops.append(first)
        for node, label in enumerate(labels):
            children = tuple(first + child for child in twig.children[node])
            self._nodes.append(_WideNode(label, twig.descendant[node], children))

    def schema(self) -> Schema:
        roots: dict[str, None] = {}
        for below, _ in self._failures(DOCUMENT, frozenset(self._tops)):
            for root in self._solver.children(DOCUMENT):
                roots.update(dict.fromkeys(self._variants_of(root, below)))
        elements: dict[str, Element] = {}
        while len(elements) < len(self._names):  # an element may create further variants
            for (name, failure), variant in list(self._names.items())[len(elements) :]:
                elements[variant] = self._element(name, variant, failure)
        return Schema(self._schema.name, elements, tuple(roots))

    def _element(self, name: str, variant: str, failure: _Failure) -> Element:
        below, absent = failure
        element = self._schema.elements[name]
        kind, content = element.kind, element.content
        if kind is ContentKind.ANY:  # any of the elements, but in the right variants
            every = tuple(Child(child) for child in self._solver.children(name))
            kind, content = ContentKind.MIXED, Choice(every, Occurs.ANY)
        return Element(
            variant,
            kind,
            None if content is None else self._content(content, below),
            tuple(attribute for attribute in element.attributes if attribute.name not in absent),
        )

    def _content(self, content: Content, below: frozenset[int]) -> Content:
        if not isinstance(content, Child):
            return replace(
                content, parts=tuple(self._content(part, below) for part in content.parts)
            )
        # without variants, the plain name is an undeclared element
        variants = self._variants_of(content.name, below) or (content.name,)
        self._budget.spend(_STEPS_PER_CHILD * len(variants))
        if len(variants) == 1:
            return Child(variants[0], content.occurs)
        return Choice(tuple(Child(variant) for variant in variants), content.occurs)

    def _variants_of(self, name: str, forbidden: frozenset[int]) -> tuple[str, ...]:
        """Return the variants of an element that fail all forbidden nodes."""
        key = (name, forbidden)
        if key not in self._variants:
            possible = name in self._schema.graph.size
            failures = self._failures(name, forbidden) if possible else []
            self._variants[key] = tuple(self._variant(name, failure) for failure in failures)
        return self._variants[key]

    def _variant(self, name: str, failure: _Failure) -> str:
        if len(self._names) >= MAX_VARIANTS:
            raise SearchLimitExceeded("the wide pattern has too many cases under this DTD")
        return self._names.setdefault((name, failure), f"{name} {len(self._names)}")

    def _failures(self, name: str, forbidden: frozenset[int]) -> list[_Failure]:
        """Return the minimal ways for an element to fail all forbidden nodes."""
        failures: list[_Failure] = [(frozenset(), frozenset())]
        for node in sorted(forbidden):
            choices = self._fail(name, node)
            # All pairs of combined failures are compared.
            self._budget.spend((len(failures) * len(choices)) ** 2 + 1)
            failures = _minimal(
                {
                    (below | more_below, absent | more_absent)
                    for below, absent in failures
                    for more_below, more_absent in choices
                }
            )
            if len(failures) > MAX_FAILURES:
                raise SearchLimitExceeded("the wide pattern has too many branches")
        return failures

    def _fail(self, name: str, number: int) -> list[_Failure]:
        """Return the ways for an element, and on a descendant edge all below it, to fail a node."""
        node = self._nodes[number]
        still_below = self._forbid_below(name, number) if node.descendant else frozenset()
        if node.label.kind is LabelKind.ATTRIBUTE:
            attributes = self._attributes(name, node.label)
            if any(attribute.default is Default.REQUIRED for attribute in attributes):
                return []
            return [(still_below, frozenset(attribute.name for attribute in attributes))]
        if not self._is_image(name, node.label):
            return [(still_below, frozenset())]
        choices: list[_Failure] = []
        for child in node.children:
            if self._nodes[child].label.kind is LabelKind.ATTRIBUTE:
                choices += [
                    (still_below | below, absent) for below, absent in self._fail(name, child)
                ]
            else:
                choices.append((still_below | self._forbid_below(name, child), frozenset()))
        return choices

    def _forbid_below(self, name: str, number: int) -> frozenset[int]:
        """Return the node as forbidden in the children; empty if no child can be its image."""
        key = (name, number)
        if key not in self._has_image_below:
            node, solver = self._nodes[number], self._solver
            below = solver.descendants(name) if node.descendant else solver.children(name)
            self._budget.spend(1 + len(below))
            is_attribute = node.label.kind is LabelKind.ATTRIBUTE
            images = self._attributes if is_attribute else self._is_image
            self._has_image_below[key] = any(images(child, node.label) for child in below)
        return frozenset([number] if self._has_image_below[key] else [])

    def _is_image(self, name: str, label: NameLabel) -> bool:
        if name == DOCUMENT or label.kind is LabelKind.ROOT:
            return name == DOCUMENT and label.kind is LabelKind.ROOT
        return self._solver.names.must_match(test_of(label), name)

    def _attributes(self, name: str, label: NameLabel) -> list[Attribute]:
        """Return the attributes of an element that certainly have the label."""
        if name == DOCUMENT:
            return []
        return [
            attribute
            for attribute in self._schema.elements[name].attributes
            if not attribute.declares_namespace
            and self._solver.names.must_match(test_of(label), attribute.name, attribute=True)
        ]


def _minimal(failures: set[_Failure]) -> list[_Failure]:
    """Return the failures that include no other one, in a fixed order."""
    ordered = sorted(failures, key=lambda failure: (sorted(failure[0]), sorted(failure[1])))
    return [
        failure
        for failure in ordered
        if not any(
            other != failure and other[0] <= failure[0] and other[1] <= failure[1]
            for other in ordered
        )
    ]
