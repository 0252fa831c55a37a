"""Expansion of a condition into disjunctive normal form, each alternative a tree of labels.

    condition -> requirements at one node (`_Requirement`), per alternative -> `TwigNode`

Disjunctions (`or`, unions, descendant-or-self with a name test) are expanded into at most
`MAX_ALTERNATIVES` alternatives. Negations are pushed inwards; one that remains is an opaque leaf.

Requirements on things that a document has only once are unified: the root element, an attribute
of a given name, a node's string-value. So `/a/b and /a/c` becomes `/a[b][c]`, and `@x > 1 and
@x < 5` one value label.

Unsatisfiable alternatives are dropped. Where a condition becomes an opaque leaf (`ConditionLabel`,
`PositionLabel`), its consequences are added beside it: `a[count(b) > 2]` has a child `b`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pathcast.budget import WorkBudget
from pathcast.covering.labels import (
    ROOT,
    ConditionLabel,
    LabelKind,
    NameLabel,
    PositionLabel,
    ValueLabel,
    intersect,
)
from pathcast.covering.twig import TwigNode
from pathcast.covering.values import ValueLiteral, is_satisfiable
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import (
    Always,
    And,
    Condition,
    Count,
    Exists,
    First,
    Is,
    Not,
    Or,
    Path,
    Position,
    Step,
    Value,
)

__all__ = ["MAX_ALTERNATIVES", "NotExpandable", "expand_alternatives"]

MAX_ALTERNATIVES = 32
_STEPS_PER_NODE = 20
_SUBTREES_PER_STEP = 10  # that a union of sets copies
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class NotExpandable(Exception):
    """The condition has too many alternatives, or an absolute path at an inner node."""


def expand_alternatives(
    condition: Condition, budget: WorkBudget, start: NameLabel = ROOT
) -> list[TwigNode]:
    """Return the alternatives of a tree pattern at the document node, or at a node with a label.

    Raises NotExpandable and BudgetExceeded.
    """
    tops: dict[TwigNode, None] = {}
    for requirement in _expand(condition, budget):
        if requirement.at_root and start is not ROOT:
            raise NotExpandable
        children = requirement.children | requirement.at_root
        top = _to_node(replace(requirement, children=children), start, False)
        if top is not None:
            tops[top] = None
    return list(tops)


# requirements at one node


@dataclass(frozen=True, slots=True)
class _Requirement:
    """One alternative at a node: its tests, its value, and subtrees below it.

    `at_root` are subtrees below the document node, from absolute paths.
    """

    tests: tuple[Test, ...] = ()
    literals: frozenset[ValueLiteral] = frozenset()
    children: frozenset[TwigNode] = frozenset()
    at_root: frozenset[TwigNode] = frozenset()

    @property
    def size(self) -> int:
        """The number of tests, literals and subtrees."""
        return len(self.tests) + len(self.literals) + len(self.children) + len(self.at_root)

    def __add__(self, other: _Requirement) -> _Requirement:
        return _Requirement(
            self.tests + other.tests,
            self.literals | other.literals,
            self.children | other.children,
            self.at_root | other.at_root,
        )


_NO_REQUIREMENT = _Requirement()


def _expand(condition: Condition, budget: WorkBudget) -> list[_Requirement]:
    match condition:
        case Always(holds=holds):
            return [_NO_REQUIREMENT] if holds else []
        case And(parts=parts):
            return _conjunction((_expand(part, budget) for part in parts), budget)
        case Or(parts=parts):
            return _disjunction(_expand(part, budget) for part in parts)
        case Value():
            return [_Requirement(literals=frozenset([ValueLiteral(condition)]))]
        case Is(test=test):
            return [_Requirement(tests=(test,))]
        case Exists(path=path):
            return _expand_path(path, budget)
        case First(path=path, value=value):
            opaque = _opaque_leaf(condition, path)
            if value.holds("") or not path.steps:
                return [opaque]
            last = path.steps[-1]
            last = replace(last, conditions=(*last.conditions, value))
            return _conjunction(
                [[opaque], _expand_path(replace(path, steps=(*path.steps[:-1], last)), budget)],
                budget,
            )
        case Count(path=path):
            opaque = _opaque_leaf(condition, path)
            return (
                [opaque]
                if condition.holds(0)
                else _conjunction([[opaque], _expand_path(path, budget)], budget)
            )
        case Not(part=part):
            return _expand_negation(part, budget)
        case Position():  # other positions were folded, or belong to a step
            return [_Requirement(children=frozenset([TwigNode(ConditionLabel(condition))]))]
    raise AssertionError(condition)


def _expand_negation(part: Condition, budget: WorkBudget) -> list[_Requirement]:
    match part:
        case Always(holds=holds):
            return [] if holds else [_NO_REQUIREMENT]
        case Not(part=inner):
            return _expand(inner, budget)
        case And(parts=parts):
            return _disjunction(_expand_negation(part, budget) for part in parts)
        case Or(parts=parts):
            return _conjunction((_expand_negation(part, budget) for part in parts), budget)
        case Value():
            return [_Requirement(literals=frozenset([ValueLiteral(part, False)]))]
        case Count(path=path, op=op, operand=operand):
            return _expand(Count(path, _NEGATED[op], operand), budget)
        case Exists(path=path) | First(path=path):
            return [_opaque_leaf(Not(part), path)]
        case _:
            return [_Requirement(children=frozenset([TwigNode(ConditionLabel(Not(part)))]))]


def _opaque_leaf(condition: Condition, path: Path) -> _Requirement:
    """Return a leaf for a condition that is not expanded, below the node where its path starts."""
    leaf = frozenset([TwigNode(ConditionLabel(condition))])
    return _Requirement(at_root=leaf) if path.absolute else _Requirement(children=leaf)


def _disjunction(choices: Iterable[list[_Requirement]]) -> list[_Requirement]:
    alternatives = list(dict.fromkeys(alternative for choice in choices for alternative in choice))
    if len(alternatives) > MAX_ALTERNATIVES:
        raise NotExpandable
    return alternatives


def _conjunction(parts: Iterable[list[_Requirement]], budget: WorkBudget) -> list[_Requirement]:
    alternatives = [_NO_REQUIREMENT]
    for choices in parts:
        size = sum(alternative.size for alternative in alternatives)
        budget.spend((size // _SUBTREES_PER_STEP + len(alternatives)) * len(choices))
        alternatives = _disjunction([left + right for right in choices] for left in alternatives)
    return alternatives


# paths


def _expand_path(path: Path, budget: WorkBudget) -> list[_Requirement]:
    requirements = _expand_steps(path.steps, budget)
    if not path.absolute:
        return requirements
    at_root = []
    for requirement in requirements:
        if requirement.tests or requirement.literals:  # at the document node itself
            if any(test.kind is not TestKind.NODE for test in requirement.tests):
                continue
            value = TwigNode(ValueLabel(requirement.literals))
            requirement = replace(requirement, children=requirement.children | {value})
        at_root.append(_Requirement(at_root=requirement.children | requirement.at_root))
    return at_root


def _expand_steps(steps: tuple[Step, ...], budget: WorkBudget) -> list[_Requirement]:
    """Return the requirements at a node from which the steps select something."""
    after = [_NO_REQUIREMENT]
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        after_slashes = index and steps[index - 1].is_double_slash and step.axis in _DOWNWARD
        if step.is_double_slash and index + 1 < len(steps) and steps[index + 1].axis in _DOWNWARD:
            continue  # the next step has a descendant edge instead
        if step.axis is Axis.DESCENDANT_OR_SELF:
            after = _disjunction([_at_self(step, after, budget), _below(step, True, after, budget)])
        else:
            after = _below(step, bool(after_slashes) or step.axis is Axis.DESCENDANT, after, budget)
        if step.positional and step.axis is not Axis.CHILD:
            # Its positions are counted from its start, so the remaining path is a leaf as well.
            remaining = Path(False, steps[index - 1 if after_slashes else index :])
            leaf = _opaque_leaf(Exists(remaining), remaining)
            after = [requirement + leaf for requirement in after]
    return after


_DOWNWARD = (Axis.CHILD, Axis.DESCENDANT, Axis.ATTRIBUTE)


def _below(
    step: Step, descendant: bool, after: list[_Requirement], budget: WorkBudget
) -> list[_Requirement]:
    """Return the requirements above a step that is reached by a child or descendant edge."""
    leaves: frozenset[TwigNode] = frozenset()
    if step.positional and step.axis is Axis.CHILD:
        leaves = frozenset(TwigNode(label) for label in _position_labels(step))
    kind = LabelKind.ATTRIBUTE if step.axis is Axis.ATTRIBUTE else LabelKind.NODE
    above = []
    for requirement in _with_predicates(step, after, budget):
        budget.spend(_STEPS_PER_NODE)
        tests = (step.test, *requirement.tests)
        at_step = replace(requirement, children=requirement.children | leaves, tests=tests)
        node = _to_node(at_step, NameLabel(kind), descendant)
        if node is not None:
            above.append(_Requirement(children=frozenset([node]), at_root=requirement.at_root))
    return _disjunction([above])


def _at_self(step: Step, after: list[_Requirement], budget: WorkBudget) -> list[_Requirement]:
    """Return the requirements where a descendant-or-self step selects the node itself."""
    tests = () if step.test.kind is TestKind.NODE else (step.test,)
    return [
        replace(requirement, tests=(*tests, *requirement.tests))
        for requirement in _with_predicates(step, after, budget)
    ]


def _with_predicates(
    step: Step, after: list[_Requirement], budget: WorkBudget
) -> list[_Requirement]:
    plain = [condition for condition in step.conditions if not condition.positional]
    return _conjunction([*(_expand(condition, budget) for condition in plain), after], budget)


def _position_labels(step: Step) -> Iterator[PositionLabel]:
    for index, condition in enumerate(step.conditions):
        if condition.positional:
            yield PositionLabel(step.test, step.conditions[:index], condition)


def _to_node(requirement: _Requirement, label: NameLabel, descendant: bool) -> TwigNode | None:
    """Return the node that meets a requirement and a label; None if there is no such node."""
    for test in requirement.tests:
        narrowed = intersect(label, test)
        if narrowed is None:
            return None
        label = narrowed
    has_named_children = any(isinstance(child.label, NameLabel) for child in requirement.children)
    if label.kind is LabelKind.NODE and has_named_children:
        label = NameLabel(LabelKind.ELEMENT)
    if label.kind not in (LabelKind.ELEMENT, LabelKind.ROOT) and has_named_children:
        return None
    children = set(requirement.children)
    if requirement.literals:
        children.add(TwigNode(ValueLabel(requirement.literals)))
    unified = _unify_children(children, label)
    return None if unified is None else TwigNode(label, descendant, unified)


def _unify_children(children: set[TwigNode], label: NameLabel) -> frozenset[TwigNode] | None:
    """Unify the children that stand for the same document node; None if they contradict."""
    groups: dict[object, list[TwigNode]] = {}
    for child in children:
        groups.setdefault(_identity(child, label), []).append(child)
    unified: set[TwigNode] = set(groups.pop(None, []))
    for group in groups.values():
        node = group[0]
        for other in group[1:]:
            both = _unify(node, other)
            if both is None:
                return None
            node = both
        if isinstance(node.label, ValueLabel) and not is_satisfiable(node.label.literals):
            return None
        unified.add(node)
    return frozenset(unified)


def _identity(node: TwigNode, above: NameLabel) -> object:
    """Return a key of the document node if there can be only one; None otherwise."""
    if node.descendant:
        return None
    match node.label:
        case ValueLabel():
            return ValueLabel
        case NameLabel(kind=LabelKind.ATTRIBUTE, name=name) if name:
            return name
        case NameLabel(kind=LabelKind.ELEMENT) if above.kind is LabelKind.ROOT:
            return LabelKind.ROOT
        case _:
            return None


def _unify(left: TwigNode, right: TwigNode) -> TwigNode | None:
    if isinstance(left.label, ValueLabel) and isinstance(right.label, ValueLabel):
        return TwigNode(ValueLabel(left.label.literals | right.label.literals))
    assert isinstance(left.label, NameLabel)
    assert isinstance(right.label, NameLabel)
    label = intersect(left.label, _node_test(right.label))
    if label is None:
        return None
    unified = _unify_children({*left.children, *right.children}, label)
    return None if unified is None else TwigNode(label, False, unified)


def _node_test(label: NameLabel) -> Test:
    if label.name:
        return Test(TestKind.NAME, label.name)
    return Test(TestKind.ANY_IN, label.space) if label.space else Test(TestKind.ANY)
