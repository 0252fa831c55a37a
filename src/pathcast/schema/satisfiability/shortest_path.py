"""Shortest root path that a linear pattern selects, by breadth-first search.

A linear pattern is a path of `/ // *` and names, perhaps with an attribute at its end, or a union
of such paths. It needs no solver to be decided: it is satisfiable exactly if the product of the
element graph with the path has a way to the path's end. The work is linear in the product's size.
`shortest_path` returns a shortest way as a path of child steps, so that the solver only adds the
siblings that the content models require.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from pathcast.budget import WorkBudget
from pathcast.xpath.syntax import Axis, Test, TestKind
from pathcast.xpath.tree import Condition, Exists, Or, Path, Step

__all__ = ["LinearPath", "linear_paths", "shortest_path"]

_ELEMENTS = (TestKind.NAME, TestKind.ANY, TestKind.ANY_IN)
_SearchState = tuple[str, int, int]  # an element, a path, and the number of steps matched on it


@dataclass(frozen=True, slots=True)
class LinearPath:
    """A path of elements, each with a child or descendant edge above, and an attribute's test."""

    tests: tuple[Test, ...]
    descendant: tuple[bool, ...]
    attribute: Test | None = None
    attribute_at_any_depth: bool = False  # of the last element or of an element below it


def linear_paths(condition: Condition) -> list[LinearPath] | None:
    """Return the paths of a linear pattern; None if the pattern is not linear."""
    parts = condition.parts if isinstance(condition, Or) else (condition,)
    paths = [_linear_path(part) for part in parts]
    linear = [path for path in paths if path is not None]
    return linear if len(linear) == len(paths) else None


def _linear_path(condition: Condition) -> LinearPath | None:
    if not isinstance(condition, Exists) or not condition.path.absolute:
        return None
    tests: list[Test] = []
    descendant: list[bool] = []
    after_slashes = False
    for step in condition.path.steps:
        if step.is_double_slash:
            after_slashes = True
        elif step.conditions:
            return None
        elif step.axis is Axis.ATTRIBUTE and tests:
            return LinearPath(tuple(tests), tuple(descendant), step.test, after_slashes)
        elif step.axis in (Axis.CHILD, Axis.DESCENDANT) and step.test.kind in _ELEMENTS:
            tests.append(step.test)
            descendant.append(after_slashes or step.axis is Axis.DESCENDANT)
            after_slashes = False
        else:
            return None
    return LinearPath(tuple(tests), tuple(descendant)) if tests and not after_slashes else None


def shortest_path(
    paths: list[LinearPath],
    start: str,
    children: Callable[[str], Collection[str]],
    passing: Callable[[Test], Collection[str]],
    has_attribute: Callable[[str, Test], bool],
    budget: WorkBudget,
) -> Condition | None:
    """Return a shortest path of child steps from the start that one of the paths selects, or None.

    `passing` returns the elements that may pass a test.
    """
    waiting: list[_SearchState] = [(start, index, 0) for index in range(len(paths))]
    before: dict[_SearchState, _SearchState | None] = dict.fromkeys(waiting)
    for state in waiting:  # grows meanwhile
        name, index, matched = state
        path = paths[index]
        if matched < len(path.tests):
            accepted, stay = passing(path.tests[matched]), path.descendant[matched]
        elif path.attribute is None or has_attribute(name, path.attribute):
            return _child_path(state, before, path.attribute)
        else:
            accepted, stay = (), path.attribute_at_any_depth
        below = children(name)
        budget.spend(1 + len(below))
        for child in below:
            following = [(child, index, matched + 1)] if child in accepted else []
            following += [(child, index, matched)] if stay else []
            for next_state in following:
                if next_state not in before:
                    before[next_state] = state
                    waiting.append(next_state)
    return None


def _child_path(
    end: _SearchState, before: dict[_SearchState, _SearchState | None], attribute: Test | None
) -> Condition:
    steps = [] if attribute is None else [Step(Axis.ATTRIBUTE, attribute)]
    state = end
    while (previous := before[state]) is not None:
        steps.append(Step(Axis.CHILD, Test(TestKind.NAME, state[0])))
        state = previous
    return Exists(Path(True, tuple(reversed(steps))))
