"""Linear paths over `/ // *` and element names, and the automaton that matches them.

A path is a tuple of steps with their operators: `/a//b` is `("/a", "//b")`. `to_steps` returns None
for patterns with namespaces or anything else that is not linear; these are not merged.

Equivalent paths have one canonical form, by the wildcard rule of `pathcast.covering.homomorphism`:
in a run of wildcards the `//` comes first, and a run at the end of a path has none.

`ShiftAndNfa` simulates the automata of several paths at once (shift-and): bit i of the state means
that the first i steps are matched. It reads names, and also the steps of another path, where `//`
stands for a chain of any length that only a `//` can cross. So a path covers another exactly when
its automaton, with wildcards relaxed, accepts a prefix of the other (docs/decisions/0010 has the
proof).

>>> to_steps("a/*//b"), to_steps("/a//*"), to_steps("/a[@b]")
(('//a', '//*', '/b'), ('/a', '/*'), None)
>>> covers(to_steps("/a/*"), to_steps("/a//b")), covers(to_steps("/a/b"), to_steps("/a//b"))
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from pathcast.xpath import Pattern, parse
from pathcast.xpath.syntax import Axis, TestKind
from pathcast.xpath.tree import Exists, Step

__all__ = [
    "ShiftAndNfa",
    "Steps",
    "canonical",
    "covers",
    "is_descendant",
    "single_nfa",
    "step_name",
    "to_steps",
    "to_xpath",
]

Steps: TypeAlias = tuple[str, ...]

_OPERATORS = {Axis.CHILD: "/", Axis.DESCENDANT: "//"}


def to_steps(pattern: str | Pattern) -> Steps | None:
    """Return the canonical steps of a pattern; None if it is not linear.

    Raises SubscriptionError.
    """
    parsed = pattern if isinstance(pattern, Pattern) else parse(pattern)
    condition = parsed.tree_pattern
    if not parsed.exact or not isinstance(condition, Exists):
        return None
    if not condition.path.absolute:
        return None
    steps = []
    for step in condition.path.steps:
        text = _step_text(step)
        if text is None:
            return None
        steps.append(text)
    return canonical(tuple(steps))


def _step_text(step: Step) -> str | None:
    operator = _OPERATORS.get(step.axis)
    if operator is None or step.conditions:
        return None
    if step.test.kind is TestKind.ANY:
        return operator + "*"
    if step.test.kind is TestKind.NAME and not step.test.name.startswith("{"):
        return operator + step.test.name
    return None


def to_xpath(steps: Steps) -> str:
    return "".join(steps)


def is_descendant(step: str) -> bool:
    """Return whether the operator of a step is `//`."""
    return step.startswith("//")


def step_name(step: str) -> str:
    """Return the name of a step, or `*`."""
    return step.lstrip("/")


def canonical(steps: Steps) -> Steps:
    """Return the canonical form of a path."""
    result = list(steps)
    for start, end in _wildcard_runs(steps):
        if end == len(steps):
            result[start:] = ["/*"] * (end - start)
        elif any(is_descendant(step) for step in steps[start : end + 1]):
            child_wildcards = ["/*"] * (end - start - 1)
            result[start : end + 1] = ["//*", *child_wildcards, "/" + step_name(steps[end])]
    return tuple(result)


def _relax_wildcards(steps: Steps) -> Steps:
    """Return the same path with the most `//`, by the wildcard rule."""
    result = list(steps)
    for start, end in _wildcard_runs(steps):
        if end == len(steps) or any(is_descendant(step) for step in steps[start : end + 1]):
            result[start : end + 1] = ["//" + step_name(step) for step in steps[start : end + 1]]
    return tuple(result)


def _wildcard_runs(steps: Steps) -> Iterator[tuple[int, int]]:
    """Yield the start of each maximal run of wildcards, and the index behind it."""
    stars = [at for at, step in enumerate(steps) if step[-1] == "*"]
    while stars:
        start = end = stars[0]
        while end in stars:
            end += 1
        yield start, end
        del stars[: end - start]


@dataclass(frozen=True, slots=True)
class ShiftAndNfa:
    """The automata of several paths side by side in one bit vector.

    The state `ends[k]` means that path k is matched.
    """

    start: int
    loops: int  # states with a self-loop: the next step is a //
    names: dict[str, int]  # name -> states with a transition on it
    others: int  # states with a transition on any other name
    ends: tuple[int, ...]

    @classmethod
    def of(cls, paths: Iterable[Steps]) -> ShiftAndNfa:
        start = loops = others = at = 0
        names: dict[str, int] = {}
        ends = []
        for steps in paths:
            start |= 1 << at
            for step in _relax_wildcards(steps):
                bit = 1 << at
                if is_descendant(step):
                    loops |= bit
                if step_name(step) == "*":
                    others |= bit
                else:
                    names[step_name(step)] = names.get(step_name(step), 0) | bit
                at += 1
            ends.append(1 << at)
            at += 1
        with_wildcards = {name: bits | others for name, bits in names.items()}
        return cls(start, loops, with_wildcards, others, tuple(ends))

    def read(self, states: int, name: str) -> int:
        """Return the states after an element. An end state has no transitions: it lasts a step."""
        return (states & self.names.get(name, self.others)) << 1 | states & self.loops

    def accepts(self, steps: Iterable[str]) -> bool:
        """Return whether the only path accepts a prefix of another path."""
        states, loops, names, others, end = (
            self.start,
            self.loops,
            self.names,
            self.others,
            self.ends[0],
        )
        for step in steps:
            # the inner loop of covering: is_descendant, step_name and read, inlined
            if step[1] == "/":
                states &= loops
                states = (states & names.get(step[2:], others)) << 1 | states
            else:
                states = (states & names.get(step[1:], others)) << 1 | states & loops
            if states & end:
                return True
            if not states:
                return False
        return False


@lru_cache(maxsize=1 << 15)
def single_nfa(steps: Steps) -> ShiftAndNfa:
    """Return the automaton of one path."""
    return ShiftAndNfa.of([steps])


def covers(wide: Steps, narrow: Steps) -> bool:
    """Return whether every document that matches the narrow path matches the wide one."""
    return single_nfa(wide).accepts(narrow)
