"""TwigScan as numbers, the form that the compiled part takes.

>>> from pathcast.xpath import parse
>>> encoder = TwigEncoder()
>>> [list(part) for part in encoder.encode(parse("/a[@x]//b"))[0]]
[[0, 1, 2, 3], [-1, 0, 1, 1], [False, False, True, False]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pathcast.covering.core.labels import LabelTable
from pathcast.covering.homomorphism import implies, relax_trailing_wildcards
from pathcast.covering.labels import (
    Label,
    LabelKind,
    NameLabel,
    ResidualLabel,
    ValueLabel,
    subsumes,
)
from pathcast.covering.to_twigs import twigs
from pathcast.covering.twig import Twig
from pathcast.covering.values import equality_constant
from pathcast.xpath import Pattern

__all__ = ["EncodedTwig", "TwigEncoder"]

EncodedTwig: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[bool]]

_ELEMENT, _STAR, _RULES = 1, 2, 4  # as in core/labels.pxd


class TwigEncoder:
    """Gives labels their numbers; whatever is to be compared goes through the same one."""

    def __init__(self) -> None:
        self.labels = LabelTable(_rule)
        self._numbers: dict[Label, int] = {}

    def encode(self, pattern: Pattern) -> list[EncodedTwig]:
        """The alternatives of a pattern."""
        return [self.twig(relax_trailing_wildcards(one)) for one in twigs(pattern)]

    def twig(self, twig: Twig) -> EncodedTwig:
        return [self._number(label) for label in twig.labels], twig.parents, twig.descendant

    def _number(self, label: Label) -> int:
        known = self._numbers.get(label)
        if known is None:
            known = self.labels.number(label, _kind(label), _name(label))
            self._numbers[label] = known
        return known


def _rule(wide: Label, narrow: Label) -> bool:
    return subsumes(wide, narrow, implies)


def _name(label: Label) -> Label | str | None:
    """What a label shares with all that it subsumes: a name, or the value that an equality pins down."""
    if isinstance(label, ValueLabel):
        text = equality_constant(label.literals)
        return None if text is None else f"={text}"
    return None if _kind(label) & (_STAR | _RULES) else label


def _kind(label: Label) -> int:
    match label:
        case NameLabel(kind=LabelKind.ELEMENT, name=name, space=space):
            return _ELEMENT if name else _ELEMENT | (_RULES if space else _STAR)
        case NameLabel(kind=LabelKind.ATTRIBUTE | LabelKind.INSTRUCTION, name=name):
            return 0 if name else _RULES
        case NameLabel(kind=LabelKind.NODE):
            return _RULES
        case NameLabel() | ResidualLabel():
            return 0
        case _:
            return _RULES
