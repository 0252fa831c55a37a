"""Rewriting of conditions on the parent into conditions of the step before.

`item[../@lang = 'en']` is a condition on the item's parent. Along the child and attribute axes it
is equivalent to a condition of the step before: `*[@lang = 'en']/item`. All items of one parent
have the same answer, so positions among them do not change. This keeps a common form inside tree
patterns.
"""

from __future__ import annotations

from pathcast.xpath.canonical import conjunction, disjunction, negation
from pathcast.xpath.syntax import Axis, TestKind
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
    Step,
)

__all__ = ["split_by_parent"]


def split_by_parent(condition: Condition) -> tuple[list[Condition], list[Condition]]:
    """Return what moves to the parent, rewritten, and what remains: one condition or none each."""
    if not isinstance(condition, And) and _rebase(condition) is None:  # nearly always
        return [], [condition]
    on_parent: list[Condition] = []
    on_node: list[Condition] = []
    for part in condition.parts if isinstance(condition, And) else (condition,):
        rebased = _rebase(part)
        if rebased is None or rebased == part:
            on_node.append(part)
        else:
            on_parent.append(rebased)
    # As one condition: position() means the same in all conjuncts of a predicate.
    return _conjoin(on_parent), _conjoin(on_node)


def _conjoin(parts: list[Condition]) -> list[Condition]:
    return [conjunction(parts)] if parts else []


def _rebase(condition: Condition) -> Condition | None:
    """Return the condition with leading parent steps removed; itself if it has none."""
    match condition:
        case Exists(path=Path(absolute=False, steps=(Step(axis=Axis.PARENT) as first, *rest))):
            parts = list(first.conditions)
            if first.test.kind is not TestKind.NODE:
                parts.append(Is(first.test))
            if rest:
                parts.append(Exists(Path(False, tuple(rest), rest[0].at)))
            return conjunction(parts)
        case Always():
            return condition
        case Exists(path=path) | Count(path=path) | First(path=path) if path.absolute:
            return condition
        case Not(part=part):
            inner = _rebase(part)
            return None if inner is None else negation(inner)
        case And(parts=parts) | Or(parts=parts):
            rebased = []
            for part in parts:
                inner = _rebase(part)
                if inner is None:
                    return None
                rebased.append(inner)
            return conjunction(rebased) if isinstance(condition, And) else disjunction(rebased)
        case _:
            return None
