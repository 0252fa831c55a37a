"""A pattern as twigs: alternatives, of which a document has to have one.

    pattern -> condition -> alternatives -> twigs      the long way (`alternatives`)
            -> path -> twig                            the short way, for a path with branches and values and nothing to choose

>>> from pathcast.xpath import parse
>>> [len(twig) for twig in twigs(parse("//a[b or c]/d"))]
[4, 4]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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

__all__ = ["twigs"]


def twigs(pattern: Pattern) -> tuple[Twig, ...]:
    """The alternatives of a pattern, in a fixed order; none if no document can match it."""
    if pattern.residual is None and isinstance(pattern.condition, Exists):
        plain = _plain(pattern.condition.path)
        if plain is not None:
            return (plain,)
    extra = []
    if pattern.residual is not None:
        extra = [TwigNode(ResidualLabel(pattern.text, pattern.namespaces))]
    try:
        return _laid_out(expand_alternatives(pattern.condition), extra)
    except NotExpandable:
        if pattern.residual is None:
            extra = [TwigNode(ConditionLabel(pattern.condition))]
        return _laid_out([TwigNode(ROOT)], extra)


def _plain(path: Path) -> Twig | None:
    """The twig of a path without alternatives and without anything to bring together, in one go; None if it is not that plain.

    Nearly all subscriptions are. What comes out is what the long way makes of them, but for the order of siblings.
    """
    labels: list[Label] = [ROOT]
    descendant = [False]
    parents = [-1]
    waiting: list[tuple[tuple[Step, ...], int]] = [(path.steps, 0)]
    seen: set[tuple[int, Label]] = set()
    while waiting:
        steps, above = waiting.pop()
        deep = False
        for step in steps:
            if step.is_double_slash:
                deep = True
                continue
            label = _named(step)
            if label is None:
                return None
            if label.kind is LabelKind.ATTRIBUTE:
                if (above, label) in seen:
                    return None
                seen.add((above, label))
            here = len(labels)
            labels.append(label)
            parents.append(above)
            descendant.append(deep or step.axis is Axis.DESCENDANT)
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
            above, deep = here, False
        if deep:
            return None
    return _in_preorder(labels, descendant, parents)


def _in_preorder(labels: list[Label], descendant: list[bool], parents: list[int]) -> Twig:
    """The twig of nodes of which each stands behind its parent, but perhaps not next to what belongs together."""
    if all(parent == node - 1 for node, parent in enumerate(parents)):
        return Twig(tuple(labels), tuple(descendant), tuple(parents))
    children: list[list[int]] = [[] for _ in labels]
    for node in range(len(labels) - 1, 0, -1):
        children[parents[node]].append(node)
    order: list[int] = []
    places = [-1] * len(labels)
    waiting = [0]
    while waiting:
        node = waiting.pop()
        places[node] = len(order)
        order.append(node)
        waiting += children[node]
    return Twig(
        tuple([labels[node] for node in order]),
        tuple([descendant[node] for node in order]),
        (-1, *(places[parents[node]] for node in order[1:])),
    )


_DOWN = {
    Axis.CHILD: LabelKind.ELEMENT,
    Axis.DESCENDANT: LabelKind.ELEMENT,
    Axis.ATTRIBUTE: LabelKind.ATTRIBUTE,
}


def _named(step: Step) -> NameLabel | None:
    kind = _DOWN.get(step.axis)
    test = step.test
    if kind is None:
        return None
    if test.kind is TestKind.NAME:
        return NameLabel(kind, test.name)
    if test.kind is TestKind.ANY:
        return NameLabel(kind)
    return NameLabel(kind, "", test.name) if test.kind is TestKind.ANY_IN else None


def _laid_out(tops: Iterable[TwigNode], extra: list[TwigNode]) -> tuple[Twig, ...]:
    grown = [replace(top, branches=top.branches | frozenset(extra)) for top in tops]
    return tuple(Twig.of(top) for top in grown)
