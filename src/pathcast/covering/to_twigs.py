"""Conversion of a pattern into twigs: alternatives, of which a matching document satisfies one.

    pattern -> condition -> alternatives -> twigs   in general, by `alternatives`
    pattern -> path -> twig                         fast path, without disjunctions to expand

>>> from pathcast.xpath import parse
>>> [len(twig) for twig in to_twigs(parse("//a[b or c]/d"))]
[4, 4]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.covering.alternatives import NotExpandable, expand_alternatives
from pathcast.covering.labels import (
    ROOT,
    ConditionLabel,
    Label,
    LabelKind,
    NameLabel,
    ResidualLabel,
    ValueLabel,
)
from pathcast.covering.twig import Twig, TwigNode
from pathcast.covering.values import ValueLiteral, is_satisfiable
from pathcast.xpath import Pattern
from pathcast.xpath.syntax import Axis, TestKind
from pathcast.xpath.tree import Exists, Path, Step, Value

__all__ = ["to_twigs"]


def to_twigs(pattern: Pattern, budget: WorkBudget | None = None) -> tuple[Twig, ...]:
    """Return the alternatives of a pattern in a fixed order; none if it is unsatisfiable.

    A condition that cannot be expanded, or not within the budget, becomes one leaf below the root.
    """
    if pattern.exact and isinstance(pattern.tree_pattern, Exists):
        twig = _simple_twig(pattern.tree_pattern.path)
        if twig is not None:
            return (twig,)
    extra = []
    if not pattern.exact:
        extra = [TwigNode(ResidualLabel(pattern.text, pattern.namespaces))]
    try:
        alternatives = expand_alternatives(pattern.tree_pattern, budget or WorkBudget())
        return _lay_out(alternatives, extra)
    except (NotExpandable, BudgetExceeded):
        if pattern.exact:
            extra = [TwigNode(ConditionLabel(pattern.tree_pattern))]
        return _lay_out([TwigNode(ROOT)], extra)


def _simple_twig(path: Path) -> Twig | None:
    """Return the twig of a path without disjunctions or nodes to unify, in one pass; else None.

    Nearly all subscriptions are of this form. The result equals that of the general way up to the
    order of siblings.
    """
    labels: list[Label] = [ROOT]
    descendant = [False]
    parents = [-1]
    waiting: list[tuple[tuple[Step, ...], int]] = [(path.steps, 0)]
    attributes: set[tuple[int, Label]] = set()
    while waiting:
        steps, above = waiting.pop()
        after_slashes = False
        for step in steps:
            if step.is_double_slash:
                after_slashes = True
                continue
            label = _name_label(step)
            if label is None:
                return None
            if label.kind is LabelKind.ATTRIBUTE:
                if (above, label) in attributes:
                    return None
                attributes.add((above, label))
            here = len(labels)
            labels.append(label)
            parents.append(above)
            descendant.append(after_slashes or step.axis is Axis.DESCENDANT)
            literals = []
            for condition in step.conditions:
                if isinstance(condition, Exists) and not condition.path.absolute:
                    waiting.append((condition.path.steps, here))
                elif isinstance(condition, Value):
                    literals.append(ValueLiteral(condition))
                else:
                    return None
            if literals:
                if not is_satisfiable(literals):
                    return None
                labels.append(ValueLabel(frozenset(literals)))
                parents.append(here)
                descendant.append(False)
            above, after_slashes = here, False
        if after_slashes:
            return None
    return _in_preorder(labels, descendant, parents)


def _in_preorder(labels: list[Label], descendant: list[bool], parents: list[int]) -> Twig:
    """Return the twig of nodes in any order in which parents precede their children."""
    if all(parent == node - 1 for node, parent in enumerate(parents)):
        return Twig(tuple(labels), tuple(descendant), tuple(parents))
    children: list[list[int]] = [[] for _ in labels]
    for node in range(len(labels) - 1, 0, -1):
        children[parents[node]].append(node)
    order: list[int] = []
    new_ids = [-1] * len(labels)
    waiting = [0]
    while waiting:
        node = waiting.pop()
        new_ids[node] = len(order)
        order.append(node)
        waiting += children[node]
    return Twig(
        tuple([labels[node] for node in order]),
        tuple([descendant[node] for node in order]),
        (-1, *(new_ids[parents[node]] for node in order[1:])),
    )


_KIND_OF_AXIS = {
    Axis.CHILD: LabelKind.ELEMENT,
    Axis.DESCENDANT: LabelKind.ELEMENT,
    Axis.ATTRIBUTE: LabelKind.ATTRIBUTE,
}


def _name_label(step: Step) -> NameLabel | None:
    kind = _KIND_OF_AXIS.get(step.axis)
    test = step.test
    if kind is None:
        return None
    if test.kind is TestKind.NAME:
        return NameLabel(kind, test.name)
    if test.kind is TestKind.ANY:
        return NameLabel(kind)
    return NameLabel(kind, "", test.name) if test.kind is TestKind.ANY_IN else None


def _lay_out(tops: Iterable[TwigNode], extra: list[TwigNode]) -> tuple[Twig, ...]:
    extended = [replace(top, children=top.children | frozenset(extra)) for top in tops]
    return tuple(Twig.of(top) for top in extended)
