"""Canonical models: the documents that have a twig's nodes and nothing else, and stand for all the others.

A descendant edge becomes a way of 0, 1, 2, ... elements with a name that occurs nowhere else, and so does the name of every wildcard. A twig
without values covers another one exactly when it matches all its models with ways of at most w + 1 elements, where w is the length of
its longest run of wildcards joined by child edges: a longer way could be cut short without its noticing (Miklau and Suciu,
"Containment and Equivalence for a Fragment of XPath", 2004, section 3). That holds for alternatives on either side as well.

ValueLabel are chosen among representatives: for numbers and equalities the strings at, between and beside the constants of intersect sides, in each spelling that
makes a difference. They stand for all strings, as long as the tested nodes have no elements below them. Everything else (other tests of
strings, places, counts, denials) gets likely values, which may show that one pattern does not cover another but not that it does: `Models.all` says
which it is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from pathcast.covering.labels import Label, LabelKind, NameLabel, PositionLabel, ValueLabel
from pathcast.covering.twig import Twig
from pathcast.covering.values import ValueLiteral
from pathcast.xpath.numbers import number
from pathcast.xpath.tree import Position, Value, ValueKind

__all__ = ["Model", "ModelNode", "Models"]

_ID = NameLabel(LabelKind.ATTRIBUTE, "{http://www.w3.org/XML/1998/namespace}id")
_EXACT_TESTS = (ValueKind.NUMBER, ValueKind.STRING)
_WORDS = ("", "x", "1", "0")
_COMPANY = 20  # so many siblings are made for a place


@dataclass(slots=True, eq=False)
class ModelNode:
    """A node of a made document. `text` is its own: an attribute's value, a text, what stands before an element's children."""

    label: NameLabel
    text: str = ""
    children: list[ModelNode] = field(default_factory=list)

    @property
    def value(self) -> str:
        """Its string-value."""
        inner = (
            one.value
            for one in self.children
            if one.label.kind in (LabelKind.ELEMENT, LabelKind.TEXT)
        )
        return self.text + "".join(inner)


@dataclass(frozen=True, slots=True)
class Model:
    """A made document, by its root element."""

    root: ModelNode

    def twig(self) -> Twig:
        """The document as a twig whose every label is met by one node only: mapping onto it is matching it."""
        labels: list[Label] = [NameLabel(LabelKind.ROOT)]
        parents = [-1]
        waiting = [(self.root, 0)]
        while waiting:
            node, parent = waiting.pop()
            here = len(labels)
            equality_constant = ValueLiteral(Value(ValueKind.STRING, "=", node.value))
            labels += [node.label, ValueLabel(frozenset([equality_constant]))]
            parents += [parent, here]
            waiting += [(one, here) for one in reversed(node.children)]
        return Twig(tuple(labels), (False,) * len(labels), tuple(parents))


class Models:
    """The models of a twig that matter to those who may cover it."""

    def __init__(self, twig: Twig, wide: Sequence[Twig]) -> None:
        self._twig = twig
        names = {
            label.name
            for one in (twig, *wide)
            for label in one.labels
            if isinstance(label, NameLabel)
        }
        fresh = itertools.chain(["z"], (f"z{count}" for count in itertools.count(1)))
        self._fresh = next(name for name in fresh if name not in names)
        longest = max((_wildcards(one) for one in wide), default=0) + 1
        self._ways = [range(longest + 1) if deep else range(1) for deep in twig.descendant]
        asked = [pair for one in wide for pair in _tests(one)]
        self._values = _Values(twig, asked)
        every = (twig, *wide)
        self.all = self._values.all and all(_plain(one) for one in every) and _one_root(twig)

    @property
    def count(self) -> int:
        """How many there are."""
        ways = math.prod(len(way) for way in self._ways)
        return ways * math.prod(len(texts) for texts in self._values.texts)

    def __iter__(self) -> Iterator[Model]:
        """Long ways first: they tell most patterns apart."""
        for ways in itertools.product(*(reversed(way) for way in self._ways)):
            for texts in itertools.product(*self._values.texts):
                yield Model(self._made(ways, texts))

    def _made(self, ways: tuple[int, ...], texts: tuple[str, ...]) -> ModelNode:
        twig = self._twig
        nodes = [ModelNode(NameLabel(LabelKind.ROOT))]
        parents = [nodes[0]]
        for index in range(1, len(twig)):
            label = twig.labels[index]
            above = nodes[twig.parents[index]]
            if isinstance(label, NameLabel):
                for _ in range(ways[index]):
                    way = ModelNode(NameLabel(LabelKind.ELEMENT, self._fresh))
                    above.children.append(way)
                    above = way
                above.children.append(ModelNode(self._concrete(label), texts[index]))
                nodes.append(above.children[-1])
            else:
                nodes.append(above)
            parents.append(above)
        for index, label in enumerate(twig.labels):
            if isinstance(label, PositionLabel):
                owner = twig.parents[index]
                _accompany(nodes[owner], parents[owner], label)
        return self._rooted(nodes[0].children)

    def _concrete(self, label: NameLabel) -> NameLabel:
        if label.kind is LabelKind.NODE:
            return NameLabel(LabelKind.ELEMENT, self._fresh)
        if label.name or label.kind not in (LabelKind.ELEMENT, LabelKind.ATTRIBUTE):
            return label
        return NameLabel(
            label.kind, f"{{{label.space}}}{self._fresh}" if label.space else self._fresh
        )

    def _rooted(self, tops: list[ModelNode]) -> ModelNode:
        """One root element above all that the document must have."""
        if len(tops) == 1 and tops[0].label.kind is LabelKind.ELEMENT:
            return tops[0]
        return ModelNode(NameLabel(LabelKind.ELEMENT, self._fresh), "", tops)


def _accompany(node: ModelNode, parent: ModelNode, place: PositionLabel) -> None:
    """Give a node that must have a place likely company: siblings like it, before or after."""
    if not isinstance(place.position, Position) or parent.label.kind is LabelKind.ROOT:
        return
    match place.position:
        case Position(op="<" | "!=", right="last"):
            before, after = 0, 1
        case Position(left="position", op="=" | ">=" | ">", right=right) if right != "last":
            before, after = math.ceil(min(number(right), _COMPANY)) - (place.position.op != ">"), 0
        case Position(left="last", op="=" | ">=" | ">", right=right):
            before, after = 0, math.ceil(min(number(right), _COMPANY)) - (place.position.op != ">")
        case Position(op="!="):
            before, after = 1, 0
        case _:
            return
    index = parent.children.index(node)
    parent.children[index + 1 : index + 1] = [deepcopy(node) for _ in range(after)]
    parent.children[index:index] = [deepcopy(node) for _ in range(before)]


def _wildcards(twig: Twig) -> int:
    """The longest run of wildcards joined by child edges."""
    runs = [0] * len(twig)
    for node, label in enumerate(twig.labels):
        if label == NameLabel(LabelKind.ELEMENT):
            runs[node] = 1 if twig.descendant[node] else runs[twig.parents[node]] + 1
    return max(runs)


def _plain(twig: Twig) -> bool:
    """Whether a twig asks for elements, attributes and values alone."""
    return all(
        isinstance(label, ValueLabel)
        or (
            isinstance(label, NameLabel)
            and label.kind in (LabelKind.ROOT, LabelKind.ELEMENT, LabelKind.ATTRIBUTE)
        )
        for label in twig.labels
    )


def _one_root(twig: Twig) -> bool:
    """Whether what must be below the document is one branch: of two, either might be inside the other."""
    return len(twig.children[0]) <= 1


_Tested = tuple[
    NameLabel, frozenset[ValueLiteral], bool
]  # where a value is asked, and whether that is at a leaf


def _tests(twig: Twig) -> Iterator[_Tested]:
    for node, label in enumerate(twig.labels):
        if isinstance(label, ValueLabel):
            owner = twig.parents[node]
            named = twig.labels[owner]
            assert isinstance(named, NameLabel)
            yield named, label.literals, _leaf(twig, owner)


def _leaf(twig: Twig, node: int) -> bool:
    return not any(
        isinstance(below, NameLabel) and below.kind is not LabelKind.ATTRIBUTE
        for below in (twig.labels[child] for child in twig.children[node])
    )


class _Values:
    """Texts to try for each node of a twig; `all` if no others need to be tried."""

    def __init__(self, twig: Twig, asked: list[_Tested]) -> None:
        self.all = all(named.name for named, _, _ in asked)
        own = {
            twig.parents[node]: label.literals
            for node, label in enumerate(twig.labels)
            if isinstance(label, ValueLabel)
        }
        self.texts: list[tuple[str, ...]] = []
        for node, label in enumerate(twig.labels):
            given = own.get(node, frozenset())
            tests = [literals for named, literals, _ in asked if named == label]
            if not isinstance(label, NameLabel) or not (given or tests):
                unique = label == _ID  # a name, and no other's
                self.texts.append((f"i{node}" if unique else "",))
                continue
            literals = list(itertools.chain(given, *tests))
            if not _leaf(twig, node) or label.kind is LabelKind.ROOT:
                self.all = False
            if any(one.value.kind not in _EXACT_TESTS for one in literals):
                self.all = False
            texts = dict.fromkeys(_representatives([one.value for one in literals]))
            passing = tuple(text for text in texts if all(one.holds(text) for one in given))
            if not passing and self.all:
                self.texts.append(())  # nothing passes: it has no models
            else:
                self.texts.append(passing or ("",))


def _representatives(values: Iterable[Value]) -> Iterator[str]:
    """Strings that differ in every way that the tests can tell; all of them, if only numbers and equalities are asked."""
    values = list(values)
    texts = {one.operand for one in values if one.kind not in (ValueKind.NUMBER, ValueKind.LENGTH)}
    yield _word(texts)
    yield from _WORDS
    cuts = {number(one.operand) for one in values if one.kind is ValueKind.NUMBER}
    cuts |= {value for value in map(number, texts) if math.isfinite(value)}
    finite = sorted(cut for cut in cuts if math.isfinite(cut))
    if finite:
        beside = [finite[0] - 1, finite[-1] + 1]
        between = [(low + high) / 2 for low, high in itertools.pairwise(finite)]
        for value in (*beside, *between, *finite):
            yield _spelled(value, texts)
    yield from sorted(texts)
    starts = [one.operand for one in values if one.kind is ValueKind.STARTS_WITH]
    parts = [one.operand for one in values if one.kind is ValueKind.CONTAINS]
    whole = max(starts, key=len, default="") + "".join(parts)
    yield whole
    yield from ("x" + text + "x" for text in sorted(texts))
    for one in values:
        if one.kind is ValueKind.LENGTH:
            length = number(one.operand)
            for wanted in (length, length + 1, length - 1):
                if 0 <= wanted <= 1000:
                    yield "x" * int(wanted)
                    yield whole + "x" * (int(wanted) - len(whole))


def _word(texts: set[str]) -> str:
    """A string that is no number and none of these."""
    return next(
        word
        for word in itertools.chain(["y"], (f"y{n}" for n in itertools.count()))
        if word not in texts
    )


def _spelled(value: float, texts: set[str]) -> str:
    plain = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    zeros = "" if "." in plain else "."
    while plain in texts and "e" not in plain:
        plain, zeros = plain + zeros + "0", ""
    return plain
