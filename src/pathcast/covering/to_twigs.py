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

from pathcast.covering.alternatives import Unwieldy, written_out
from pathcast.covering.labels import ROOT, Demand, Kind, Label, Named, Residual, Values
from pathcast.covering.twig import Branch, Twig
from pathcast.covering.values import Literal, possible
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
        extra = [Branch(Residual(pattern.text, pattern.namespaces))]
    try:
        return _laid_out(written_out(pattern.condition), extra)
    except Unwieldy:
        if pattern.residual is None:
            extra = [Branch(Demand(pattern.condition))]
        return _laid_out([Branch(ROOT)], extra)


def _plain(path: Path) -> Twig | None:
    """The twig of a path without alternatives and without anything to bring together, in one go; None if it is not that plain.

    Nearly all subscriptions are. What comes out is what the long way makes of them, but for the order of siblings.
    """
    labels: list[Label] = [ROOT]
    deeper = [False]
    parents = [-1]
    waiting: list[tuple[tuple[Step, ...], int]] = [(path.steps, 0)]
    seen: set[tuple[int, Label]] = set()
    while waiting:
        steps, above = waiting.pop()
        deep = False
        for step in steps:
            if step.only_deeper:
                deep = True
                continue
            label = _named(step)
            if label is None:
                return None
            if label.kind is Kind.ATTRIBUTE:
                if (above, label) in seen:
                    return None
                seen.add((above, label))
            here = len(labels)
            labels.append(label)
            parents.append(above)
            deeper.append(deep or step.axis is Axis.DESCENDANT)
            literals = []
            for condition in step.conditions:
                if isinstance(condition, Exists) and not condition.path.absolute:
                    waiting.append((condition.path.steps, here))
                elif isinstance(condition, Value):
                    literals.append(Literal(condition))
                else:
                    return None
            if literals:
                if not possible(literals):
                    return None
                labels.append(Values(frozenset(literals)))
                parents.append(here)
                deeper.append(False)
            above, deep = here, False
        if deep:
            return None
    return _in_preorder(labels, deeper, parents)


def _in_preorder(labels: list[Label], deeper: list[bool], parents: list[int]) -> Twig:
    """The twig of nodes of which each stands behind its parent, but perhaps not next to what belongs together."""
    if all(parent == node - 1 for node, parent in enumerate(parents)):
        return Twig(tuple(labels), tuple(deeper), tuple(parents))
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
        tuple([deeper[node] for node in order]),
        (-1, *(places[parents[node]] for node in order[1:])),
    )


_DOWN = {Axis.CHILD: Kind.ELEMENT, Axis.DESCENDANT: Kind.ELEMENT, Axis.ATTRIBUTE: Kind.ATTRIBUTE}


def _named(step: Step) -> Named | None:
    kind = _DOWN.get(step.axis)
    test = step.test
    if kind is None:
        return None
    if test.kind is TestKind.NAME:
        return Named(kind, test.name)
    if test.kind is TestKind.ANY:
        return Named(kind)
    return Named(kind, "", test.name) if test.kind is TestKind.ANY_IN else None


def _laid_out(tops: Iterable[Branch], extra: list[Branch]) -> tuple[Twig, ...]:
    grown = [replace(top, branches=top.branches | frozenset(extra)) for top in tops]
    return tuple(Twig.of(top) for top in grown)
