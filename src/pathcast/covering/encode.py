"""Twigs as numbers, the form that the compiled part takes.

>>> from pathcast.xpath import parse
>>> encoder = Encoder()
>>> [list(part) for part in encoder.encoded(parse("/a[@x]//b"))[0]]
[[0, 1, 2, 3], [-1, 0, 1, 1], [False, False, True, False]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pathcast.covering.core.labels import Labels
from pathcast.covering.homomorphism import loose_ends, stronger
from pathcast.covering.labels import Kind, Label, Named, Residual, Values, allows
from pathcast.covering.to_twigs import twigs
from pathcast.covering.twig import Twig
from pathcast.covering.values import pinned
from pathcast.xpath import Pattern

__all__ = ["Encoded", "Encoder"]

Encoded: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[bool]]

_ELEMENT, _STAR, _RULES = 1, 2, 4  # as in core/labels.pxd


class Encoder:
    """Gives labels their numbers; whatever is to be compared goes through the same one."""

    def __init__(self) -> None:
        self.labels = Labels(_rule)
        self._numbers: dict[Label, int] = {}

    def encoded(self, pattern: Pattern) -> list[Encoded]:
        """The alternatives of a pattern."""
        return [self.twig(loose_ends(one)) for one in twigs(pattern)]

    def twig(self, twig: Twig) -> Encoded:
        return [self._number(label) for label in twig.labels], twig.parents, twig.deeper

    def _number(self, label: Label) -> int:
        known = self._numbers.get(label)
        if known is None:
            known = self.labels.number(label, _kind(label), _name(label))
            self._numbers[label] = known
        return known


def _rule(wide: Label, narrow: Label) -> bool:
    return allows(wide, narrow, stronger)


def _name(label: Label) -> Label | str | None:
    """What a label shares with all that it allows: a name, or the value that an equality pins down."""
    if isinstance(label, Values):
        text = pinned(label.literals)
        return None if text is None else f"={text}"
    return None if _kind(label) & (_STAR | _RULES) else label


def _kind(label: Label) -> int:
    match label:
        case Named(kind=Kind.ELEMENT, name=name, space=space):
            return _ELEMENT if name else _ELEMENT | (_RULES if space else _STAR)
        case Named(kind=Kind.ATTRIBUTE | Kind.INSTRUCTION, name=name):
            return 0 if name else _RULES
        case Named(kind=Kind.NODE):
            return _RULES
        case Named() | Residual():
            return 0
        case _:
            return _RULES
