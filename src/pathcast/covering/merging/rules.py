"""The merging rules for linear paths (Li 2008, section 4.3): a path that covers several others.

1. `merge_by_name`: one name differs.
   `/a/b/c`, `/a/b/d` -> `/a/b/*`
2. `merge_by_operator`: one name and one operator differ.
   `/a/c/*/*`, `/a//c/*/c` -> `/a//c/*/*`
3. `merge_by_middle`: the parts between a common prefix and a common suffix differ.
   `/a/b/x/c`, `/a/b/y/z/c` -> `/a/b//c`

If a name of rule 1 is `*`, or only an operator differs, one path covers the other and there is
nothing to merge. Rule 3 is for paths of which "most parts are equal": prefix and suffix have at
least one step each and together more than half of the steps of either path. The replaced part may
be empty in one of them.

A table need not compare all pairs. `name_proposals` and `middle_proposals` yield the results that
rules 1 and 3 can have for a path, whatever the other path is: a common proposal of two paths is
their merger. `operator_proposals` yields the proposals of a partner for rule 2. See `candidates`.

>>> merge_by_middle(("/a", "/b", "/x", "/c"), ("/a", "/b", "/y", "/z", "/c"))
('/a', '/b', '//c')
>>> ["".join(steps) for steps in middle_proposals(("/a", "/b", "/c"))]
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
    """Rule 1: merge paths that differ in the name of a single step; None if they do not."""
    if any(len(other) != len(first) for other in others):
        return None
    places = {at for other in others for at, step in enumerate(other) if step != first[at]}
    if len(places) != 1:
        return None
    at = places.pop()
    steps = {path[at] for path in (first, *others)}
    if len({is_descendant(step) for step in steps}) > 1:
        return None
    if any(step_name(step) == "*" for step in steps):
        return None
    return canonical(_with_wildcard(first, at))


def merge_by_operator(left: Steps, right: Steps) -> Steps | None:
    """Rule 2: merge two paths that differ in one name and in one operator, else None."""
    if len(left) != len(right):
        return None
    pairs = list(zip(left, right, strict=True))
    names = [at for at, (a, b) in enumerate(pairs) if step_name(a) != step_name(b)]
    operators = [at for at, (a, b) in enumerate(pairs) if is_descendant(a) != is_descendant(b)]
    if len(names) != 1 or len(operators) != 1:
        return None
    return canonical(_with_operator(_with_wildcard(left, names[0]), operators[0], "//"))


def merge_by_middle(left: Steps, right: Steps) -> Steps | None:
    """Rule 3: merge two paths that consist mostly of a common prefix and suffix, else None."""
    shorter = min(len(left), len(right))
    prefix = 0
    while prefix < shorter and left[prefix] == right[prefix]:
        prefix += 1
    suffix = 0
    while suffix < shorter - prefix:
        left_step, right_step = left[-suffix - 1], right[-suffix - 1]
        if step_name(left_step) != step_name(right_step):
            break
        suffix += 1
        if is_descendant(left_step) != is_descendant(right_step):
            break  # the first operator of the suffix becomes //
    if not suffix and prefix == shorter:  # a prefix covers the longer path
        return None
    longer = max(len(left), len(right))
    if not prefix or not suffix or not _is_majority(prefix, suffix, longer):
        return None
    return canonical(_without_middle(left, prefix, suffix))


def name_proposals(steps: Steps) -> Iterator[Steps]:
    """Yield the results that rule 1 can have for a path; itself where it has a `*`."""
    for at in range(len(steps)):
        yield canonical(_with_wildcard(steps, at))


def operator_proposals(steps: Steps) -> Iterator[tuple[Steps, Steps]]:
    """Yield pairs for rule 2: a rule 1 proposal of a partner, and the merger of both.

    The path is the one of the two with the `//`.
    """
    for at in range(len(steps)):
        merger = _with_wildcard(steps, at)
        for place in range(len(steps)):
            if is_descendant(merger[place]):
                partner = canonical(_with_operator(merger, place, "/"))
                if partner != canonical(merger):
                    yield partner, canonical(merger)


def middle_proposals(steps: Steps) -> Iterator[Steps]:
    """Yield the results that rule 3 can have for a path, longest prefixes and suffixes first."""
    for kept in range(len(steps), 1, -1):
        for prefix in range(1, kept):
            if _is_majority(prefix, kept - prefix, len(steps)):
                proposal = canonical(_without_middle(steps, prefix, kept - prefix))
                if proposal != steps:
                    yield proposal


def _is_majority(prefix: int, suffix: int, length: int) -> bool:
    return 2 * (prefix + suffix) > length


def _without_middle(steps: Steps, prefix: int, suffix: int) -> Steps:
    tail = steps[-suffix:]
    return (*steps[:prefix], "//" + step_name(tail[0]), *tail[1:])


def _with_wildcard(steps: Steps, at: int) -> Steps:
    return (*steps[:at], "//*" if is_descendant(steps[at]) else "/*", *steps[at + 1 :])


def _with_operator(steps: Steps, at: int, operator: str) -> Steps:
    return (*steps[:at], operator + step_name(steps[at]), *steps[at + 1 :])
