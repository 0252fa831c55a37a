"""Linear patterns: paths of `/ // *` over element names, as steps, and the machine that reads them.

A pattern is a tuple of steps, each with its operator: `/a//b` is `("/a", "//b")`. Names in a namespace and everything else of XPath are
not for merging; `linear` says None to them.

What means the same is written in one way. In a run of wildcards and the step behind it, it does not matter where a // stands: it is
written first. At the end of a path it does not even matter whether there is one: something stands below, that is all.

A `ShiftAndNfa` holds several patterns and reads a path, name by name, for all of them at once: bit i of a number says that the first i steps are
found (shift-and). It reads patterns as well: a // is a way of any length, which only a // may cross.
So a pattern covers another exactly when its machine accepts a beginning of it, with the wildcards of the wide one relaxed; docs/decisions/0010
has the argument.

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

_AXES = {Axis.CHILD: "/", Axis.DESCENDANT: "//"}


def to_steps(pattern: str | Pattern) -> Steps | None:
    """The steps of a pattern, None if it is not linear; raises SubscriptionError."""
    parsed = pattern if isinstance(pattern, Pattern) else parse(pattern)
    condition = parsed.condition
    if parsed.residual is not None or not isinstance(condition, Exists):
        return None
    steps = [_step(one) for one in condition.path.steps]
    known = tuple(one for one in steps if one is not None)
    return canonical(known) if condition.path.absolute and len(known) == len(steps) else None


def _step(step: Step) -> str | None:
    axis = _AXES.get(step.axis)
    if axis is None or step.conditions:
        return None
    if step.test.kind is TestKind.ANY:
        return axis + "*"
    if step.test.kind is TestKind.NAME and not step.test.name.startswith("{"):
        return axis + step.test.name
    return None


def to_xpath(steps: Steps) -> str:
    """The steps as XPath."""
    return "".join(steps)


def is_descendant(step: str) -> bool:
    """Whether the operator of a step is //."""
    return step.startswith("//")


def step_name(step: str) -> str:
    """The name of a step, or *."""
    return step.lstrip("/")


def canonical(steps: Steps) -> Steps:
    """The one way to write the same pattern."""
    found = list(steps)
    for start, end in _runs(steps):
        if end == len(steps):
            found[start:] = ["/*"] * (end - start)
        elif any(is_descendant(one) for one in steps[start : end + 1]):
            found[start : end + 1] = [
                "//*",
                *["/*"] * (end - start - 1),
                "/" + step_name(steps[end]),
            ]
    return tuple(found)


def _relaxed(steps: Steps) -> Steps:
    """The same pattern with // wherever it may stand."""
    found = list(steps)
    for start, end in _runs(steps):
        if end == len(steps) or any(is_descendant(one) for one in steps[start : end + 1]):
            found[start : end + 1] = ["//" + step_name(one) for one in steps[start : end + 1]]
    return tuple(found)


def _runs(steps: Steps) -> Iterator[tuple[int, int]]:
    """Where runs of wildcards begin, and where they are over."""
    stars = [at for at, step in enumerate(steps) if step[-1] == "*"]
    while stars:
        start = end = stars[0]
        while end in stars:
            end += 1
        yield start, end
        del stars[: end - start]


@dataclass(frozen=True, slots=True)
class ShiftAndNfa:
    """Some patterns, laid side by side in one number. `ends[k]` is the bit that says that pattern k is found."""

    start: int
    ways: int  # the places that a // starts from
    names: dict[str, int]  # the places from which a step may be taken
    others: int  # the same for all other names
    ends: tuple[int, ...]

    @classmethod
    def of(cls, patterns: Iterable[Steps]) -> ShiftAndNfa:
        start = ways = others = at = 0
        names: dict[str, int] = {}
        ends = []
        for steps in patterns:
            start |= 1 << at
            for step in _relaxed(steps):
                bit = 1 << at
                if is_descendant(step):
                    ways |= bit
                if step_name(step) == "*":
                    others |= bit
                else:
                    names[step_name(step)] = names.get(step_name(step), 0) | bit
                at += 1
            ends.append(1 << at)
            at += 1
        return cls(
            start, ways, {one: bits | others for one, bits in names.items()}, others, tuple(ends)
        )

    def read(self, bits: int, name: str) -> int:
        """The places after one more element; an end is told once and then forgotten."""
        return (bits & self.names.get(name, self.others)) << 1 | bits & self.ways

    def accepts(self, steps: Iterable[str]) -> bool:
        """Whether the only pattern accepts a beginning of a path or pattern."""
        bits, ways, names, others, end = (
            self.start,
            self.ways,
            self.names,
            self.others,
            self.ends[0],
        )
        for step in steps:
            if step[1] == "/":  # the inner loop of covering: `deep`, `name` and `read`, written out
                bits &= ways
                bits = (bits & names.get(step[2:], others)) << 1 | bits
            else:
                bits = (bits & names.get(step[1:], others)) << 1 | bits & ways
            if bits & end:
                return True
            if not bits:
                return False
        return False


@lru_cache(maxsize=1 << 15)
def single_nfa(steps: Steps) -> ShiftAndNfa:
    """The machine of one pattern."""
    return ShiftAndNfa.of([steps])


def covers(wide: Steps, narrow: Steps) -> bool:
    """Whether every document that matches the narrow pattern matches the wide one."""
    return single_nfa(wide).accepts(narrow)
