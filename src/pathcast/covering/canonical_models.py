"""Canonical models: minimal documents of a twig that decide containment.

A canonical model contains the nodes of a twig and nothing else. A descendant edge becomes a chain
of 0, 1, 2, ... elements with a fresh name, and every wildcard gets the fresh name too. A twig
without values covers another exactly when it matches all models of the other whose chains have at
most w + 1 elements, where w is the length of its longest run of wildcards joined by child edges: a
longer chain can be shortened without effect (Miklau and Suciu, "Containment and Equivalence for a
Fragment of XPath", 2004, section 3). This extends to alternatives on either side.

Values come from representatives: for numbers and equalities the strings at, between and beside the
constants of both sides, in every spelling that a test can distinguish. They are complete as long
as the tested nodes have no child elements. All other tests (of strings, positions, counts,
negations) get likely values. These can disprove containment but not prove it:
`CanonicalModels.complete` tells the cases apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pathcast.budget import WorkBudget
from pathcast.covering.labels import Label, LabelKind, NameLabel, PositionLabel, ValueLabel
from pathcast.covering.twig import Twig
from pathcast.covering.values import ValueLiteral
from pathcast.xpath.numbers import number
from pathcast.xpath.tree import Position, Value, ValueKind

__all__ = ["CanonicalModel", "CanonicalModels", "ModelNode"]

_XML_ID = NameLabel(LabelKind.ATTRIBUTE, "{http://www.w3.org/XML/1998/namespace}id")
_EXACT_TESTS = (ValueKind.NUMBER, ValueKind.STRING)
_WITH_TEXT = (LabelKind.ELEMENT, LabelKind.TEXT)  # kinds that add to a string-value
_COMMON_TEXTS = ("", "x", "1", "0")
_MAX_SIBLINGS = 20  # siblings that are added for a position
_MAX_LENGTH = 1000  # of a text for string-length()
_STEPS_PER_NODE = 3  # of a model
_REPRESENTATIVES_PER_TEST = 6


@dataclass(slots=True, eq=False)
class ModelNode:
    """A node of a model. `text` is an attribute's value, a text, or precedes all children."""

    label: NameLabel
    text: str = ""
    children: list[ModelNode] = field(default_factory=list)

    def subtree(self) -> list[ModelNode]:
        """Return the node and all nodes below it, parents first."""
        nodes = [self]
        for node in nodes:  # grows meanwhile
            nodes += node.children
        return nodes

    def copy(self) -> ModelNode:
        """Return a copy of the node with its subtree."""
        top = ModelNode(self.label, self.text)
        waiting = [(self, top)]
        for source, target in waiting:  # grows meanwhile
            target.children = [ModelNode(child.label, child.text) for child in source.children]
            waiting += zip(source.children, target.children, strict=True)
        return top


@dataclass(frozen=True, slots=True)
class CanonicalModel:
    """A model, by its root element."""

    root: ModelNode

    @property
    def height(self) -> int:
        """The number of levels."""
        levels = 0
        level = [self.root]
        while level:
            levels += 1
            level = [child for node in level for child in node.children]
        return levels

    def twig(self) -> Twig:
        """Return the model as a twig with concrete labels; to map onto it is to match it."""
        values: dict[int, str] = {}  # string-values by id
        for node in reversed(self.root.subtree()):
            inner = (values[id(child)] for child in node.children if child.label.kind in _WITH_TEXT)
            values[id(node)] = node.text + "".join(inner)
        labels: list[Label] = [NameLabel(LabelKind.ROOT)]
        parents = [-1]
        waiting = [(self.root, 0)]
        while waiting:
            node, parent = waiting.pop()
            here = len(labels)
            equality = ValueLiteral(Value(ValueKind.STRING, "=", values[id(node)]))
            labels += [node.label, ValueLabel(frozenset([equality]))]
            parents += [parent, here]
            waiting += [(child, here) for child in reversed(node.children)]
        return Twig(tuple(labels), (False,) * len(labels), tuple(parents))


