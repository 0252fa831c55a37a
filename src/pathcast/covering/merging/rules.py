"""The merging rules for linear patterns (Li, Hou and Jacobsen 2008, section 4.3): one pattern that covers several.

1. `merge_by_name`      one name differs                      /a/b/c, /a/b/d          ->  /a/b/*
2. `merge_by_operator`  one name and one operator differ      /a/c/*/*, /a//c/*/c     ->  /a//c/*/*
3. `merge_by_middle`    what lies between a common beginning and a common end differs
                                                        /a/b/x/c, /a/b/y/z/c    ->  /a/b//c

Where one of the names of rule 1 is a *, or one operator alone differs, one pattern covers the other and there is nothing to
merge. Rule 3 is for patterns of which "most parts are equal": here beginning and end, at least one step each, are together more than half of the
steps of either. What is replaced may be nothing in one of them.

Nobody compares all pairs. `name_proposals` and `middle_proposals` tell what a pattern could become under rules 1 and 3, whatever the other one is; where two patterns
say the same, that is their merger. `operator_proposals` tells whom to look for under rule 2. See `candidates`.

>>> merge_by_middle(("/a", "/b", "/x", "/c"), ("/a", "/b", "/y", "/z", "/c"))
('/a', '/b', '//c')
>>> ["".join(one) for one in middle_proposals(("/a", "/b", "/c"))]
['/a//b/c', '/a/b//c', '/a//c']
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.covering.merging.linear import Steps, canonical, is_descendant, step_name

__all__ = [
    "merge_by_middle",
    "merge_by_name",
    "merge_by_operator",
    "middle_proposals",
    "name_proposals",
    "operator_proposals",
]


def merge_by_name(first: Steps, *others: Steps) -> Steps | None:
    """Rule 1: patterns that differ in one name, the same for all; None if they do not."""
    if any(len(one) != len(first) for one in others):
        return None
    places = {at for one in others for at, step in enumerate(one) if step != first[at]}
    if len(places) != 1:
        return None
    at = places.pop()
    steps = {one[at] for one in (first, *others)}
    if len({is_descendant(step) for step in steps}) > 1 or any(
        step_name(step) == "*" for step in steps
    ):
        return None
    return canonical(_starred(first, at))


def merge_by_operator(one: Steps, other: Steps) -> Steps | None:
    """Rule 2: two patterns that differ in one name and in one operator."""
    if len(one) != len(other):
        return None
    pairs = list(zip(one, other, strict=True))
    names = [at for at, (a, b) in enumerate(pairs) if step_name(a) != step_name(b)]
    operators = [at for at, (a, b) in enumerate(pairs) if is_descendant(a) != is_descendant(b)]
    if len(names) != 1 or len(operators) != 1:
        return None
    return canonical(_with_operator(_starred(one, names[0]), operators[0], "//"))


def merge_by_middle(one: Steps, other: Steps) -> Steps | None:
    """Rule 3: two patterns most of which is a common beginning and a common end."""
    shortest = min(len(one), len(other))
    start = 0
    while start < shortest and one[start] == other[start]:
        start += 1
    end = 0
    while end < shortest - start and step_name(one[-end - 1]) == step_name(other[-end - 1]):
        end += 1
        if is_descendant(one[-end]) != is_descendant(
            other[-end]
        ):  # the operator in front of the end is replaced
            break
    if not end and start == shortest:  # one is the beginning of the other: it covers it
        return None
    if not start or not end or not _most(start, end, max(len(one), len(other))):
        return None
    return canonical(_joined(one, start, end))


def name_proposals(steps: Steps) -> Iterator[Steps]:
    """What rule 1 could make of a pattern; itself, where there is a * already."""
    for at in range(len(steps)):
        yield canonical(_starred(steps, at))


def operator_proposals(steps: Steps) -> Iterator[tuple[Steps, Steps]]:
    """For rule 2, from the one with the //: what rule 1 could make of the other, and the merger of both."""
    for at in range(len(steps)):
        far = _starred(steps, at)
        for place in range(len(steps)):
            if is_descendant(far[place]):
                near = canonical(_with_operator(far, place, "/"))
                if near != canonical(far):
                    yield near, canonical(far)


def middle_proposals(steps: Steps) -> Iterator[Steps]:
    """What rule 3 could make of a pattern, the longest beginnings and ends first."""
    for kept in range(len(steps), 1, -1):
        for start in range(1, kept):
            if _most(start, kept - start, len(steps)):
                found = canonical(_joined(steps, start, kept - start))
                if found != steps:
                    yield found


def _most(start: int, end: int, length: int) -> bool:
    return 2 * (start + end) > length


def _joined(steps: Steps, start: int, end: int) -> Steps:
    rest = steps[-end:]
    return (*steps[:start], "//" + step_name(rest[0]), *rest[1:])


def _starred(steps: Steps, at: int) -> Steps:
    return (*steps[:at], "//*" if is_descendant(steps[at]) else "/*", *steps[at + 1 :])


def _with_operator(steps: Steps, at: int, operator: str) -> Steps:
    return (*steps[:at], operator + step_name(steps[at]), *steps[at + 1 :])
