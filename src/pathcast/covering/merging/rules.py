"""The merging rules for linear patterns (Li, Hou and Jacobsen 2008, section 4.3): one pattern that covers several.

1. `by_name`      one name differs                      /a/b/c, /a/b/d          ->  /a/b/*
2. `by_operator`  one name and one operator differ      /a/c/*/*, /a//c/*/c     ->  /a//c/*/*
3. `by_middle`    what lies between a common beginning and a common end differs
                                                        /a/b/x/c, /a/b/y/z/c    ->  /a/b//c

Where one of the names of rule 1 is a *, or one operator alone differs, one pattern covers the other and there is nothing to
merge. Rule 3 is for patterns of which "most parts are equal": here beginning and end, at least one step each, are together more than half of the
steps of either. What is replaced may be nothing in one of them.

Nobody compares all pairs. `one_name` and `middles` tell what a pattern could become under rules 1 and 3, whatever the other one is; where two patterns
say the same, that is their merger. `one_operator` tells whom to look for under rule 2. See `candidates`.

>>> by_middle(("/a", "/b", "/x", "/c"), ("/a", "/b", "/y", "/z", "/c"))
('/a', '/b', '//c')
>>> ["".join(one) for one in middles(("/a", "/b", "/c"))]
['/a//b/c', '/a/b//c', '/a//c']
"""

from __future__ import annotations

from collections.abc import Iterator

from pathcast.covering.merging.linear import Steps, deep, name, normal

__all__ = ["by_middle", "by_name", "by_operator", "middles", "one_name", "one_operator"]


def by_name(first: Steps, *others: Steps) -> Steps | None:
    """Rule 1: patterns that differ in one name, the same for all; None if they do not."""
    if any(len(one) != len(first) for one in others):
        return None
    places = {at for one in others for at, step in enumerate(one) if step != first[at]}
    if len(places) != 1:
        return None
    at = places.pop()
    steps = {one[at] for one in (first, *others)}
    if len({deep(step) for step in steps}) > 1 or any(name(step) == "*" for step in steps):
        return None
    return normal(_starred(first, at))


def by_operator(one: Steps, other: Steps) -> Steps | None:
    """Rule 2: two patterns that differ in one name and in one operator."""
    if len(one) != len(other):
        return None
    pairs = list(zip(one, other, strict=True))
    names = [at for at, (a, b) in enumerate(pairs) if name(a) != name(b)]
    operators = [at for at, (a, b) in enumerate(pairs) if deep(a) != deep(b)]
    if len(names) != 1 or len(operators) != 1:
        return None
    return normal(_with_operator(_starred(one, names[0]), operators[0], "//"))


def by_middle(one: Steps, other: Steps) -> Steps | None:
    """Rule 3: two patterns most of which is a common beginning and a common end."""
    shortest = min(len(one), len(other))
    start = 0
    while start < shortest and one[start] == other[start]:
        start += 1
    end = 0
    while end < shortest - start and name(one[-end - 1]) == name(other[-end - 1]):
        end += 1
        if deep(one[-end]) != deep(other[-end]):  # the operator in front of the end is replaced
            break
    if not end and start == shortest:  # one is the beginning of the other: it covers it
        return None
    if not start or not end or not _most(start, end, max(len(one), len(other))):
        return None
    return normal(_joined(one, start, end))


def one_name(steps: Steps) -> Iterator[Steps]:
    """What rule 1 could make of a pattern; itself, where there is a * already."""
    for at in range(len(steps)):
        yield normal(_starred(steps, at))


def one_operator(steps: Steps) -> Iterator[tuple[Steps, Steps]]:
    """For rule 2, from the one with the //: what rule 1 could make of the other, and the merger of both."""
    for at in range(len(steps)):
        far = _starred(steps, at)
        for place in range(len(steps)):
            if deep(far[place]):
                near = normal(_with_operator(far, place, "/"))
                if near != normal(far):
                    yield near, normal(far)


def middles(steps: Steps) -> Iterator[Steps]:
    """What rule 3 could make of a pattern, the longest beginnings and ends first."""
    for kept in range(len(steps), 1, -1):
        for start in range(1, kept):
            if _most(start, kept - start, len(steps)):
                found = normal(_joined(steps, start, kept - start))
                if found != steps:
                    yield found


def _most(start: int, end: int, length: int) -> bool:
    return 2 * (start + end) > length


def _joined(steps: Steps, start: int, end: int) -> Steps:
    rest = steps[-end:]
    return (*steps[:start], "//" + name(rest[0]), *rest[1:])


def _starred(steps: Steps, at: int) -> Steps:
    return (*steps[:at], "//*" if deep(steps[at]) else "/*", *steps[at + 1 :])


def _with_operator(steps: Steps, at: int, operator: str) -> Steps:
    return (*steps[:at], operator + name(steps[at]), *steps[at + 1 :])