class CanonicalModels:
    """The models of a twig that can distinguish it from the `wide` twigs.

    If they are `complete`, the wide twigs cover the twig exactly when each model matches one.
    """

    def __init__(self, twig: Twig, wide: Sequence[Twig], budget: WorkBudget) -> None:
        self._twig = twig
        self._budget = budget
        every = (twig, *wide)
        names = {
            label.name for each in every for label in each.labels if isinstance(label, NameLabel)
        }
        fresh = itertools.chain(["z"], (f"z{count}" for count in itertools.count(1)))
        self._fresh = next(name for name in fresh if name not in names)
        longest = max((_longest_wildcard_run(each) for each in wide), default=0) + 1
        self._chains = [range(longest + 1) if deep else range(1) for deep in twig.descendant]
        wide_tests = [test for each in wide for test in _value_tests(each)]
        self._values = _ValueChoices(twig, wide_tests, budget)
        self.complete = (
            self._values.complete and all(_is_plain(each) for each in every) and _has_one_top(twig)
        )

    @property
    def count(self) -> int:
        """The number of models."""
        chains = math.prod(len(lengths) for lengths in self._chains)
        return chains * math.prod(len(texts) for texts in self._values.texts)

    def __iter__(self) -> Iterator[CanonicalModel]:
        """Yield the models with long chains first: they distinguish most patterns.

        Raises BudgetExceeded.
        """
        for chains in itertools.product(*(reversed(lengths) for lengths in self._chains)):
            for texts in itertools.product(*self._values.texts):
                yield CanonicalModel(self._build(chains, texts))

    def _build(self, chains: tuple[int, ...], texts: tuple[str, ...]) -> ModelNode:
        twig = self._twig
        self._budget.spend(_STEPS_PER_NODE * (len(twig) + sum(chains)))
        nodes = [ModelNode(NameLabel(LabelKind.ROOT))]
        parents = [nodes[0]]
        for index in range(1, len(twig)):
            label = twig.labels[index]
            above = nodes[twig.parents[index]]
            if isinstance(label, NameLabel):
                for _ in range(chains[index]):
                    link = ModelNode(NameLabel(LabelKind.ELEMENT, self._fresh))
                    above.children.append(link)
                    above = link
                above.children.append(ModelNode(self._concrete(label), texts[index]))
                nodes.append(above.children[-1])
            else:
                nodes.append(above)
            parents.append(above)
        for index, label in enumerate(twig.labels):
            if isinstance(label, PositionLabel):
                owner = twig.parents[index]
                _add_siblings(nodes[owner], parents[owner], label, self._budget)
        return self._with_one_root(nodes[0].children)

    def _concrete(self, label: NameLabel) -> NameLabel:
        if label.kind is LabelKind.NODE:
            return NameLabel(LabelKind.ELEMENT, self._fresh)
        if label.name or label.kind not in (LabelKind.ELEMENT, LabelKind.ATTRIBUTE):
            return label
        name = f"{{{label.space}}}{self._fresh}" if label.space else self._fresh
        return NameLabel(label.kind, name)

    def _with_one_root(self, tops: list[ModelNode]) -> ModelNode:
        if len(tops) == 1 and tops[0].label.kind is LabelKind.ELEMENT:
            return tops[0]
        return ModelNode(NameLabel(LabelKind.ELEMENT, self._fresh), "", tops)


def _add_siblings(
    node: ModelNode, parent: ModelNode, label: PositionLabel, budget: WorkBudget
) -> None:
    """Copy a node before or after itself, so that its position is likely to satisfy the label."""
    if not isinstance(label.position, Position) or parent.label.kind is LabelKind.ROOT:
        return
    match label.position:
        case Position(op="<" | "!=", right="last"):
            before, after = 0, 1
        case Position(left="position", op="=" | ">=" | ">" as op, right=right) if right != "last":
            before, after = math.ceil(min(number(right), _MAX_SIBLINGS)) - (op != ">"), 0
        case Position(left="last", op="=" | ">=" | ">" as op, right=right):
            before, after = 0, math.ceil(min(number(right), _MAX_SIBLINGS)) - (op != ">")
        case Position(op="!="):
            before, after = 1, 0
        case _:
            return
    index = parent.children.index(node)
    copies = max(before + after, 0)
    budget.spend(_STEPS_PER_NODE * len(node.subtree()) * copies + index)
    parent.children[index + 1 : index + 1] = [node.copy() for _ in range(after)]
    parent.children[index:index] = [node.copy() for _ in range(before)]


def _longest_wildcard_run(twig: Twig) -> int:
    """Return the length of the longest run of wildcards joined by child edges."""
    runs = [0] * len(twig)
    for node, label in enumerate(twig.labels):
        if label == NameLabel(LabelKind.ELEMENT):
            runs[node] = 1 if twig.descendant[node] else runs[twig.parents[node]] + 1
    return max(runs)


def _is_plain(twig: Twig) -> bool:
    """Return whether a twig consists of elements, attributes and values only."""
    kinds = (LabelKind.ROOT, LabelKind.ELEMENT, LabelKind.ATTRIBUTE)
    return all(
        isinstance(label, ValueLabel) or (isinstance(label, NameLabel) and label.kind in kinds)
        for label in twig.labels
    )


