"""A condition written out as alternatives of what is asked at a node, each a branch.

    condition -> what is asked at a node (`_Asked`), alternative by alternative -> branches

Choices (`or`, unions, descendant-or-self with a name) are written out, up to `MOST` alternatives; denials are moved inwards, and what
is left of them is a leaf.

Three things are brought together, because a document has only one of them: the root element, an attribute of a given name,
a node's string-value. So `/a/b and /a/c` is `/a[b][c]`, and `@x > 1 and @x < 5` one value.

An alternative that no document can have is dropped. Where a condition is kept whole as a leaf (`ConditionLabel`, `PositionLabel`), what entails from
it is kept as well: `a[count(b) > 2]` has a child b.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pathcast.covering.labels import (
    ROOT,
    ConditionLabel,
    Label,
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

__all__ = ["MOST", "NotExpandable", "expand_alternatives"]

MOST = 32
_NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class NotExpandable(Exception):
    """The condition cannot be written out: it has too many alternatives, or looks at the document from inside."""


def expand_alternatives(condition: Condition, start: NameLabel = ROOT) -> list[TwigNode]:
    """The alternatives of a condition at the document node or, said without regard to the document, at another."""
    found: dict[TwigNode, None] = {}
    for asked in _ask(condition):
        if asked.at_root and start is not ROOT:
            raise NotExpandable
        whole = replace(asked, branches=asked.branches | asked.at_root)
        top = _seal(whole, start, False)
        if top is not None:
            found[top] = None
    return list(found)


# what is asked at a node


@dataclass(frozen=True, slots=True)
class _Asked:
    """One alternative: tests that the node passes, its value, what hangs below it and, from anywhere, below the document."""

    tests: tuple[Test, ...] = ()
    literals: frozenset[ValueLiteral] = frozenset()
    branches: frozenset[TwigNode] = frozenset()
    at_root: frozenset[TwigNode] = frozenset()

    def __add__(self, other: _Asked) -> _Asked:
        return _Asked(
            self.tests + other.tests,
            self.literals | other.literals,
            self.branches | other.branches,
            self.at_root | other.at_root,
        )


_NOTHING = _Asked()


def _ask(condition: Condition) -> list[_Asked]:
    match condition:
        case Always(holds=holds):
            return [_NOTHING] if holds else []
        case And(parts=parts):
            return _all(_ask(part) for part in parts)
        case Or(parts=parts):
            return _any(_ask(part) for part in parts)
        case Value():
            return [_Asked(literals=frozenset([ValueLiteral(condition)]))]
        case Is(test=test):
            return [_Asked(tests=(test,))]
        case Exists(path=path):
            return _path(path)
        case First(path=path, value=value):
            kept = _kept(condition, path)
            if value.holds("") or not path.steps:
                return [kept]
            last = path.steps[-1]
            ending = replace(last, conditions=(*last.conditions, value))
            return _all([[kept], _path(replace(path, steps=(*path.steps[:-1], ending)))])
        case Count(path=path):
            kept = _kept(condition, path)
            return [kept] if condition.holds(0) else _all([[kept], _path(path)])
        case Not(part=part):
            return _deny(part)
        case Position():  # of a node that stands alone: folded before, or part of a step
            return [_Asked(branches=frozenset([TwigNode(ConditionLabel(condition))]))]
    raise AssertionError(condition)


def _deny(part: Condition) -> list[_Asked]:
    match part:
        case Always(holds=holds):
            return [] if holds else [_NOTHING]
        case Not(part=inner):
            return _ask(inner)
        case And(parts=parts):
            return _any(_deny(one) for one in parts)
        case Or(parts=parts):
            return _all(_deny(one) for one in parts)
        case Value():
            return [_Asked(literals=frozenset([ValueLiteral(part, False)]))]
        case Count(path=path, op=op, operand=operand):
            return _ask(Count(path, _NEGATED[op], operand))
        case Exists(path=path) | First(path=path):
            return [_kept(Not(part), path)]
        case _:
            return [_Asked(branches=frozenset([TwigNode(ConditionLabel(Not(part)))]))]


def _kept(condition: Condition, path: Path) -> _Asked:
    """A condition kept whole, at the document if that is where its path starts."""
    leaf = frozenset([TwigNode(ConditionLabel(condition))])
    return _Asked(at_root=leaf) if path.absolute else _Asked(branches=leaf)


def _any(choices: Iterable[list[_Asked]]) -> list[_Asked]:
    found = list(dict.fromkeys(one for choice in choices for one in choice))
    if len(found) > MOST:
        raise NotExpandable
    return found


def _all(parts: Iterable[list[_Asked]]) -> list[_Asked]:
    found = [_NOTHING]
    for choices in parts:
        found = _any([one + other for other in choices] for one in found)
    return found


# paths


def _path(path: Path) -> list[_Asked]:
    found = _steps(path.steps)
    if not path.absolute:
        return found
    moved = []
    for asked in found:
        if asked.tests or asked.literals:  # the document itself: no test passes it but node()
            if any(test.kind is not TestKind.NODE for test in asked.tests):
                continue
            value = ValueLabel(asked.literals)
            asked = replace(asked, branches=asked.branches | {TwigNode(value)})
        moved.append(_Asked(at_root=asked.branches | asked.at_root))
    return moved


def _steps(steps: tuple[Step, ...]) -> list[_Asked]:
    """What is asked at a node so that the steps lead somewhere from it."""
    after = [_NOTHING]
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        lead = index and steps[index - 1].is_double_slash and step.axis in _FROM_ANY
        if step.is_double_slash and index + 1 < len(steps) and steps[index + 1].axis in _FROM_ANY:
            continue  # it is in the step after it
        if step.axis is Axis.DESCENDANT_OR_SELF:
            after = _any([_here(step, after), _down(step, True, after)])
        else:
            after = _down(step, bool(lead) or step.axis is Axis.DESCENDANT, after)
        if step.positional and step.axis is not Axis.CHILD:
            # its places are counted from where it starts, so what entails is kept whole as well
            whole = Exists(Path(False, steps[index - 1 if lead else index :]))
            after = [one + _kept(whole, whole.path) for one in after]
    return after


_FROM_ANY = (Axis.CHILD, Axis.DESCENDANT, Axis.ATTRIBUTE)


def _down(step: Step, descendant: bool, after: list[_Asked]) -> list[_Asked]:
    """What is asked above a step, one level or (`descendant`) any number of them."""
    leaves: frozenset[TwigNode] = frozenset()
    if step.positional and step.axis is Axis.CHILD:
        leaves = frozenset(TwigNode(place) for place in _places(step))
    kind = LabelKind.ATTRIBUTE if step.axis is Axis.ATTRIBUTE else LabelKind.NODE
    found = []
    for asked in _at_end(step, after):
        whole = replace(asked, branches=asked.branches | leaves, tests=(step.test, *asked.tests))
        top = _seal(whole, NameLabel(kind), descendant)
        if top is not None:
            found.append(_Asked(branches=frozenset([top]), at_root=asked.at_root))
    return _any([found])


def _here(step: Step, after: list[_Asked]) -> list[_Asked]:
    """What is asked where a descendant-or-self step stays."""
    tests = () if step.test.kind is TestKind.NODE else (step.test,)
    return [replace(one, tests=(*tests, *one.tests)) for one in _at_end(step, after)]


def _at_end(step: Step, after: list[_Asked]) -> list[_Asked]:
    plain = [condition for condition in step.conditions if not condition.positional]
    return _all([*(_ask(condition) for condition in plain), after])


def _places(step: Step) -> Iterator[PositionLabel]:
    for index, condition in enumerate(step.conditions):
        if condition.positional:
            yield PositionLabel(step.test, step.conditions[:index], condition)


def _seal(asked: _Asked, label: NameLabel, descendant: bool) -> TwigNode | None:
    """The branch of a node that is asked all this; None if there is no such node."""
    for test in asked.tests:
        found = intersect(label, test)
        if found is None:
            return None
        label = found
    if label.kind is LabelKind.NODE and any(_of_element(branch.label) for branch in asked.branches):
        label = NameLabel(LabelKind.ELEMENT)
    if label.kind not in (LabelKind.ELEMENT, LabelKind.ROOT) and any(
        _of_element(branch.label) for branch in asked.branches
    ):
        return None
    branches = set(asked.branches)
    if asked.literals:
        branches.add(TwigNode(ValueLabel(asked.literals)))
    merged = _merged(branches, label)
    return None if merged is None else TwigNode(label, descendant, merged)


def _of_element(label: Label) -> bool:
    return isinstance(label, NameLabel)


def _merged(branches: set[TwigNode], label: NameLabel) -> frozenset[TwigNode] | None:
    """The branches with those brought together of which a node has one only; None if they do not agree."""
    groups: dict[object, list[TwigNode]] = {}
    for branch in branches:
        groups.setdefault(_group(branch, label), []).append(branch)
    found: set[TwigNode] = set(groups.pop(None, []))
    for together in groups.values():
        one = together[0]
        for other in together[1:]:
            joined = _join(one, other)
            if joined is None:
                return None
            one = joined
        if isinstance(one.label, ValueLabel) and not is_satisfiable(one.label.literals):
            return None
        found.add(one)
    return frozenset(found)


def _group(branch: TwigNode, above: NameLabel) -> object:
    """What only one of can stand there; None for all that may be many."""
    if branch.descendant:
        return None
    match branch.label:
        case ValueLabel():
            return ValueLabel
        case NameLabel(kind=LabelKind.ATTRIBUTE, name=name) if name:
            return name
        case NameLabel(kind=LabelKind.ELEMENT) if above.kind is LabelKind.ROOT:
            return LabelKind.ROOT
        case _:
            return None


def _join(one: TwigNode, other: TwigNode) -> TwigNode | None:
    if isinstance(one.label, ValueLabel) and isinstance(other.label, ValueLabel):
        return TwigNode(ValueLabel(one.label.literals | other.label.literals))
    assert isinstance(one.label, NameLabel)
    assert isinstance(other.label, NameLabel)
    label = intersect(one.label, _test(other.label))
    if label is None:
        return None
    merged = _merged({*one.branches, *other.branches}, label)
    return None if merged is None else TwigNode(label, False, merged)


def _test(label: NameLabel) -> Test:
    if label.name:
        return Test(TestKind.NAME, label.name)
    return Test(TestKind.ANY_IN, label.space) if label.space else Test(TestKind.ANY)
