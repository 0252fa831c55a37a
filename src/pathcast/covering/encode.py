"""Twigs as arrays of integers, the input of the compiled core.

>>> from pathcast.xpath import parse
>>> encoder = TwigEncoder()
>>> [list(part) for part in encoder.encode(parse("/a[@x]//b"))[0]]
[[0, 1, 2, 3], [-1, 0, 1, 1], [False, False, True, False]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pathcast.budget import BudgetExceeded, WorkBudget
from pathcast.covering.core.labels import LabelTable
from pathcast.covering.homomorphism import Implications, relax_trailing_wildcards
from pathcast.covering.labels import (
    Label,
    LabelKind,
    NameLabel,
    ResidualLabel,
    ValueLabel,
    subsumes,
)
from pathcast.covering.to_twigs import to_twigs
from pathcast.covering.twig import Twig
from pathcast.covering.values import equality_constant
from pathcast.xpath import Pattern

__all__ = ["EncodedTwig", "TwigEncoder"]

# Label ids, parents (-1 for the root) and descendant edges, in preorder.
EncodedTwig: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[bool]]

_ELEMENT, _STAR, _BY_RULE = 1, 2, 4  # as in core/labels.pxd


class TwigEncoder:
    """Assigns ids to labels. Twigs are comparable only if the same encoder encoded them."""

    def __init__(self) -> None:
        self.labels = LabelTable(_subsumes)
        self._ids: dict[Label, int] = {}

    def encode(self, pattern: Pattern) -> list[EncodedTwig]:
        """Encode the alternatives of a pattern, with relaxed trailing wildcards."""
        return [self.encode_twig(relax_trailing_wildcards(twig)) for twig in to_twigs(pattern)]

    def encode_twig(self, twig: Twig) -> EncodedTwig:
        return [self._label_id(label) for label in twig.labels], twig.parents, twig.descendant

    def _label_id(self, label: Label) -> int:
        id = self._ids.get(label)
        if id is None:
            id = self._ids[label] = self.labels.intern(label, _kind(label), _feature(label))
        return id


def _subsumes(wide: Label, narrow: Label) -> bool:
    """Decide subsumption within the default budget; beyond it the labels count as unrelated."""
    try:
        return subsumes(wide, narrow, Implications(WorkBudget()).holds)
    except BudgetExceeded:
        return False


def _feature(label: Label) -> Label | str | None:
    """Return a key that all labels have that this one subsumes: a name, an equality's constant."""
    if isinstance(label, ValueLabel):
        text = equality_constant(label.literals)
        return None if text is None else f"={text}"
    return None if _kind(label) & (_STAR | _BY_RULE) else label


def _kind(label: Label) -> int:
    match label:
        case NameLabel(kind=LabelKind.ELEMENT, name=name, space=space):
            return _ELEMENT if name else _ELEMENT | (_BY_RULE if space else _STAR)
        case NameLabel(kind=LabelKind.ATTRIBUTE | LabelKind.INSTRUCTION, name=name):
            return 0 if name else _BY_RULE
        case NameLabel(kind=LabelKind.NODE):
            return _BY_RULE
        case NameLabel() | ResidualLabel():
            return 0
        case _:
            return _BY_RULE
