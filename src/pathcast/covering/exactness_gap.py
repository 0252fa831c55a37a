"""What an aggregate misses: roots that exact containment would hide, and mappings do not.

An aggregate asks for mappings, which are quick and can be looked up (see `homomorphism`). What `covers` finds beyond them is counted here, for the
patterns that stand for all others. A pattern can only cover another if the other has its names, names next to each other and equalities, with
or without a mapping: else there is a model of the other without them. So the candidates of each come from an index of features (`indexes`), and
few of them have to be looked at. Then, as in `containment` but without witnesses:

    a mapping from the relax_wildcards form   it is missed
    two paths                         it is not: relax_wildcards mappings decide paths
    models, at most `effort`          it is missed if every one is matched, not if one is not
    else                              undecided

>>> from pathcast.xpath import parse
>>> missed([parse(text) for text in ("/a/*//*/d", "/a//b/c/d", "/x[@y > 1]")])
Missed(covered=1, undecided=0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from pathcast.covering.canonical_models import Models
from pathcast.covering.core.twigs import HomomorphismTest
from pathcast.covering.encode import EncodedTwig, TwigEncoder
from pathcast.covering.homomorphism import has_homomorphism, relax_wildcards
from pathcast.covering.indexes import feature_index
from pathcast.covering.labels import LabelKind, NameLabel
from pathcast.covering.to_twigs import twigs
from pathcast.covering.twig import Twig
from pathcast.xpath import Pattern

__all__ = ["Missed", "missed"]


@dataclass(frozen=True, slots=True)
class Missed:
    """How many of some patterns others cover, though not all mappings show it; and of how many that could not be decided."""

    covered: int
    undecided: int


def missed(patterns: Sequence[Pattern], effort: int = 200) -> Missed:
    """Count those that others among them cover; of two that cover each other, the second counts."""
    encoder = TwigEncoder()
    index = feature_index(encoder.labels)
    known = [_Known(pattern, encoder) for pattern in patterns]
    for key, one in enumerate(known):
        index.add(key, one.plain)
    exactly = _Exactly(HomomorphismTest(encoder.labels), effort)
    covered = undecided = 0
    for key, one in enumerate(known):
        answers = set()
        for other in sorted(index.may_cover(one.plain) - {key}):
            answer = exactly.covers(known[other], one)
            if answer and other > key and exactly.covers(one, known[other]):
                answer = False  # they cover each other
            answers.add(answer)
            if answer:
                break
        covered += True in answers
        undecided += True not in answers and None in answers
    return Missed(covered, undecided)


class _Known:
    """A pattern in the forms in which it is asked about."""

    def __init__(self, pattern: Pattern, encoder: TwigEncoder) -> None:
        self._encoder = encoder
        self.twigs = twigs(pattern)
        self.plain = encoder.encode(pattern)

    @cached_property
    def relax_wildcards(self) -> list[EncodedTwig]:
        return [self._encoder.twig(relax_wildcards(one)) for one in self.twigs]

    @cached_property
    def path(self) -> bool:
        return len(self.twigs) == 1 and _path(self.twigs[0])


def _path(twig: Twig) -> bool:
    return all(len(children) < 2 for children in twig.children) and all(
        isinstance(label, NameLabel) and label.kind in (LabelKind.ROOT, LabelKind.ELEMENT)
        for label in twig.labels
    )


@dataclass(frozen=True, slots=True)
class _Exactly:
    """Does one pattern cover another? Without a witness, and without regard to what is likely."""

    mapper: HomomorphismTest
    effort: int

    def covers(self, wide: _Known, narrow: _Known) -> bool | None:
        if self.mapper.covers(wide.relax_wildcards, narrow.plain):
            return True
        if wide.path and narrow.path:
            return False
        answers = {self._matched(wide.twigs, twig) for twig in narrow.twigs}
        return False if False in answers else None if None in answers else True

    def _matched(self, wide: Sequence[Twig], narrow: Twig) -> bool | None:
        """Whether every model of a twig is matched."""
        models = Models(narrow, wide)
        if not models.all:
            return None
        for model in islice(models, self.effort):
            document = model.twig()
            if not any(has_homomorphism(one, document) for one in wide):
                return False
        return None if models.count > self.effort else True