def _has_one_top(twig: Twig) -> bool:
    """Return whether one branch starts at the root: of two, either might be inside the other."""
    return len(twig.children[0]) <= 1


# the label of a tested node, its literals, and whether it is a leaf
_ValueTest = tuple[NameLabel, frozenset[ValueLiteral], bool]


def _value_tests(twig: Twig) -> Iterator[_ValueTest]:
    for node, label in enumerate(twig.labels):
        if isinstance(label, ValueLabel):
            owner = twig.parents[node]
            owner_label = twig.labels[owner]
            assert isinstance(owner_label, NameLabel)
            yield owner_label, label.literals, _is_leaf(twig, owner)


def _is_leaf(twig: Twig, node: int) -> bool:
    return not any(
        isinstance(below, NameLabel) and below.kind is not LabelKind.ATTRIBUTE
        for below in (twig.labels[child] for child in twig.children[node])
    )


class _ValueChoices:
    """The texts to try for each node of a twig; `complete` if no others need to be tried."""

    def __init__(self, twig: Twig, wide_tests: list[_ValueTest], budget: WorkBudget) -> None:
        self.complete = all(label.name for label, _, _ in wide_tests)
        own = {
            twig.parents[node]: label.literals
            for node, label in enumerate(twig.labels)
            if isinstance(label, ValueLabel)
        }
        self.texts: list[tuple[str, ...]] = []
        for node, label in enumerate(twig.labels):
            budget.spend(1 + len(wide_tests))
            given = own.get(node, frozenset())
            tests = [literals for tested, literals, _ in wide_tests if tested == label]
            if not isinstance(label, NameLabel) or not (given or tests):
                # an xml:id must be a name, and unique
                self.texts.append((f"i{node}" if label == _XML_ID else "",))
                continue
            literals = sorted(itertools.chain(given, *tests), key=repr)
            budget.spend(len(literals) * (_REPRESENTATIVES_PER_TEST * len(given) + 1))
            if not _is_leaf(twig, node) or label.kind is LabelKind.ROOT:
                self.complete = False
            if any(literal.value.kind not in _EXACT_TESTS for literal in literals):
                self.complete = False
            texts = dict.fromkeys(_representatives([literal.value for literal in literals]))
            passing = tuple(text for text in texts if all(literal.holds(text) for literal in given))
            if not passing and self.complete:
                self.texts.append(())  # unsatisfiable: the twig has no models
            else:
                self.texts.append(passing or ("",))


def _representatives(values: Iterable[Value]) -> Iterator[str]:
    """Yield strings for all outcomes of the tests; complete for numbers and equalities."""
    values = list(values)
    texts = {
        value.operand for value in values if value.kind not in (ValueKind.NUMBER, ValueKind.LENGTH)
    }
    yield _fresh_word(texts)
    yield from _COMMON_TEXTS
    cuts = {number(value.operand) for value in values if value.kind is ValueKind.NUMBER}
    cuts |= {cut for cut in map(number, texts) if math.isfinite(cut)}
    finite = sorted(cut for cut in cuts if math.isfinite(cut))
    if finite:
        beside = [finite[0] - 1, finite[-1] + 1]
        between = [(low + high) / 2 for low, high in itertools.pairwise(finite)]
        for cut in (*beside, *between, *finite):
            yield _spell_number(cut, texts)
    yield from sorted(texts)
    prefixes = [value.operand for value in values if value.kind is ValueKind.STARTS_WITH]
    substrings = [value.operand for value in values if value.kind is ValueKind.CONTAINS]
    all_parts = max(prefixes, key=len, default="") + "".join(substrings)
    yield all_parts
    yield from ("x" + text + "x" for text in sorted(texts))
    for value in values:
        if value.kind is ValueKind.LENGTH:
            bound = number(value.operand)
            for length in (bound, bound + 1, bound - 1):
                if 0 <= length <= _MAX_LENGTH:
                    yield "x" * int(length)
                    yield all_parts + "x" * (int(length) - len(all_parts))


def _fresh_word(texts: set[str]) -> str:
    """Return a string that is no number and none of these."""
    return next(
        word
        for word in itertools.chain(["y"], (f"y{n}" for n in itertools.count()))
        if word not in texts
    )


def _spell_number(value: float, texts: set[str]) -> str:
    """Return a spelling of a number that is none of these texts, if possible."""
    plain = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    zeros = "" if "." in plain else "."
    while plain in texts and "e" not in plain:
        plain, zeros = plain + zeros + "0", ""
    return plain
