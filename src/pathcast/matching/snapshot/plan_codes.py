"""The plans of patterns as a flat array of integers.

A pattern is a count and its alternatives. An alternative is its form, then

- *exact*: a path, as a count and its labels;
- *general*: a count and its paths;
- *twig*: a count and its branches in postorder. A branch is its labels and its number of children,
  which are the branches before it.

The encoding is flat, so no file can exhaust the reader's stack.

>>> codes = encode_plans([(("exact", (49,)), ("twig", (((49,), ()), ((57, 49), ()))))])
>>> codes.tolist()
[2, 0, 1, 49, 1, 2, 1, 49, 0, 2, 57, 49, 0]
>>> PlanReader(codes.tolist(), names=2, values=0).read(1)
[(('exact', (49,)), ('twig', (((49,), ()), ((57, 49), ()))))]
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from typing import Final, cast

from pathcast.matching.snapshot.content_errors import reject
from pathcast.matching.snapshot.model import LabelCodes, SavedAlternatives, SavedBranch

__all__ = ["PlanReader", "encode_plans"]

_FIRST_NAME_CODE: Final = 6  # as in `encode`
_VALUE_EDGE: Final = 4  # the edge code of a value test
_MAX_TWIG_DEPTH: Final = 1000  # the largest number of steps in a pattern; each may branch
_FORMS: Final = ("exact", "twig", "general")


def encode_plans(patterns: Iterable[SavedAlternatives]) -> array[int]:
    """Return the alternatives of patterns as a flat array."""
    encoded = array("i")
    for alternatives in patterns:
        encoded.append(len(alternatives))
        for form, codes in alternatives:
            encoded.append(_FORMS.index(form))
            if form == "exact":
                _append_labels(encoded, cast(LabelCodes, codes))
            elif form == "general":
                paths = cast(tuple[LabelCodes, ...], codes)
                encoded.append(len(paths))
                for path in paths:
                    _append_labels(encoded, path)
            else:
                _append_twig(encoded, cast(tuple[SavedBranch, ...], codes))
    return encoded


def _append_labels(encoded: array[int], labels: LabelCodes) -> None:
    encoded.append(len(labels))
    encoded.extend(labels)


def _append_twig(encoded: array[int], branches: tuple[SavedBranch, ...]) -> None:
    stack, preorder = list(branches), []
    while stack:
        branch = stack.pop()
        preorder.append(branch)
        stack += branch[1]
    encoded.append(len(preorder))
    for labels, children in reversed(preorder):  # children come before their parent
        _append_labels(encoded, labels)
        encoded.append(len(children))


class PlanReader:
    """Decodes and checks plans. `names` and `values` are the sizes of the vocabulary.

    Each counted item takes at least one integer, so a forged count soon exhausts the input.
    """

    __slots__ = ("_checked", "_codes", "_next", "_test_codes", "_value_codes")

    def __init__(self, codes: list[int], names: int, values: int) -> None:
        if min(codes, default=0) < 0:
            reject("a plan with a number below 0")
        self._codes = iter(codes)
        self._next = self._codes.__next__
        self._test_codes = _FIRST_NAME_CODE + names
        self._value_codes = values
        self._checked: dict[LabelCodes, LabelCodes] = {}  # equal paths share one tuple

    def read(self, count: int) -> list[SavedAlternatives]:
        """Return the alternatives of `count` patterns, which must be the whole input."""
        try:
            plans = [
                tuple([self._alternative() for _ in range(self._next())]) for _ in range(count)
            ]
        except StopIteration:
            reject("a plan that is cut off")
        if next(self._codes, None) is not None:
            reject("a plan that belongs to no pattern")
        return plans

    def _alternative(self) -> tuple[str, object]:
        form = self._next()
        if form >= len(_FORMS):
            reject("a plan of an unknown form")
        if _FORMS[form] == "exact":
            return "exact", self._labels(self._next())
        if _FORMS[form] == "general":
            return "general", tuple([self._labels(self._next()) for _ in range(self._next())])
        return "twig", self._twig()

    def _labels(self, count: int) -> LabelCodes:
        labels = tuple(islice(self._codes, count))
        checked = self._checked.get(labels)
        if checked is None:
            for label in labels:
                self._check_label(label)
            checked = self._checked[labels] = labels
        if len(labels) < count:
            raise StopIteration
        return checked

    def _check_label(self, label: int) -> None:
        edge, code = label & 7, label >> 3
        if edge == _VALUE_EDGE:
            valid = code < self._value_codes
        else:
            valid = edge < _VALUE_EDGE and 0 < code < self._test_codes
        if not valid:
            reject(f"an invalid label: {label}")

    def _twig(self) -> tuple[SavedBranch, ...]:
        """Return the branches of a twig.

        Joins rely on two properties: a twig has a branch point, and a branch point has at least two
        children.
        """
        take = self._next
        branches: list[SavedBranch] = []
        depths: list[int] = []
        for _ in range(take()):
            labels, count = self._labels(take()), take()
            if not count:
                branches.append((labels, ()))
                depths.append(1)
                continue
            first = len(branches) - count
            if first < 0 or count == 1:
                reject("a twig with an invalid branch point")
            depth = 1 + max(depths[first:])
            if depth > _MAX_TWIG_DEPTH:
                reject(f"a twig with more than {_MAX_TWIG_DEPTH} branch points on one path")
            branches[first:] = [(labels, tuple(branches[first:]))]
            depths[first:] = [depth]
        if not branches or (len(branches) == 1 and not branches[0][1]):
            reject("a twig without a branch point")
        return tuple(branches)
